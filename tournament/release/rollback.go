package release

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A rollingBack is a rollback in planning.
type rollingBack struct {
	in    *Installer
	live  *skill.Live
	at    string // the version behind the @, "" for what was there before
	force bool
	// words are the decisions of the owner, or of a night with that
	// permission, on texts.
	words map[string]store.Decision
	// back are the texts that were rolled back and are in no place since.
	back map[string]time.Time
	// everywhere: no target was named.
	everywhere bool
}

// PlanRollback plans a rollback. If no target is named, every target that
// holds the live text gets the text before it; if the live text is the first
// one, the newest installation in other targets is taken back. The plan's
// version is the one that most of it is about. A text of the owner's that is
// found in a target becomes a version.
func (in *Installer) PlanRollback(ctx context.Context, live *skill.Live, req Request) (*Plan, error) {
	pin, err := Pinned(ctx, in.Store, live.Name)
	if err != nil {
		return nil, err
	}
	if pin != nil && !req.Force {
		return nil, pin.Refuse(store.OpRollback)
	}
	p := &Plan{Op: store.OpRollback, Live: live, note: "rollback", force: req.Force, notify: true, pin: pin}
	if on, err := TryingOf(ctx, in.Store, live); err != nil {
		return nil, err
	} else if on != nil && on.Trial != nil && on.Trial.IsOpen() {
		proven, err := on.Trial.ProvenAlone()
		if err != nil {
			return nil, err
		}
		p.again = !proven
	}
	p.Places, p.Version, err = in.noting(p).rollback(ctx, live, req)
	return in.planned(p, err)
}

func (in *Installer) rollback(ctx context.Context, live *skill.Live, req Request) (plan []Placement, to *record.Version, err error) {
	r := &rollingBack{in: in, live: live, at: req.At, force: req.Force, everywhere: req.To == nil}
	if err := r.readWords(ctx); err != nil {
		return nil, nil, err
	}
	from := live.Doc.Hash()
	targets, named := req.To, req.To != nil
	if !named {
		path, err := live.Home()
		if err != nil {
			return nil, nil, err
		}
		to, err = r.target(ctx, path, from, true)
		elsewhere, newest, e := r.copies(ctx, from)
		switch {
		case e != nil:
			return nil, nil, e
		case err == nil:
			home, err := in.Layout.Main(live.Name)
			if err != nil {
				return nil, nil, err
			}
			targets = append([]skill.Target{home}, elsewhere...)
		case errors.Is(err, errNothingBefore) && len(newest) > 0:
			targets, named = newest, true
		default:
			return nil, nil, err
		}
	}
	places, err := in.places(ctx, live, targets)
	if err != nil {
		return nil, nil, err
	}
	for i := range places {
		p := Placement{Place: places[i], To: to}
		if err := r.takeBack(ctx, &p, named); err != nil {
			return nil, nil, err
		}
		if to == nil {
			to = p.To
		}
		plan = append(plan, p)
	}
	if to == nil { // every target loses the skill
		to, err = in.Store.VersionBySHA(ctx, live.Name, from)
	}
	return plan, to, err
}

// readWords reads the decisions on texts that should not come back unasked.
func (r *rollingBack) readWords(ctx context.Context) (err error) {
	if r.words, err = r.in.Store.Decisions(ctx, r.live.Name); err != nil {
		return err
	}
	installs, err := r.in.Store.Installs(ctx, r.live.Name)
	if err != nil {
		return err
	}
	r.back = rolledBackTexts(installs)
	places, err := r.in.Store.Places(ctx, r.live.Name)
	for _, p := range places {
		delete(r.back, p.SHA)
	}
	return err
}

// takeBack decides what is put back at one place. A place that was not named
// has to hold the live text.
func (r *rollingBack) takeBack(ctx context.Context, p *Placement, named bool) error {
	switch {
	case p.Refusal != nil || p.Same != "":
		return nil
	case p.Held == "":
		p.To = nil // nothing is there, and nothing will be
		return nil
	case (r.at != "" || !named) && p.To != nil && p.To.SHA == p.Held:
		return nil // in place already
	}
	var yours *record.Version
	if !p.Home {
		var err error
		if yours, err = r.yours(ctx, &p.Place); err != nil {
			return err
		}
	}
	if named || r.at == "" {
		if err := r.aim(ctx, p, named); err != nil {
			p.Refusal = err
			return nil
		}
	}
	if yours == nil || r.force || p.To != nil && p.To.SHA == p.Held {
		return nil
	}
	then := "removes the skill there again"
	if p.To != nil {
		then = fmt.Sprintf("puts v%d in its place", p.To.N)
		if at, ok := r.back[p.To.SHA]; ok {
			then += ", which was rolled back on " + at.Local().Format(time.DateOnly)
		}
	}
	p.Refusal = problem.Refusef(fmt.Sprintf("`evolve diff %s v%d` shows it; --force %s", r.live.Name, yours.N, then), "it holds a text of yours, kept as v%d", yours.N)
	return nil
}

// aim sets the version that a place gets back: none if evolve put the skill
// there with the held text and nothing was before; else its own one if the
// place was named, and if not, the one that all others get.
func (r *rollingBack) aim(ctx context.Context, p *Placement, named bool) error {
	if r.at == "" {
		planted, err := plantedAs(ctx, r.in.Store, r.live.Name, p.Path, p.Held)
		if planted {
			p.To = nil
		}
		if planted || err != nil || !named {
			return err
		}
	}
	to, err := r.target(ctx, p.Path, p.Held, p.Home)
	p.To = to
	return err
}

// yours is the owner's version that a target holds, nil if it holds what
// evolve made or put there itself. A text that is no version yet becomes one.
func (r *rollingBack) yours(ctx context.Context, p *Place) (*record.Version, error) {
	last, err := LastInstall(ctx, r.in.Store, r.live.Name, p.Path)
	if err != nil || last != nil && last.To == p.Held {
		return nil, err
	}
	v, err := r.in.recordEdit(ctx, r.live.Name, p)
	if err != nil || v.Author == "evolve" {
		return nil, err
	}
	return v, nil
}

// plantedAs reports whether evolve put the skill there with this very text,
// and nothing was there before.
func plantedAs(ctx context.Context, db *store.Store, name, path, sha string) (bool, error) {
	if _, planted, err := db.PlantedFiles(ctx, name, path); !planted || err != nil {
		return false, err
	}
	last, err := LastInstall(ctx, db, name, path)
	return last != nil && last.To == sha && last.From == "", err
}

// copies are the other targets that evolve has put the skill into: those with the
// text of this SHA-256, and those with the newest version that any of them has.
func (r *rollingBack) copies(ctx context.Context, sha string) (same, newest []skill.Target, err error) {
	db, live := r.in.Store, r.live
	known, err := Places(ctx, db, live.Name)
	if err != nil {
		return nil, nil, err
	}
	home, err := live.Home()
	if err != nil {
		return nil, nil, err
	}
	elsewhere, err := r.in.otherHomes(ctx, live)
	if err != nil {
		return nil, nil, err
	}
	last := -1
	for _, k := range known {
		if k.Path == home || elsewhere[k.Path] {
			continue
		}
		if now, err := HashAt(k.Path); err == nil && now == "" { // its owner removed it
			if err := db.ForgetPlace(ctx, live.Name, k.Path); err != nil {
				return nil, nil, err
			}
			continue
		}
		t, err := r.in.Layout.TargetAt(live.Name, k.Path)
		if err != nil {
			return nil, nil, err
		}
		if last, err := LastInstall(ctx, db, live.Name, k.Path); err != nil {
			return nil, nil, err
		} else if last == nil { // it was found there: there is nothing to take back
			continue
		}
		if k.SHA == sha {
			same = append(same, t)
			continue
		}
		v, err := db.VersionBySHA(ctx, live.Name, k.SHA)
		if err != nil || v.N < last {
			continue
		}
		if v.N > last {
			last, newest = v.N, nil
		}
		newest = append(newest, t)
	}
	return same, newest, nil
}

// errNothingBefore ends the message that there is no earlier text to put
// back.
var errNothingBefore = errors.New("before the live one")

// target is the named version, else the one that held replaced at a path; nil
// if that was no skill at all. A rejected version comes back by its name and
// with force alone; a rolled-back one if its target is named.
func (r *rollingBack) target(ctx context.Context, path, held string, home bool) (*record.Version, error) {
	name := r.live.Name
	if r.at != "" {
		v, err := candidate.FindVersion(ctx, r.in.Store, name, r.at)
		if err != nil {
			return nil, err
		}
		if why := r.rejected(v); why != "" {
			if !r.force {
				return nil, problem.Refusef("--force puts it back all the same", "%s", why)
			}
			r.in.Say("%s: %s, and is put back", name, why)
		}
		return v, nil
	}
	before, err := Replaced(ctx, r.in.Store, name, path, held, home)
	if err != nil {
		return nil, err
	}
	var passed []string
	for _, sha := range before {
		if sha == "" {
			_, planted, err := r.in.Store.PlantedFiles(ctx, name, path)
			if err != nil {
				return nil, err
			}
			if home || !planted { // it is not evolve's to remove
				continue
			}
			r.pass(passed)
			return nil, nil
		}
		v, err := r.in.Store.VersionBySHA(ctx, name, sha)
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		if why := r.rejected(v); why != "" {
			passed = append(passed, why)
			continue
		}
		if at, ok := r.back[sha]; ok && r.everywhere && !home {
			passed = append(passed, fmt.Sprintf("v%d was rolled back on %s", v.N, at.Local().Format(time.DateOnly)))
			continue
		}
		r.pass(passed)
		return v, nil
	}
	if len(passed) > 0 {
		return nil, problem.Refusef(fmt.Sprintf("`evolve rollback %s@vN --force` puts one back all the same", name), "nothing else was in place before: %s", strings.Join(passed, "; "))
	}
	return nil, problem.Inputf(fmt.Sprintf("`evolve log %s` lists the versions", name), "there is no version of %s %w", name, errNothingBefore)
}

// rejected describes when a version was rejected, "" if it was not.
func (r *rollingBack) rejected(v *record.Version) string {
	d := r.words[v.SHA]
	if d.Word != store.Rejected {
		return ""
	}
	return fmt.Sprintf("v%d was rejected on %s by %s", v.N, d.Time.Local().Format(time.DateOnly), d.By)
}

// pass reports which versions a rollback skips.
func (r *rollingBack) pass(versions []string) {
	for _, why := range versions {
		r.in.Say("%s: %s, and is passed by", r.live.Name, why)
	}
}
