package backend

import (
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// echo is a backend that exists in this file alone: it answers with what it was asked.
type echo struct{ model string }

var echoKind = &agent.Kind{Name: "echo", NeedsModel: true, UsesTools: true, ByHand: true, Credentials: []string{"ECHO_KEY"}, Dollars: agent.Unknown,
	Make: func(_ context.Context, o *agent.Opening) (agent.Answerer, error) {
		return agent.Both(&echo{o.Model + o.Key("ECHO_KEY")}, nil)
	}}

func (e *echo) Identity() eval.Identity { return eval.Identity{Backend: "echo", Model: e.model} }

func (e *echo) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	return eval.Attempt{Answer: t.Case.Prompt}, nil
}

func (e *echo) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	return eval.Completion{Text: p.User, Finish: "stop"}, nil
}

func init() { agent.Register(echoKind) }

// A backend is added by a file like this and one line.
func TestAddedBackend(t *testing.T) {
	o := with(t, map[string]string{"ECHO_KEY": "-key"}, "")
	o.Keys = new(redact.Keys)
	b := &agent.Spec{Agent: "echo"}
	if err := o.Resolve(b); err == nil || err.Error() != "the echo backend needs --model" {
		t.Errorf("without a model: %v", err)
	}
	b.Model = "e1"
	back, err := o.Backends(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	a, err := back.Agent.Run(t.Context(), eval.Task{Case: &eval.Case{Prompt: "hello"}})
	if err != nil || a.Answer != "hello" || back.Judge.Identity().Model != "e1-key" {
		t.Errorf("%+v, %v, %+v", a, err, back.Judge.Identity())
	}
	if !back.UsesTools() || !b.ByHand() || b.Simulated() || b.Priced() == nil || back.AtATime != 32 || b.Describe() != "agent echo/e1" {
		t.Errorf("tools %v, by hand %v, simulated %v, priced %v, %d at a time, %s", back.UsesTools(), b.ByHand(), b.Simulated(), b.Priced(), back.AtATime, b.Describe())
	}
	if names := strings.Join(agent.Names(), " "); names != "openai claude codex pi copilot command handoff simulated echo" {
		t.Errorf("backends: %s", names)
	}
}
