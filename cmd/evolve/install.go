package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/report"
)

// recordLive brings the store up to date with the file on disk: an install that
// a crash cut short is settled by looking at what is there, a text that no
// version knows (found for the first time, or edited by its owner) becomes one.
func (a *app) recordLive(ctx context.Context, db *store.Store, live *liveSkill) error {
	target, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	sha := live.doc.Hash()
	pending, err := db.PendingInstalls(ctx)
	if err != nil {
		return err
	}
	for _, in := range pending {
		if in.Path != target {
			continue
		}
		happened, err := db.SettleInstall(ctx, in, sha)
		if err != nil {
			return err
		}
		if happened {
			a.say("an installation of %s that was interrupted is in place after all", live.Name)
		} else {
			a.say("an installation of %s that was interrupted did not happen", live.Name)
		}
	}
	versions, err := db.Versions(ctx, live.Name)
	if err != nil {
		return err
	}
	note, parent := "found", ""
	for _, v := range versions {
		if v.SHA == sha {
			return nil
		}
	}
	if n := len(versions); n > 0 {
		note = "edited by hand"
		if parent, err = db.Installed(ctx, live.Name, target); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if parent == "" {
			parent = versions[n-1].SHA
		}
	}
	v, err := db.SaveVersion(ctx, tournament.Version{Skill: live.Name, SHA: sha, Parent: parent, Author: "you", Operator: "edit",
		Note: note, Text: live.doc.Render(), Created: a.now().UTC()})
	if err != nil {
		return err
	}
	if v.N > 0 {
		a.say("%s was edited by hand: recorded as v%d", live.Name, v.N)
	}
	return db.SetInstalled(ctx, live.Name, target, sha)
}

// installNew records v as a version and puts it in the place of the text whose
// SHA-256 is want. Where that is refused or fails, no version is left behind that
// was never in place: a rollback must not find one.
func (a *app) installNew(ctx context.Context, db *store.Store, live *liveSkill, want string, v tournament.Version) (tournament.Version, error) {
	v, err := db.SaveVersion(ctx, v)
	if err != nil {
		return v, err
	}
	if err := a.install(ctx, db, live, want, v); err != nil {
		return v, errors.Join(err, db.WithdrawVersion(context.WithoutCancel(ctx), v))
	}
	a.leaveNote(live.Name, hook.Installed, "v%d (%.12s, %s) was installed; `evolve rollback %s` takes it back", v.N, v.SHA, backing(v), live.Name)
	return v, nil
}

// install replaces the live file by version v's text, if and only if the live
// text is still want. It is written down before and after, so that a crash in
// between leaves a store that can tell.
func (a *app) install(ctx context.Context, db *store.Store, live *liveSkill, want string, v tournament.Version) error {
	if live.Managed {
		return refused("change it where it comes from", "skill %s is managed by %s: an installation would not last", live.Name, live.Scope)
	}
	doc, err := skill.Parse(v.Text, skill.Options{})
	if err != nil {
		return fmt.Errorf("read version to install: %w", err)
	}
	if doc.Hash() != v.SHA {
		return refused("the store is damaged; restore it from a backup", "version v%d of %s is not the text that its name says", v.N, live.Name)
	}
	target, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	id, err := db.BeginInstall(ctx, store.Install{Skill: live.Name, Path: target, From: want, To: v.SHA, Note: v.Note})
	if err != nil {
		return err
	}
	if err := skill.InstallResolved(target, want, v.Text); err != nil {
		if e := db.AbandonInstall(context.WithoutCancel(ctx), id); e != nil {
			return errors.Join(err, e)
		}
		return err
	}
	return db.FinishInstall(context.WithoutCancel(ctx), id)
}

// checkKernel refuses a text whose kernel is not the live one's, in bytes or in
// structure, whatever was recorded about it. Where the description was what
// evolved, it is no kernel.
func checkKernel(live, next *skill.Document, evolves string) error {
	opts := optionsOf(evolves)
	live, err := skill.Parse(live.Render(), opts)
	if err == nil {
		next, err = skill.Parse(next.Render(), opts)
	}
	if err != nil {
		return refused("nothing was installed", "%v", err)
	}
	if live.KernelHash() != next.KernelHash() {
		return refused("nothing was installed", "the kernel differs from the live skill's")
	}
	for _, f := range skill.Check(live, next, skill.ClaudeCode) {
		if f.Severity == skill.Reject {
			return refused("nothing was installed", "line %d: %s (%s)", f.Line, f.Message, f.Rule)
		}
	}
	return nil
}

// mayInstall says whether the owner's word lets next take the place of the live
// text. What the firewall flagged is installed by hand alone, and only once it
// was approved; note then says so, and stays with the version.
func (a *app) mayInstall(ctx context.Context, db *store.Store, live *liveSkill, next *skill.Document, evolves string, byHand bool) (note string, err error) {
	c, err := candidacyOf(ctx, db, live.Name, next.Hash())
	if err != nil {
		return "", err
	}
	name := live.Name + "@" + report.Short(next.Hash())
	if c != nil {
		switch c.standing() {
		case inQuarantine:
			return "", refused("`evolve approve "+name+"` shows why, and lets it be tried", "candidate %.12s is %s", c.SHA, c.words())
		case rejectedWord:
			return "", refused("`evolve approve "+name+"` takes that back", "candidate %.12s was %s", c.SHA, c.words())
		}
	}
	rules, err := flaggedRules(live.doc, next, evolves, c)
	if err != nil {
		return "", err
	}
	if len(rules) == 0 {
		return "", nil
	}
	if !byHand {
		return "", refused("look at `evolve diff "+name+"`; `evolve promote "+name+"` installs it",
			"the firewall flagged %.12s (%s): it is yours to install", next.Hash(), strings.Join(rules, ", "))
	}
	note = "flagged: " + strings.Join(rules, ", ")
	if c != nil && c.said != nil {
		note += "; approved by " + c.said.By
	}
	return note, nil
}

// installProved installs what the run's own gate proved.
func (a *app) installProved(ctx context.Context, p *prepared, out *tournament.Outcome) error {
	doc := p.plan.Incumbent.Doc
	text := []byte(nil)
	operator := "carried"
	if out.Challenger != nil {
		text, operator = out.Challenger.Text, out.Challenger.Operator
	} else {
		text = p.plan.Carried.Doc.Render()
	}
	next, err := skill.Parse(text, doc.Options())
	if err != nil {
		return fmt.Errorf("read challenger: %w", err)
	}
	if err := checkKernel(doc, next, p.f.Evolve); err != nil {
		return err
	}
	if _, err := a.mayInstall(ctx, p.db, p.live, next, p.f.Evolve, false); err != nil {
		return err
	}
	evidence, err := evidenceOf(out.Verdict)
	if err != nil {
		return err
	}
	_, err = a.installNew(ctx, p.db, p.live, doc.Hash(), tournament.Version{Skill: p.run.Skill, SHA: next.Hash(), Parent: doc.Hash(), Author: "evolve",
		Operator: operator, Run: p.run.ID, Evidence: evidence, Proven: true, Simulated: p.run.Simulated, Text: text, Created: a.now().UTC()})
	return err
}

// readDoc parses a stored text.
func readDoc(text []byte) (*skill.Document, error) {
	doc, err := skill.Parse(text, skill.Options{})
	if err != nil {
		return nil, fmt.Errorf("read stored text: %w", err)
	}
	return doc, nil
}

// verdictOf reads the gate's verdict back from a run.
func verdictOf(raw json.RawMessage) (*tournament.Verdict, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var v tournament.Verdict
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("read verdict: %w", err)
	}
	return &v, nil
}

// fileMode keeps what evolve writes for its owner alone.
const fileMode os.FileMode = 0o600
