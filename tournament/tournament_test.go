package tournament_test

import (
	"context"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament"
)

// journal is one of another program.
type journal struct{ *tournament.Memory }

var _ tournament.Journal = journal{}

type echo struct{}

func (echo) Identity() eval.Identity { return eval.Identity{Backend: "echo"} }

func (echo) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	return eval.Attempt{Answer: string(t.Variant.Doc.Body())}, nil
}

// TestGate: another program tries one text against another by the names of this package.
func TestGate(t *testing.T) {
	text := func(body string) eval.Variant {
		doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n"+body+"\n"), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return eval.Variant{Name: "s", Doc: doc}
	}
	var cases []eval.Case
	for i := range 60 {
		cases = append(cases, eval.Case{ID: string(rune('A' + i)), Skill: "s", Split: eval.Test, Prompt: string(rune('A' + i)), Checks: []eval.Check{{Type: eval.Contains, Value: "good"}}})
	}
	j := journal{&tournament.Memory{}}
	g := &tournament.Gate{Skill: "s", Evaluator: &eval.Evaluator{Agent: echo{}, Grader: &eval.Checks{}, Budget: eval.NewBudget(eval.Caps{}, nil), Recorder: j},
		Log: &tournament.Log{Journal: j, Run: "r", Now: time.Now}}
	v, err := g.Try(t.Context(), text("bad"), text("good"), cases)
	if err != nil || v.Verdict != pareto.Promote {
		t.Fatalf("%+v, %v", v, err)
	}
	rec, err := j.Trial(t.Context(), "s", text("bad").SHA(), text("good").SHA())
	if err != nil || rec == nil || rec.Decision != pareto.Promote {
		t.Errorf("%+v, %v", rec, err)
	}
}
