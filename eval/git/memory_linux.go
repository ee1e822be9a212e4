package git

import "golang.org/x/sys/unix"

// limitMemory limits the memory that a process may allocate; mapped packs do not count.
// It is a second bound: if it cannot be set, GIT_ALLOC_LIMIT still applies.
func limitMemory(pid int, bytes uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
