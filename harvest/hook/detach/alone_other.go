//go:build !unix

package detach

import "syscall"

// alone puts a process into a session of its own; here there are none.
func alone() *syscall.SysProcAttr { return nil }

func lowest() error { return nil }
