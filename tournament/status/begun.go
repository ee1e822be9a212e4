package status

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/record"
)

// begun is the run of a skill whose process ended while it read corrections,
// before the run could be resumed; nil for none, or if last, the newest run,
// began after it. The command that started it continues it: see
// campaign.Runner.Prepare.
func (rd *Reader) begun(ctx context.Context, name string, last *record.Run) (*Unfinished, error) {
	id, err := rd.Store.BegunRun(ctx, name)
	if err != nil || id == "" || last != nil && last.ID > id { // ids begin with the time
		return nil, err
	}
	if busy, err := rd.Locks.Running(id); err != nil || busy {
		return &Unfinished{Run: id, Status: string(record.Running)}, err
	}
	killed, locked, err := rd.Locks.Killed(id)
	if err != nil {
		return nil, err
	}
	status := record.Interrupted
	if killed {
		status = record.Killed
	}
	replies, err := rd.Store.Recorded(ctx, id, eval.ByMiner)
	if err != nil {
		return nil, err
	}
	budget := eval.NewBudget(eval.Caps{}, nil)
	if err := budget.ChargeRecorded(eval.ByMiner, replies); err != nil {
		return nil, err
	}
	used, err := rd.Store.RunTime(ctx, id)
	if err != nil {
		return nil, err
	}
	u := &Unfinished{Run: id, Status: string(status), Resume: "evolve --skill " + name}
	u.Text = string(status)
	if at, ok := record.BeganAt(id); ok {
		if at = at.Add(used); locked.After(at) { // continued later, by the process that was killed
			at = locked
		}
		u.Text += " " + at.Local().Format("2006-01-02 15:04")
	}
	cost := "0 calls"
	if s := budget.Spent(); s.MinerCalls > 0 {
		cost = plain.Counted(int(s.MinerCalls), "call") + ", " + s.Dollars()
	}
	u.Text += " (mining: " + cost + ")" // short: a line of 80 columns holds it and the command
	return u, nil
}
