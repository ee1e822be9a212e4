package probing

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A reader breaks the first rule at a rate that depends on the text it was given.
type reader struct {
	rates map[string]float64 // by the text's SHA-256

	mu   sync.Mutex
	rng  *rand.Rand
	asks []string // the texts in the order in which they were asked
}

func (*reader) Identity() eval.Identity { return eval.Identity{Backend: "reader"} }

func (r *reader) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sha := t.Variant.SHA()
	r.asks = append(r.asks, sha)
	answer := "kept"
	if strings.HasPrefix(t.Case.Prompt, "delete") && r.rng.Float64() < r.rates[sha] {
		answer = "deleted"
	}
	return eval.Attempt{Answer: answer}, nil
}

func trialOf(t testing.TB, before, after float64, caps eval.Caps, seed uint64) (*trial, *reader) {
	l := live(t)
	rules := probes.Rules(l.Doc)
	set := &probes.Set{Schema: 1, Skill: "tagger"}
	for n, id := range []string{"a", "b", "c", "d", "e", "f"} {
		p := probes.Probe{ID: id, Rule: rules[n/3], Prompt: "delete it " + id, Checks: []eval.Check{{Type: "not_contains", Value: "deleted"}}}
		if n >= 3 {
			p.Prompt = "print it " + id
		}
		set.Probes = append(set.Probes, p)
	}
	doc, err := skill.Parse([]byte(strings.Replace(string(l.Doc.Render()), "# Tagger\n", "# Tagger\n\nBe quick.\n", 1)), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	old := eval.Variant{Name: "tagger", Doc: l.Doc}
	k := &trial{set: set, outcome: &probes.Outcome{Schema: 1, Skill: "tagger"}, before: old, after: old.With(doc), cases: make([]eval.Case, 6)}
	for i := range set.Probes {
		k.cases[i] = set.Probes[i].Case("tagger")
	}
	r := &reader{rates: map[string]float64{k.before.SHA(): before, k.after.SHA(): after}, rng: rand.New(rand.NewPCG(seed, 1))}
	k.ev = &eval.Evaluator{Agent: r, Grader: &eval.Checks{}, Budget: eval.NewBudget(caps, time.Now)}
	return k, r
}

// A rule that is broken more often is answered afresh, alone; both texts adjacent in time.
func TestTrial(t *testing.T) {
	k, r := trialOf(t, 0, 1, eval.Caps{}, 1)
	if err := k.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.outcome.Decide()
	fs := k.outcome.Findings
	want := probes.Breaches{After: 6, N: 6}
	if len(fs) != 2 || fs[0].Screen != want || fs[0].Fresh == nil || *fs[0].Fresh != (probes.Breaches{After: 24, N: 24}) || !fs[0].Held {
		t.Errorf("%+v", fs)
	}
	if fs[1].Screen != (probes.Breaches{N: 6}) || fs[1].Fresh != nil || fs[1].Held {
		t.Errorf("the other rule: %+v", fs[1])
	}
	if k.outcome.Replays != 24+48 || len(r.asks) != 24+48 || k.outcome.Stopped != "" {
		t.Errorf("%d replays, %d asked, %q", k.outcome.Replays, len(r.asks), k.outcome.Stopped)
	}
	first := 0
	for i := 0; i < len(r.asks); i += 2 {
		if r.asks[i] == r.asks[i+1] {
			t.Fatalf("replays %d and %d are of the same text", i, i+1)
		}
		if r.asks[i] == k.before.SHA() {
			first++
		}
	}
	if first == 0 || first == len(r.asks)/2 {
		t.Errorf("one text always comes first")
	}

	k, r = trialOf(t, 1, 0, eval.Caps{}, 1) // better than before
	if err := k.run(t.Context()); err != nil || len(r.asks) != 24 {
		t.Errorf("%d asked, %v", len(r.asks), err)
	}
	if k.outcome.Decide(); k.outcome.String() != "no rule is broken more often than before, in 24 replays" {
		t.Errorf("%s", k.outcome)
	}
}

// A cap ends it before it decides.
func TestTrialWithinItsCap(t *testing.T) {
	k, r := trialOf(t, 0, 1, eval.Caps{Rollouts: 30}, 1)
	err := k.run(t.Context())
	var limit *eval.BudgetError
	if !errors.As(err, &limit) || limit.Cap != eval.CapRollouts || len(r.asks) > 30 {
		t.Errorf("%d asked, %v", len(r.asks), err)
	}
	if k.outcome.Findings[0].Fresh != nil {
		t.Errorf("half of the fresh answers decide: %+v", k.outcome.Findings[0])
	}
}

// The real trial errs as often as the table in docs/kernel-probes.md says: seldom on equal texts,
// and seldom on a rule that is broken in half of its answers.
func TestTrialErrs(t *testing.T) {
	held := func(before, after float64) (n int) {
		for seed := range uint64(200) {
			k, _ := trialOf(t, before, after, eval.Caps{}, seed)
			if err := k.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if k.outcome.Decide(); len(k.outcome.Held()) > 0 {
				n++
			}
		}
		return n
	}
	if n := held(.3, .3); n > 6 { // .4 % of equal texts
		t.Errorf("%d of 200 equal texts are held back", n)
	}
	if n := held(.01, .51); n < 185 { // 97 %
		t.Errorf("%d of 200 texts that break a rule are held back", n)
	}
}

// A budget of probes has what its payer's caps leave beside what was paid for before, and no more
// if they leave nothing.
func TestWithPaid(t *testing.T) {
	before := eval.Spent{TokensIn: 30, TokensOut: 10, CostUSD: .5, WallMS: 2000}
	for _, c := range []struct{ left, want eval.Caps }{
		{eval.Caps{}, eval.Caps{}},
		{eval.Caps{Tokens: 60, CostUSD: 1, Duration: time.Second}, eval.Caps{Tokens: 100, CostUSD: 1.5, Duration: 3 * time.Second}},
		{eval.Caps{Rollouts: 7, Tokens: -1, CostUSD: -1, Duration: -1}, eval.Caps{Tokens: 40, CostUSD: .5, Duration: 2 * time.Second}},
	} {
		if got := withPaid(c.left, before); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.left, got, c.want)
		}
	}
	none := withPaid(eval.Caps{Tokens: -1}, eval.Spent{})
	k, r := trialOf(t, 0, 1, none, 1)
	var limit *eval.BudgetError
	if err := k.run(t.Context()); !errors.As(err, &limit) || len(r.asks) != 0 {
		t.Errorf("nothing is left: %d asked, %v", len(r.asks), err)
	}
}

// Another agent, program, model, sandbox or simulation is asked its own probes; a patch of the
// agent's version is not another one.
func TestBy(t *testing.T) {
	id := eval.Identity{Backend: "command", Version: "1.2.3", Model: "m", Params: `{"program":"good"}`}
	was := By(id, "")
	if on := By(id, agent.SandboxOn); on != was {
		t.Errorf("%q is not %q", on, was)
	}
	patch := id
	if patch.Version = "1.2.4"; By(patch, "") != was {
		t.Errorf("%q is not %q", By(patch, ""), was)
	}
	for name, change := range map[string]func(id *eval.Identity){
		"program": func(id *eval.Identity) { id.Params = `{"program":"bad"}` }, "release": func(id *eval.Identity) { id.Version = "1.3.0" },
		"agent": func(id *eval.Identity) { id.Backend = "claude" }, "model": func(id *eval.Identity) { id.Model = "n" }, "simulated": func(id *eval.Identity) { id.Simulated = true },
	} {
		other := id
		if change(&other); By(other, "") == was {
			t.Errorf("another %s: %q", name, was)
		}
	}
	if By(id, agent.SandboxNone) == was {
		t.Errorf("without a sandbox: %q", was)
	}
}
