// Package candidate gathers what is known of one text of a skill: its names,
// its lineage, its state, and why each of its sentences is there.
package candidate

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Two reads the texts in the arguments of diff: a skill with one of its
// texts, and up to two more texts.
func Two(ctx context.Context, db *store.Store, layout *skill.Layout, args []string) (old, new *Text, err error) {
	name, at := subject.Cut(args[0])
	names, err := SameSkill(name, args[1:])
	if err != nil {
		return nil, nil, err
	}
	if at != "" {
		names = append([]string{at}, names...)
	}
	s, err := Open(ctx, db, layout, name)
	if err != nil {
		return nil, nil, err
	}
	if old, new, err = s.Pair(ctx, names); err != nil {
		return nil, nil, err
	}
	if old.Doc == nil || new.Doc == nil {
		return nil, nil, problem.Inputf("`evolve compare` runs requests without a skill", "there is no text to compare with where there is no skill")
	}
	return old, new, nil
}

// SameSkill removes the skill from names such as dataviz@v2: after the
// argument dataviz that is v2 of dataviz. Texts of two skills are not
// compared.
func SameSkill(name string, args []string) (names []string, err error) {
	for _, arg := range args {
		of, at := subject.Cut(arg)
		switch {
		case of == arg:
			at = arg
		case of != name:
			return nil, problem.Inputf(fmt.Sprintf("`evolve diff %s@v0 %[1]s@v1`", name), "%s and %s are two skills: texts of one are compared", name, of)
		case at == "":
			at = "live"
		}
		names = append(names, at)
	}
	return names, nil
}

// Pair reads zero to two names of texts. No name: the live text and the
// newest challenger, or once that is installed, the previous text and the
// live one. One name: a version and the live text, or the live text and a
// candidate. Two names: these.
func (s *Texts) Pair(ctx context.Context, names []string) (old, new *Text, err error) {
	switch len(names) {
	case 0:
		if new, err = s.newest(ctx); err != nil {
			return nil, nil, err
		}
		if old, err = s.Find(ctx, "live"); err != nil {
			return nil, nil, err
		}
		if new != nil && new.SHA() != old.SHA() {
			return old, new, nil
		}
		if v := old.Version; v != nil && s.VersionOf(v.Parent) != nil {
			before, err := s.Find(ctx, fmt.Sprintf("v%d", s.VersionOf(v.Parent).N))
			return before, old, err
		}
		if new == nil {
			return nil, nil, problem.Inputf(fmt.Sprintf("`evolve --skill %s` looks for one; `evolve log %s` lists what there is", s.Skill, s.Skill), "%s has no new text", s.Skill)
		}
	case 1:
		if new, err = s.Find(ctx, names[0]); err == nil {
			old, err = s.Find(ctx, "live")
		}
		if err == nil && new.Version == nil {
			new, err = s.applied(ctx, new)
		}
		if err == nil && new.Version != nil { // what has become of it, as in git diff v0
			old, new = new, old
		}
	case 2:
		if old, err = s.Find(ctx, names[0]); err == nil {
			new, err = s.Find(ctx, names[1])
		}
	default:
		return nil, nil, problem.Inputf("name at most two texts", "%d texts cannot be compared", len(names))
	}
	if err != nil {
		return nil, nil, err
	}
	return old, new, nil
}

// VersionIn is the newest version with a text, nil for none.
func VersionIn(versions []record.Version, sha string) *record.Version {
	for i := len(versions) - 1; i >= 0; i-- {
		if versions[i].SHA == sha {
			return &versions[i]
		}
	}
	return nil
}

// NewVersion is the version that a candidate becomes when it replaces the
// text parent, with the evidence of run.
func NewVersion(c *record.Candidate, run *record.Run, parent string) *record.Version {
	return &record.Version{Skill: run.Skill, SHA: c.SHA, Parent: parent, Author: "evolve", Operator: c.Operator, Run: run.ID,
		Evidence: run.Verdict, Proven: true, Simulated: run.Simulated, Text: c.Text}
}

// VerdictOf reads the gate's verdict back from a run.
func VerdictOf(raw json.RawMessage) (*gate.Verdict, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var v gate.Verdict
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("read verdict: %w", err)
	}
	return &v, nil
}

// FindVersion finds the version "v3" or "3".
func FindVersion(ctx context.Context, db *store.Store, name, at string) (*record.Version, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(at, "v"))
	if err != nil {
		return nil, problem.Inputf("versions are v0, v1, …", "%q is no version", at)
	}
	v, err := db.Version(ctx, name, n)
	if err != nil {
		return nil, problem.Inputf(fmt.Sprintf("`evolve log %s` lists the versions", name), "%s has no version v%d", name, n)
	}
	return v, nil
}

// A Text is one text of a skill under the name that its owner used: the live
// file, a version, a candidate, or no skill at all (doc is nil).
type Text struct {
	Label     string
	Doc       *skill.Document
	Version   *record.Version   // nil if the text was never installed
	Candidate *record.Candidate // nil if it is no candidate of evolve's
	Change    string            // SHA-256 of the challenger whose change is in the live text here, "" for another text
}

// SHA names the text as the store does.
func (t *Text) SHA() string {
	if t.Doc == nil {
		return eval.NoSkill
	}
	return t.Doc.Hash()
}

// Texts finds texts of one skill. live is nil if only the store has the skill
// (it was removed from disk).
type Texts struct {
	Skill    string
	Live     *skill.Live
	Store    *store.Store
	Versions []record.Version
}

// Open opens a skill for reading: nothing is recorded or changed.
func Open(ctx context.Context, db *store.Store, layout *skill.Layout, name string) (_ *Texts, err error) {
	s := &Texts{Skill: name, Store: db}
	if s.Versions, err = db.Versions(ctx, name); err != nil {
		return nil, err
	}
	live, err := layout.Live(name)
	var unknown *skill.UnknownSkillError
	switch {
	case err == nil:
		s.Live = live
	case !errors.As(err, &unknown) || len(s.Versions) == 0:
		return nil, err
	}
	return s, nil
}

// Find finds a text by its name: "" (the live text), "vN", "none", "live",
// "challenger", or the beginning of a candidate's SHA-256.
func (s *Texts) Find(ctx context.Context, at string) (*Text, error) {
	switch at {
	case "", "live":
		return s.liveText()
	case eval.NoSkill:
		return &Text{Label: "no skill"}, nil
	case "challenger":
		t, err := s.Challenger(ctx)
		if err == nil && t == nil {
			err = problem.Inputf(fmt.Sprintf("`evolve --skill %s` looks for one", s.Skill), "no new text of %s is on trial", s.Skill)
		}
		return t, err
	}
	if IsVersion(at) {
		v, err := FindVersion(ctx, s.Store, s.Skill, at)
		if err != nil {
			return nil, err
		}
		return s.text(ctx, fmt.Sprintf("%s v%d", s.Skill, v.N), v.SHA, v.Text)
	}
	c, v, err := s.Named(ctx, at)
	switch {
	case err != nil:
		return nil, err
	case v != nil:
		return s.text(ctx, fmt.Sprintf("%s v%d", s.Skill, v.N), v.SHA, v.Text)
	case len(c.Text) == 0:
		return nil, problem.Inputf(s.listed(), "the text of candidate %s was removed with a session that it had learned from", plain.Short(c.SHA))
	}
	return s.text(ctx, fmt.Sprintf("%s candidate %s", s.Skill, plain.Short(c.SHA)), c.SHA, c.Text)
}

// listed names the command that lists the names.
func (s *Texts) listed() string {
	return fmt.Sprintf("`evolve log %s` lists versions and candidates", s.Skill)
}

// A NotNamedError means that no text of the skill has a name that begins so.
type NotNamedError struct{ why string }

func (e *NotNamedError) Error() string { return e.why }

func (s *Texts) notNamed(format string, args ...any) error {
	return &problem.Error{Kind: problem.Input, Err: &NotNamedError{fmt.Sprintf(format, args...)}, Hint: s.listed()}
}

// Named is the one candidate whose SHA-256 begins with at, else the version;
// every command that takes a candidate uses it. Errors: *NotNamedError, or
// usage.
func (s *Texts) Named(ctx context.Context, at string) (*record.Candidate, *record.Version, error) {
	if _, err := hex.DecodeString(at + strings.Repeat("0", len(at)%2)); err != nil {
		return nil, nil, s.notNamed("%q is neither a version nor the beginning of a candidate's name", at)
	}
	var many *store.AmbiguousError
	c, err := s.Store.Candidate(ctx, strings.ToLower(at))
	switch {
	case errors.As(err, &many):
		return nil, nil, problem.Inputf("it may be "+plain.Short(many.Matches[0])+" or "+plain.Short(many.Matches[1]), "%q names several candidates", at)
	case errors.Is(err, store.ErrNotFound):
		v, verr := s.Store.VersionBySHA(ctx, s.Skill, strings.ToLower(at))
		if verr == nil {
			return nil, v, nil
		}
		return nil, nil, s.notNamed("no version or candidate of %s begins with %q", s.Skill, at)
	case err != nil:
		return nil, nil, err
	}
	if run, err := s.Store.Run(ctx, c.Run); err == nil && run.Skill != s.Skill {
		// Two copies of a script may get the same text.
		if mine, _, err := s.Made(ctx, c.SHA); err != nil || mine != nil {
			return mine, nil, err
		}
		return nil, nil, problem.Inputf(fmt.Sprintf("say %s@%s", run.Skill, at), "candidate %s belongs to %s", plain.Short(c.SHA), run.Skill)
	}
	return c, nil, nil
}

// SHA is the SHA-256 of the candidate or version that at names: "challenger",
// or the beginning of it. Its text need not be stored any more.
func (s *Texts) SHA(ctx context.Context, at string) (string, error) {
	if at == "challenger" {
		t, err := s.onTrial(ctx, nil)
		if err == nil && t == nil {
			_, err = s.Find(ctx, at)
		}
		if err != nil {
			return "", err
		}
		return t.Challenger, nil
	}
	c, v, err := s.Named(ctx, at)
	switch {
	case err != nil:
		return "", err
	case v != nil:
		return v.SHA, nil
	}
	return c.SHA, nil
}

// liveText is the text that agents load now.
func (s *Texts) liveText() (*Text, error) {
	if s.Live == nil {
		return nil, problem.Inputf(fmt.Sprintf("name a version, for example %s@v%d", s.Skill, s.Versions[len(s.Versions)-1].N), "%s is not installed any more", s.Skill)
	}
	t := &Text{Label: s.Skill + " live", Doc: s.Live.Doc, Version: s.VersionOf(s.Live.Doc.Hash())}
	if t.Version != nil {
		t.Label = fmt.Sprintf("%s v%d (live)", s.Skill, t.Version.N)
	}
	return t, nil
}

// Challenger is the live text with the newest change that is on trial, nil for none.
func (s *Texts) Challenger(ctx context.Context) (*Text, error) {
	t, err := s.onTrial(ctx, nil)
	if t == nil || err != nil {
		return nil, err
	}
	return s.with(ctx, t)
}

// newest is the winner of the skill's last run that had one, on trial or not;
// nil for none.
func (s *Texts) newest(ctx context.Context) (*Text, error) {
	if t, err := s.Challenger(ctx); t != nil || err != nil {
		return t, err
	}
	runs, err := s.Store.Runs(ctx, s.Skill)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if r.Challenger != "" {
			return s.Find(ctx, r.Challenger)
		}
	}
	return nil, nil
}

// Lessons are the ids of the cases that taught a text, over all its steps back to the
// texts at which they end, sorted.
func (s *Texts) Lessons(ctx context.Context, sha string, end func(sha string) bool) ([]string, error) {
	ids, _, err := s.steps(ctx, sha, end, func(c *record.Candidate) []string { return c.Taught })
	return ids, err
}

// Shown are the ids of the cases that the mutator saw for a text, as Lessons: words of any
// of them may be in it.
func (s *Texts) Shown(ctx context.Context, sha string, end func(sha string) bool) ([]string, error) {
	ids, _, err := s.steps(ctx, sha, end, shown)
	return ids, err
}

func shown(c *record.Candidate) []string { return slices.Concat(c.Taught, c.Shown) }

// steps gathers what of names in each step of a text, sorted. others are the texts among them
// that no run of the skill made.
func (s *Texts) steps(ctx context.Context, sha string, end func(sha string) bool, of func(c *record.Candidate) []string) (out, others []string, err error) {
	seen := map[string]bool{}
	for queue := []string{sha}; len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] || end(queue[0]) {
			continue
		}
		seen[queue[0]] = true
		c, _, err := s.Made(ctx, queue[0])
		if err != nil {
			return nil, nil, err
		}
		if c == nil {
			others = append(others, queue[0])
			continue
		}
		queue = append(queue, c.Parents...)
		out = append(out, of(c)...)
	}
	slices.Sort(out)
	return append([]string{}, slices.Compact(out)...), others, nil
}

// VersionOf is the newest version with a text, nil for none.
func (s *Texts) VersionOf(sha string) *record.Version {
	for i := len(s.Versions) - 1; i >= 0; i-- {
		if s.Versions[i].SHA == sha {
			return &s.Versions[i]
		}
	}
	return nil
}

// text reads a stored text with its records.
func (s *Texts) text(ctx context.Context, label, sha string, text []byte) (*Text, error) {
	// A version may be older than a rule of the format; then it is all
	// kernel, and can still be shown.
	doc, _ := skill.Parse(text, skill.OptionsOf(s.Skill))
	if doc.Hash() != sha {
		return nil, fmt.Errorf("read %s: the stored text is not the one that its name says", label)
	}
	t := &Text{Label: label, Doc: doc, Version: s.VersionOf(sha)}
	c, err := s.Store.Candidate(ctx, sha)
	switch {
	case err == nil:
		t.Candidate = c
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	return t, nil
}

// IsVersion reports whether a name is a version's, such as "v3", and not a
// candidate's. "3" alone could be either, and counts as the beginning of a
// SHA-256.
func IsVersion(s string) bool {
	digits := strings.TrimPrefix(s, "v")
	return digits != s && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// VersionNames names texts by their versions, or by the beginning of their
// SHA-256.
func VersionNames(versions []record.Version) func(sha string) string {
	return func(sha string) string {
		if k := VersionIn(versions, sha); k != nil {
			return fmt.Sprintf("v%d", k.N)
		}
		return plain.Short(sha)
	}
}
