//go:build !linux

package git

// limitMemory does nothing here: only a process itself can set its limits.
func limitMemory(int, uint64) {}
