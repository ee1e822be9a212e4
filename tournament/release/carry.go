package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// carry ends a trial install that its owner has edited: the edit goes into the text that it
// replaced, which is put in place. If that cannot be done, the owner's text stays as it is.
// live has the text that is there then.
func (in *Installer) carry(ctx context.Context, live *skill.Live) error {
	if in.Access != datadir.Writes || live.HalfSaved() {
		return nil
	}
	installs, err := in.Store.Installs(ctx, live.Name)
	if err != nil {
		return err
	}
	home, err := live.Home()
	if err != nil {
		return err
	}
	last := trying.Last(installs, home, live.Doc.Hash())
	if last == nil || last.To == live.Doc.Hash() {
		return nil
	}
	versions, err := in.Store.Versions(ctx, live.Name)
	if err != nil {
		return err
	}
	if last.Op == store.OpTakeBack {
		return in.tellAgain(ctx, live, versions, last)
	}
	if !trying.Is(last) {
		return nil
	}
	edit := candidate.VersionIn(versions, live.Doc.Hash())
	if !descends(versions, edit, last.To) {
		return nil // another text, that its owner has put there
	}
	pin, err := Pinned(ctx, in.Store, live.Name)
	if err != nil {
		return err
	}
	tried, ground := candidate.VersionIn(versions, last.To), candidate.VersionIn(versions, last.From)
	next, why := without(live.Doc, tried, ground)
	if pin != nil {
		next, why = nil, "it is "+pin.String()
	}
	say := func(format string, args ...any) {
		in.Say(format, args...)
		in.Note(live.Name, hook.Edited, format, args...)
	}
	if next == nil {
		err := in.takeBack(ctx, live, edit, false, "your edit ended the trial install")
		say("your edit ended the trial install of %s: your text stays as it is, with the change of v%d, because %s; `evolve diff %[1]s v%[2]d v%[4]d` shows your edit, `evolve rollback %[1]s` goes back to the text before the trial",
			live.Name, tried.N, why, edit.N)
		return err
	}
	v, err := in.putWithout(ctx, live, next, ground)
	if err != nil {
		return err
	}
	say("your edit ended the trial install of %s: v%d is your text from before it, with your edit, and is in place; v%d has the change too: `evolve diff %[1]s v%[2]d v%[3]d`, `evolve rollback %[1]s@v%[3]d`",
		live.Name, v.N, edit.N)
	return in.tellEdit(ctx, live, ground.SHA)
}

// tellAgain tells the owner of a text that was taken back and is there again: an editor that
// had it open has saved it once more. It stays, and that is said once.
func (in *Installer) tellAgain(ctx context.Context, live *skill.Live, versions []record.Version, last *store.Install) error {
	now, from, to := candidate.VersionIn(versions, live.Doc.Hash()), candidate.VersionIn(versions, last.From), candidate.VersionIn(versions, last.To)
	if now == nil || from == nil || to == nil || now != from && !descends(versions, now, last.From) && !descends(versions, now, last.To) {
		return nil
	}
	// What the editor had open may have got further edits before it was saved.
	if NearestVersion([]record.Version{*from, *to}, live.Doc.Render()) != from.SHA {
		return nil
	}
	if err := in.takeBack(ctx, live, now, false, "you saved its change again"); err != nil {
		return err
	}
	const words = "%s: v%d has the change that was taken back, as you saved it: it is your text now; `evolve rollback %[1]s@v%[3]d` goes back to the text without it"
	in.Say(words, live.Name, now.N, to.N)
	in.Note(live.Name, hook.Edited, words, live.Name, now.N, to.N)
	return nil
}

// descends reports whether a version came from a text by its owner's edits alone.
func descends(versions []record.Version, v *record.Version, from string) bool {
	for range versions {
		if v == nil || v.Author == "evolve" {
			return false
		}
		if v.Parent == from {
			return true
		}
		v = candidate.VersionIn(versions, v.Parent)
	}
	return false
}

// putWithout makes a text a version of its owner's, and puts it in place.
func (in *Installer) putWithout(ctx context.Context, live *skill.Live, next *skill.Document, ground *record.Version) (*record.Version, error) {
	v := &record.Version{Skill: live.Name, SHA: next.Hash(), Parent: ground.SHA, Author: "you", Operator: "edit", Text: next.Render(),
		Note: fmt.Sprintf("v%d, with your edit of the text on trial", ground.N), Created: in.Now().UTC()}
	if v.SHA == ground.SHA {
		v = ground
	}
	if err := in.takeBack(ctx, live, v, v != ground, "your edit ended the trial install"); err != nil {
		return nil, err
	}
	live.Doc = next
	return v, nil
}

// without is an edited text on trial without the change that was tried: nil with the
// reason if both are in one section, or the result is not what may be put in place.
func without(edited *skill.Document, tried, ground *record.Version) (*skill.Document, string) {
	if tried == nil || ground == nil || len(tried.Text) == 0 || len(ground.Text) == 0 {
		return nil, "the text before it is gone"
	}
	o := edited.Options().Evolving(candidate.PartOf(tried.Operator))
	var docs [3]*skill.Document
	for i, text := range [][]byte{tried.Text, edited.Render(), ground.Text} {
		var err error
		if docs[i], err = skill.Parse(text, o); err != nil {
			return nil, plain.Line(err.Error())
		}
	}
	next, err := mutate.Rebase(docs[0], docs[1], docs[2])
	var clash *mutate.ConflictError
	switch {
	case errors.As(err, &clash):
		return nil, "your edit and the change overlap"
	case err != nil:
		return nil, plain.Line(err.Error())
	}
	before := check.Check(docs[2], next, check.ClaudeCode)
	for _, f := range check.Check(docs[1], next, check.ClaudeCode) { // what either of the two has is no finding
		if f.Severity == check.Reject || f.Severity == check.Quarantine && slices.ContainsFunc(before, func(b check.Finding) bool { return b.Rule == f.Rule }) {
			return nil, "without the change it breaks the rule " + f.Rule
		}
	}
	if next, err = skill.Parse(next.Render(), edited.Options()); err != nil {
		return nil, plain.Line(err.Error())
	}
	return next, ""
}
