package eval

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// A rollout that a cap ended, and a call that failed after it had begun, are thrown
// away; what they are known to have taken must be kept, or a run that is resumed
// would have room for it once more. It is kept as a reply that says nothing, one for
// each time.

// lostKey names the nth record of what was lost under a rollout's key, or a call's.
func lostKey(key string, n int) hash {
	return hashJSON("lost/1", struct {
		Key string
		N   int
	}{key, n})
}

// saveLost records what out is known to have taken, and is not to be kept for.
func (e *Evaluator) saveLost(ctx context.Context, out *Rollout) error {
	if e.Budget == nil || e.Recorder == nil {
		return nil
	}
	key, err := keepLost(ctx, e.Recorder, ByAgent, out.Key, lostIn(out), out.Attempts)
	if err == nil && key != nil {
		e.Budget.note(*key) // it is on the bill of this run already
	}
	return err
}

// LostRecord is what has to be kept of r, and under which name, once its record is
// removed so that a resumed run tries it again: what was paid stays on the bill, and
// its attempts are made. nil is nothing. Keep it in the moment that r's record goes,
// or what it took counts twice, or never.
func LostRecord(ctx context.Context, from Recorder, r *Rollout) (name string, c *Completion, err error) {
	_, name, c, err = lostRecord(ctx, from, r.Key, lostIn(r), r.Attempts)
	return name, c, err
}

// lostIn is what is known of all calls of a rollout.
func lostIn(r *Rollout) (sum Lost) {
	took := billOf(r)
	for i := range took.lines {
		l := &took.lines[i]
		sum.lose(Cost{&l.usage, &l.usd})
	}
	return sum
}

// keepLost records what calls under a key were lost, beside what was before. The name
// that it is recorded under is nil if nothing is known.
func keepLost(ctx context.Context, to Recorder, by Spender, of string, lost Lost, attempts int) (*hash, error) {
	ctx = context.WithoutCancel(ctx) // it is paid for: an interruption must not lose it now
	key, name, c, err := lostRecord(ctx, to, of, lost, attempts)
	if err != nil || c == nil {
		return nil, err
	}
	return &key, to.SaveCompletion(ctx, name, by, c)
}

// lostRecord is the next record of what was lost under a key, nil for nothing.
func lostRecord(ctx context.Context, in Recorder, of string, lost Lost, attempts int) (key hash, name string, c *Completion, err error) {
	if lost == (Lost{}) && attempts == 0 {
		return key, "", nil, nil
	}
	for n := 0; ; n++ {
		key = lostKey(of, n)
		name = hex.EncodeToString(key[:])
		if was, err := in.Completion(ctx, name); err != nil {
			return key, "", nil, err
		} else if was == nil {
			return key, name, &Completion{Finish: lostFinish, Usage: lost.LostUsage, CostUSD: lost.LostUSD, Attempts: attempts}, nil
		}
	}
}

// lostFinish marks the record of a call that was lost: it is no reply.
const lostFinish = "lost"

// recallLost charges what earlier parts of this run lost under a key.
func (b *Budget) recallLost(ctx context.Context, from Recorder, by Spender, of string) error {
	for n := 0; b != nil; n++ {
		key := lostKey(of, n)
		c, err := from.Completion(ctx, hex.EncodeToString(key[:]))
		if err != nil || c == nil {
			return err
		}
		took := recordedBill(by, c)
		b.chargeOnce(key, &took)
	}
	return nil
}

// recordedBill is what a call came to, read from its record.
func recordedBill(by Spender, c *Completion) bill {
	if c.Finish != lostFinish {
		return oneCall(by, Cost{c.Usage, c.CostUSD})
	}
	n := int64(max(0, c.Attempts))
	took := bill{rollouts: n, lines: [2]billLine{{by: by, calls: max(1, n)}}}
	if c.Usage == nil && c.CostUSD == nil {
		took.lines[0].answered = n // and nothing told
	}
	took.lines[0].known(Lost{c.Usage, c.CostUSD})
	return took
}

// ChargeRecorded books calls of by that a run made earlier, by the names under which
// its Recorder keeps their replies: each once, and none that this process has made or
// met already. One that a resumed run meets again on its way is not booked twice.
func (b *Budget) ChargeRecorded(by Spender, replies map[string]Completion) error {
	for _, name := range slices.Sorted(maps.Keys(replies)) {
		var key hash
		if n, err := hex.Decode(key[:], []byte(name)); err != nil || n != len(key) {
			return fmt.Errorf("charge reply %q: not the name of a record", name)
		}
		c := replies[name]
		took := recordedBill(by, &c)
		b.chargeOnce(key, &took)
	}
	return nil
}

// note marks what is recorded under key as charged.
func (b *Budget) note(key hash) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.booked[key] = struct{}{}
}
