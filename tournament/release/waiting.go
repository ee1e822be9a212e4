package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// WaitingTrial returns the trial against the text sha that `evolve promote`
// uses if no candidate is named: the newest that ended in a promotion, else
// the newest that is undecided; of either, a text that only lacks lines of
// the live one comes last. A challenger that was installed before is not
// offered again: back is the newest such trial. Each is nil if there is none.
func (in *Installer) WaitingTrial(ctx context.Context, live *skill.Live, sha string) (trial, back *record.TrialRecord, err error) {
	trials, err := in.Store.Trials(ctx, live.Name)
	if err != nil {
		return nil, nil, err
	}
	for _, want := range []pareto.Verdict{pareto.Promote, pareto.Promising, pareto.Undecided} {
		var last *record.TrialRecord
		for i := range trials { // the newest first
			t := &trials[i]
			if t.Incumbent != sha || t.Decision != want {
				continue
			}
			over, err := HadItsChance(ctx, in.Store, live, t.Challenger)
			if err != nil {
				return nil, nil, err
			}
			if over {
				back = cmp.Or(back, t)
				continue
			}
			short, err := candidate.OnlyDeletesIn(ctx, in.Store, live, t)
			if err != nil {
				return nil, nil, err
			}
			if !short {
				return t, back, nil
			}
			last = cmp.Or(last, t)
		}
		if last != nil {
			return last, back, nil
		}
	}
	return nil, back, nil
}

// refuseBack refuses to install again what was rolled back, unless its
// version is named.
func (in *Installer) refuseBack(ctx context.Context, live *skill.Live, t *record.TrialRecord) error {
	v, err := in.Store.VersionBySHA(ctx, live.Name, t.Challenger)
	if errors.Is(err, store.ErrNotFound) {
		return problem.Inputf(fmt.Sprintf("`evolve --skill %s` looks for one", live.Name), "nothing of %s waits for promotion", live.Name)
	} else if err != nil {
		return err
	}
	installs, err := in.Store.Installs(ctx, live.Name)
	if err != nil {
		return err
	}
	what := "is in place no more"
	if at, ok := rolledBackTexts(installs)[v.SHA]; ok {
		what = "was rolled back on " + at.Local().Format(time.DateOnly)
	}
	hint := fmt.Sprintf("`evolve --skill %s` looks for another one", live.Name)
	if in.promotable(ctx, live.Name, v) {
		hint = fmt.Sprintf("`evolve promote %s@v%d` installs it all the same; %s", live.Name, v.N, hint)
	}
	return problem.Refusef(hint, "nothing of %s waits for promotion: v%d (%.12s), which was tried against the live text, %s", live.Name, v.N, v.SHA, what)
}

// HadItsChance reports whether a text was live in the skill's home, or was
// rolled back in another target. One that was only installed in another
// target still waits for the home.
func HadItsChance(ctx context.Context, db *store.Store, live *skill.Live, sha string) (bool, error) {
	if _, err := db.VersionBySHA(ctx, live.Name, sha); errors.Is(err, store.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	home, err := live.Home()
	if err != nil {
		return false, err
	}
	installs, err := db.Installs(ctx, live.Name)
	if err != nil {
		return false, err
	}
	if _, back := rolledBackTexts(installs)[sha]; back {
		return true, nil
	}
	elsewhere, begun := false, false
	for _, in := range installs {
		begun = begun || in.To == sha && in.Outcome != Installed // pending, or given up
		if in.Outcome != Installed || in.To != sha {
			continue
		}
		if in.Path == home {
			return true, nil
		}
		elsewhere = true
	}
	// A text that a crash kept from every place still waits. Any other one is
	// its owner's own.
	return !elsewhere && !begun, nil
}
