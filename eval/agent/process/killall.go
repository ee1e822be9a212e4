package process

import "sync"

// living are the children that have not been reaped.
var living sync.Map // *child → nothing

// KillAll kills every child, with its group and its descendants, and returns at once.
// It is for a program that is about to end without waiting for its children; children
// that are started afterwards are not killed.
func KillAll() {
	living.Range(func(key, _ any) bool {
		k := key.(*child)
		var left []stray
		k.signal(func() {
			left = strays(k.cmd.Process.Pid)
			killGroup(k.group)
		})
		for _, s := range left {
			s.kill()
		}
		return true
	})
}
