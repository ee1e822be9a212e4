package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/suite"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// An Input is what cases are read from.
type Input struct {
	casefile.Input
	Trust bool // also accept checks that run programs
	// Projects is the file of the owner's decisions, with the test commands that they
	// confirmed.
	Projects string
}

// An Import is cases that may be stored, and the result of storing them: schema 1.
type Import struct {
	Schema    int                           `json:"schema"`
	Read      int                           `json:"read"`
	Added     int                           `json:"added"`
	Changed   int                           `json:"changed"`
	Unchanged int                           `json:"unchanged"`
	LeftOut   int                           `json:"left_out"`
	Redacted  int                           `json:"redactions"`
	Repeated  int                           `json:"repeated"` // put into the cluster of a case that they nearly repeat
	Wordings  int                           `json:"wordings"` // put into the cluster of a case that asks the same in other words
	Skills    map[string]map[eval.Split]int `json:"skills"`   // all cases of the skills that the file has
	Warnings  []string                      `json:"warnings"`

	cases []eval.Case
}

// Read reads cases and makes them fit to be stored. It stores nothing: see Save.
func Read(in Input, layout *skill.Layout, red redact.Redactor) (*Import, error) {
	r := &Import{Schema: 1, Skills: map[string]map[eval.Split]int{}, Warnings: []string{}}
	suite, err := casefile.Read(in.Input)
	if err != nil {
		return nil, err
	}
	if len(suite.Ignored) > 0 {
		r.warn("left out what a case has no place for: %s", strings.Join(suite.Ignored, ", "))
	}
	r.cases = suite.Cases
	reg, err := layout.Registry()
	if err != nil {
		return nil, err
	}
	owner, err := consent.Read(in.Projects)
	if err != nil {
		return nil, err
	}
	r.Read = len(r.cases)
	for i := range r.cases {
		at := func() string { return suite.Where(i) }
		n, err := acceptable(red, &r.cases[i], func(*eval.Check) bool { return in.Trust }, owner, at)
		if err != nil {
			return nil, err
		}
		r.Redacted += n
		if err := r.meet(reg, r.cases[i].Skill, at); err != nil {
			return nil, err
		}
	}
	if r.Redacted > 0 {
		r.warn("%s replaced by placeholders before anything was stored", plain.Counted(r.Redacted, "secret"))
	}
	return r, nil
}

// acceptable makes a case fit to be stored: it replaces secrets and returns their
// number. It refuses a check that runs a program without trust, tests that the owner did
// not confirm for the repository, a check that compares with a secret (without the secret
// it would be another check), and a name that contains a secret or control characters.
func acceptable(d redact.Redactor, c *eval.Case, trust func(*eval.Check) bool, owner *consent.Decisions, at func() string) (redacted int, err error) {
	clean := func(s *string) {
		var n int
		*s, n = d.Redact(*s)
		redacted += n
	}
	clean(&c.Prompt)
	clean(&c.Reference)
	for i := range c.Context {
		clean(&c.Context[i].Text)
	}
	if c.Source != nil {
		for _, s := range []*string{&c.Source.Agent, &c.Source.Session, &c.Source.Turn, &c.Source.Origin, &c.Source.Outcome, &c.Source.Stratum, &c.Source.Because} {
			clean(s)
		}
		for i := range c.Source.Beside {
			clean(&c.Source.Beside[i])
		}
		for i := range c.Source.Also {
			s := &c.Source.Also[i]
			clean(&s.Agent)
			clean(&s.Session)
			*s = eval.Source{Agent: s.Agent, Session: s.Session}
		}
	}
	names := []string{c.ID, c.Cluster, c.Skill, c.Neighbour}
	if c.Workspace != nil {
		names = append(names, c.Workspace.Repo, c.Workspace.Commit)
	}
	for path := range c.Files {
		names = append(names, path)
	}
	for _, name := range names {
		if printed := plain.Text(name); printed != name || strings.ContainsAny(name, "\n\t") {
			return 0, problem.Refusef("nothing was imported; name it in letters that can be printed", "%s: the name of the case, of a file or of its repository holds control characters", at())
		}
		if _, n := d.Redact(name); n > 0 {
			return 0, problem.Refusef("nothing was imported; name it without, the name is written down and sent", "%s: the name of the case, of a file or of its repository holds a secret", at())
		}
	}
	for path, text := range c.Files {
		clean(&text)
		c.Files[path] = text
	}
	for i := range c.Checks {
		k := &c.Checks[i]
		if k.Executing() && !trust(k) {
			return 0, problem.Refusef("nothing was imported; read the commands, then use --trust-checks", "%s: checks[%d] runs a program (%s)", at(), i, k.Type)
		}
		if k.Type == eval.Tests && (c.Workspace == nil || !suite.Confirmed(k, owner.Tests(c.Workspace.Repo))) {
			return 0, problem.Refusef("nothing was imported; `evolve projects tests REPO --confirm COMMAND` puts it on the list", "%s: checks[%d] runs tests that are not confirmed for the case's repository: %q", at(), i, k.Value)
		}
		clean(&k.Rubric)
		clean(&k.Feedback)
		for _, s := range append([]string{k.Value, k.Path, k.After, string(k.Schema)}, k.Command...) {
			if _, n := d.Redact(s); n > 0 {
				return 0, problem.Refusef("nothing was imported; compare with something that may be written down", "%s: checks[%d] holds a secret", at(), i)
			}
		}
	}
	return redacted, nil
}

// meet records a skill that the file has cases of. An unknown skill is accepted, with a
// remark.
func (r *Import) meet(reg *skill.Registry, name string, at func() string) error {
	if r.Skills[name] != nil {
		return nil
	}
	r.Skills[name] = map[eval.Split]int{}
	_, err := reg.Lookup(name)
	var unknown *skill.UnknownSkillError
	var broken *skill.BrokenSkillError
	switch {
	case errors.As(err, &unknown) && unknown.Nearest != "":
		r.warn("there is no skill %s (did you mean %s?): its cases wait for it", name, unknown.Nearest)
	case errors.As(err, &unknown):
		r.warn("there is no skill %s yet: its cases wait for it", name)
	case err != nil && !errors.As(err, &broken):
		return problem.Inputf("a skill is named as its folder is", "%s: %v", at(), err)
	}
	return nil
}

func (r *Import) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Save stores the cases of an import, all or none, and records in it how the stored
// cases differ from those that were read.
func (g *Ingester) Save(ctx context.Context, r *Import) error {
	before := map[[2]string]eval.Case{}
	stored, err := g.Store.Cases(ctx, "")
	if err != nil {
		return err
	}
	for _, c := range stored {
		before[[2]string{c.Skill, c.ID}] = c
	}
	for i := range r.cases {
		if c := &r.cases[i]; c.Cluster == "" { // a file that names none has nothing against it
			c.Cluster = before[[2]string{c.Skill, c.ID}].Cluster
		}
	}
	alike := 0
	r.Wordings, alike = joinWordings(r.cases, stored)
	r.Repeated = joinRepeats(r.cases, stored)
	if _, _, err := g.Store.SaveCases(ctx, r.cases); err != nil { // all or none, over all skills
		return err
	}
	other := 0
	for _, name := range slices.Sorted(maps.Keys(r.Skills)) {
		if err := g.Split(ctx, name, false); err != nil {
			return err
		}
		now, err := g.Store.Cases(ctx, name)
		if err != nil {
			return err
		}
		r.Skills[name] = SplitCounts(now)
		kept := map[string]eval.Case{}
		for _, c := range now {
			kept[c.ID] = c
		}
		for _, c := range r.cases {
			if c.Skill != name {
				continue
			}
			old, had := before[[2]string{name, c.ID}]
			is, has := kept[c.ID]
			switch {
			case !has:
				r.LeftOut++
				continue
			case !had:
				r.Added++
			case sameCase(old, is):
				r.Unchanged++
			default:
				r.Changed++
			}
			if c.Split != eval.Unassigned && c.Split != is.Split {
				other++
			}
		}
	}
	if r.LeftOut > 0 {
		r.warn("%s left out: you dropped them, or purged their session (source.origin \"imported\" brings a dropped one back)", plain.Counted(r.LeftOut, "case"))
	}
	if r.Repeated > 0 {
		r.warn("%s nearly repeated: put into the cluster, and the split, of what they repeat", plain.Counted(r.Repeated, "case"))
	}
	if r.Wordings > 0 {
		r.warn("%s ask for what another asks for in other words (the same answer, or the same checks on the same files): together they are one piece of evidence", plain.Counted(r.Wordings, "case"))
	}
	if alike > 0 {
		r.warn("%s the same checks as another: if they are wordings of one request, give them one \"cluster\", else each counts as evidence", plain.Counted(alike, "case")+" have")
	}
	if other > 0 {
		r.warn("%s another split than the one in the file: a case stays in the split that it was used in", plain.Counted(other, "case")+" kept")
	}
	return nil
}

func sameCase(a, b eval.Case) bool {
	a.Split, b.Split = eval.Unassigned, eval.Unassigned
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
