package charts

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestHistory: every use with a time is in one bar, no matter over how long they are
// spread, and there are few bars.
func TestHistory(t *testing.T) {
	if History([]Use{{}}, nil) != nil {
		t.Error("uses without a time are drawn")
	}
	rapid.Check(t, func(t *rapid.T) {
		begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
		span := rapid.IntRange(0, 3000).Draw(t, "days")
		var uses []Use
		corrected := 0
		for range rapid.IntRange(1, 60).Draw(t, "uses") {
			u := Use{begin.AddDate(0, 0, rapid.IntRange(0, span).Draw(t, "day")), rapid.Bool().Draw(t, "corrected")}
			if u.Corrected {
				corrected++
			}
			uses = append(uses, u)
		}
		p := History(uses, []Mark{{begin.AddDate(0, 0, span), "v1"}})
		all, bad, bars := 0, 0, 0
		for _, path := range p.Paths {
			if path.Class == "bar used-bar" {
				var n, c int
				if _, title, ok := strings.Cut(path.Title, ": "); ok {
					n, c = counts(title)
				}
				all, bad, bars = all+n, bad+c, bars+1
			}
		}
		if all != len(uses) || bad != corrected || bars > mostBins {
			t.Fatalf("%d uses with %d corrected in %d bars, want %d with %d", all, bad, bars, len(uses), corrected)
		}
		if last := p.Texts[len(p.Texts)-1]; span > mostBins && !strings.Contains(last.S, " 20") {
			t.Fatalf("no date at the end: %+v", last)
		}
	})
}

// counts reads "2 uses, 1 corrected".
func counts(title string) (uses, corrected int) {
	left, right, _ := strings.Cut(title, ", ")
	return number(left), number(right)
}

func number(s string) (n int) {
	for _, r := range strings.Fields(s)[0] {
		n = 10*n + int(r-'0')
	}
	return n
}
