//go:build !linux

package copilot

// killStrays would kill what the program started in sessions of their own. Here those
// processes cannot be identified: a shell that ignores SIGTERM outlives a replay
// without a sandbox.
func killStrays(home string) {}
