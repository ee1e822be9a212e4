package readlimit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skill-evolve/evolve/eval"
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
			limit := &Failures{Model: &eval.Metered{Model: model, By: eval.ByMiner, Budget: eval.NewBudget(eval.Caps{}, nil)}}
			ask := func(user string) error {
				_, err := limit.Complete(t.Context(), eval.Prompt{User: user})
				return err
			}
			if ask("a") == nil || ask("b") == nil || ask("lives") != nil || limit.Warnings() != nil {
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
			if w := limit.Warnings(); len(w) != 1 || !strings.Contains(w[0], "no route to host") {
				t.Errorf("%s: %q", kind, w)
			}
		})
	}
}
