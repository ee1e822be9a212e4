package search

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A careless model writes a secret's placeholder into the skill as it answers
// the feedback, until the prompt forbids that.
type careless struct {
	eval.Model
	mu            sync.Mutex
	written, told int
}

const whyNot = "it writes [redacted:token], which stands for a secret"

func (c *careless) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	_, wrong, ok := strings.Cut(p.User, "What was wrong (origin: grader):\n> ")
	told := strings.Contains(p.User, whyNot)
	c.mu.Lock()
	defer c.mu.Unlock()
	if told {
		c.told++
	}
	if !ok || told {
		return c.Model.Complete(ctx, p)
	}
	c.written++
	wrong, _, _ = strings.Cut(wrong, "\n")
	view, _, _ := strings.Cut(strings.SplitN(p.User, "```\n", 2)[1], "```")
	return eval.Completion{Text: "Done.\n```\n" + view + "- " + wrong + " The token is [redacted:token].\n```\n", Finish: "stop"}, nil
}

// TestNextAttemptIsToldOfSecrets: a reply that writes a placeholder of a
// secret into the skill becomes no candidate, costs no rollout, and is shown
// to the next attempts.
func TestNextAttemptIsToldOfSecrets(t *testing.T) {
	m := &recordtest.Memory{}
	w := worldstest.Additive(1, 8, 0)
	e, inc, cases := engine(t, w, 200, m)
	c := &careless{Model: w.Model()}
	e.Mutator = c
	res, err := e.Search(t.Context(), inc, cases)
	if err != nil {
		t.Fatal(err)
	}
	if c.written == 0 || c.told == 0 {
		t.Errorf("%d replies wrote a placeholder, %d prompts told of it", c.written, c.told)
	}
	for _, k := range m.Candidates {
		if strings.Contains(string(k.Text), "[redacted:") {
			t.Errorf("a candidate holds a placeholder: %s", k.Text)
		}
	}
	reasons := 0
	for _, ev := range m.Events {
		if ev.Kind == "unusable" && strings.Contains(string(ev.Data), whyNot) {
			reasons++
		}
	}
	if reasons != c.written {
		t.Errorf("%d events say why, %d replies were refused", reasons, c.written)
	}
	if res.Challenger == nil {
		t.Error("the search found nothing once the model was told")
	}
}
