package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
)

// A namedText is one text of a skill by the name that its owner used: the live
// file, a version, a candidate, or no skill at all (doc is nil).
type namedText struct {
	label     string
	doc       *skill.Document
	version   *tournament.Version   // nil where the text was never installed
	candidate *tournament.Candidate // nil where it is no candidate of evolve's
}

// sha names the text as the store does.
func (t *namedText) sha() string {
	if t.doc == nil {
		return eval.NoSkill
	}
	return t.doc.Hash()
}

// skillTexts finds texts of one skill. live is nil where the skill is known from
// the store alone (it was removed from disk).
type skillTexts struct {
	name     string
	live     *skill.Live
	db       *store.Store
	versions []tournament.Version
}

// texts opens a skill for reading: nothing is recorded or changed.
func (a *app) texts(ctx context.Context, name string) (*skillTexts, error) {
	db, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	s := &skillTexts{name: name, db: db}
	if s.versions, err = db.Versions(ctx, name); err != nil {
		return nil, err
	}
	live, err := a.skill(name)
	var unknown *skill.UnknownSkillError
	switch {
	case err == nil:
		s.live = live
	case !errors.As(err, &unknown) || len(s.versions) == 0:
		return nil, err
	}
	return s, nil
}

// find reads "" (the live text), "vN", "none", "live", "challenger", or the
// beginning of a candidate's SHA-256.
func (s *skillTexts) find(ctx context.Context, at string) (*namedText, error) {
	switch at {
	case "", "live":
		return s.liveText()
	case eval.NoSkill:
		return &namedText{label: "no skill"}, nil
	case "challenger":
		t, err := s.challenger(ctx)
		if err == nil && t == nil {
			err = problem.Inputf(fmt.Sprintf("`evolve --skill %s` looks for one", s.name), "no challenger of %s is on trial", s.name)
		}
		return t, err
	}
	if isVersion(at) {
		v, err := findVersion(ctx, s.db, s.name, at)
		if err != nil {
			return nil, err
		}
		return s.text(ctx, fmt.Sprintf("%s v%d", s.name, v.N), v.SHA, v.Text)
	}
	c, v, err := s.named(ctx, at)
	switch {
	case err != nil:
		return nil, err
	case v != nil:
		return s.text(ctx, fmt.Sprintf("%s v%d", s.name, v.N), v.SHA, v.Text)
	case len(c.Text) == 0:
		return nil, problem.Inputf(s.listed(), "the text of candidate %s was removed with a session that it had learned from", plain.Short(c.SHA))
	}
	return s.text(ctx, fmt.Sprintf("%s candidate %s", s.name, plain.Short(c.SHA)), c.SHA, c.Text)
}

// listed says where the names stand.
func (s *skillTexts) listed() string {
	return fmt.Sprintf("`evolve log %s` lists versions and candidates", s.name)
}

// A notNamedError says that no text of the skill has a name that begins so.
type notNamedError struct{ why string }

func (e *notNamedError) Error() string { return e.why }

func (s *skillTexts) notNamed(format string, args ...any) error {
	return &problem.Error{Kind: problem.Input, Err: &notNamedError{fmt.Sprintf(format, args...)}, Hint: s.listed()}
}

// named is the one candidate whose SHA-256 begins with at, else the version; every
// command that takes a candidate reads it so. Errors: *notNamedError, or usage.
func (s *skillTexts) named(ctx context.Context, at string) (*tournament.Candidate, *tournament.Version, error) {
	if _, err := hex.DecodeString(at + strings.Repeat("0", len(at)%2)); err != nil {
		return nil, nil, s.notNamed("%q is neither a version nor the beginning of a candidate's name", at)
	}
	var many *store.AmbiguousError
	c, err := s.db.Candidate(ctx, strings.ToLower(at))
	switch {
	case errors.As(err, &many):
		return nil, nil, problem.Inputf("it may be "+plain.Short(many.Matches[0])+" or "+plain.Short(many.Matches[1]), "%q names several candidates", at)
	case errors.Is(err, store.ErrNotFound):
		v, verr := s.db.VersionBySHA(ctx, s.name, strings.ToLower(at))
		if verr == nil {
			return nil, v, nil
		}
		return nil, nil, s.notNamed("no version or candidate of %s begins with %q", s.name, at)
	case err != nil:
		return nil, nil, err
	}
	if run, err := s.db.Run(ctx, c.Run); err == nil && run.Skill != s.name {
		return nil, nil, problem.Inputf(fmt.Sprintf("say %s@%s", run.Skill, at), "candidate %s belongs to %s", plain.Short(c.SHA), run.Skill)
	}
	return c, nil, nil
}

// sha is the SHA-256 of the candidate or version that at names: "challenger", or the
// beginning of it. Its text need not be there any more.
func (s *skillTexts) sha(ctx context.Context, at string) (string, error) {
	if at == "challenger" {
		t, err := s.find(ctx, at)
		if err != nil {
			return "", err
		}
		return t.sha(), nil
	}
	c, v, err := s.named(ctx, at)
	switch {
	case err != nil:
		return "", err
	case v != nil:
		return v.SHA, nil
	}
	return c.SHA, nil
}

// liveText is what agents load now.
func (s *skillTexts) liveText() (*namedText, error) {
	if s.live == nil {
		return nil, problem.Inputf(fmt.Sprintf("name a version, for example %s@v%d", s.name, s.versions[len(s.versions)-1].N), "%s is not installed any more", s.name)
	}
	t := &namedText{label: s.name + " live", doc: s.live.Doc, version: s.versionOf(s.live.Doc.Hash())}
	if t.version != nil {
		t.label = fmt.Sprintf("%s v%d (live)", s.name, t.version.N)
	}
	return t, nil
}

// challenger is the newest candidate that is on trial against the live text, nil
// for none.
func (s *skillTexts) challenger(ctx context.Context) (*namedText, error) {
	trials, err := s.db.Trials(ctx, s.name)
	if err != nil || s.live == nil {
		return nil, err
	}
	for _, t := range trials { // the newest first
		if t.Incumbent == s.live.Doc.Hash() && t.Decision != string(pareto.Reject) && t.Decision != store.Withdrawn {
			return s.find(ctx, t.Challenger)
		}
	}
	return nil, nil
}

// newest is the candidate that the skill's last run with a winner came to, on
// trial or not; nil for none.
func (s *skillTexts) newest(ctx context.Context) (*namedText, error) {
	if t, err := s.challenger(ctx); t != nil || err != nil {
		return t, err
	}
	runs, err := s.db.Runs(ctx, s.name)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if r.Challenger != "" {
			return s.find(ctx, r.Challenger)
		}
	}
	return nil, nil
}

func (s *skillTexts) versionOf(sha string) *tournament.Version {
	for i := len(s.versions) - 1; i >= 0; i-- {
		if s.versions[i].SHA == sha {
			return &s.versions[i]
		}
	}
	return nil
}

// text reads a stored text and what is known of it.
func (s *skillTexts) text(ctx context.Context, label, sha string, text []byte) (*namedText, error) {
	// A text of a version may predate a rule of the format; then it is all
	// kernel, and can still be shown.
	doc, _ := skill.Parse(text, skill.Options{})
	if doc.Hash() != sha {
		return nil, fmt.Errorf("read %s: the stored text is not the one that its name says", label)
	}
	t := &namedText{label: label, doc: doc, version: s.versionOf(sha)}
	c, err := s.db.Candidate(ctx, sha)
	switch {
	case err == nil:
		t.candidate = c
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	return t, nil
}

// isVersion tells "v3" from a candidate's name. "3" alone could be either, and
// is the beginning of a name.
func isVersion(s string) bool {
	digits := strings.TrimPrefix(s, "v")
	return digits != s && digits != "" && strings.Trim(digits, "0123456789") == ""
}
