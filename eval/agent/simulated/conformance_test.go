package simulated_test

import (
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
)

func TestConformance(t *testing.T) {
	w := worldstest.Additive(1, 24, 0.05)
	k := w.Cases(1, 0, 0)[0]
	agenttest.Run(t, agenttest.Harness{
		New:         func(*testing.T, *agenttest.Server, string) eval.Agent { return w.Agent() },
		Case:        &k,
		Unsupported: agenttest.WithoutServer("the world answers in this process"),
	})
}

// The real prompt of eval's judge reaches the simulated one.
func TestJudgeReadsTheOutcome(t *testing.T) {
	w := simulated.Demo()
	log, sort := w.Lessons[3], w.Lessons[6]
	both := w.Opening + "\n" + log.Outcome + "\n" + sort.Outcome
	for _, c := range []struct {
		name, rubric, reference, answer string
		want                            float64
	}{
		{"corrected, lacks it", "The user corrected this: «no, " + log.Says + "». The answer must already do so.", "", w.Opening, 0},
		{"corrected, holds it", "The user corrected this: «no, " + log.Says + "». The answer must already do so.", "", both, 1},
		{"accepted, half of it", "The answer is as good as the accepted reference.", both, w.Opening + "\n" + sort.Outcome, 0.5},
		{"accepted, all of it", "The answer is as good as the accepted reference.", both, both, 1},
	} {
		k := eval.Case{ID: "x", Skill: "dataviz", Prompt: "Plot revenue by size, biggest first", Reference: c.reference,
			Checks: []eval.Check{{Type: eval.Judge, Rubric: c.rubric}}}
		g, err := (&eval.Checks{Judge: w.Model()}).Grade(t.Context(), &k, eval.Attempt{Answer: c.answer}, "")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if g.Quality != c.want || g.Checks[0].Missing {
			t.Errorf("%s: quality %v (%+v), want %v", c.name, g.Quality, g.Checks[0], c.want)
		}
		if knows := w.Oracle(w.Seed(), []eval.Case{k}); knows != 0 {
			t.Errorf("%s: the oracle says %v of a skill that teaches neither", c.name, knows)
		}
	}
}

// The seeds of all worlds are skills, and candidates of the mutator are too.
func TestSeedsAreValidSkills(t *testing.T) {
	for _, w := range []simulated.World{simulated.Demo(), worldstest.Additive(1, 24, 0), worldstest.Conflicting(1, 0),
		worldstest.Deceptive(1, 0), worldstest.Interacting(1, 0), worldstest.Rewrite(1, 0), worldstest.HarmfulSeed(1, 0)} {
		d, err := skill.Parse([]byte(w.Seed()), skill.Options{})
		if err != nil {
			t.Errorf("%s: %v", w.Name, err)
			continue
		}
		for _, f := range check.Validate(d, check.Portable, w.Skill) {
			t.Errorf("%s: %s: %s", w.Name, f.Rule, f.Reason)
		}
		view := d.View()
		for _, l := range w.Lessons {
			view += "- " + l.Phrase + "\n"
		}
		for _, h := range w.Harmful {
			view += "- " + h.Line + "\n"
		}
		for _, b := range w.Bloat {
			view += "- " + b + "\n"
		}
		child, err := d.WithView(view)
		if err != nil {
			t.Errorf("%s: %v", w.Name, err)
			continue
		}
		for _, f := range check.Check(d, child, check.ClaudeCode) {
			if f.Severity > check.Warn {
				t.Errorf("%s: a candidate with every line of the world is stopped: %s: %s", w.Name, f.Rule, f.Reason)
			}
		}
	}
}

func BenchmarkRun(b *testing.B) {
	w := worldstest.Additive(1, 24, 0.05)
	cases := w.Cases(0, 0, 60)
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		b.Fatal(err)
	}
	a := w.Agent()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t := eval.Task{Variant: eval.Variant{Doc: doc}, Case: &cases[i%len(cases)], Seed: int64(i)}
		if _, err := a.Run(b.Context(), t); err != nil {
			b.Fatal(err)
		}
	}
}
