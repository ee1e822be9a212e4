package sleep

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// lived makes sessions of one use each: n with the old version, m with the new.
func lived(rng *rand.Rand, n int, oldRate float64, m int, newRate float64) (uses []Use, since time.Time) {
	since = evening
	for i := range n + m {
		u := Use{Session: fmt.Sprint(i), At: since.Add(time.Duration(i-n) * time.Hour), Failed: rng.Float64() < oldRate}
		if i >= n {
			u.Failed = rng.Float64() < newRate
		}
		uses = append(uses, u)
	}
	return uses, since
}

// TestWatchRarelyCriesWolf: where the new version is exactly as good, a year of
// sessions raises an alarm in no more cases than the rule allows.
func TestWatchRarelyCriesWolf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const years = 200
	alarms := 0
	for range years {
		uses, since := lived(rng, 60, 0.3, 400, 0.3)
		if DefaultRule.Look("new", "old", since, uses).Raised() {
			alarms++
		}
	}
	t.Logf("%d alarms in %d years without a regression", alarms, years)
	if limit := years * 10 / 100; alarms > limit {
		t.Errorf("%d alarms in %d years without a regression, want at most %d", alarms, years, limit)
	}
}

// TestWatchSeesARegression: by the number of sessions that the forecast gives for
// 80 % of cases, about so many have had their alarm.
func TestWatchSeesARegression(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const plays = 200
	seen := 0
	for range plays {
		uses, since := lived(rng, 60, 0.2, 300, 0.7)
		a := DefaultRule.Look("new", "old", since, uses)
		if _, in80 := DefaultRule.of(a.Signals[0].Weight).Forecast(a.OldRate, a.OldSessions, 0, 0, 0.7); in80 > 0 && a.Raised() && a.At <= in80 {
			seen++
		}
	}
	t.Logf("%d of %d alarms within the forecast", seen, plays)
	if seen < plays*72/100 {
		t.Errorf("%d of %d alarms within the forecast of 80 %%", seen, plays)
	}
}

// TestWatchTellsVersionsApart: a use that carries a hash belongs to that version
// whenever it was; without one its time decides; a third version says nothing.
func TestWatchTellsVersionsApart(t *testing.T) {
	late, early := evening.Add(time.Hour), evening.Add(-time.Hour)
	a := DefaultRule.Look("new", "old", evening, []Use{
		{Session: "1", At: late, Version: "old"}, {Session: "2", At: early, Version: "new", Failed: true},
		{Session: "3", At: late, Failed: true}, {Session: "3", At: late}, {Session: "4", At: early}, {Session: "5", At: late, Version: "third", Failed: true},
		{Session: "6"}, // no time, no hash: nobody knows
	})
	if a.OldSessions != 2 || a.OldRate != 0 || a.NewSessions != 2 || a.NewRate != 0.75 {
		t.Errorf("%+v: want 2 old sessions without failures, 2 new ones with 1 and 0.5", a)
	}
	if b := DefaultRule.Look("new", "old", evening, nil); b.Limit != 1 || b.Raised() {
		t.Errorf("without any session: %+v, want no limit and no alarm", b)
	}
}

func TestUpperBoundHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, p := range []float64{0.05, 0.3, 0.8} {
		missed := 0
		for range 2000 {
			k := 0
			for range 40 {
				if rng.Float64() < p {
					k++
				}
			}
			if upper(float64(k)/40, 40, 0.05) < p {
				missed++
			}
		}
		if missed > 120 { // 5 % and two standard errors
			t.Errorf("rate %g: the bound was below it in %d of 2000", p, missed)
		}
	}
	if got := upper(0, 0, 0.05); got < 0.999 {
		t.Errorf("bound without values %g, want 1", got)
	}
}

func TestNeed(t *testing.T) {
	uses := failing("a", 30).Uses // failures at every third
	now := evening
	if n := NeedOf(uses, time.Time{}, time.Time{}, now); n.Failed != 10 || n.Fresh != 10 || !n.Enough {
		t.Errorf("%+v: want 10 failures and enough", n)
	}
	if n := NeedOf(uses, time.Time{}, uses[25].At, now); n.Fresh != 1 || n.Enough {
		t.Errorf("after a search that has seen them: %+v, want one fresh failure and not enough", n)
	}
	if n := NeedOf(uses, uses[20].At, time.Time{}, now); n.Uses != 10 || n.Failed != 3 {
		t.Errorf("after an installation: %+v, want the uses since", n)
	}
	if n := NeedOf(uses, time.Time{}, time.Time{}, now.AddDate(1, 0, 0)); n.Uses != 0 || n.Gain != 0 || n.Enough {
		t.Errorf("a year later: %+v, want nothing", n)
	}
}
