package gate

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestGateMeasuresAgainWhatIsMissing: the infrastructure's failures are neither wins
// nor losses. A pair with a missing side is measured once more, both sides; if then
// the challenger's alone is missing, that is its worst.
func TestGateMeasuresAgainWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		fails              string // the text whose answer is missing
		times              int
		wins, losses, ties int
	}{
		"incumbent, once":   {"bad\n", 1, 6, 0, 0},
		"incumbent, always": {"bad\n", 9, 5, 0, 0},
		"challenger, once":  {"good\n", 1, 6, 0, 0},
		"challenger, twice": {"good\n", 9, 5, 0, 1}, // the incumbent fails this case as well
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			calls := 0
			agent := duel{fail: func(task eval.Task) error {
				mu.Lock()
				defer mu.Unlock()
				if task.Case.ID != "c003" || string(task.Variant.Doc.Body()) != c.fails {
					return nil
				}
				if calls++; calls > c.times {
					return nil
				}
				return &eval.InfraError{Kind: eval.ServerError, Err: errors.New("500")}
			}}
			v, err := newGate(&recordtest.Memory{}, agent, "r", 0).Try(t.Context(), variant(t, "bad"), variant(t, "good"), heldOut(6))
			if err != nil {
				t.Fatal(err)
			}
			if v.Wins != c.wins || v.Losses != c.losses || v.Ties != c.ties || calls != min(c.times+1, 2) {
				t.Errorf("wins %d, losses %d, ties %d after %d calls; want %+v", v.Wins, v.Losses, v.Ties, calls, c)
			}
		})
	}
}

// TestGateDoesNotGiveSecondAnswers: of a challenger whose answers are missing more often than
// the incumbent's one is asked for again, and what follows counts as its worst, in later runs too.
func TestGateDoesNotGiveSecondAnswers(t *testing.T) {
	var mu sync.Mutex
	calls := map[string]int{}
	agent := duel{fail: func(task eval.Task) error {
		mu.Lock()
		defer mu.Unlock()
		if string(task.Variant.Doc.Body()) == "good\n" {
			if calls[task.Case.ID]++; calls[task.Case.ID] == 1 {
				return &eval.InfraError{Kind: eval.ServerError, Err: errors.New("500")}
			}
		}
		return nil
	}}
	m := &recordtest.Memory{}
	for run, upTo := range []int{3, 5, 5} { // and once more: nothing is paid for twice
		v, err := newGate(m, agent, fmt.Sprint("r", min(run, 1)), 0).Try(t.Context(), variant(t, "bad"), variant(t, "good"), heldOut(upTo))
		if err != nil || v.Wins != 1 || v.Losses != 0 || v.Ties != upTo-1 {
			t.Errorf("run %d: %+v, %v", run, v, err)
		}
	}
	for id, n := range calls {
		if n > 1 {
			delete(calls, id)
		}
	}
	if len(calls) != 4 {
		t.Errorf("%d cases were asked for once, want 4 of 5", len(calls))
	}
}
