package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
	"pgregory.net/rapid"
)

// engine builds a search in world w; tests change what they need.
func engine(t testing.TB, w simulated.World, rollouts int64, journal record.Journal) (*Engine, eval.Variant, Cases) {
	t.Helper()
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	budget := eval.NewBudget(eval.Caps{Rollouts: rollouts}, nil)
	e := &Engine{
		Evaluator: &eval.Evaluator{Agent: w.Agent(), Grader: &eval.Checks{}, Budget: budget, Recorder: journal, Concurrency: 8},
		Mutator:   &eval.Metered{Model: w.Model(), By: eval.ByMutator, Budget: budget, Recorder: journal, Scope: "r"},
		Log:       &record.Log{Journal: journal, Run: "r", Now: func() time.Time { return time.Unix(0, 0) }},
	}
	return e, eval.Variant{Name: doc.Name(), Doc: doc}, split(w.Cases(20, 20, 40))
}

// TestConcurrencyNeverChangesTheResult: what a search decides is a function of
// its seed, however many workers race.
func TestConcurrencyNeverChangesTheResult(t *testing.T) {
	for _, w := range []simulated.World{worldstest.Additive(1, 16, 0.1), worldstest.HarmfulSeed(2, 0.1), worldstest.Interacting(3, 0.1)} {
		t.Run(w.Name, func(t *testing.T) {
			var first []record.Event
			for _, concurrency := range []int{8, 1, 3} {
				m := &recordtest.Memory{}
				e, inc, cases := engine(t, w, 260, m)
				e.Evaluator.Concurrency = concurrency
				if _, err := e.Search(context.Background(), inc, cases); err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = m.Events
					continue
				}
				for i := range first {
					if i >= len(m.Events) || !reflect.DeepEqual(first[i], m.Events[i]) {
						t.Fatalf("event %d differs at concurrency %d:\n%s\n%s", i, concurrency, first[i].Data, m.Events[i].Data)
					}
				}
			}
			if len(first) < 6 {
				t.Fatalf("only %d events: nothing was compared", len(first))
			}
		})
	}
}

// dying ends the context after a number of calls: a run that is interrupted at
// any moment.
type dying struct {
	eval.Agent
	left atomic.Int64
	stop context.CancelFunc
}

func (d *dying) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if d.left.Add(-1) == 0 {
		d.stop()
	}
	if err := ctx.Err(); err != nil {
		return eval.Attempt{}, err
	}
	return d.Agent.Run(ctx, t)
}

// TestInterruptedAndResumed stops a search after n calls and repeats it over
// the same journal, for every combination of strategies: the end must be that
// of the uninterrupted search, with the same spending.
func TestInterruptedAndResumed(t *testing.T) {
	for selector := range Selectors {
		for accept := range Acceptances {
			for batch := range Batches {
				for stop := range Stops {
					usual := batch == "targeted" && stop == "patience"
					if testing.Short() && !usual {
						continue
					}
					for _, proposals := range []int{1, 4} {
						opt := Options{Seed: 3, Selector: Selectors[selector], Accept: Acceptances[accept], Batch: Batches[batch], Stop: Stops[stop](8), Proposals: proposals}
						t.Run(fmt.Sprint(selector, " ", accept, " ", batch, " ", stop, " ", proposals), func(t *testing.T) {
							t.Parallel()
							interruptAndResume(t, opt, usual)
						})
					}
				}
			}
		}
	}
}

func interruptAndResume(t *testing.T, opt Options, usual bool) {
	w := worldstest.Additive(5, 30, 0.1)
	rollouts := int64(240)
	if !usual { // several rounds, and a challenger
		rollouts = 160
	}
	ref := &recordtest.Memory{}
	e, inc, cases := engine(t, w, rollouts, ref)
	e.Options = opt
	want, err := e.Search(context.Background(), inc, cases)
	if err != nil || want.Challenger == nil || want.Stats.Rounds < 3 {
		t.Fatalf("reference %+v, %v", want, err)
	}
	spent := e.Evaluator.Budget.Spent()
	all := spent.Rollouts
	stops := []int64{33, 1, all * 3 / 4, all - 2}
	if testing.Short() || !usual { // under the race detector; and of many combinations
		stops = stops[2:3]
	}
	for _, n := range stops {
		m := &recordtest.Memory{}
		e, inc, cases := engine(t, w, rollouts, m)
		e.Options = opt
		ctx, stop := context.WithCancel(context.Background())
		d := &dying{Agent: e.Evaluator.Agent, stop: stop}
		d.left.Store(n)
		e.Evaluator.Agent = d
		if _, err := e.Search(ctx, inc, cases); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d: %v", n, err)
		}
		e, inc, cases = engine(t, w, rollouts, m)
		e.Options = opt
		got, err := e.Search(context.Background(), inc, cases)
		if err != nil {
			t.Fatal(err)
		}
		if got.Challenger == nil || got.Challenger.SHA != want.Challenger.SHA || !reflect.DeepEqual(got.Stats, want.Stats) {
			t.Fatalf("stopped after %d: %+v, want %+v", n, got.Stats, want.Stats)
		}
		s := e.Evaluator.Budget.Spent()
		if s.Rollouts != spent.Rollouts || s.AgentCalls != spent.AgentCalls || s.MutatorCalls != spent.MutatorCalls || s.TokensIn != spent.TokensIn {
			t.Fatalf("stopped after %d: spent %+v, want %+v", n, s, spent)
		}
		if !reflect.DeepEqual(m.Events, ref.Events) {
			t.Fatalf("stopped after %d: the events differ", n)
		}
	}
}

// TestSearchLearns holds the search to what it reached when this was written,
// with room for a changed draw: the mean over four seeds at 300 rollouts.
func TestSearchLearns(t *testing.T) {
	for name, least := range map[string]float64{"additive": 0.85, "conflicting": 0.5, "interacting": 0.85, "rewrite": 0.85, "harmful": 0.75} {
		for _, w := range testWorlds {
			if w.name != name {
				continue
			}
			sum := 0.0
			for seed := range int64(4) {
				score, res, _ := searchWorld(t, w.make(seed), 300, seed)
				sum += score
				for _, c := range res.Pool {
					if doc, err := skill.Parse(c.Text, skill.Options{}); err != nil || doc.Hash() != c.SHA {
						t.Errorf("%s: candidate %s is not its text: %v", name, c.SHA, err)
					}
				}
			}
			if sum/4 < least {
				t.Errorf("%s: %.3f on the test split, want at least %.2f", name, sum/4, least)
			}
		}
	}
}

// TestBudgetIsNeverExceeded, whatever it is.
func TestBudgetIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64Range(1, 90).Draw(rt, "rollouts")
		seed := rapid.Int64Range(0, 50).Draw(rt, "seed")
		w := worldstest.Additive(seed, 8, 0.1)
		m := &recordtest.Memory{}
		e, inc, cases := engine(t, w, n, m)
		e.Options.Seed = seed
		res, err := e.Search(context.Background(), inc, cases)
		if err != nil {
			rt.Fatal(err)
		}
		if spent := e.Evaluator.Budget.Spent().Rollouts; spent > n {
			rt.Fatalf("spent %d of %d", spent, n)
		}
		// A leader that the budget left without the rest of its validation was
		// clearly ahead on a first stretch of it.
		if c := res.Challenger; c != nil && !c.Full && c.Metrics.N < 8 {
			rt.Fatalf("the challenger was validated on %d cases", c.Metrics.N)
		}
	})
}

func TestAgentThatNeverAnswersIsNotAScore(t *testing.T) {
	m := &recordtest.Memory{}
	e, inc, cases := engine(t, worldstest.Additive(1, 8, 0), 100, m)
	e.Evaluator.Agent = silent{}
	_, err := e.Search(context.Background(), inc, cases)
	var fails *AgentFailsError
	if !errors.As(err, &fails) || fails.Failure != "empty answer" {
		t.Fatalf("got %v", err)
	}
}

type silent struct{}

func (silent) Identity() eval.Identity { return eval.Identity{Backend: "silent"} }

func (silent) Run(context.Context, eval.Task) (eval.Attempt, error) {
	return eval.Attempt{Failure: "empty answer"}, nil
}

func TestAcceptance(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		child, parent []float64
		strict, equal bool
	}{
		{[]float64{1, 0}, []float64{0, 0}, true, true},
		{[]float64{1, 0}, []float64{0, 1}, false, true},
		{[]float64{0, 0}, []float64{0, 1}, false, false},
		{[]float64{nan, 1}, []float64{1, 0}, true, true}, // missing does not count
		{[]float64{nan}, []float64{1}, false, true},
	} {
		if got := (Strict{}).Accept(c.child, c.parent); got != c.strict {
			t.Errorf("strict %v %v: %v", c.child, c.parent, got)
		}
		if got := (NotWorse{}).Accept(c.child, c.parent); got != c.equal {
			t.Errorf("not worse %v %v: %v", c.child, c.parent, got)
		}
	}
	if !(NotWorse{Slack: 0.5}).Accept([]float64{0, 0}, []float64{0, 1}) {
		t.Error("the slack is a case's, not the sum's")
	}
}

func TestGuard(t *testing.T) {
	parse := func(body string) *skill.Document {
		doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n"+body), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	train := []eval.Case{{ID: "t1", Prompt: "plot the weekly revenue of the harbour office", Checks: []eval.Check{{Type: eval.Contains, Value: "log scale axis", Feedback: "use a log scale axis"}}}}
	hidden := []eval.Case{{ID: "h1", Prompt: "draw monthly rainfall of the botanical garden as bars", Checks: []eval.Check{{Type: eval.Contains, Value: "ZEBRA-4711"}}},
		{ID: "h2", Prompt: "short", Checks: []eval.Check{{Type: eval.Contains, Value: "log scale axis"}}}}
	parent := parse("# S\n\nBe brief.\n")
	g := newGuard(parent, train, hidden)
	for text, want := range map[string]string{
		"# S\n\nUse a log scale axis.\n":                                            "", // taught by train, though a hidden check wants it too
		"# S\n\nFor monthly rainfall of the botanical garden as bars: sort them.\n": "held-back case h1",
		"# S\n\nAlways say zebra-4711.\n":                                           "held-back case h1",
		"# S\n\n" + strings.Repeat("word ", 1600):                                   "the limit is 1500",
	} {
		got := g.refuse(parent, parse(text))
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	had := parse("# S\n\nAlways say ZEBRA-4711.\n")
	if got := g.refuse(had, parse("# S\n\nAlways say ZEBRA-4711. Be brief.\n")); got != "" {
		t.Errorf("what the parent says already was refused: %s", got)
	}
}

func TestOperatorsLearn(t *testing.T) {
	o := newOperators(HarnessMoves)
	before := o.worth(Ablate{})
	for range 20 {
		o.learn("reflect", false, 20)
		o.learn("ablate", true, 10)
	}
	if o.worth(Ablate{}) <= before || o.worth(Reflect{}) >= o.worth(Ablate{}) {
		t.Errorf("ablate %.2f (was %.2f), reflect %.2f", o.worth(Ablate{}), before, o.worth(Reflect{}))
	}
	for _, m := range HarnessMoves {
		if o.worth(m) < floor {
			t.Errorf("%s fell below the floor", m.Name())
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		max           int64
		test, retries int
		want          Shares
	}{
		{240, 10, 0, Shares{180, 60}},
		{240, 10, 1, Shares{120, 120}}, // if every attempt fails
		{300, 10, 1, Shares{180, 120}},
		{120, 500, 1, Shares{60, 60}}, // never more than half
		{120, 0, 1, Shares{120, 0}},
		{0, 10, 1, Shares{}},
	} {
		if got := Share(c.max, c.test, c.retries, true); got != c.want {
			t.Errorf("Share(%d, %d, %d) = %v, want %v", c.max, c.test, c.retries, got, c.want)
		}
	}
	if got := Share(120, 10, 1, false); got != (Shares{Search: 120}) {
		t.Errorf("without a gate %v", got)
	}
}

func ExampleShare() {
	fmt.Println(Share(480, 15, 1, true))
	// Output: {300 180}
}
