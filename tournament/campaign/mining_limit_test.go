package campaign

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
)

// A deadModel fails every call without the marker of a live one in its
// prompt.
type deadModel struct {
	kind  eval.FailureKind
	calls int
}

func (*deadModel) Identity() eval.Identity { return eval.Identity{} }

func (m *deadModel) Complete(_ context.Context, q eval.Prompt) (eval.Completion, error) {
	m.calls++
	if q.User == "lives" {
		return eval.Completion{Text: "yes"}, nil
	}
	return eval.Completion{}, &eval.InfraError{Kind: m.kind, Err: errors.New("no route to host")}
}

// A dead model is asked about three corrections, however many there are; one that
// answers in between is asked on.
func TestADeadModelIsNotAskedOn(t *testing.T) {
	for _, kind := range []eval.FailureKind{eval.Unreachable, eval.RateLimited, eval.ServerError, eval.Auth, eval.BadRequest} {
		synctest.Test(t, func(t *testing.T) {
			model := &deadModel{kind: kind}
			limit := &failureLimit{Model: &eval.Metered{Model: model, By: eval.ByMiner, Budget: eval.NewBudget(eval.Caps{}, nil)}}
			ask := func(user string) error {
				_, err := limit.Complete(t.Context(), eval.Prompt{User: user})
				return err
			}
			if ask("a") == nil || ask("b") == nil || ask("lives") != nil || limit.warnings() != nil {
				t.Fatalf("%s: it was given up after two failures", kind)
			}
			for range failuresInARow {
				if ask("c") == nil {
					t.Fatalf("%s: no error", kind)
				}
			}
			asked := model.calls
			for range 100 {
				if err := ask("d"); err == nil || !strings.Contains(err.Error(), "no route to host") {
					t.Fatalf("%s: %v", kind, err)
				}
			}
			if model.calls != asked {
				t.Errorf("%s: %d calls more of a dead model", kind, model.calls-asked)
			}
			if w := limit.warnings(); len(w) != 1 || !strings.Contains(w[0], "no route to host") {
				t.Errorf("%s: %q", kind, w)
			}
		})
	}
}

// A run that --max-duration ends while it mines tells the calls it made, although they
// failed and reported nothing.
func TestFailedCallsAreSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := eval.NewBudget(eval.Caps{Duration: 2 * time.Second}, time.Now)
		c := &Campaign{back: &agent.Backends{Miner: &deadModel{kind: eval.ServerError}}, budget: budget}
		miner := &eval.Metered{Model: c.reader(), By: eval.ByMiner, Budget: budget}
		if got := c.SpentReading(); got != "nothing was spent" {
			t.Errorf("before a call: %s", got)
		}
		if _, err := miner.Complete(t.Context(), eval.Prompt{User: "a"}); !errors.As(err, new(*eval.BudgetError)) {
			t.Fatalf("%v, want the end of the time", err)
		}
		if got := c.SpentReading(); !strings.HasSuffix(got, " to read corrections failed without reporting their usage") {
			t.Errorf("after a call that failed: %s", got)
		}
	})
	budget := eval.NewBudget(eval.Caps{}, nil)
	c := &Campaign{back: &agent.Backends{Miner: &deadModel{kind: eval.ServerError}}, budget: budget}
	miner := &eval.Metered{Model: c.reader(), By: eval.ByMiner, Budget: budget, InfraTries: 1}
	for _, user := range []string{"a", "lives"} {
		_, _ = miner.Complete(t.Context(), eval.Prompt{User: user})
	}
	if got := c.SpentReading(); got != "1 call to read corrections and 0 tokens were spent; 1 more failed without reporting their usage" {
		t.Errorf("one that failed and one that did not: %s", got)
	}
}
