package record

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Log numbers the events of one run, through its search and its gate.
type Log struct {
	Journal Journal
	Run     string
	Now     func() time.Time
	// OnEvent is called, if it is set, for every event in order.
	OnEvent func(Event)

	seq int
}

// Add appends an event; data is any JSON object.
func (l *Log) Add(ctx context.Context, kind string, rollouts int64, best *float64, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", kind, err)
	}
	e := Event{Run: l.Run, Seq: l.seq, Time: l.Now(), Kind: kind, Data: raw, Rollouts: rollouts, Best: best}
	l.seq++
	if err := l.Journal.AppendEvent(ctx, e); err != nil {
		return fmt.Errorf("record event %s: %w", kind, err)
	}
	if l.OnEvent != nil {
		l.OnEvent(e)
	}
	return nil
}
