package git

import (
	"strings"
	"testing"
)

func FuzzTree(f *testing.F) {
	f.Add([]byte("40000 0\x00"+strings.Repeat("i", 20)+"100644 a b\x00"+strings.Repeat("j", 20)), 20)
	f.Add([]byte("100644 x\x00short"), 32)
	f.Fuzz(func(t *testing.T, tree []byte, size int) {
		if size != 20 && size != 32 {
			t.Skip()
		}
		entries, err := parseTree(tree, size)
		taken := 0
		for _, e := range entries {
			if len(e.ID) != 2*size || e.Name == "" {
				t.Fatalf("%+v of %q", e, tree)
			}
			taken += len(e.Mode) + 1 + len(e.Name) + 1 + size // mode, blank, name, NUL and id are all of it
		}
		if taken > len(tree) || err == nil && taken != len(tree) {
			t.Fatalf("%d bytes were taken of %d: %v", taken, len(tree), err)
		}
	})
}
