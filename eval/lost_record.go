package eval

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// A rollout that a cap ended, and a call that failed after it had begun, are discarded.
// Their known usage must be kept, or a resumed run could spend it again. It is stored
// as an empty reply, one for each time.

// lostKey is the key of the nth record of what was lost under a rollout's, or a call's,
// key.
func lostKey(key string, n int) hash {
	return hashJSON("lost/1", struct {
		Key string
		N   int
	}{key, n})
}

// saveLost records the known usage of out, which is not kept itself.
func (e *Evaluator) saveLost(ctx context.Context, out *Rollout) error {
	if e.Budget == nil || e.Recorder == nil {
		return nil
	}
	key, err := keepLost(ctx, e.Recorder, ByAgent, out.Key, lostIn(out), out.Attempts)
	if err == nil && key != nil {
		e.Budget.note(*key) // it is already booked for this run
	}
	return err
}

// LostRecord is the record, and its name, that has to replace that of r if r is removed
// so that a resumed run tries it again: it keeps what was paid, and the number of
// attempts. nil is nothing. Write it in the same transaction, or the usage counts
// twice, or never.
func LostRecord(ctx context.Context, from Recorder, r *Rollout) (name string, c *Completion, err error) {
	_, name, c, err = lostRecord(ctx, from, r.Key, lostIn(r), r.Attempts)
	return name, c, err
}

// lostIn is the known usage of all calls of a rollout.
func lostIn(r *Rollout) (sum Lost) {
	took := billOf(r)
	for i := range took.lines {
		l := &took.lines[i]
		sum.lose(Cost{&l.usage, &l.usd})
	}
	return sum
}

// keepLost adds a record of what calls under a key lost. The key of the record is nil
// if nothing is known.
func keepLost(ctx context.Context, to Recorder, by Spender, of string, lost Lost, attempts int) (*hash, error) {
	ctx = context.WithoutCancel(ctx) // it is paid for, so it is stored even if the run was interrupted
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

// recordedBill is the bill of a call, read from its record.
func recordedBill(by Spender, c *Completion) bill {
	if c.Finish != lostFinish {
		return oneCall(by, Cost{c.Usage, c.CostUSD})
	}
	n := int64(max(0, c.Attempts))
	took := bill{rollouts: n, lines: [2]billLine{{by: by, calls: max(1, n)}}}
	if c.Usage == nil && c.CostUSD == nil {
		took.lines[0].answered = n // and they reported nothing
	}
	took.lines[0].known(Lost{c.Usage, c.CostUSD})
	return took
}

// ChargeRecorded books calls of by that a run made earlier, by the names under which
// its Recorder keeps their replies: each once, and none that this process has already
// made or booked. A call that the resumed run meets again is not booked twice.
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
