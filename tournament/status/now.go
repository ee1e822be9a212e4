package status

import (
	"context"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// WaitingNow is what a night has left to its owner and is still open: without
// what was promoted, rejected, rolled back, edited or labelled since.
func (rd *Reader) WaitingNow(ctx context.Context, n *sleep.Night) (waiting []string, alarms int, err error) {
	now := *n
	now.Steps = nil
	for i := range n.Steps {
		over, err := rd.dealtWith(ctx, n, &n.Steps[i])
		if err != nil {
			return nil, 0, err
		}
		if !over {
			now.Steps = append(now.Steps, n.Steps[i])
		}
	}
	return waitingIn(&now), len(alarmsIn(&now)), nil
}

// dealtWith reports whether nothing is left to do about what a step has
// reported. It is false for a skill that cannot be read.
func (rd *Reader) dealtWith(ctx context.Context, n *sleep.Night, k *sleep.Step) (bool, error) {
	proposes := k.Kind == sleep.Install && k.Stage == sleep.Skipped && k.Result != nil
	waits := k.Stage == sleep.Waits
	if !proposes && !waits && !IsAlarm(k) && !asksForLabels(k) {
		return false, nil
	}
	live, err := rd.Layout.Live(k.Skill)
	if err != nil {
		return false, nil
	}
	sha := live.Doc.Hash()
	if !IsAlarm(k) {
		if live, err = trying.Ground(ctx, rd.Store, live); err != nil {
			return false, err
		}
		sha = live.Doc.Hash()
	}
	switch {
	case IsAlarm(k):
		return k.Alarm != nil && k.Alarm.Version != sha || k.Drift != nil && k.Drift.Version != sha, nil
	case waits:
		last, err := rd.Store.LatestRun(ctx, k.Skill)
		return k.Live != "" && k.Live != sha || last != nil && last.Started.After(n.Began), err
	case proposes:
		trial, back, err := rd.Release.WaitingTrial(ctx, live)
		if err != nil || trial == nil && back == nil { // of a night from before trials were kept
			return k.Result.Incumbent != "" && k.Result.Incumbent != sha, err
		}
		return trial == nil || trial.Challenger != k.Result.Challenger || trial.Decision != pareto.Promote, nil
	}
	c, err := rd.Challenger(ctx, live)
	if err != nil || c == nil || c.on == nil {
		return true, err
	}
	left, _, err := judge.Unlabelled(ctx, rd.Store, c.on)
	return left == 0, err
}
