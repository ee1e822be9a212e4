package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// WaitingTrial returns the trial that `evolve promote` uses if no candidate is named: the
// newest that ended in a promotion, else the newest that is undecided; of either, a change
// that only deletes lines of the live text comes last. A change that was installed before
// is not offered again: back is the newest such trial. Each is nil if there is none.
func (in *Installer) WaitingTrial(ctx context.Context, live *skill.Live) (trial, back *candidate.OnTrial, err error) {
	if live, err = trying.Ground(ctx, in.Store, live); err != nil {
		return nil, nil, err
	}
	trials, err := candidate.Trials(ctx, in.Store, live)
	if err != nil {
		return nil, nil, err
	}
	for _, want := range []pareto.Verdict{pareto.Promote, pareto.Promising, pareto.Undecided} {
		var last *candidate.OnTrial
		for i := range trials { // the newest first
			t := &trials[i]
			if t.With == nil || t.Decision != want {
				continue
			}
			was, err := HadItsChance(ctx, in.Store, live, t)
			if err != nil {
				return nil, nil, err
			}
			switch {
			case was != "":
				back = cmp.Or(back, t)
			case !candidate.OnlyDeletes(live.Doc, t.With.Text):
				return t, back, nil
			default:
				last = cmp.Or(last, t)
			}
		}
		if last != nil {
			return last, back, nil
		}
	}
	return nil, back, nil
}

// refuseBack refuses to install again what was rolled back, unless its
// version is named.
func (in *Installer) refuseBack(ctx context.Context, live *skill.Live, t *candidate.OnTrial) error {
	sha, err := HadItsChance(ctx, in.Store, live, t)
	if err != nil {
		return err
	}
	v, err := in.Store.VersionBySHA(ctx, live.Name, sha)
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

// HadItsChance is the text by which a change was live in the skill's home, or was rolled
// back in another target; "" if it was not. One that was only installed in another target
// still waits for the home, and so does one that is, or was, there on trial and that its
// owner has not rolled back.
func HadItsChance(ctx context.Context, db *store.Store, live *skill.Live, t *candidate.OnTrial) (string, error) {
	versions, err := db.Versions(ctx, live.Name)
	if err != nil {
		return "", err
	}
	var installs []store.Install
	for i, v := range slices.Backward(versions) {
		if change, err := candidate.ChangeOf(ctx, db, &v); err != nil {
			return "", err
		} else if change != t.Challenger && v.SHA != t.Challenger || candidate.VersionIn(versions[i+1:], v.SHA) != nil {
			continue
		}
		if installs == nil {
			if installs, err = db.Installs(ctx, live.Name); err != nil {
				return "", err
			}
		}
		if had, err := hadItsChance(live, installs, v.SHA); err != nil || had {
			return v.SHA, err
		}
	}
	return "", nil
}

func hadItsChance(live *skill.Live, installs []store.Install, sha string) (bool, error) {
	home, err := live.Home()
	if err != nil {
		return false, err
	}
	if _, back := rolledBackTexts(installs)[sha]; back {
		return true, nil
	}
	elsewhere, begun := false, false // in another place, or on trial; or not at all
	for _, in := range installs {
		begun = begun || in.To == sha && in.Outcome != Installed // pending, or given up
		if in.Outcome != Installed || in.To != sha {
			continue
		}
		if in.Path == home && !trying.Is(&in) {
			return true, nil
		}
		elsewhere = true
	}
	// A text that a crash kept from every place still waits. Any other one is
	// its owner's own.
	return !elsewhere && !begun, nil
}
