package search

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// searchWorld runs one search in a simulated world and returns the oracle score
// of the winner on the test split.
func searchWorld(t testing.TB, w simulated.World, rollouts int64, seed int64) (score float64, res *Result, journal *recordtest.Memory) {
	t.Helper()
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cases := split(w.Cases(30, 30, 60))
	journal = &recordtest.Memory{}
	budget := eval.NewBudget(eval.Caps{Rollouts: rollouts}, nil)
	e := &Engine{
		Evaluator: &eval.Evaluator{Agent: w.Agent(), Grader: &eval.Checks{}, Budget: budget, Recorder: journal, Concurrency: 8},
		Mutator:   w.Model(), Options: Options{Seed: seed},
		Log: &record.Log{Journal: journal, Run: "r", Now: func() time.Time { return time.Unix(0, 0) }},
	}
	incumbent := eval.Variant{Name: doc.Name(), Doc: doc}
	res, err = e.Search(context.Background(), incumbent, cases)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(w.Seed())
	if res.Challenger != nil {
		text = res.Challenger.Text
	}
	if spent := budget.Spent().Rollouts; spent > rollouts {
		t.Fatalf("spent %d rollouts of %d", spent, rollouts)
	}
	return w.Oracle(string(text), cases.Test), res, journal
}

func split(cs []eval.Case) (c Cases) {
	for _, k := range cs {
		switch k.Split {
		case eval.Train:
			c.Train = append(c.Train, k)
		case eval.Val:
			c.Val = append(c.Val, k)
		default:
			c.Test = append(c.Test, k)
		}
	}
	return c
}

var testWorlds = []struct {
	name string
	make func(seed int64) simulated.World
}{
	{"additive", func(s int64) simulated.World { return worldstest.Additive(s, 24, 0.05) }},
	{"conflicting", func(s int64) simulated.World { return worldstest.Conflicting(s, 0.05) }},
	{"deceptive", func(s int64) simulated.World { return worldstest.Deceptive(s, 0.05) }},
	{"interacting", func(s int64) simulated.World { return worldstest.Interacting(s, 0.05) }},
	{"rewrite", func(s int64) simulated.World { return worldstest.Rewrite(s, 0.05) }},
	{"harmful", func(s int64) simulated.World { return worldstest.HarmfulSeed(s, 0.05) }},
}

// long reports whether the whole survey was asked for.
func long() bool { return os.Getenv("EVOLVE_SURVEY") != "" }
