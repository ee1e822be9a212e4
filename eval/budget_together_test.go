package eval

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A till is the other side of the bill: what the backends of a run were really
// asked, and what they said it took.
type till struct {
	mu               sync.Mutex
	rnd              *rand.Rand
	nature           [3]int // of agent, judge, mutator: see liars
	asked            [3]int
	attempts, judged int64
	texts            int64
	most             [3]int64 // tokens of the largest call of agent, judge, mutator
}

// ring makes a call: some time, a failure now and then, a bill that may lie.
func (k *till) ring(ctx context.Context, who int, calls *int64) (Cost, error) {
	k.mu.Lock()
	took := time.Duration(100+k.rnd.IntN(900)) * time.Millisecond
	fails, c := k.rnd.IntN(6) == 0, liars[k.nature[who]](k.rnd, k.asked[who])
	k.asked[who]++
	k.mu.Unlock()
	select {
	case <-time.After(took):
	case <-ctx.Done():
		return Cost{}, ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.Usage != nil {
		k.most[who] = max(k.most[who], c.Usage.sane().Total())
	}
	if fails { // it may have taken something all the same
		return c, &InfraError{Kind: ServerError, Err: errors.New("down")}
	}
	*calls++
	return c, nil
}

// Agent, judge, mutator and miner under one budget: the caps hold, every call
// that was answered is on the bill, and a run that is interrupted and resumed
// pays for nothing twice but what was in flight.
func TestCapsHoldForAWholeRun(t *testing.T) {
	for seed := range schedules(300) {
		synctest.Test(t, func(t *testing.T) {
			if err := playRun(t.Context(), uint64(seed)); err != nil {
				t.Fatalf("run %d: %v", seed, err)
			}
		})
	}
}

func playRun(ctx context.Context, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 11))
	caps := someCaps(r)
	if r.IntN(2) == 0 {
		caps.Tokens = 500 + r.Int64N(20_000)
	}
	retries, workers := r.IntN(3), 1+r.IntN(4)
	cases := make([]*Case, 1+r.IntN(12))
	for i := range cases {
		cases[i] = &Case{ID: fmt.Sprint("c", i), Skill: "s", Prompt: fmt.Sprint("p", i),
			Checks: slices.Repeat([]Check{{Type: Judge, Rubric: "r"}}, 1+r.IntN(2))}
	}
	k := &till{rnd: rand.New(rand.NewPCG(seed, 13))}
	for i := range k.nature {
		k.nature[i] = r.IntN(len(liars))
		k.most[i] = judgeOverhead + firstOutput + 100 // what a silent call counts as, where none is larger
	}
	agent := agentFunc(func(ctx context.Context, _ Task) (Attempt, error) {
		c, err := k.ring(ctx, 0, &k.attempts)
		return Attempt{Answer: "a", Usage: c.Usage, CostUSD: c.USD}, err
	})
	model := func(who int, calls *int64) Model {
		return modelFunc(func(ctx context.Context, _ Prompt) (Completion, error) {
			c, err := k.ring(ctx, who, calls)
			k.mu.Lock()
			text := []string{`{"score":0,"reason":"r"}`, `{"score":1,"reason":"r"}`, "nonsense"}[k.rnd.IntN(3)]
			k.mu.Unlock()
			return Completion{Text: text, Finish: "stop", Usage: c.Usage, CostUSD: c.USD}, err
		})
	}
	rec := newMemory(true)
	var spent int64 // tokens when the first part was interrupted
	for part := range 2 {
		if part == 1 {
			workers = 1 // a resumed run charges its records as it walks over them: one Run after the other
		}
		b := NewBudget(caps, time.Now)
		live, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		share := b.Sub(Caps{})
		for w := range workers { // one each: time stands still in a bubble where two wait for one lock
			e := &Evaluator{Agent: agent, Grader: &Checks{Judge: model(1, &k.judged)}, Budget: share, Recorder: rec,
				MaxRetries: retries, MaxMissing: 1}
			var jobs []Job
			for i, j := range jobsOf(cases) {
				if i%workers == w {
					jobs = append(jobs, j)
				}
			}
			wg.Go(func() {
				_, err := e.Run(live, jobs)
				if err != nil && !errors.As(err, new(*BudgetError)) && !errors.Is(err, context.Canceled) && !errors.As(err, new(*TooManyMissingError)) {
					panic(err)
				}
			})
		}
		for i := range 2 {
			by := []Spender{ByMutator, ByMiner}[i]
			m := &Metered{Model: model(2, &k.texts), By: by, Budget: b, Recorder: rec}
			wg.Go(func() {
				for n := range 4 {
					if _, err := m.Complete(live, Prompt{User: fmt.Sprint(by, n)}); errors.As(err, new(*BudgetError)) || live.Err() != nil {
						return
					}
				}
			})
		}
		if part == 0 {
			time.Sleep(time.Duration(r.IntN(8000)) * time.Millisecond)
			stop()
		}
		wg.Wait()
		stop()
		s := b.Spent()
		tokens := s.TokensIn + s.TokensOut + b.Assumed().Tokens
		// What one rollout in flight may have taken at most: all attempts, and
		// all gradings with a second question, tried anew as often as one may.
		rollout := int64(1+retries) * 5 * (k.most[0] + 2*2*k.most[1])
		flying := int64(workers)*rollout + 2*5*k.most[2]
		if part == 1 {
			flying += 8 * 5 * k.most[2] // replies on record that others walk over meanwhile
		}
		switch {
		case caps.Rollouts > 0 && s.Rollouts > caps.Rollouts:
			return fmt.Errorf("part %d: %d rollouts of %d", part, s.Rollouts, caps.Rollouts)
		case caps.Tokens > 0 && tokens > max(caps.Tokens, spent)+flying:
			return fmt.Errorf("part %d: %d tokens of %d, with %d in flight at most", part, tokens, caps.Tokens, flying)
		case b.inFlight != 0 || b.held.tokens != 0 || b.held.rollouts != 0:
			return fmt.Errorf("part %d: %+v is still held", part, b.held)
		case part == 0 && s.Rollouts > k.attempts:
			return fmt.Errorf("%d attempts are billed of %d that were answered", s.Rollouts, k.attempts)
		case caps.Tokens > 0 && tokens > caps.Tokens && len(b.Warnings()) == 0:
			return fmt.Errorf("part %d: %d tokens of %d, and nothing is said", part, tokens, caps.Tokens)
		}
		spent = tokens
		if part == 1 {
			continue
		}
		// Whatever was recorded is charged by the next part before anything is
		// asked, once.
		once := NewBudget(Caps{}, time.Now)
		var calls int64
		for _, x := range rec.rollouts {
			took := billOf(x)
			for range 2 {
				once.chargeOnce(hashJSON("test", x.Key), &took)
			}
			calls += int64(x.Attempts)
		}
		if got := once.Spent().Rollouts; got != calls {
			return fmt.Errorf("%d attempts are charged of %d recorded", got, calls)
		}
	}
	return nil
}
