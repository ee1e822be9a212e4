package simulated

import (
	"strings"
	"testing"
)

// Whatever a text contains, its block is found again whole, and alone.
func FuzzFencedIsReadBack(f *testing.F) {
	for _, s := range []string{"", "a", "```\nx\n```\n", "````md\n```\n", "- a `b` c\n\n  ```sh\n", "\n\n", "a\r\n```\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := s
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		bs := blocks("Here it is.\n\n" + fenced(s) + "\nDone.")
		if len(bs) != 1 || bs[0].text != want {
			t.Errorf("%q is read back as %+v", s, bs)
		}
	})
}
