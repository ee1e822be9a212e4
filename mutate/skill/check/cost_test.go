package check

import (
	"runtime"
	"strings"
	"testing"
)

const costly = "---\nname: x\ndescription: d\n---\n# A\n\n"

// A kernel of many pieces is checked in memory by their number, not by its square.
func TestCheckOfManyPiecesOfKernel(t *testing.T) {
	allocated := func(n int) uint64 {
		text := costly + strings.Repeat("- !`a`\n", n) + "\n| a |\n|---|\n" + strings.Repeat("| !`b` |\n", n)
		parent, child := parse(t, text), parse(t, text+"\nb\n")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if fs := Check(parent, child, ClaudeCode); len(fs) != 0 && n < 400 {
			t.Fatalf("%+v", fs[0])
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(10) // what is made once
	if few, many := allocated(200), allocated(1600); many > 20*few {
		t.Errorf("%d bytes for 400 pieces, and %d for 3200", few, many)
	}
}
