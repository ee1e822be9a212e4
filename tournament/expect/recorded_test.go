package expect

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
)

// TestRecorded forecasts later turns of recorded sessions from earlier ones.
// EVOLVE_USAGE_HOME is a data folder with the sessions. Constants were chosen on those of
// the first half of the time, EVOLVE_USAGE_HALF=0; without it, the second half is judged.
func TestRecorded(t *testing.T) {
	home := os.Getenv("EVOLVE_USAGE_HOME")
	if home == "" {
		t.Skip("EVOLVE_USAGE_HOME names no data folder")
	}
	db, err := store.Open(t.Context(), filepath.Join(home, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := db.Sessions(t.Context(), store.SessionFilter{People: true})
	if err != nil {
		t.Fatal(err)
	}
	sessions := make([]*harvest.Session, len(all))
	for i := range all {
		sessions[i] = &all[i]
	}
	sessions = slices.DeleteFunc(harvest.Distinct(sessions), func(s *harvest.Session) bool { return s.Started.IsZero() })
	first, last := sessions[0].Started, sessions[len(sessions)-1].Started
	half := first.Add(last.Sub(first) / 2)
	from, to := half, last.Add(time.Second)
	cuts := []float64{0, 0.2, 0.4, 0.6, 0.8}
	if os.Getenv("EVOLVE_USAGE_HALF") == "0" {
		from, to, cuts = first, half, []float64{0.2, 0.35, 0.5, 0.65, 0.8}
	}
	var held, near, inRange share
	price := &eval.Price{Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}
	for _, cut := range cuts {
		at := from.Add(time.Duration(cut * float64(to.Sub(from))))
		var past []*harvest.Session
		var later []turn
		var stopped []float64 // tokens of those that the user interrupted
		for _, s := range sessions {
			switch {
			case s.Started.Before(at):
				past = append(past, s)
			case s.Started.Before(to):
				later = append(later, Of([]*harvest.Session{s}, "", "").turns...)
				for i := range s.Turns {
					if u := s.Turns[i].Usage; s.Turns[i].Interrupted && u != nil && u.Total() > 0 {
						stopped = append(stopped, float64(u.Total()))
					}
				}
			}
		}
		if len(later) < 60 {
			t.Logf("until %s: only %d later turns", at.Format(time.DateOnly), len(later))
			continue
		}
		sample := Of(past, "", "claude-code")
		one, forty := sample.Tokens(1, 1), sample.Tokens(40, 40)
		sec, usd := sample.Seconds(1, 1), sample.USD(price, 1, 1)
		var tokens, times, dollars, broken share
		for i := range later {
			tokens.add(one, float64(later[i].usage.Total()))
			dollars.add(usd, *price.USD(&later[i].usage))
			if later[i].seconds > 0 {
				times.add(sec, later[i].seconds)
			}
		}
		for _, x := range stopped {
			broken.add(one, x)
		}
		const tries = 1000
		var close, inside, row share
		wide := &Range{forty.Expected / 1.5, forty.Expected, forty.Expected * 1.5}
		rng := rand.New(rand.NewPCG(7, 7))
		for range tries {
			sum := 0.0
			for _, i := range rng.Perm(len(later))[:40] {
				sum += float64(later[i].usage.Total())
			}
			close.add(wide, sum)
			inside.add(forty, sum)
		}
		for i := 0; i+40 <= len(later); i += 10 {
			sum := 0.0
			for _, one := range later[i : i+40] {
				sum += float64(one.usage.Total())
			}
			row.add(wide, sum)
		}
		t.Logf("until %s: %d turns of the past, %d later; %.3g to %.3g tokens hold %v, of %d interrupted ones %v; $%.2f to $%.2f hold %v, %.0f to %.0f seconds %v of %.0f; of sums of 40 (%.3g, %.3g to %.3g) %v are within x1.5, %v in the range; of 40 turns in a row %v",
			at.Format(time.DateOnly), len(sample.turns), len(later), one.Low, one.High, tokens, len(stopped), broken, usd.Low, usd.High, dollars, sec.Low, sec.High, times, times.of,
			forty.Expected, forty.Low, forty.High, close, inside, row)
		held, near, inRange = held.plus(tokens), near.plus(close), inRange.plus(inside)
	}
	t.Logf("together: the range of one turn holds %v; %v of sums within x1.5, %v in their range", held, near, inRange)
	if x := held.in / held.of; x < 0.85 || x > 0.95 {
		t.Errorf("the 90 %% range of a turn holds %v of the later ones, want 85 to 95", held)
	}
	if near.in/near.of < 0.8 {
		t.Errorf("%v of the sums of 40 turns are within x1.5 of the forecast, want 80", near)
	}
}

// A share counts what a range holds.
type share struct{ in, of float64 }

func (s *share) add(r *Range, x float64) {
	if s.of++; r.Low <= x && x <= r.High {
		s.in++
	}
}

func (s share) plus(o share) share { return share{s.in + o.in, s.of + o.of} }

func (s share) String() string { return fmt.Sprintf("%.1f %%", 100*s.in/s.of) }
