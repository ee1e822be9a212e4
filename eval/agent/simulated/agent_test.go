package simulated_test

import (
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/eval/check"
)

// share is the weighted share of contains checks that an answer passes.
func share(k *eval.Case, answer string) float64 {
	var passed float64
	for _, c := range k.Checks {
		if strings.Contains(answer, c.Value) {
			passed++
		}
	}
	return passed / float64(len(k.Checks))
}

func TestOracleIsTheMeanOfManyTasks(t *testing.T) {
	for _, w := range []simulated.World{worldstest.Additive(1, 24, 0.1), worldstest.Conflicting(2, 0.1), worldstest.Deceptive(1, 0.1), worldstest.HarmfulSeed(1, 0.2)} {
		cases := w.Cases(0, 0, 40)
		text := with(w, pick(w.Lessons, 0, 2)...)
		c := simulated.Compile(w)
		const trials = 500
		var sum float64
		for i := range cases {
			for s := range trials {
				at := c.Attempt([]byte(text), eval.Task{Case: &cases[i], Seed: int64(s)})
				sum += share(&cases[i], at.Answer)
			}
		}
		mean, want := sum/float64(trials*len(cases)), w.Oracle(text, cases)
		// 20,000 draws of at most 0.5 deviation: 5 standard errors are 0.018.
		if math.Abs(mean-want) > 0.018 {
			t.Errorf("%s: mean of %d tasks = %.4f, oracle says %.4f", w.Name, trials*len(cases), mean, want)
		}
	}
}

func TestSameTaskSameAnswer(t *testing.T) {
	w := worldstest.Additive(1, 24, 0.3)
	cases := w.Cases(0, 0, 40)
	text := []byte(with(w, w.Lessons...))
	want := make([]string, len(cases))
	c := simulated.Compile(w)
	for i := range cases {
		want[i] = c.Attempt(text, eval.Task{Case: &cases[i], Seed: 7}).Answer
	}
	// Another agent of the same world, from the other end, all at once.
	again := simulated.Compile(w)
	var wg sync.WaitGroup
	for i := len(cases) - 1; i >= 0; i-- {
		wg.Go(func() {
			if got := again.Attempt(text, eval.Task{Case: &cases[i], Seed: 7}).Answer; got != want[i] {
				t.Errorf("case %s: %q, then %q", cases[i].ID, want[i], got)
			}
		})
	}
	wg.Wait()
	differ := 0
	for i := range cases {
		if c.Attempt(text, eval.Task{Case: &cases[i], Seed: 8}).Answer != want[i] {
			differ++
		}
	}
	if differ == 0 {
		t.Error("another seed draws the same noise in all 40 cases")
	}
}

func TestIdentityFollowsTheWorld(t *testing.T) {
	a, b := worldstest.Additive(1, 24, 0.05), worldstest.Additive(1, 24, 0.06)
	id := a.Agent().Identity()
	if !id.Simulated || id.Backend != "simulated" {
		t.Errorf("identity %+v is not marked as simulated", id)
	}
	if id != a.Agent().Identity() {
		t.Error("the same world has two identities")
	}
	if id == b.Agent().Identity() {
		t.Error("a world with other noise has the same identity")
	}
}

func TestWorkRetryFollowsFeedback(t *testing.T) {
	w := worldstest.Additive(1, 4, 0)
	k := w.Cases(1, 0, 0)[0]
	c := simulated.Compile(w)
	var told []string
	for _, ck := range k.Checks {
		told = append(told, "you forgot: "+ck.Feedback)
	}
	first := c.Attempt(nil, eval.Task{Case: &k})
	if got := share(&k, first.Answer); got != 0 {
		t.Errorf("untaught first attempt passes %.2f, want 0", got)
	}
	second := c.Attempt(nil, eval.Task{Case: &k, Prior: &eval.Prior{Answer: first.Answer, Feedback: told}})
	if got := share(&k, second.Answer); got != 1 {
		t.Errorf("told what is missing, it passes %.2f, want 1", got)
	}
}

func TestLongerSkillCostsMore(t *testing.T) {
	w := worldstest.Additive(1, 24, 0)
	k := w.Cases(1, 0, 0)[0]
	c := simulated.Compile(w)
	short := c.Attempt([]byte(w.Seed()), eval.Task{Case: &k})
	long := c.Attempt([]byte(w.Seed()+strings.Repeat("- and so on\n", 200)), eval.Task{Case: &k})
	if *long.CostUSD <= *short.CostUSD || long.Usage.Input <= short.Usage.Input {
		t.Errorf("cost %g → %g, input %d → %d: want both to rise", *short.CostUSD, *long.CostUSD, short.Usage.Input, long.Usage.Input)
	}
	if short.Duration <= 0 {
		t.Errorf("duration = %v, want it modelled", short.Duration)
	}
}

func TestUntaughtAgentHesitates(t *testing.T) {
	w := simulated.Demo()
	k := eval.Case{Prompt: "Plot revenue of the ferry"}
	c := simulated.Compile(w)
	before := c.Attempt([]byte(w.Seed()), eval.Task{Case: &k}).Usage
	after := c.Attempt([]byte(with(w, w.Lessons...)), eval.Task{Case: &k}).Usage
	if before.Reasoning != int64(w.Hesitation) || after.Reasoning != 0 {
		t.Errorf("it thinks for %d tokens untaught and %d taught, want %d and 0", before.Reasoning, after.Reasoning, w.Hesitation)
	}
}

func BenchmarkTask(b *testing.B) {
	w := worldstest.Additive(1, 24, 0.05)
	cases := w.Cases(0, 0, 60)
	c := simulated.Compile(w)
	text := []byte(with(w, w.Lessons...))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Attempt(text, eval.Task{Case: &cases[i%len(cases)], Seed: int64(i)})
	}
}

// Lines of an answer stand for work, in cases with checks of work.
func TestWork(t *testing.T) {
	w := worldstest.Additive(1, 24, 0)
	w.Opening = "Done.\n$ go vet ./...\n+ docs/a.md: one: two"
	c := w.Cases(1, 0, 0)[0]
	if a, err := w.Agent().Run(t.Context(), eval.Task{Case: &c}); err != nil || a.Work != nil {
		t.Errorf("work of a case that asks for none: %+v, %v", a.Work, err)
	}
	c.Checks = []eval.Check{{Type: eval.Ran, Value: "go vet"}, {Type: eval.NotRan, Value: "go vet", After: check.LastEdit}, {Type: eval.Added, Value: "^one: two$", Path: "docs/*"}}
	a, err := w.Agent().Run(t.Context(), eval.Task{Case: &c})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := new(eval.Checks).Grade(t.Context(), &c, a, ""); err != nil || g.Quality != 1 {
		t.Errorf("%+v, %v", g, err)
	}
}
