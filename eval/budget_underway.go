package eval

import (
	"context"
	"fmt"
)

// An Underway records which calls are in flight, because a killed process cannot report
// them. It must be safe for concurrent use and need not sync to disk: a note has to
// survive the process, not the machine. Keys are those of a Recorder; a call that is
// recorded under its key needs no End.
type Underway interface {
	Begin(key string, reserved Assumed) error
	// End reports that the call costs nothing beyond what is recorded.
	End(key string)
}

// Note has all calls that pass through b, or a share of it, and are recorded noted
// while they are in flight. Call it before the first of them.
func (b *Budget) Note(u Underway) { b.underway.Underway = u }

// Assume counts against the caps what an earlier process had reserved for calls that
// were in flight when it ended: their usage is unknown.
func (b *Budget) Assume(calls int64, reserved Assumed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := b; p != nil; p = p.parent {
		p.assumed = p.assumed.Add(reserved)
		p.cutOff.calls += calls
		p.cutOff.reserved = p.cutOff.reserved.Add(reserved)
	}
}

// cutOff are the arguments of Assume.
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

// end removes the note of a call whose usage is recorded. An interrupted call may have
// been answered nevertheless, so its note is kept.
func (b *Budget) end(ctx context.Context, key string) {
	if b != nil && b.underway.Underway != nil && ctx.Err() == nil {
		b.underway.End(key)
	}
}
