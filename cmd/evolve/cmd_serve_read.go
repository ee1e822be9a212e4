package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A serving is what the pages of evolve serve show and do: the commands, called as
// functions.
type serving struct {
	base global       // not changed any more: requests come several at a time
	db   *store.Store // to look at
	seed uint64       // of the order of pairs and answers
}

var _ serve.Program = (*serving)(nil)

func newServing(a *global, db *store.Store) *serving {
	return &serving{*a, db, uint64(a.Now().UnixNano())}
}

// A served command has nobody at a terminal: what it reports besides its result is kept
// for the page.
type served struct {
	*global
	notes []string
}

// call is a command that looks.
func (s *serving) call() *served {
	a := s.base
	c := &served{global: &a}
	a.Stdin, a.Stdout, a.Stderr = strings.NewReader(""), io.Discard, io.Discard
	a.JSON, a.Quiet, a.conf = false, false, nil
	a.Notice = func(line string) { c.notes = append(c.notes, lines(c.clean(line))...) }
	return c
}

// open is a command with a database of its own, which the caller must close.
func (s *serving) open(ctx context.Context, to datadir.Access) (*served, error) {
	c := s.call()
	c.access, c.open.db, c.open.scratch = to, nil, nil
	_, err := c.store(ctx)
	return c, c.told(err)
}

// lines are those of a text that are not empty.
func lines(text string) []string {
	return strings.FieldsFunc(strings.TrimSpace(text), func(r rune) bool { return r == '\n' })
}

// done is what a page shows of an act: what came of it, in the words of its command, and
// what was reported besides. An act that did one thing and refused another shows both.
func (c *served) done(said string, err error) (*serve.Done, error) {
	d := &serve.Done{Said: lines(c.clean(said)), Notes: c.notes}
	var some *release.PartialError
	if errors.As(err, &some) && some.Some() {
		d.Notes = append(d.Notes, c.told(err).Error())
		return d, nil
	}
	if err != nil {
		return nil, c.told(err)
	}
	return d, nil
}

// told is an error as a page tells it, nil for none.
func (c *served) told(err error) error {
	if err == nil {
		return nil
	}
	var own *serve.Error
	if errors.As(err, &own) {
		return own
	}
	var bug *eval.PanicError
	if errors.As(err, &bug) {
		return &serve.Error{Message: "this is a bug in evolve"}
	}
	kind, hint := explain(err)
	e := &serve.Error{Message: oneLine(c.clean(err.Error())), Hint: c.clean(hint)}
	switch {
	case exitCode(kind) == exitUsage:
		e.Kind = serve.Unknown
	case kind == problem.Refused || hint != "":
		e.Kind = serve.Refused
	}
	return e
}

func (s *serving) Status(ctx context.Context) (*status.Report, error) {
	c := s.call()
	r, err := gatherStatus(ctx, c.global)
	return r, c.told(err)
}

func (s *serving) Log(ctx context.Context, name string) (*serve.Log, error) {
	c := s.call()
	t, err := openTexts(ctx, c.global, name)
	if err != nil {
		return nil, c.told(err)
	}
	l, err := status.LogOf(ctx, t, func(path string) string { return c.layout().TargetOf(name, path) })
	if err != nil {
		return nil, c.told(err)
	}
	return &serve.Log{Log: l, Tree: l.Tree(0, true)}, nil
}

func (s *serving) Diff(ctx context.Context, name, from, to string) (*report.Diff, error) {
	c := s.call()
	args := []string{name}
	for _, at := range []string{from, to} {
		if at != "" {
			args = append(args, at)
		}
	}
	_, old, new, err := twoTexts(ctx, c.global, args)
	if err != nil {
		return nil, c.told(err)
	}
	d, err := report.Between(old.Label, new.Label, old.Doc, new.Doc)
	return d, c.told(err)
}

// shownRuns is how many runs the list has.
const shownRuns = 200

func (s *serving) Runs(ctx context.Context) ([]serve.Run, error) {
	c := s.call()
	all, err := s.db.Runs(ctx, "")
	if err != nil {
		return nil, c.told(err)
	}
	rd, err := c.reader(s.db)
	if err != nil {
		return nil, c.told(err)
	}
	var out []serve.Run
	for _, r := range all {
		if strings.HasPrefix(r.ID, candidate.CarryingPrefix) { // nothing was run
			continue
		}
		if len(out) == shownRuns {
			break
		}
		status, err := rd.RunStatus(&r)
		if err != nil {
			return nil, c.told(err)
		}
		k := serve.Run{ID: r.ID, Skill: r.Skill, Status: string(status), Simulated: r.Simulated, Started: r.Started, Ended: r.Ended, Spent: r.Spent}
		v, err := candidate.VerdictOf(r.Verdict)
		if err != nil {
			return nil, c.told(err)
		}
		if v != nil {
			k.Decision = string(v.Verdict)
		}
		if k.Working, err = atWork(rd, &r); err != nil {
			return nil, c.told(err)
		}
		out = append(out, k)
	}
	return out, nil
}

// atWork reports whether a process is at work on a run that has not ended.
func atWork(rd *status.Reader, r *tournament.Run) (bool, error) {
	if r.Status == tournament.Finished || r.Status == tournament.Failed {
		return false, nil
	}
	return rd.Locks.Running(r.ID)
}

func (s *serving) Report(ctx context.Context, run string) (*report.Model, error) {
	c := s.call()
	rd, err := c.reader(s.db)
	if err != nil {
		return nil, c.told(err)
	}
	m, err := rd.RunReport(ctx, run)
	return m, c.told(err)
}

func (s *serving) Progress(ctx context.Context, run string) (*serve.Progress, error) {
	c := s.call()
	rd, err := c.reader(s.db)
	if err != nil {
		return nil, c.told(err)
	}
	id, err := rd.FindRun(ctx, run)
	if err != nil {
		return nil, c.told(err)
	}
	r, err := s.db.Run(ctx, id)
	if err != nil {
		return nil, c.told(err)
	}
	status, err := rd.RunStatus(r)
	if err != nil {
		return nil, c.told(err)
	}
	p := &serve.Progress{Run: r.ID, Skill: r.Skill, Status: string(status), Spent: r.Spent}
	if p.Working, err = atWork(rd, r); err != nil {
		return nil, c.told(err)
	}
	var f campaign.Config
	if len(r.Config) > 0 && json.Unmarshal(r.Config, &f) == nil { // of a newer evolve: then the cap is not shown
		p.Cap = f.MaxRollouts
	}
	events, err := s.db.Events(ctx, r.ID)
	if err != nil {
		return nil, c.told(err)
	}
	p.Steps = report.Timeline(events)
	return p, nil
}

func (s *serving) Nights(ctx context.Context) ([]serve.Night, error) {
	c := s.call()
	all, err := sleep.Nights(ctx, s.db, 0)
	if err != nil {
		return nil, c.told(err)
	}
	var out []serve.Night
	for i := range all {
		n := status.NightPage(status.NightOf(&all[i]))
		out = append(out, serve.Night{ID: n.ID, Sentence: n.Sentence(), Began: n.Began, Ended: n.Ended, Spent: n.Spent})
	}
	return out, nil
}

func (s *serving) Night(ctx context.Context, id string) (*report.Night, error) {
	c := s.call()
	rd, err := c.reader(s.db)
	if err != nil {
		return nil, c.told(err)
	}
	n, err := rd.Night(ctx, id)
	if err == nil && n == nil {
		err = problem.Inputf("`evolve sleep status` tells of the last one", "no night is named %q", id)
	}
	if err != nil {
		return nil, c.told(err)
	}
	return status.NightPage(n), nil
}

func (s *serving) Cases(ctx context.Context, name string) ([]eval.Case, error) {
	c := s.call()
	g, err := casesOf(ctx, c.global)
	if err != nil {
		return nil, c.told(err)
	}
	cases, err := g.Cases(ctx, name, "")
	return cases, c.told(err)
}

func (s *serving) Case(ctx context.Context, name, id string) (*serve.CaseNow, error) {
	c := s.call()
	k, err := c.exactCase(ctx, name, id)
	if err != nil {
		return nil, c.told(err)
	}
	g, err := c.ingester(s.db)
	if err != nil {
		return nil, c.told(err)
	}
	seen, err := stateOf(k)
	return &serve.CaseNow{Case: k, Seen: seen, Spent: g.SpentOn(ctx, k)}, err
}

// exactCase reads one case by its whole id.
func (c *served) exactCase(ctx context.Context, name, id string) (*eval.Case, error) {
	g, err := casesOf(ctx, c.global)
	if err != nil {
		return nil, err
	}
	k, err := g.Case(ctx, name, id)
	if err == nil && k.ID != id {
		err = problem.Inputf(fmt.Sprintf("`evolve cases list %s` lists them", name), "%s has no case %q", name, id)
	}
	return k, err
}

// stateOf names what a page was made of.
func stateOf(of ...any) (string, error) {
	b, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("name what is shown: %w", err)
	}
	return skill.HashText(b), nil
}

// unchanged reads a case that is what it was at the time of seen.
func (c *served) unchanged(ctx context.Context, name, id, seen string) (*eval.Case, error) {
	k, err := c.exactCase(ctx, name, id)
	if err != nil {
		return nil, err
	}
	if now, err := stateOf(k); err != nil {
		return nil, err
	} else if now != seen {
		return nil, serve.ErrChanged
	}
	return k, nil
}

func (s *serving) EditCase(ctx context.Context, name, id, seen string, text []byte) (_ *serve.Done, err error) {
	c, err := s.open(ctx, datadir.Writes)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, c.told(c.close())) }()
	k, err := c.unchanged(ctx, name, id, seen)
	if err != nil {
		return nil, c.told(err)
	}
	g, err := c.ingester(c.open.db)
	if err != nil {
		return nil, c.told(err)
	}
	e, err := g.Replace(ctx, k, text, false, "nothing was changed; your text is in the field below")
	if err != nil {
		return nil, c.told(err)
	}
	word := "changed"
	if !e.Changed {
		word = "as before"
	}
	return &serve.Done{Said: []string{fmt.Sprintf("case %s of %s: %s", id, name, word)}, Notes: e.Warnings}, nil
}

func (s *serving) DropCase(ctx context.Context, name, id, seen string) (_ *serve.Done, err error) {
	c, err := s.open(ctx, datadir.Writes)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, c.told(c.close())) }()
	if _, err := c.unchanged(ctx, name, id, seen); err != nil {
		return nil, c.told(err)
	}
	g, err := c.ingester(c.open.db)
	if err != nil {
		return nil, c.told(err)
	}
	dropped, left, err := g.Drop(ctx, name, []string{id})
	if err != nil {
		return nil, c.told(err)
	}
	return &serve.Done{Said: []string{droppedWords(name, len(dropped), left)}}, nil
}

// caseNamed reads a case that a form names, nil where it is gone.
func caseNamed(cases []eval.Case, id string) *eval.Case {
	if i := slices.IndexFunc(cases, func(c eval.Case) bool { return c.ID == id }); i >= 0 {
		return &cases[i]
	}
	return nil
}
