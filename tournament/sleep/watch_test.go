package sleep

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
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

// replaced is the history of a skill whose text was replaced once.
func replaced(since time.Time) Timeline { return Timeline{{Version: "old"}, {"new", since}} }

// was are predecessors, the newest first.
func was(names ...string) (ps []Predecessor) {
	for _, name := range names {
		ps = append(ps, Predecessor{SHA: name, Name: name})
	}
	return ps
}

// TestWatchRarelyCriesWolf: if the new version is exactly as good, a year of
// sessions raises an alarm in no more cases than the rule allows.
func TestWatchRarelyCriesWolf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const years = 200
	alarms := 0
	for range years {
		uses, since := lived(rng, 60, 0.3, 400, 0.3)
		if DefaultRule.judge("new", was("old"), replaced(since), uses).Raised() {
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
		a := DefaultRule.judge("new", was("old"), replaced(since), uses)
		if _, in80 := DefaultRule.of(a.Signals[0].Weight).Forecast(a.Limit, 0, 0, 0.7); in80 > 0 && a.Raised() && a.At <= in80 {
			seen++
		}
	}
	t.Logf("%d of %d alarms within the forecast", seen, plays)
	if seen < plays*80/100 {
		t.Errorf("%d of %d alarms within the forecast of 80 %%", seen, plays)
	}
}

// TestWatchTellsVersionsApart: a use with a hash belongs to that version at
// any time; without one its time decides; uses of a third version are
// ignored.
func TestWatchTellsVersionsApart(t *testing.T) {
	late, early := evening.Add(time.Hour), evening.Add(-time.Hour)
	a := DefaultRule.Look("new", was("old"), replaced(evening), []Use{
		{Session: "1", At: late, Version: "old"}, {Session: "2", At: early, Version: "new", Failed: true},
		{Session: "3", At: late, Failed: true}, {Session: "3", At: late}, {Session: "4", At: early}, {Session: "5", At: late, Version: "third", Failed: true},
		{Session: "6"}, // no time, no hash: nobody knows
	})
	if a.OldSessions != 2 || a.OldRate != 0 || a.NewSessions != 2 || a.NewRate != 0.75 {
		t.Errorf("%+v: want 2 old sessions without failures, 2 new ones with 1 and 0.5", a)
	}
	if b := DefaultRule.Look("new", was("old"), replaced(evening), nil); b.Limit != 1 || b.Raised() {
		t.Errorf("without any session: %+v, want no limit and no alarm", b)
	}
}

// TestUpperBoundHolds: in no more lives than its doubt, and with a bound that is not
// wider than it must be; for coins of different chances it is one of their mean.
func TestUpperBoundHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const n, doubt, lives = 40, 0.05, 2000
	for _, c := range []struct{ mean, spread float64 }{{0.05, 0}, {0.3, 0}, {0.8, 0}, {0.3, 0.29}, {0.5, 0.5}} {
		missed := 0
		for range lives {
			k := 0
			for i := range n {
				if rng.Float64() < c.mean+c.spread*float64(2*(i%2)-1) {
					k++
				}
			}
			if upper(k, n, doubt) < c.mean {
				missed++
			}
		}
		if missed > 120 { // 5 % and two standard errors
			t.Errorf("mean %g ± %g: the bound was below it in %d of %d", c.mean, c.spread, missed, lives)
		}
	}
	for _, c := range []struct {
		fell, n int
		want    float64
	}{{0, 12, 1 - math.Pow(doubt, 1.0/12)}, {11, 12, math.Pow(1-doubt, 1.0/12)}, {12, 12, 1}, {0, 0, 1}} { // closed forms
		if got := upper(c.fell, c.n, doubt); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%d of %d: bound %g, want %g", c.fell, c.n, got, c.want)
		}
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
	for i := range 4 {
		uses[i].Failed, uses[i].Unread = false, true
	}
	if n := NeedOf(uses, time.Time{}, time.Time{}, now); n.Unread != 4 || !strings.Contains(n.Why, "repeated), 4 more were not read by a model") {
		t.Errorf("%+v: want 4 that may have failed", n)
	}
}

// A life is how a version does in real sessions.
type life struct {
	failed, repeated float64 // repeated of those that failed
	slower, dearer   float64 // factors
}

func (l *life) use(rng *rand.Rand, session int, at time.Time) Use {
	u := Use{Session: fmt.Sprint(session), At: at, Failed: rng.Float64() < l.failed}
	u.Repeated = u.Failed && rng.Float64() < l.repeated
	ms, tokens := int64(20000*l.slower*math.Exp(0.5*rng.NormFloat64())), int64(30000*l.dearer*math.Exp(0.6*rng.NormFloat64()))
	u.LatencyMS, u.Tokens = &ms, &tokens
	return u
}

func livedAs(rng *rand.Rand, n int, old life, m int, new life) (uses []Use, since time.Time) {
	since = evening
	for i := range n + m {
		l := old
		if i >= n {
			l = new
		}
		uses = append(uses, l.use(rng, i, since.Add(time.Duration(i-n)*time.Hour)))
	}
	return uses, since
}

// TestWatchOnEverything: each of the signals raises the alarm by itself,
// named; the error is shared, so that a version that is as good in all of
// them raises one in no more lives than the rule allows, and in none if it is
// better. More lives with EVOLVE_LONG=1.
func TestWatchOnEverything(t *testing.T) {
	lives := 100
	if os.Getenv("EVOLVE_LONG") == "1" {
		lives = 2000
	}
	usual := life{0.2, 0.3, 1, 1}
	for _, c := range []struct {
		name   string
		now    life
		signal string
		least  int // percent of lives with an alarm
		most   int
	}{
		{"as good", usual, "", 0, 10}, // Alpha and Doubt
		{"better", life{0.05, 0.1, 0.5, 0.5}, "", 0, 1},
		{"corrected", life{0.7, 0, 1, 1}, Corrections, 90, 100},
		{"repeated", life{0.7, 1, 1, 1}, Repeats, 90, 100},
		{"slower", life{0.2, 0.3, 4, 1}, Latency, 90, 100},
		{"dearer", life{0.2, 0.3, 1, 4}, Tokens, 90, 100},
		{"a little slower", life{0.2, 0.3, 1.2, 1.2}, "", 0, 10}, // within the margin
	} {
		rng := rand.New(rand.NewPCG(5, 1))
		alarms, named := 0, 0
		for range lives {
			uses, since := livedAs(rng, 60, usual, 120, c.now)
			a := DefaultRule.judge("new", was("old"), replaced(since), uses)
			sum := 0.0
			for _, s := range a.Signals {
				sum += s.Weight
				if a.Raised() && s.Name == c.signal && s.Raised {
					named++
				}
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%s: the weights add up to %g", c.name, sum)
			}
			if a.Raised() {
				alarms++
			}
		}
		t.Logf("%s: %d alarms in %d lives", c.name, alarms, lives)
		if got := float64(100*alarms) / float64(lives); got < float64(c.least) || got > float64(c.most) {
			t.Errorf("%s: alarms in %.1f%% of %d lives, want %d to %d", c.name, got, lives, c.least, c.most)
		}
		if c.signal != "" && named < alarms*3/4 {
			t.Errorf("%s: %d of %d alarms name %s", c.name, named, alarms, c.signal)
		}
	}
}

// TestAlarmIsKeptInWords: a night that is continued tells the alarm that it has
// written down as the one that saw it would have.
func TestAlarmIsKeptInWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	uses, since := livedAs(rng, 60, life{0.2, 0, 1, 1}, 60, life{0.2, 0, 5, 9})
	a := DefaultRule.Look("new", was("old"), replaced(since), uses)
	body, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var kept Alarm
	if err := json.Unmarshal(body, &kept); err != nil || kept.String() != a.String() || !strings.Contains(a.String(), "latency ×") || strings.Contains(a.String(), "failures") {
		t.Errorf("%v; %q, kept as %q", err, a, &kept)
	}
}

// TestWatchKnowsWhatItDoesNot: what the old sessions do not tell is not watched,
// and its share of the error goes to the others; what the new ones do not tell is
// no evidence.
func TestWatchKnowsWhatItDoesNot(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	good := life{0.2, 0, 1, 1}
	uses, since := livedAs(rng, 60, good, 100, life{0.2, 0, 50, 50})
	for i := range uses {
		uses[i].LatencyMS = nil
		if i < 60 {
			uses[i].Tokens = nil
		}
	}
	a := DefaultRule.Look("new", was("old"), replaced(since), uses)
	if l, k := a.Signals[2], a.Signals[3]; l.Weight != 0 || k.Weight != 0 || a.Raised() || k.NewSessions != 100 || l.NewSessions != 0 {
		t.Errorf("nothing known of the old version: %+v, want latency and tokens not watched", a)
	}
	if got := a.Signals[0].Weight + a.Signals[1].Weight; math.Abs(got-1) > 1e-9 {
		t.Errorf("corrections and repeats have %g of the error, want all of it", got)
	}
	uses, since = livedAs(rng, 60, good, 100, life{0.2, 0, 50, 50})
	for i := range uses[60:] {
		uses[60+i].LatencyMS, uses[60+i].Tokens = nil, nil
	}
	a = DefaultRule.Look("new", was("old"), replaced(since), uses)
	if k := a.Signals[3]; k.Weight == 0 || k.EValue != 1 || k.NewSessions != 0 || a.Raised() {
		t.Errorf("nothing known of the new version: %+v, want no evidence", k)
	}
	zero := int64(0)
	a = DefaultRule.Look("new", was("old"), replaced(evening), []Use{{Session: "1", At: evening, Tokens: &zero}})
	if a.Signals[3].NewSessions != 0 {
		t.Errorf("no tokens at all count as known: %+v", a.Signals[3])
	}
}
