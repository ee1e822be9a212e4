package eval

import (
	"context"
	"encoding/hex"
)

// A rollout that a cap ended is thrown away; what its calls are known to have taken
// must be kept, or a run that is resumed would have room for it once more. It is
// kept as a reply of the agent that says nothing, one for each time.

// lostKey names the nth record of what was lost under a rollout's key.
func lostKey(key string, n int) hash {
	return hashJSON("lost/1", struct {
		Key string
		N   int
	}{key, n})
}

// saveLost records what out is known to have taken, and is not to be kept for.
func (e *Evaluator) saveLost(ctx context.Context, out *Rollout) error {
	took := billOf(out)
	var c Completion
	for i := range took.lines {
		l := &took.lines[i]
		sum := Lost{c.Usage, c.CostUSD}
		sum.lose(Cost{&l.usage, &l.usd})
		c.Usage, c.CostUSD = sum.LostUsage, sum.LostUSD
	}
	if e.Budget == nil || e.Recorder == nil || c.Usage == nil && c.CostUSD == nil {
		return nil
	}
	c.Finish = "lost"
	for n := 0; ; n++ {
		key := lostKey(out.Key, n)
		name := hex.EncodeToString(key[:])
		if was, err := e.Recorder.Completion(context.WithoutCancel(ctx), name); err != nil {
			return err
		} else if was != nil {
			continue
		}
		e.Budget.note(key) // it is on the bill of this run already
		return e.Recorder.SaveCompletion(context.WithoutCancel(ctx), name, ByAgent, &c)
	}
}

// recallLost charges what earlier parts of this run lost under a rollout's key.
func (e *Evaluator) recallLost(ctx context.Context, rollout string) error {
	for n := 0; e.Budget != nil; n++ {
		key := lostKey(rollout, n)
		c, err := e.Recorder.Completion(ctx, hex.EncodeToString(key[:]))
		if err != nil || c == nil {
			return err
		}
		took := bill{lines: [2]billLine{{by: ByAgent, calls: 1}}}
		took.lines[0].known(Lost{c.Usage, c.CostUSD})
		e.Budget.chargeOnce(key, &took)
	}
	return nil
}

// note marks what is recorded under key as charged.
func (b *Budget) note(key hash) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.booked[key] = struct{}{}
}
