package tracked

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/proposed"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
)

// Options are what the owner has chosen.
type Options struct {
	Kind   proposed.Kind
	Branch string // the name of a new one
	// ForEveryone: others get it although no more than one person's sessions speak for it.
	ForEveryone bool
	// Quotes: what leaves the machine may quote sessions.
	Quotes   bool
	Redactor redact.Redactor
}

// A Done is a text that was put on its way.
type Done struct {
	Kind    proposed.Kind
	Live    *skill.Live
	Version *record.Version
	Path    string // of the file in the working tree
	Merged  bool   // the working tree had changes of its own, which stay
	Already bool   // it was there
	Branch  string
	Commit  string
	Default string // the branch that Branch is one commit ahead of
	Patch   []byte
}

// Text is d for the terminal: what was done, and what can be typed next.
func (d *Done) Text() string {
	what := fmt.Sprintf("%s: %.12s (%s)", d.Live.Name, d.Version.SHA, candidate.Backing(*d.Version))
	back := fmt.Sprintf("`evolve rollback %s` takes it back", d.Live.Name)
	switch {
	case d.Already:
		return fmt.Sprintf("%s is in %s already\nnext: `git diff %[2]s`\n", what, d.Path)
	case d.Kind == proposed.Branch:
		return fmt.Sprintf("%s is commit %.12s on the new branch %s, one ahead of %s; nothing was pushed\nnext: `git show %[3]s`; %[5]s\n",
			what, d.Commit, d.Branch, d.Default, back)
	}
	yours := ""
	if d.Merged {
		yours = "; your changes there stay"
	}
	return fmt.Sprintf("%s is in %s, not committed%s\nnext: `git diff %[2]s` shows it; %[4]s\n", what, d.Path, yours, back)
}

// A promotion is in progress.
type promotion struct {
	Options
	in   *release.Installer
	live *skill.Live
	v    *record.Version
	// trial is the one that the text was in, nil for none.
	trial *candidate.OnTrial
	git   *git.State
}

// Promote carries out a plan for a file that git tracks: it puts the text into the working
// tree, on a new branch, or into a patch. Neither the index nor HEAD changes, nothing is
// pushed, and of the repository's programs none runs.
func Promote(ctx context.Context, in *release.Installer, plan *release.Plan, o Options) (*Done, error) {
	s, err := of(ctx, in.Layout, plan.Live.Path)
	if err != nil {
		return nil, err
	}
	if o.Redactor == nil {
		o.Redactor = redact.Detector{}
	}
	p := &promotion{Options: o, in: in, live: plan.Live, v: plan.Version, trial: plan.Trial, git: s}
	switch {
	case s == nil:
		return nil, problem.Refusef("type the command again", "git does not track %s any more", plan.Live.Path)
	case s.Form != "":
		return nil, problem.Refusef("", "git stores %s in another form (its attribute %s is set), which evolve does not write", s.Path, s.Form)
	case s.Mode != "" && skill.HashText(s.Text) != p.live.Doc.Hash():
		return nil, problem.Refusef("type the command again", "%s has changed on %s meanwhile", s.Path, s.Default)
	case p.v.SHA == p.live.Doc.Hash():
		return nil, problem.Inputf(fmt.Sprintf("`evolve log %s` lists its texts", p.live.Name), "%s is the text of %s already", s.Default, s.Path)
	}
	for _, line := range plan.Said {
		in.Say("%s", line)
	}
	if !o.ForEveryone {
		if err := p.ofSeveral(ctx); err != nil {
			return nil, err
		}
	}
	if o.Kind == proposed.Tree {
		if err := in.MayRun(plan); err != nil {
			return nil, err
		}
		return p.intoTree(ctx)
	}
	return p.out(ctx)
}

// intoTree puts the text into the working tree, with the owner's changes there.
func (p *promotion) intoTree(ctx context.Context) (*Done, error) {
	if p.in.MayTarget != nil {
		t, err := p.in.Layout.Main(p.live.Name)
		if err == nil {
			err = p.in.MayTarget(t)
		}
		if err != nil {
			return nil, err
		}
	}
	d := &Done{Kind: proposed.Tree, Live: p.live, Version: p.v, Path: filepath.Join(p.git.Top, filepath.FromSlash(p.git.Path))}
	if p.git.Unmerged {
		return nil, problem.Refusef("finish the merge first", "%s is in the middle of a merge", d.Path)
	}
	info, err := os.Lstat(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.Refusef("--patch prints the change, --branch NAME commits it on a new branch", "%s is not in your working tree", p.git.Path)
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o222 == 0 { // a rename would replace it all the same
		return nil, problem.Refusef(fmt.Sprintf("`chmod u+w %s` allows it", d.Path), "%s is read-only", d.Path)
	}
	before, err := skill.ReadFile(d.Path)
	if err != nil {
		return nil, err
	}
	text, clean := lineEnds(p.live.Doc.Render(), before, p.v.Text)
	if _, there := lineEnds(p.v.Text, before, nil); there {
		d.Already = true
		return d, nil
	}
	if !clean {
		if text, err = p.merge(ctx, before); err != nil {
			return nil, err
		}
		d.Merged = true
	}
	if p.live.Doc.Options().Script != "" && skill.HashText(text) != p.v.SHA {
		return nil, problem.Refusef("--patch prints the change", "%s has other line ends than %s: these are not the bytes that you agreed to", d.Path, p.git.Default)
	}
	k := &proposed.Proposal{Kind: proposed.Tree, Place: d.Path, From: skill.HashText(before), To: skill.HashText(text), Before: before}
	if err := p.save(ctx, k); err != nil {
		return nil, err
	}
	if err := install.Install(d.Path, k.From, text); err != nil {
		return nil, errors.Join(err, proposed.End(ctx, p.in.Store, k.ID, p.in.Now()))
	}
	return d, nil
}

// merge makes the change in the text of the working tree, which is not the default branch's.
func (p *promotion) merge(ctx context.Context, before []byte) ([]byte, error) {
	hint := fmt.Sprintf("`git diff %s` shows yours; commit or undo it first, or take the change with --branch NAME or --patch", p.git.Path)
	doc, err := skill.Parse(before, p.live.Doc.Options())
	if err != nil {
		return nil, problem.Refusef(hint, "%s has changes of yours: %w", p.git.Path, err)
	}
	tree := &skill.Live{Entry: p.live.Entry, Doc: doc, Tracked: true}
	with, why, err := candidate.Apply(ctx, p.in.Store, tree, p.live.Doc.Hash(), p.v.SHA)
	switch {
	case err != nil:
		return nil, err
	case why == candidate.HasItAlready:
		return nil, problem.Inputf(hint, "your working tree has the change of %.12s already", p.v.SHA)
	case why != "":
		return nil, problem.Refusef(hint, "%s has changes of yours: %s", p.git.Path, why)
	}
	return with.Text, nil
}

// BranchName is a name for a branch with a change of a subject.
func BranchName(key string) string {
	return "evolve/" + strings.TrimSuffix(path.Base(subject.Parse(key).Text()), ".md")
}

// out makes a branch or a patch.
func (p *promotion) out(ctx context.Context) (*Done, error) {
	s, name := p.git, p.live.Name
	if s.Mode == "" {
		where := "the repository has no default branch"
		if s.Default != "" {
			where = fmt.Sprintf("%s has no %s", s.Default, s.Path)
		}
		return nil, problem.Refusef(fmt.Sprintf("`evolve promote %s` puts it into your working tree; the default branch is where origin/HEAD leads, else init.defaultBranch, main or master", name),
			"%s: there is nothing to change on it", where)
	}
	var message string
	var err error
	if p.Kind == proposed.Branch {
		if message, err = p.message(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.leaks(ctx, message); err != nil {
		return nil, err
	}
	d := &Done{Kind: p.Kind, Live: p.live, Version: p.v, Branch: p.Branch, Default: s.Default}
	k := &proposed.Proposal{Kind: p.Kind, Place: s.Root, Branch: p.Branch, From: p.live.Doc.Hash(), To: p.v.SHA}
	if p.Kind == proposed.Patch {
		if d.Patch, err = s.Patch(ctx, p.v.Text); err != nil {
			return nil, err
		}
		if known, err := p.printed(ctx); known || err != nil {
			return d, err
		}
		return d, p.save(ctx, k)
	}
	by, err := s.Author(ctx)
	if errors.Is(err, git.ErrNoAuthor) {
		return nil, problem.Refusef("`git config --global user.name NAME` and `git config --global user.email ADDRESS` tell it", "a commit needs an author: %w", err)
	}
	if err != nil {
		return nil, err
	}
	switch d.Commit, err = s.Branch(ctx, p.Branch, p.v.Text, message, by, p.in.Now()); {
	case errors.Is(err, git.ErrExists):
		return nil, problem.Refusef("choose another name", "%w", err)
	case errors.Is(err, git.ErrBranch):
		return nil, problem.Inputf("for example: --branch "+BranchName(name), "%w", err)
	case err != nil:
		return nil, err
	}
	k.Commit = d.Commit
	return d, p.save(ctx, k)
}

// printed reports whether a patch of the text was printed before.
func (p *promotion) printed(ctx context.Context) (bool, error) {
	open, err := proposed.Open(ctx, p.in.Store, p.live.Name)
	return slices.ContainsFunc(open, func(k proposed.Proposal) bool { return k.Kind == proposed.Patch && k.To == p.v.SHA }), err
}

func (p *promotion) save(ctx context.Context, k *proposed.Proposal) error {
	k.Version, k.Made = *p.v, p.in.Now()
	return proposed.Save(ctx, p.in.Store, k)
}

// Rollback takes back what was put into this working tree, or on a branch, last: the file
// if it is as Promote left it, the branch if it is still the commit that Promote made.
func Rollback(ctx context.Context, in *release.Installer, live *skill.Live, force bool) (words string, err error) {
	if pin, err := release.Pinned(ctx, in.Store, live.Name); err != nil {
		return "", err
	} else if pin != nil && !force {
		return "", pin.Refuse(store.OpRollback)
	}
	f, err := git.FindFile(ctx, live.Path)
	if err != nil {
		return "", err
	}
	open, err := proposed.Open(ctx, in.Store, live.Name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(f.Top, filepath.FromSlash(f.Path))
	for i := range open { // the newest first
		switch k := &open[i]; {
		case k.Kind == proposed.Tree && k.Place == path:
			words, err = restore(k)
		case k.Kind == proposed.Branch && k.Place == f.Root:
			words, err = deleteBranch(ctx, f, k)
		default:
			continue
		}
		if err != nil {
			return "", err
		}
		return words, proposed.End(ctx, in.Store, open[i].ID, in.Now())
	}
	return "", problem.Inputf(fmt.Sprintf("what the default branch has, `git revert` takes back; `evolve log %s` lists the texts, and `evolve promote %[1]s@vN` puts one into your working tree", live.Name),
		"nothing of %s is in this working tree or on a branch at your word", live.Name)
}

// restore puts back what the working tree had.
func restore(k *proposed.Proposal) (string, error) {
	var drift *install.DriftError
	switch now, err := release.HashAt(k.Place); {
	case err != nil:
		return "", err
	case now == k.From:
		return fmt.Sprintf("%s is as it was before already", k.Place), nil
	case now != k.To:
		return "", problem.Refusef(fmt.Sprintf("`git diff %s` shows what it has now", k.Place), "%s was changed since: it stays", k.Place)
	}
	err := install.Install(k.Place, k.To, k.Before)
	if errors.As(err, &drift) {
		return "", problem.Refusef("type the command again", "%w", err)
	}
	return fmt.Sprintf("%s is as it was before; index and branches were not touched", k.Place), err
}

// deleteBranch removes a branch that nobody has changed.
func deleteBranch(ctx context.Context, f *git.File, k *proposed.Proposal) (string, error) {
	yours := fmt.Sprintf("`git -C %s branch -D %s` deletes it: that is yours to decide", f.Root, k.Branch)
	switch now, err := f.BranchAt(ctx, k.Branch); {
	case err != nil:
		return "", err
	case now == "":
		return fmt.Sprintf("branch %s is gone already", k.Branch), nil
	case now != k.Commit:
		return "", problem.Refusef(yours, "branch %s has other commits than the one that evolve made: it stays", k.Branch)
	}
	switch err := f.DeleteBranch(ctx, k.Branch, k.Commit); {
	case errors.Is(err, git.ErrCheckedOut):
		return "", problem.Refusef("switch to another branch first; "+yours, "branch %s is checked out: it stays", k.Branch)
	case errors.Is(err, git.ErrMoved):
		return "", problem.Refusef(yours, "branch %s has changed this moment: it stays", k.Branch)
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("branch %s is removed; copies of it that you pushed stay", k.Branch), nil
}
