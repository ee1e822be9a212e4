package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/proposed"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// recordText makes the live text a version, unless it is one.
func (in *Installer) recordText(ctx context.Context, live *skill.Live) error {
	target, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	sha := live.Doc.Hash()
	if known, err := in.Store.Installed(ctx, live.Name, target); err == nil && known == sha {
		if _, err := in.Store.VersionBySHA(ctx, live.Name, sha); err == nil {
			return nil
		}
	}
	if in.Access == datadir.Writes && !live.Tracked {
		unlock, err := in.lockInstalls(ctx, installWait)
		if err != nil {
			return err
		}
		defer unlock()
		if text, err := skill.ReadFile(target); err == nil && skill.HashText(text) != sha {
			return nil // another process has put a text there since this one looked, and has recorded it
		}
	}
	versions, err := in.Store.Versions(ctx, live.Name)
	if err != nil {
		return err
	}
	installed, err := in.Store.Installed(ctx, live.Name, target)
	if err != nil {
		return err
	}
	if candidate.VersionIn(versions, sha) != nil {
		if installed == sha {
			return nil
		}
		return in.Store.SetInstalled(ctx, live.Name, target, sha) // put back by hand
	}
	if merged, err := in.recordMerged(ctx, live, installed, target); merged || err != nil {
		return err
	}
	note, parent := "found", ""
	if n := len(versions); n > 0 {
		note, parent = "edited by hand", installed
		if parent == "" {
			parent = NearestVersion(versions, live.Doc.Render())
		}
	}
	v, err := in.Store.SaveVersion(ctx, record.Version{Skill: live.Name, SHA: sha, Parent: parent, Author: "you", Operator: "edit",
		Note: note, Text: live.Doc.Render(), Created: in.Now().UTC()})
	if err != nil {
		return err
	}
	if v.N > 0 {
		in.Say(in.Access.Recorded("%s was edited by hand: recorded as v%d"), live.Name, v.N)
	}
	return in.Store.SetInstalled(ctx, live.Name, target, sha)
}

// recordMerged makes the live text a version of evolve's if it was proposed for a file that
// git tracks, and the default branch has it now.
func (in *Installer) recordMerged(ctx context.Context, live *skill.Live, parent, target string) (bool, error) {
	if !live.Tracked {
		return false, nil
	}
	sha := live.Doc.Hash()
	open, err := proposed.Open(ctx, in.Store, live.Name)
	if err != nil {
		return false, err
	}
	merged := false
	for i := range open { // the newest first
		p := &open[i]
		if p.To != sha {
			continue
		}
		if !merged {
			v := p.Version
			v.Parent, v.Text, v.Created = cmp.Or(parent, v.Parent), live.Doc.Render(), in.Now().UTC()
			if v, err = in.Store.SaveVersion(ctx, v); err != nil {
				return false, err
			}
			in.Say(in.Access.Recorded("%s: the default branch has %.12s now: recorded as v%d"), live.Name, sha, v.N)
			if err := in.Store.SetInstalled(ctx, live.Name, target, sha); err != nil {
				return false, err
			}
		}
		merged = true
		if err := proposed.End(ctx, in.Store, p.ID, in.Now()); err != nil {
			return false, err
		}
	}
	return merged, nil
}

// recordEdit makes the text at another place a version, unless it is one.
func (in *Installer) recordEdit(ctx context.Context, name string, p *Place) (*record.Version, error) {
	v, err := in.Store.VersionBySHA(ctx, name, p.Held)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return v, err
	}
	parent, err := in.Store.Installed(ctx, name, p.Path)
	if err != nil {
		return nil, err
	}
	note := "found in " + p.Name
	if parent != "" {
		note = "edited by hand in " + p.Name
	}
	kept, err := in.Store.SaveVersion(ctx, record.Version{Skill: name, SHA: p.Held, Parent: parent, Author: "you", Operator: "edit",
		Note: note, Text: p.text, Created: in.Now().UTC()})
	if err != nil {
		return nil, err
	}
	in.Say(in.Access.Recorded("%s, %s: recorded as v%d"), name, note, kept.N)
	return &kept, in.Store.SetInstalled(ctx, name, p.Path, p.Held)
}

// LastInstall is the newest completed install at a path, nil for none.
func LastInstall(ctx context.Context, db *store.Store, name, path string) (*store.Install, error) {
	all, err := db.Installs(ctx, name)
	if err != nil {
		return nil, err
	}
	for i := range all { // the newest first
		if all[i].Path == path && all[i].Outcome == Installed {
			return &all[i], nil
		}
	}
	return nil, nil
}

// mayReplace reports whether v may replace the text that a target holds: it
// may if evolve made that text or put it there, or made v from it. Any other
// text is its owner's; it is recorded, and stays unless force is set.
func (in *Installer) mayReplace(ctx context.Context, name string, p *Place, v *record.Version, force bool) error {
	if p.Held == "" || p.Held == v.SHA || p.Refusal != nil || p.Same != "" {
		return nil
	}
	versions, err := in.Store.Versions(ctx, name)
	if err != nil {
		return err
	}
	known := candidate.VersionIn(versions, p.Held)
	if known != nil && known.Author == "evolve" {
		return nil
	}
	if last, err := LastInstall(ctx, in.Store, name, p.Path); err != nil {
		return err
	} else if last != nil && last.To == p.Held {
		return nil
	}
	seen := map[string]bool{}
	for sha := v.Parent; sha != "" && !seen[sha]; {
		if sha == p.Held {
			return nil
		}
		seen[sha] = true
		above := candidate.VersionIn(versions, sha)
		if above == nil {
			break
		}
		sha = above.Parent
	}
	if known == nil {
		if known, err = in.recordEdit(ctx, name, p); err != nil {
			return err
		}
	}
	if !force {
		p.Refusal = problem.Refusef(fmt.Sprintf("`evolve diff %s v%d` shows it; --force puts the other one in its place", name, known.N),
			"it holds a text of yours, kept as v%d", known.N)
	}
	return nil
}

// PlanProved plans to put v, which was proved against the text whose SHA-256 is
// v.Parent, in the place of the live text. A text that only its owner may install is
// refused. to are the targets; nil is where the skill lives, and the targets of the
// configuration.
func (in *Installer) PlanProved(ctx context.Context, live *skill.Live, v *record.Version, to []skill.Target) (*Plan, error) {
	evolves := candidate.PartOf(v.Operator)
	next, err := skill.Stored(live.Name, v.Text)
	if err != nil {
		return nil, err
	}
	ground, err := trying.Ground(ctx, in.Store, live)
	if err != nil {
		return nil, err
	}
	if err := check.Kernel(ground.Doc, next, evolves); err != nil {
		return nil, err
	}
	change, err := candidate.ChangeOf(ctx, in.Store, v)
	if err != nil {
		return nil, err
	}
	if _, err := in.mayInstall(ctx, ground, next, change, evolves, false); err != nil {
		return nil, err
	}
	if to == nil {
		if to, err = in.everywhere(live.Name); err != nil {
			return nil, err
		}
	}
	p := &Plan{Op: store.OpPromote, Live: live, Version: v, note: v.Note, fresh: true}
	p.Places, err = in.noting(p).planNew(ctx, live, v.Parent, v, to, false)
	return in.planned(p, err)
}

// everywhere is where the skill lives, and the targets of the configuration.
func (in *Installer) everywhere(key string) ([]skill.Target, error) {
	home, err := in.Layout.Main(key)
	if err != nil {
		return nil, err
	}
	more, err := in.Layout.Targets(key, nil)
	return append([]skill.Target{home}, more...), err
}

// planNew reads the targets of v. Every placement points to v.
func (in *Installer) planNew(ctx context.Context, live *skill.Live, want string, v *record.Version, targets []skill.Target, force bool) ([]Placement, error) {
	doc, err := skill.Parse(v.Text, live.Doc.Options())
	if err != nil {
		return nil, fmt.Errorf("read version to install: %w", err)
	}
	if doc.Hash() != v.SHA {
		return nil, problem.Refusef("the store is damaged; restore it from a backup", "version v%d of %s is not the text that its name says", v.N, live.Name)
	}
	places, err := in.places(ctx, live, targets)
	if err != nil {
		return nil, err
	}
	by, err := trying.In(ctx, in.Store, live)
	if err != nil {
		return nil, err
	}
	plan := make([]Placement, len(places))
	for i := range places {
		p := &places[i]
		if in.MayTarget != nil && p.Refusal == nil {
			p.Refusal = in.MayTarget(p.Target)
		}
		tried := p.Home && by != nil && by.To == p.Held
		if !p.Home {
			err = in.mayReplace(ctx, live.Name, p, v, force)
		} else if p.Refusal == nil && p.Held != want && p.Held != v.SHA && !(tried && by.From == want) {
			// The proof is about another text, at every target.
			err = &install.DriftError{Path: p.Path, Want: want, Live: p.Held}
		}
		if err != nil {
			return nil, err
		}
		plan[i] = Placement{*p, v, tried && p.Held == v.SHA}
	}
	return plan, nil
}

// approvedBy is in the note of a version that its owner approved in quarantine.
const approvedBy = "; approved by "

// sayFlagged says what the firewall found in a text that is to be installed, unless its owner
// has approved it. Such a text was tried because its owner had asked for what was found.
func (in *Installer) sayFlagged(sha, note string) {
	if note != "" && !strings.Contains(note, approvedBy) {
		in.Say("%.12s is %s", sha, note)
	}
}

// mayInstall reports whether the owner's decisions let next, which has the change of the
// challenger whose SHA-256 is change, replace the live text. A text that the firewall flagged is installed by hand alone, and only
// after its approval; note then records that with the version.
func (in *Installer) mayInstall(ctx context.Context, live *skill.Live, next *skill.Document, change, evolves string, byHand bool) (note string, err error) {
	var c *candidate.Candidate // of the change
	name := ""
	for _, sha := range slices.Compact([]string{next.Hash(), change}) {
		if c, err = candidate.Of(ctx, in.Store, live.Name, sha); err != nil {
			return "", err
		}
		if name = live.Name + "@" + plain.Short(sha); c == nil {
			continue
		}
		switch c.Standing() {
		case candidate.Quarantined:
			return "", problem.Refusef("`evolve approve "+name+"` shows why, and lets it be tried", "candidate %.12s is %s", c.SHA, c.Words())
		case candidate.Rejected:
			return "", problem.Refusef("`evolve approve "+name+"` takes that back", "candidate %.12s was %s", c.SHA, c.Words())
		}
	}
	rules, err := candidate.FlaggedRules(live.Doc, next, evolves, c)
	if err != nil {
		return "", err
	}
	if !byHand && candidate.OnlyDeletes(live.Doc, next.Render()) {
		return "", problem.Refusef("look at `evolve diff "+name+"`; `evolve promote "+name+"` installs it",
			"%.12s only lacks lines of the live text: it is yours to install", next.Hash())
	}
	if len(rules) == 0 {
		return "", nil
	}
	if !byHand {
		return "", problem.Refusef("look at `evolve diff "+name+"`; `evolve promote "+name+"` installs it",
			"the firewall flagged %.12s (%s): it is yours to install", next.Hash(), strings.Join(rules, ", "))
	}
	note = "flagged: " + strings.Join(rules, ", ")
	if c != nil && c.Decision != nil {
		note += approvedBy + c.Decision.By
	}
	return note, nil
}
