//go:build !linux

package git

// limitMemory does nothing here: a process's limits can be set by itself alone.
func limitMemory(int, uint64) {}
