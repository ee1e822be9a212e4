package expect

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

var today = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// used is n uses, one every so many days, the last of them today, of which one in two is a case.
func used(n int, days float64) (uses []record.Use, cases []eval.Case) {
	for i := range n {
		at := today.Add(-time.Duration(days * float64(i) * 24 * float64(time.Hour)))
		uses = append(uses, record.Use{Time: at})
		if i%2 == 0 {
			cases = append(cases, eval.Case{ID: fmt.Sprint(i), Source: &eval.Source{Origin: record.Mined, Time: at}})
		}
	}
	return uses, cases
}

func TestPace(t *testing.T) {
	uses, cases := used(40, 1)
	p := PaceOf(uses, cases)
	if math.Abs(p.Uses-7) > 0.3 || math.Abs(p.Cases-3.5) > 0.3 {
		t.Errorf("%+v of a use a day, every other of which is a case", p)
	}
	if got := p.wait(8) + (&Proof{Pace: p}).at(); got != "about 3 weeks more at your 7 uses a week" {
		t.Errorf("%q", got)
	}
	// Cases of one session are one piece of evidence; generated and imported ones say nothing of the pace.
	for i := range cases {
		cases[i].Cluster = fmt.Sprint("session-", i/2)
	}
	cases = append(cases, eval.Case{ID: "made", Source: &eval.Source{Origin: "generated", Time: today}}, eval.Case{ID: "brought"})
	if half := PaceOf(uses, cases); math.Abs(half.Cases-p.Cases/2) > 0.1 {
		t.Errorf("%+v of sessions with two cases each, of %+v", half, p)
	}
	for name, p := range map[string]Pace{
		"few":        PaceOf(uses[:9], cases),
		"a few days": func() Pace { u, c := used(40, 0.2); return PaceOf(u, c) }(),
		"no cases":   PaceOf(uses, nil),
	} {
		if p != (Pace{}) || p.wait(5) != "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestProofOfThisTrial: a trial that is continued is forecast under its own rule, with its own
// replays, and one that is promising by its own mean.
func TestProofOfThisTrial(t *testing.T) {
	begun := func(quality float64, pairs, replays int, level float64) *Proof {
		rule := pareto.DefaultConfig().Within(level)
		rule.Failures = 0.3
		st := &record.State{Version: 1, Trial: pareto.NewTrial(rule), Replays: replays}
		for range pairs {
			st.Trial.Add(pareto.Pair{Quality: quality})
		}
		rec := &record.TrialRecord{}
		if err := rec.Save(st); err != nil {
			t.Fatal(err)
		}
		p := &Proof{Replays: 3, Failures: 0.5, Rule: pareto.DefaultConfig()}
		if err := p.GoOn(rec); err != nil {
			t.Fatal(err)
		}
		p.Simulate()
		return p
	}
	three, five, night := begun(0, 2, 3, 0.05), begun(0, 2, 5, 0.05), begun(0, 2, 3, 0.001)
	if three.Failures != 0.3 || three.Gains[0].Gain != 0.15 {
		t.Errorf("%+v", three)
	}
	if five.Replays != 5 || five.Gains[1].Cases >= three.Gains[1].Cases || night.Gains[1].Cases <= three.Gains[1].Cases {
		t.Errorf("3 replays %+v, 5 replays %+v, a stricter level %+v", three.Gains, five.Gains, night.Gains)
	}
	if !strings.HasSuffix(three.Words(0), "; its trial has 2") {
		t.Errorf("%q", three.Words(0))
	}
	p := begun(0.3, 12, 3, 0.05)
	p.Pace = Pace{7, 3.5}
	if p.More == nil || *p.More < 1 || *p.More > 12 {
		t.Fatalf("%+v", p)
	}
	if got, want := p.Words(0), fmt.Sprintf("after 12 cases it is probably better, and at this rate about %d more decide it, about ", *p.More); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.Words(*p.More); strings.Contains(got, "week") {
		t.Errorf("with enough cases: %q", got)
	}
}

func TestProofWords(t *testing.T) {
	p := Proof{Gains: []Gain{{0.25, 32}, {0.17, 65}}, Pace: Pace{7, 3.5}}
	for fresh, want := range map[int]string{
		40: "mending half of its failures (25 points) takes about 32 unseen requests, a third (17) about 65 (about 8 weeks more at your 7 uses a week)",
		25: "mending half of its failures (25 points) takes about 32 unseen requests (about 2 weeks more at your 7 uses a week), a third (17) about 65 (about 12 weeks)",
	} {
		if got := p.Words(fresh); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (&Proof{}).Words(3); got != "nothing was corrected, so there is no failure to mend" {
		t.Errorf("%q", got)
	}
}

// TestProofOfARule: cases come as often as the changed lines apply, and others are compared, too.
func TestProofOfARule(t *testing.T) {
	p := Proof{Failures: 0.3, Replays: 3, Rule: pareto.DefaultConfig().WithRest(), Pace: Pace{60, 40}}
	p.Simulate()
	if p.Rest < 60 || p.Rest > 160 {
		t.Errorf("%d others", p.Rest)
	}
	few := p
	few.Share = &record.Share{Applies: 2, Rest: 98}
	if few.Simulate(); few.Rest <= p.Rest {
		t.Errorf("%d others where the changed lines apply to 2 %%, else %d: a little harm elsewhere outweighs their gain", few.Rest, p.Rest)
	}
	good := p
	good.all = 0.1
	if good.Simulate(); good.Rest >= p.Rest {
		t.Errorf("%d others where the text rarely fails elsewhere, else %d", good.Rest, p.Rest)
	}
	if got, want := p.Words(0), "more if the changed lines apply to all of your 60 requests a week"; !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	p.Gains, p.Rest, p.Share = []Gain{{0.15, 50}}, 95, &record.Share{Applies: 20, Rest: 380}
	want := "mending half of its failures (15 points) takes about 50 unseen requests (about 25 weeks more: the changed lines apply to 20 of your last 400 requests, at your 60 a week); once that is reached, about 95 other requests show that they are not harmed"
	if got := p.Words(0); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNoiseOfRollouts: of runs of one text on one case, whatever the case costs.
func TestNoiseOfRollouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var rs []eval.Rollout
	for i := range 200 {
		usd := math.Exp(float64(i/4) + 0.4*rng.NormFloat64())
		rs = append(rs, eval.Rollout{Candidate: "a", CaseID: fmt.Sprint(i / 4), Status: eval.Done, CostUSD: &usd})
	}
	if got := NoiseOf(rs); math.Abs(got-0.4) > 0.06 {
		t.Errorf("a noise of 0.4 is measured as %g", got)
	}
	if got := NoiseOf(rs[:8]); got != 0 {
		t.Errorf("of two cases: %g", got)
	}
}
