package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// What a Run returns and spends is a function of its jobs: neither concurrency
// nor an interruption that a second Run takes up again changes it.
func TestRunIsAFunctionOfItsJobs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "jobs")
		cases := testCases(n)
		retries := rapid.IntRange(0, 2).Draw(rt, "retries")
		stopAt := rapid.IntRange(0, n).Draw(rt, "stop")
		kinds := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(rt, "kinds")
		workers := rapid.IntRange(2, 8).Draw(rt, "workers")

		synctest.Test(t, func(t *testing.T) {
			agent := func(cancel func()) Agent {
				seen := 0
				return agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
					var i int
					if _, err := fmt.Sscanf(task.Case.ID, "c%d", &i); err != nil {
						return Attempt{}, err
					}
					time.Sleep(time.Duration(i%7+1) * time.Second)
					if cancel != nil {
						if seen++; seen > stopAt {
							cancel()
						}
					}
					if ctx.Err() != nil {
						return Attempt{}, ctx.Err()
					}
					a := Attempt{Answer: "no", Duration: time.Second, Usage: &Usage{Input: int64(i)}, CostUSD: ptr(0.25)}
					switch kinds[i] {
					case 0, 1:
						a.Answer = task.Case.Prompt
					case 2:
						if task.Prior != nil {
							a.Answer = task.Case.Prompt
						}
					case 3:
						a.Failure = "gave up"
					}
					return a, nil
				})
			}
			run := func(ctx context.Context, a Agent, concurrency int, rec Recorder) ([]*Rollout, Spent, error) {
				b := NewBudget(Caps{}, nil)
				e := &Evaluator{Agent: a, Grader: new(Checks), Budget: b, Recorder: rec, Concurrency: concurrency, MaxRetries: retries}
				out, err := e.Run(ctx, jobsOf(cases))
				s := b.Spent()
				s.WallMS = 0
				for _, r := range out {
					if r != nil {
						r.Started = time.Time{}
					}
				}
				return out, s, err
			}
			text := func(v any) string {
				b, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}

			want, spent, err := run(t.Context(), agent(nil), 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, s, err := run(t.Context(), agent(nil), workers, nil)
			if err != nil || text(got) != text(want) || s != spent {
				t.Fatalf("with %d workers: %v, spent %+v, want %+v", workers, err, s, spent)
			}
			rec := newMemory(true)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			// One worker: the agent's own count is not locked.
			if _, _, err := run(ctx, agent(cancel), 1, rec); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			got, s, err = run(t.Context(), agent(nil), workers, rec)
			if err != nil || text(got) != text(want) || s != spent {
				t.Fatalf("resumed after %d: %v, spent %+v, want %+v", stopAt, err, s, spent)
			}
		})
	})
}
