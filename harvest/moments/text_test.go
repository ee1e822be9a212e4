package moments

import (
	"strings"
	"testing"
)

func TestTaughtInWords(t *testing.T) {
	for n, want := range map[int]string{
		1:  "\n1 correction of other sessions teaches the search and is never in a trial\n",
		30: "\n30 corrections of other sessions teach the search and are never in a trial\n",
	} {
		d := &Draw{Share: .25, Counts: &Counts{Turns: 40, Sessions: 9, Drawn: 10, Taught: n}}
		if got := d.Text(); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q at its end", got, want)
		}
	}
}
