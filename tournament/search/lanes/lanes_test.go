package lanes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

var errEnd = errors.New("end")

func regular(err error) bool { return errors.Is(err, errEnd) }

// The order of turns is that of the assumed times, whatever the calls took.
func TestTurnsFollowAssumedTime(t *testing.T) {
	want := []string{"0 at 0", "1 at 0", "0 at 1", "0 at 2", "1 at 2", "0 at 3", "1 at 4"}
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			var lanes Lanes
			var got []string
			err := lanes.Run(t.Context(), 2, func(context.Context) error {
				takes := 1 + len(got)%2 // of the first lane 1, of the second 2
				for range 4 - takes {
					got = append(got, fmt.Sprint(lanes.Current(), " at ", lanes.Now()))
					pause := time.Duration(random.Int64N(int64(time.Second)))
					if err := lanes.Wait(takes, func() error { time.Sleep(pause); return nil }); err != nil {
						return err
					}
				}
				got = append(got, fmt.Sprint(lanes.Current(), " at ", lanes.Now()))
				return errEnd
			}, regular)
			if !errors.Is(err, errEnd) || !slices.Equal(got, want) {
				t.Fatalf("%v, turns %q, want %q", err, got, want)
			}
		})
	}
}

// A walk that fails cancels the calls of the others, which end where they are.
func TestAFailureEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lanes Lanes
		boom, ended := errors.New("boom"), 0
		err := lanes.Run(t.Context(), 3, func(ctx context.Context) error {
			defer func() { ended++ }()
			if lanes.Current() == 1 {
				return lanes.Wait(1, func() error { return boom })
			}
			if err := lanes.Wait(9, func() error { <-ctx.Done(); return nil }); !errors.Is(err, errGivenUp) {
				t.Errorf("lane %d goes on with %v", lanes.Current(), err)
			}
			return errEnd
		}, regular)
		if !errors.Is(err, boom) || ended != 3 {
			t.Errorf("%v, and %d walks have ended", err, ended)
		}
		if lanes.Several() || lanes.Wait(1, func() error { return boom }) != boom {
			t.Error("there is more than one lane afterwards")
		}
	})
}

// A ledger counts what is underway, and nothing that an earlier run has paid for.
func TestLedger(t *testing.T) {
	l := NewLedger(10, 3)
	for _, want := range []int64{3, 1, -1} {
		if got := l.Rest(); got != want {
			t.Errorf("%d may still be made, want %d", got, want)
		}
		if n, err := l.Ask(t.Context(), &eval.Evaluator{}, make([]eval.Job, 2)); n != 2 || err != nil {
			t.Errorf("%d of 2 are charged, %v", n, err)
		}
	}
	for _, rest := range []int64{0, -1} {
		if l := NewLedger(10, rest); l.Rest() != rest {
			t.Errorf("%d may still be made, want %d", l.Rest(), rest)
		}
	}
}
