package work

import (
	"context"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestJudgeByTheAgentsName: where another model answers to the agent's name now, a
// judge of that name is another one too; a judge of its own is not.
func TestJudgeByTheAgentsName(t *testing.T) {
	one, two := sleep.Model{Agent: "test", Asked: "best", Reported: "b1"}, sleep.Model{Agent: "test", Asked: "best", Reported: "b2"}
	by := namedAgent{eval.Identity{Backend: "test", Model: "best"}}
	for _, c := range []struct {
		name     string
		from, to sleep.Model
		judge    string
		same     bool
	}{
		{"the name means another model now", one, two, "best", false},
		{"a judge of another name", one, two, "strict", true},
		{"the same model", one, one, "best", true},
		{"another name was asked for", one, sleep.Model{Agent: "test", Asked: "next", Reported: "b2"}, "best", true},
		{"nobody knows who answers", one, sleep.Model{Agent: "test", Asked: "best"}, "best", true},
	} {
		judge := &namedModel{eval.Identity{Backend: "test", Model: c.judge}}
		got := judgeOf(&agent.Backends{Agent: by, Judge: judge}, &sleep.Drift{From: c.from, To: c.to})
		if plain := (&eval.Checks{Judge: judge}).Identity(); (got == plain) != c.same {
			t.Errorf("%s: %q, the same as before: %v, want %v", c.name, got, got == plain, c.same)
		}
	}
}

type namedAgent struct{ id eval.Identity }

func (a namedAgent) Identity() eval.Identity { return a.id }

func (namedAgent) Run(context.Context, eval.Task) (eval.Attempt, error) {
	return eval.Attempt{}, nil
}

type namedModel struct{ id eval.Identity }

func (m *namedModel) Identity() eval.Identity { return m.id }

func (*namedModel) Complete(context.Context, eval.Prompt) (eval.Completion, error) {
	return eval.Completion{}, nil
}
