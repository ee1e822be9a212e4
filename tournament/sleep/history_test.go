package sleep

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"
)

// A reign is so many sessions with one text, that often corrected.
type reign struct {
	sessions int
	failed   float64
}

// succession is a skill whose text was replaced several times, as transcripts alone
// tell it: no use says which text it was.
func succession(rng *rand.Rand, reigns ...reign) (h History, uses []Use) {
	at := evening
	for i, r := range reigns {
		from := at
		if i == 0 {
			from = time.Time{}
		}
		h = append(h, Spell{fmt.Sprint("v", i), from})
		for range r.sessions {
			at = at.Add(time.Hour)
			uses = append(uses, Use{Session: fmt.Sprint(len(uses)), At: at, Failed: rng.Float64() < r.failed})
		}
		at = at.Add(time.Hour)
	}
	return h, uses
}

// TestWatchWithoutHooks: each version is held against the one that it replaced, by
// the history alone, however often the text was replaced before. One that is as
// good as that raises an alarm in no more lives than the rule allows; a regression
// is seen by the session that the forecast names, though the first version was
// worse still. More lives with EVOLVE_LONG=1.
func TestWatchWithoutHooks(t *testing.T) {
	lives := 100
	if os.Getenv("EVOLVE_LONG") == "1" {
		lives = 2000
	}
	before := []reign{{150, 0.5}, {80, 0.1}, {80, 0.1}}
	for k := range before {
		was := before[k].failed
		rng := rand.New(rand.NewPCG(11, uint64(k)))
		wolves, due, within := 0, 0, 0
		for range lives {
			chain := append([]reign{}, before[:k+1]...)
			version, old := fmt.Sprint("v", k+1), fmt.Sprint("v", k)
			h, uses := succession(rng, append(chain, reign{200, was})...)
			if DefaultRule.Look(version, old, h, uses).Raised() {
				wolves++
			}
			rate := was + 0.4
			h, uses = succession(rng, append(chain, reign{200, rate})...)
			a := DefaultRule.Look(version, old, h, uses)
			if a.OldSessions != before[k].sessions || a.NewSessions != 200 {
				t.Fatalf("%s: %d old sessions and %d new ones, want %d and 200", version, a.OldSessions, a.NewSessions, before[k].sessions)
			}
			if _, in80 := DefaultRule.of(a.Signals[0].Weight).Forecast(a.OldRate, a.OldSessions, 0, 0, rate); in80 > 0 && in80 <= 200 {
				due++
				if a.Raised() && a.At <= in80 {
					within++
				}
			}
		}
		t.Logf("after promotion %d: %d alarms in %d lives without a regression; with one %d of %d within the forecast", k+1, wolves, lives, within, due)
		if wolves > lives*10/100 { // Alpha and Doubt
			t.Errorf("after promotion %d: %d alarms in %d lives without a regression", k+1, wolves, lives)
		}
		if due < lives*9/10 || within < due*72/100 {
			t.Errorf("after promotion %d: %d of %d alarms within the forecast of 80 %%, of %d lives", k+1, within, due, lives)
		}
	}
}

// TestHistory: a text that comes back is told by both of its stays, what was found
// was there before, and what nobody knows tells nothing.
func TestHistory(t *testing.T) {
	day := func(n int) time.Time { return evening.AddDate(0, 0, n) }
	h := History{{Version: "a"}, {"b", day(1)}, {"a", day(2)}, {"", day(3)}, {"b", day(4)}}
	var got []string
	for n := range 5 {
		got = append(got, h.At(day(n)), h.At(day(n).Add(time.Hour)))
	}
	if want := []string{"a", "a", "b", "b", "a", "a", "", "", "b", "b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("in place %q, want %q", got, want)
	}
	if h.At(time.Time{}) != "" || History(nil).At(evening) != "" {
		t.Error("something was in place at no time, or in no history")
	}
	if !h.Since().Equal(day(4)) || !h[:1].Since().IsZero() {
		t.Errorf("since %v and %v, want the last stay's beginning and none", h.Since(), h[:1].Since())
	}
	var uses []Use
	for n := range 5 {
		uses = append(uses, Use{Session: fmt.Sprint(n), At: day(n).Add(time.Hour), Failed: h.At(day(n)) == "b"})
	}
	if a := DefaultRule.Look("b", "a", h, uses); a.OldSessions != 2 || a.OldRate != 0 || a.NewSessions != 2 || a.NewRate != 1 {
		t.Errorf("%+v: want two sessions of each text, and that of day 3 in none", a)
	}
}
