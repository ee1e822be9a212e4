package harvest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// notes is a Memory for the length of a test.
type notes struct {
	mu   sync.Mutex
	kept map[string][]byte
	of   []string // sessions
}

func (n *notes) Recall(_ context.Context, key string) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept[key], nil
}

func (n *notes) Remember(_ context.Context, session, key string, answer []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kept == nil {
		n.kept = map[string][]byte{}
	}
	n.kept[key] = answer
	n.of = append(n.of, session)
	return nil
}

// Nobody pays twice for a reply that cannot be used; another model may try.
func TestMineRemembersFailures(t *testing.T) {
	memory := new(notes)
	m := oracle{reply: "I cannot do that."}
	for run, calls := range []int{1, 0, 0} {
		cases, stats := mine(t, Miner{Model: &m, Memory: memory}, corrected("s1"))
		why := "failed before"
		if run == 0 {
			why = "reply unusable"
		}
		if len(cases) != 1 || stats.ModelCalls != calls || stats.Fallbacks[why] != 1 {
			t.Errorf("run %d: %+v", run, stats)
		}
	}
	if len(m.seen) != 1 || len(memory.of) != 1 || memory.of[0] != "s1" {
		t.Errorf("asked %d times, remembered of %v", len(m.seen), memory.of)
	}
	if _, stats := mine(t, Miner{Model: &scholar{}, Memory: memory}, corrected("s1")); stats.ModelCalls != 1 {
		t.Errorf("another model was not asked: %+v", stats)
	}
	infra := new(notes)
	mine(t, Miner{Model: &oracle{err: errors.New("503")}, Memory: infra}, corrected("s1"))
	if len(infra.of) > 0 {
		t.Error("a model that did not answer is taken for one that cannot")
	}
}

// Checks that were written are not paid twice either: they may have to wait until their
// rubrics were tried.
func TestMineRemembersChecks(t *testing.T) {
	memory := new(notes)
	m := oracle{reply: "```json\n{\"checks\":[{\"type\":\"regex\",\"value\":\"(?i)log\",\"feedback\":\"the axis\"}]}\n```"}
	var first string
	for run, calls := range []int{1, 0} {
		cases, stats := mine(t, Miner{Model: &m, Memory: memory}, corrected("s1"))
		if len(cases) != 1 || stats.ModelCalls != calls || len(stats.Fallbacks) > 0 {
			t.Fatalf("run %d: %+v", run, stats)
		}
		if got := fmt.Sprintf("%+v", cases[0].Checks); run == 0 {
			first = got
		} else if got != first {
			t.Errorf("%s became %s", first, got)
		}
	}
	if _, stats := mine(t, Miner{Model: &oracle{err: &eval.InfraError{Kind: eval.Pending, Err: errors.New("open")}}}, corrected("s1")); stats.Fallbacks[Awaited] != 1 {
		t.Errorf("a reply that is to come: %+v", stats)
	}
}

// scholar is another model than oracle.
type scholar struct{ oracle }

func (*scholar) Identity() eval.Identity { return eval.Identity{Backend: "scholar"} }
