package sleep

import (
	"fmt"
	"math"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// judged makes judge-only cases of the first n: the judge looks for the same.
func (b *bench) judged(n int) {
	for i := range b.cases[:n] {
		c := &b.cases[i]
		for k := range c.Checks {
			c.Checks[k] = eval.Check{Type: eval.Judge, Rubric: c.Checks[k].Feedback}
		}
	}
}

// TestCertifyByJudge: clusters that a judge alone decides are tried only where its
// word counts, after the others, and are told apart in what is kept.
func TestCertifyByJudge(t *testing.T) {
	b := newBench(t, 60, 0)
	b.judged(30)
	now, old := b.text(4), b.text(4) // nothing decides it before the last case
	run := func(judge string) Certificate {
		t.Helper()
		k := b.certification(now, old, eval.Caps{}, &recordtest.Memory{})
		k.Evaluator.Grader = &eval.Checks{Judge: b.world.Model()}
		k.Judge = judge
		c := b.fresh(now, old)
		c.Lift = LiftShown
		k.Trusts = func(j string) bool { return j == judge }
		got, _, err := k.Run(t.Context(), "r", c)
		if err != nil {
			t.Fatal(err)
		}
		before := written(t, got)
		for _, run := range []string{"r", "r2"} { // the same one again, and another night
			if again, _, err := k.Run(t.Context(), run, got); err != nil || written(t, again) != before {
				t.Errorf("run %s over it: %v, %v; want it unchanged: %v", run, &again, err, &got)
			}
		}
		return got
	}
	tried := map[string]int{}
	c := run("")
	for _, p := range c.Parts {
		tried[p.Judge] += len(p.Clusters)
	}
	if c.Cases != 30 || tried[""] != 30 {
		t.Errorf("a judge whom nobody trusts: %d clusters, %v by judge; want the 30 others", c.Cases, tried)
	}
	clear(tried)
	c = run("j")
	for _, p := range c.Parts {
		tried[p.Judge] += len(p.Clusters)
	}
	if c.Cases != 60 || tried[""] != 30 || tried["j"] != 30 || len(c.Parts) != 2 || c.Parts[1].Judge != "j" {
		t.Errorf("a trusted judge: %d clusters, %v by judge; want 30 and 30, those of the judge last", c.Cases, tried)
	}
}

// half is a certificate that needs the word of judge j: some clusters are decided
// without it.
func half(gain float64) Certificate {
	c := Certificate{Version: "v", Previous: "p", Model: Model{Agent: "claude", Asked: "two"}}
	part := func(judge string, n int) CertificatePart {
		p := CertificatePart{Run: "night1", Judge: judge}
		for i := range n {
			p.Clusters = append(p.Clusters, fmt.Sprint(judge, i))
			p.Against = append(p.Against, pareto.Pair{Quality: gain, Retries: gain, Latency: math.NaN(), Cost: math.NaN()})
			p.Alone = append(p.Alone, pareto.Pair{Quality: gain, Retries: gain, Latency: math.NaN(), Cost: math.NaN()})
		}
		return p
	}
	c.Parts = []CertificatePart{part("", 2), part("j", 140)}
	return *c.open("", func(string) bool { return true }).Certificate
}

func trust(names ...string) Trust { return Trust{Trusted: names} }

// TestJudgeLosesTrust: a certificate that rests on a judge says nothing any more
// once that judge is not trusted, and says it again once it is; its clusters may be
// tried again meanwhile. What rests on other checks stays.
func TestJudgeLosesTrust(t *testing.T) {
	for _, c := range []struct {
		gain    float64
		outcome Outcome
		lift    Lift
	}{{1, Certified, LiftShown}, {-1, Worse, NoLift}, {0, Certified, NoLift}} {
		k := half(c.gain)
		if k.Outcome != c.outcome || k.Lift != c.lift || !k.Closed() || k.Cases != 142 {
			t.Fatalf("gain %v, trusted: %v", c.gain, &k)
		}
		before := written(t, k)
		lost := k.Recount(trust("another").Trusts)
		if lost.Outcome != Open || lost.Lift != LiftOpen || lost.Closed() || lost.Cases != 2 || lost.Tried("j3", "") || !lost.Tried("0", "") {
			t.Errorf("gain %v: without the judge it says %v", c.gain, &lost)
		}
		if written(t, k) != before {
			t.Error("recounting changes what was recounted")
		}
		if again := k.Recount(trust("j").Trusts); written(t, again) != before {
			t.Errorf("gain %v: trusted again it says %v", c.gain, &again)
		}

		retires := func(on Model, trusts func(string) bool) bool {
			st := NewState("s")
			st.Certificates = []Certificate{k}
			st.Stand(on, trusts)
			return st.Retiring("v") != nil
		}
		if got := retires(Model{}, trust("j").Trusts); got != (c.lift == NoLift) {
			t.Errorf("gain %v: proposed for retirement: %v", c.gain, got)
		}
		if retires(Model{}, trust().Trusts) {
			t.Errorf("gain %v: proposed on the word of a judge that nobody trusts", c.gain)
		}
		if retires(Model{Agent: "claude", Asked: "three"}, trust("j").Trusts) {
			t.Errorf("gain %v: proposed for another model than tonight's", c.gain)
		}
	}
}

// TestPlanByJudge: what is planned is what will be tried.
func TestPlanByJudge(t *testing.T) {
	c := (&house{}).cycle(nil)
	one, two := Model{Agent: "claude", Asked: "one"}, Model{Agent: "claude", Asked: "two"}
	plan := func(k *Certificate, d Drift) *Step {
		st := NewState("s")
		if k != nil {
			st.Certificates = []Certificate{*k}
		}
		d.Version, d.Previous, d.From, d.To, d.Tries = "v", "p", one, two, 2
		return c.planCertify(&Outlook{Skill: "s", Drift: &d}, st)
	}
	k := half(1)
	if s := plan(&k, Drift{Clusters: map[string]int{"0": 1, "j3": 1, "new": 1}, Trust: Trust{Judge: "j", Trusted: []string{"j"}}}); s != nil {
		t.Errorf("closed, and the judge is trusted: planned %+v", s)
	}
	// The judge lost its trust: what it decided is open, and cannot be tried.
	if s := plan(&k, Drift{Clusters: map[string]int{"0": 1}, Unproven: 2}); s == nil || s.Stage != Skipped {
		t.Errorf("nothing left to try: planned %+v, want a word about the judge", s)
	}
	if s := plan(&k, Drift{Clusters: map[string]int{"0": 1, "new": 1}, Unproven: 2}); s == nil || s.Stage != Planned || s.Rollouts != 3*2 {
		t.Errorf("one cluster to try in three arms: planned %+v", s)
	}
	// Another judge: what the first one decided may be tried again.
	if s := plan(&k, Drift{Clusters: map[string]int{"0": 1, "j3": 1, "new": 1}, Trust: Trust{Judge: "k", Trusted: []string{"k"}}}); s == nil || s.Rollouts != 2*3*2 {
		t.Errorf("two clusters to try in three arms: planned %+v", s)
	}
	if s := plan(nil, Drift{Unproven: 3}); s == nil || s.Stage != Skipped || s.Rollouts != 0 {
		t.Errorf("judge-only cases and no trust: planned %+v", s)
	}
	if s := plan(nil, Drift{}); s != nil {
		t.Errorf("no case at all: planned %+v", s)
	}
}
