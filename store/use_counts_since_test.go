package store

import (
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// TestCorrectedSince counts corrections of the skill after a time, each once, however
// many transcripts have a copy of it, and no use that was rejected or asked for again.
func TestCorrectedSince(t *testing.T) {
	s, ctx := open(t), t.Context()
	at := func(h int) time.Time { return day.Add(time.Duration(h) * time.Hour) }
	must(t, s.SaveSession(ctx, session("s1", "/a", use("u1", "dataviz", harvest.Corrected, at(1)), use("u2", "dataviz", harvest.Corrected, at(3)),
		use("u3", "dataviz", harvest.Accepted, at(4)), use("u4", "review", harvest.Rejected, at(4)))))
	must(t, s.SaveSession(ctx, session("s1", "/b", use("u2", "dataviz", harvest.Corrected, at(3)), use("u5", "dataviz", harvest.Corrected, at(5)), use("u6", "dataviz", harvest.Rejected, at(5)), use("u7", "dataviz", harvest.Repeated, at(6)))))
	for since, want := range map[int]int{0: 3, 1: 2, 4: 1, 5: 0} {
		if n, err := s.CorrectedSince(ctx, "dataviz", at(since)); n != want || err != nil {
			t.Errorf("%d since hour %d, %v; want %d", n, since, err, want)
		}
	}
}
