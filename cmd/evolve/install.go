package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// recordLive brings the store up to date with the file on disk: an install that
// a crash cut short is settled by looking at what is there, a text that no
// version knows (found for the first time, or edited by its owner) becomes one. What
// cannot be read is none: its owner may be half way through a save.
func (a *app) recordLive(ctx context.Context, db *store.Store, live *skill.Live) error {
	_, open, err := a.settle(ctx, db, live.Name)
	if err != nil {
		return err
	}
	a.sayOpen(live.Name, open)
	if live.HalfSaved() {
		return nil
	}
	return a.recordEdits(ctx, db, live, a.recordText)
}

// recordText makes the live text a version, where it is none.
func (a *app) recordText(ctx context.Context, db *store.Store, live *skill.Live) error {
	target, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	sha := live.Doc.Hash()
	versions, err := db.Versions(ctx, live.Name)
	if err != nil {
		return err
	}
	installed, err := db.Installed(ctx, live.Name, target)
	if err != nil {
		return err
	}
	if candidate.VersionIn(versions, sha) != nil {
		if installed == sha {
			return nil
		}
		return db.SetInstalled(ctx, live.Name, target, sha) // put back by hand
	}
	note, parent := "found", ""
	if n := len(versions); n > 0 {
		note, parent = "edited by hand", installed
		if parent == "" {
			parent = nearestVersion(versions, live.Doc.Render())
		}
	}
	v, err := db.SaveVersion(ctx, tournament.Version{Skill: live.Name, SHA: sha, Parent: parent, Author: "you", Operator: "edit",
		Note: note, Text: live.Doc.Render(), Created: a.Now().UTC()})
	if err != nil {
		return err
	}
	if v.N > 0 {
		a.sayRecorded("%s was edited by hand: recorded as v%d", live.Name, v.N)
	}
	return db.SetInstalled(ctx, live.Name, target, sha)
}

// recordEdit makes the text at another place a version, where it is none.
func (a *app) recordEdit(ctx context.Context, db *store.Store, name string, p *place) (*tournament.Version, error) {
	v, err := db.VersionBySHA(ctx, name, p.held)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return v, err
	}
	parent, err := db.Installed(ctx, name, p.path)
	if err != nil {
		return nil, err
	}
	note := "found in " + p.Name
	if parent != "" {
		note = "edited by hand in " + p.Name
	}
	kept, err := db.SaveVersion(ctx, tournament.Version{Skill: name, SHA: p.held, Parent: parent, Author: "you", Operator: "edit",
		Note: note, Text: p.text, Created: a.Now().UTC()})
	if err != nil {
		return nil, err
	}
	a.sayRecorded("%s, %s: recorded as v%d", name, note, kept.N)
	return &kept, db.SetInstalled(ctx, name, p.path, p.held)
}

// lastInstall is the newest install at a path that was carried out, nil for none.
func lastInstall(ctx context.Context, db *store.Store, name, path string) (*store.Install, error) {
	all, err := db.Installs(ctx, name)
	if err != nil {
		return nil, err
	}
	for i := range all { // the newest first
		if all[i].Path == path && all[i].Outcome == wasInstalled {
			return &all[i], nil
		}
	}
	return nil, nil
}

// mayReplace says whether v may take the place of what a target holds: what evolve
// made or put there, or what v was made from, is no loss. Any other text is its
// owner's; it is recorded, and stays unless force says otherwise.
func (a *app) mayReplace(ctx context.Context, db *store.Store, name string, p *place, v *tournament.Version, force bool) error {
	if p.held == "" || p.held == v.SHA || p.refusal != nil || p.same != "" {
		return nil
	}
	versions, err := db.Versions(ctx, name)
	if err != nil {
		return err
	}
	known := candidate.VersionIn(versions, p.held)
	if known != nil && known.Author == "evolve" {
		return nil
	}
	if last, err := lastInstall(ctx, db, name, p.path); err != nil {
		return err
	} else if last != nil && last.To == p.held {
		return nil
	}
	seen := map[string]bool{}
	for sha := v.Parent; sha != "" && !seen[sha]; {
		if sha == p.held {
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
		if known, err = a.recordEdit(ctx, db, name, p); err != nil {
			return err
		}
	}
	if !force {
		p.refusal = problem.Refusef(fmt.Sprintf("`evolve diff %s v%d` shows it; --force puts the other one in its place", name, known.N),
			"it holds a text of yours, kept as v%d", known.N)
	}
	return nil
}

// installNew records v as a version and puts it in the place of the live text,
// whose SHA-256 is want, and into the targets of the configuration. Where the live
// text is refused or fails, no version is left behind that was never in place: a
// rollback must not find one. Other targets are told of on stderr.
func (a *app) installNew(ctx context.Context, db *store.Store, live *skill.Live, want string, v tournament.Version) (tournament.Version, error) {
	v, _, err := a.installAt(ctx, db, live, want, v)
	return v, err
}

// installAt is installNew; it returns what became of each target, too.
func (a *app) installAt(ctx context.Context, db *store.Store, live *skill.Live, want string, v tournament.Version) (tournament.Version, []placed, error) {
	targets, err := a.targets(nil)
	if err != nil {
		return v, nil, err
	}
	home, err := a.layout().Main()
	if err != nil {
		return v, nil, err
	}
	v, done, err := a.placeNew(ctx, db, live, want, v, append([]skill.Target{home}, targets...), false)
	if err != nil {
		return v, nil, err
	}
	var refusal error
	for i := range done {
		switch o := &done[i]; {
		case o.live && o.err != nil:
			refusal = o.err
		case !o.live && o.Outcome != wasSame:
			a.Say("%s, %s: %s", live.Name, o.Target, o.words(nil))
		}
	}
	return v, done, refusal
}

// placeNew records v as a version and puts it into targets. The live text must be
// the one whose SHA-256 is want. Where nothing could be put in place, v is no
// version afterwards.
func (a *app) placeNew(ctx context.Context, db *store.Store, live *skill.Live, want string, v tournament.Version, targets []skill.Target, force bool) (tournament.Version, []placed, error) {
	plan, err := a.planNew(ctx, db, live, want, &v, targets, force)
	if err != nil {
		return v, nil, err
	}
	kept, err := db.SaveVersion(ctx, v)
	if err != nil {
		return v, nil, err
	}
	v = kept
	done, err := a.put(ctx, db, live, store.OpPromote, v.Note, false, plan)
	there := false
	for i := range done {
		there = there || done[i].Outcome != wasRefused && done[i].Outcome != wasSame // the same as one that counts itself
	}
	if err != nil || !there {
		return v, done, errors.Join(err, db.WithdrawVersion(context.WithoutCancel(ctx), v))
	}
	a.leaveNote(live.Name, hook.Installed, "v%d (%.12s, %s) was installed; `evolve rollback %s` takes it back", v.N, v.SHA, candidate.Backing(v), live.Name)
	return v, done, nil
}

// planNew looks at the targets that v is to be put into. v is what every placing
// points to.
func (a *app) planNew(ctx context.Context, db *store.Store, live *skill.Live, want string, v *tournament.Version, targets []skill.Target, force bool) ([]placing, error) {
	doc, err := skill.Parse(v.Text, skill.Options{})
	if err != nil {
		return nil, fmt.Errorf("read version to install: %w", err)
	}
	if doc.Hash() != v.SHA {
		return nil, problem.Refusef("the store is damaged; restore it from a backup", "version v%d of %s is not the text that its name says", v.N, live.Name)
	}
	places, err := a.places(ctx, db, live, targets)
	if err != nil {
		return nil, err
	}
	plan := make([]placing, len(places))
	for i := range places {
		p := &places[i]
		if !p.live {
			err = a.mayReplace(ctx, db, live.Name, p, v, force)
		} else if p.refusal == nil && p.held != want && p.held != v.SHA {
			// What was proved is about another text, wherever it would go.
			err = &skill.DriftError{Path: p.path, Want: want, Live: p.held}
		}
		if err != nil {
			return nil, err
		}
		plan[i] = placing{*p, v}
	}
	return plan, nil
}

// mayInstall says whether the owner's word lets next take the place of the live
// text. What the firewall flagged is installed by hand alone, and only once it
// was approved; note then says so, and stays with the version.
func (a *app) mayInstall(ctx context.Context, db *store.Store, live *skill.Live, next *skill.Document, evolves string, byHand bool) (note string, err error) {
	c, err := candidate.Of(ctx, db, live.Name, next.Hash())
	if err != nil {
		return "", err
	}
	name := live.Name + "@" + plain.Short(next.Hash())
	if c != nil {
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
		note += "; approved by " + c.Decision.By
	}
	return note, nil
}

// installProved installs what the run's own gate proved.
func (a *app) installProved(ctx context.Context, p *prepared, out *tournament.Outcome) ([]placed, error) {
	doc := p.plan.Incumbent.Doc
	var text []byte
	var operator string
	if out.Challenger != nil {
		text, operator = out.Challenger.Text, out.Challenger.Operator
	} else {
		made, err := candidate.MadeBy(ctx, p.db, p.run.Skill, p.plan.Carried.SHA())
		if err != nil {
			return nil, err
		}
		text, operator = p.plan.Carried.Doc.Render(), made.Operator
	}
	next, err := skill.Parse(text, doc.Options())
	if err != nil {
		return nil, fmt.Errorf("read challenger: %w", err)
	}
	if err := skill.CheckKernel(doc, next, p.f.Evolve); err != nil {
		return nil, err
	}
	if _, err := a.mayInstall(ctx, p.db, p.live, next, p.f.Evolve, false); err != nil {
		return nil, err
	}
	evidence, err := candidate.EvidenceOf(out.Verdict)
	if err != nil {
		return nil, err
	}
	v := tournament.Version{Skill: p.run.Skill, SHA: next.Hash(), Parent: doc.Hash(), Author: "evolve",
		Operator: operator, Run: p.run.ID, Evidence: evidence, Proven: true, Simulated: p.run.Simulated, Text: text, Created: a.Now().UTC()}
	if len(p.f.to) == 0 {
		_, done, err := a.installAt(ctx, p.db, p.live, doc.Hash(), v)
		return done, err
	}
	targets, err := a.targets(p.f.to)
	if err != nil {
		return nil, err
	}
	v, done, err := a.placeNew(ctx, p.db, p.live, doc.Hash(), v, targets, false)
	if err != nil {
		return nil, err
	}
	for i := range done {
		a.Say("%s v%d, %s: %s", p.run.Skill, v.N, done[i].Target, done[i].words(nil))
	}
	return done, refusalOf(done)
}

// fileMode keeps what evolve writes for its owner alone.
const fileMode os.FileMode = 0o600
