//go:build unix

package detach

import "syscall"

// alone puts a process into a session of its own.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
