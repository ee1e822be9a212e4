package sleep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A moving agent answers as another model from a call on, or now and then.
type moving struct {
	eval.Agent
	calls atomic.Int64
	name  func(call int64, c *eval.Case) string
}

func (m *moving) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	a, err := m.Agent.Run(ctx, t)
	a.Model = m.name(m.calls.Add(1), t.Case)
	return a, err
}

// TestCertifyOneModel: what another model answers, from some time on or now and
// then, is no evidence about the one that the certificate is about; its cases are
// used up, and no night pays for them again.
func TestCertifyOneModel(t *testing.T) {
	b := newBench(t, 60, 0)
	now, old := b.text(5), b.text(5)
	strange := func(c *eval.Case) bool { return c.ID[len(c.ID)-1] == '3' } // six of the sixty
	for _, c := range []struct {
		name  string
		model func(call int64, c *eval.Case) string
		on    string
		pairs func(n int) bool
		stop  string
	}{
		{"the name is moved", func(call int64, _ *eval.Case) string {
			if call > 31 {
				return "two"
			}
			return "one"
		}, "one", func(n int) bool { return n >= 1 && n <= 20 }, "two answers now, another model than this is about"},
		{"a stand-in now and then", func(_ int64, c *eval.Case) string {
			if strange(c) {
				return "two"
			}
			return "one"
		}, "one", func(n int) bool { return n == 54 }, "no held-out case is left"},
		{"nobody tells", func(int64, *eval.Case) string { return "" }, "", func(n int) bool { return n == 60 }, "no held-out case is left"},
	} {
		k := b.certification(now, old, eval.Caps{}, &recordtest.Memory{})
		agent := &moving{Agent: b.world.Agent(), name: c.model}
		k.Evaluator.Agent, k.Evaluator.Concurrency = agent, 3
		k.On.Reported = "one"
		from := b.fresh(now, old)
		from.Model.Reported, from.Lift = c.on, LiftShown
		got, stop, err := k.Run(t.Context(), "r", from)
		if err != nil {
			t.Fatal(err)
		}
		pairs, used := 0, 0
		for _, p := range got.Parts {
			pairs, used = pairs+len(p.Against), used+len(p.Clusters)
		}
		if !c.pairs(pairs) || stop != c.stop || used < pairs {
			t.Errorf("%s: %d pairs of %d clusters on %v, stopped %q; want %q", c.name, pairs, used, got.Model, stop, c.stop)
		}
		if used > pairs && used != 60 && c.stop[0] == 'n' {
			t.Errorf("%s: %d clusters used, want all", c.name, used)
		}
		before := agent.calls.Load()
		if again, _, err := k.Run(t.Context(), "r2", got); err != nil || c.stop[0] == 'n' && (agent.calls.Load() != before || written(t, again) != written(t, got)) {
			t.Errorf("%s: another night makes %d calls, %v", c.name, agent.calls.Load()-before, err)
		}
	}
}

// TestPreviousGone: a certificate that was not decided against a version that is
// gone by now goes on without it; what was decided stays.
func TestPreviousGone(t *testing.T) {
	k := half(1)
	k.Parts = k.Parts[:1] // nothing is decided
	open := *k.open("", nil).Certificate
	st := NewState("s")
	st.Certificates = []Certificate{open}
	c := (&house{}).cycle(nil)
	d := &Drift{Version: "v", From: Model{Agent: "claude", Asked: "one"}, To: open.Model, Clusters: map[string]int{"new": 1}}
	if s := c.planCertify(&Outlook{Skill: "s", Drift: d}, st); s == nil || s.Rollouts != 2 {
		t.Errorf("planned %+v, want the installed text and no skill", s)
	}
	if got := d.certificate(st); got.Previous != "" {
		t.Errorf("it still asks for %q", got.Previous)
	}
	st.Certificates[0] = half(-1)
	d.Trusted = []string{"j"}
	if got := d.certificate(st); got.Previous != "p" || got.Outcome != Worse {
		t.Errorf("what was decided is %v", &got)
	}
}

// TestReplacedTonight: a text that the same night replaces needs no certificate, and
// that is no failure.
func TestReplacedTonight(t *testing.T) {
	h := &house{outlooks: map[string]Outlook{"a": drifted("a", 3)}}
	c := h.cycle(Stored(openStore(t)))
	c.Parts.Certify = func(context.Context, Task, Drift, Certificate) (CertificationResult, error) {
		return CertificationResult{}, fmt.Errorf("certify: %w", ErrReplaced)
	}
	n, err := c.Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 100}})
	if err != nil {
		t.Fatal(err)
	}
	k := slices.IndexFunc(n.Steps, func(s Step) bool { return s.Kind == Certify })
	if k < 0 || n.Steps[k].Stage != Skipped || !strings.Contains(n.Steps[k].Note, ErrReplaced.Error()) {
		t.Errorf("%+v", n.Steps)
	}
	if n.Model.Asked != "two" {
		t.Errorf("the night's model is %v", n.Model)
	}
}

// TestCertificateOfAnUnknownModel: where it is not known which of two models answers
// to a name, the one that was tried last is taken for it.
func TestCertificateOfAnUnknownModel(t *testing.T) {
	st := NewState("s")
	on := func(reported string) Model { return Model{Agent: "claude", Asked: "best", Reported: reported} }
	for _, reported := range []string{"b1", "b2"} {
		st.certify(Certificate{Version: "v", Model: on(reported)}, on(reported))
	}
	for asked, want := range map[string]string{"": "b2", "b1": "b1", "b2": "b2", "b3": "b3"} {
		if got := st.Certificate("v", "", on(asked)); got.Model.Reported != want {
			t.Errorf("reported %q: the certificate on %v, want %s", asked, got.Model, want)
		}
	}
	c := st.Certificate("v", "", on(""))
	c.Cases = 7
	st.certify(c, on(""))
	if len(st.Certificates) != 2 || st.Certificates[1].Cases != 7 {
		t.Errorf("kept %+v", st.Certificates)
	}
}

// TestWorseAtAPrice: a version that is worse in what it costs or takes alone, and
// answers better, is an alarm, and no night takes it back by itself.
func TestWorseAtAPrice(t *testing.T) {
	paper := func(p pareto.Pair) Certificate {
		k := Certificate{Version: "v0-a", Previous: "old-a", Model: Model{Agent: "claude", Asked: "two"}}
		part := CertificatePart{Run: "n"}
		for i := range 60 {
			part.Clusters = append(part.Clusters, fmt.Sprint(i))
			part.Against = append(part.Against, p)
			part.Alone = append(part.Alone, pareto.Pair{Quality: 0.5})
		}
		k.Parts = []CertificatePart{part}
		return *k.open("", nil).Certificate
	}
	for _, c := range []struct {
		name string
		pair pareto.Pair
		back bool
		word string
	}{
		{"slower, and better", pareto.Pair{Quality: 0.1, Latency: -0.5, Retries: 0.1}, false, "latency ×2.00 ("},
		{"slower, and no better", pareto.Pair{Latency: -0.5}, true, "quality +0.00 ("},
		{"worse answers", pareto.Pair{Quality: -0.5, Retries: -0.5}, true, "quality -0.50 ("},
		{"asked again more often", pareto.Pair{Retries: -0.5}, true, "retries +0.50 ("},
	} {
		k := paper(c.pair)
		if k.Outcome != Worse || !strings.Contains(k.String(), c.word) {
			t.Fatalf("%s: %v", c.name, &k)
		}
		h := &house{outlooks: map[string]Outlook{"a": drifted("a", 3)}, papers: map[string]Certificate{"a": k}}
		cycle := h.cycle(Stored(openStore(t)))
		certify := cycle.Parts.Certify
		cycle.Parts.Certify = func(ctx context.Context, task Task, d Drift, p Certificate) (CertificationResult, error) {
			r, err := certify(ctx, task, d, p)
			r.Certificate = k
			return r, err
		}
		cycle.Rollback = true
		n, err := cycle.Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 100}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(h.rolledBack) == 1; got != c.back {
			t.Errorf("%s: taken back %v, want %v: %q", c.name, got, c.back, notes(n))
		}
		if told := strings.Join(notes(n), "; "); !strings.Contains(told, "alarm: ") || strings.Contains(told, "not taken back: its answers are better") == c.back {
			t.Errorf("%s: %q", c.name, told)
		}
	}
}
