//go:build unix

package detach

import "syscall"

// alone puts a process into a session of its own.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// lowest names the group, because on Linux a process by its id is its first thread alone.
func lowest() error { return syscall.Setpriority(syscall.PRIO_PGRP, 0, 19) }
