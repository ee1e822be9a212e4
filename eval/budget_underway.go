package eval

import (
	"context"
	"fmt"
)

// An Underway notes which calls are under way, for a process that is killed tells
// nothing of them. It must be safe for concurrent use, and wait for no disk: a note has
// to outlive the process, not the machine. Keys are those of a Recorder; what is
// recorded under one needs no End.
type Underway interface {
	Begin(key string, reserved Assumed) error
	// End says that nothing is owed for the call any more but what is recorded.
	End(key string)
}

// Note has all calls that pass through b, or a share of it, and are recorded noted
// while they are under way. Call it before the first of them.
func (b *Budget) Note(u Underway) { b.underway.Underway = u }

// Assume counts against the caps what was reserved for calls of an earlier process
// that were under way when it ended: what they took is unknown.
func (b *Budget) Assume(calls int64, reserved Assumed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := b; p != nil; p = p.parent {
		p.assumed = p.assumed.Add(reserved)
		p.cutOff.calls += calls
		p.cutOff.reserved = p.cutOff.reserved.Add(reserved)
	}
}

// cutOff is what Assume was given.
type cutOff struct {
	calls    int64
	reserved Assumed
}

func (c *cutOff) warn() string {
	return fmt.Sprintf("%d calls were under way when an earlier process ended: %d tokens and %s are counted for them against the caps, an estimate; what they took is unknown",
		c.calls, c.reserved.Tokens, FormatUSD(c.reserved.USD))
}

// begin notes a call before it is made.
func (b *Budget) begin(key string, d demand) error {
	if b == nil || b.underway.Underway == nil {
		return nil
	}
	if err := b.underway.Begin(key, Assumed{d.tokens, d.usd}); err != nil {
		return fmt.Errorf("note a call: %w", err)
	}
	return nil
}

// end says that a call is not under way any more, and what it took is recorded. One
// that was interrupted may have been answered all the same: its note stays.
func (b *Budget) end(ctx context.Context, key string) {
	if b != nil && b.underway.Underway != nil && ctx.Err() == nil {
		b.underway.End(key)
	}
}
