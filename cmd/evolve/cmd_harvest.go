package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/spf13/cobra"
)

func newHarvestCommand(a *app) *cobra.Command {
	f := harvestFlags{}
	var only string
	var sidecars string
	var events bool
	c := &cobra.Command{
		Use:   "harvest",
		Short: "Read what is new in your sessions, and make cases of it",
		Long: `harvest reads the sessions that are new since the last time, stores them with
their secrets replaced, and turns the uses of your skills into cases. It asks no
model: a correction becomes a check that quotes it, and the next
` + "`evolve --skill NAME`" + ` lets a model write better ones.`,
		Example: "  evolve harvest --since 30d\n  evolve harvest --exclude-project '/home/you/client-*'\n  evolve harvest --events --skill dataviz > events.jsonl",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.harvestCommand(c.Context(), f, only, sidecars, events)
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.source, "source", "auto", "whose sessions: "+sourceNames())
	fl.StringVar(&f.repo, "repo", "", "git repository whose Entire checkpoints are read, whoever recorded them (default: the current one, and of it those that you recorded)")
	fl.StringVar(&f.since, "since", "", "sessions of this age at most, for example 30d")
	fl.StringVar(&only, "skill", "", "make cases of this skill alone")
	fl.StringSliceVar(&f.exclude, "exclude-project", nil, "folders whose sessions are never read (glob)")
	fl.BoolVar(&f.headless, "include-headless", false, "count sessions that a program drove")
	fl.BoolVar(&events, "events", false, "print the skill events of every stored session as JSON Lines")
	fl.StringVar(&sidecars, "sidecar", "", "folder to write each session's skill events into as Entire does; what its files hold stays")
	return c
}

// A harvestReport is what `evolve harvest --json` prints: schema 1.
type harvestReport struct {
	Schema int `json:"schema"`
	harvested
	Stored int              `json:"stored"` // sessions, those of earlier harvests included
	Skills []harvestedSkill `json:"skills"`
}

// A harvestedSkill has the counts of one skill over all stored sessions: see
// store.SkillUse.
type harvestedSkill struct {
	Skill     string `json:"skill"`
	Uses      int    `json:"uses"`
	Corrected int    `json:"corrected"`
	Accepted  int    `json:"accepted"`
	Rejected  int    `json:"rejected"`
	Repeated  int    `json:"repeated"`
	Abandoned int    `json:"abandoned"`
	// Headless are uses in sessions that a program drove, in none of the counts above.
	Headless int `json:"headless_uses"`
	Cases    int `json:"cases"`
	NewCases int `json:"new_cases"`
	// Quoted counts the cases whose checks quote a correction: no model has
	// written them yet.
	Quoted int    `json:"quoted"`
	Note   string `json:"note,omitempty"` // why no case was made of it
}

func (a *app) harvestCommand(ctx context.Context, f harvestFlags, only, sidecars string, events bool) error {
	reg, err := a.registry()
	if err != nil {
		return err
	}
	if _, err := a.sources(ctx, f); err != nil { // before the store is made
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	if only != "" {
		if _, err := a.knownSkill(ctx, db, reg, only); err != nil {
			return err
		}
	}
	if err := a.recordAll(ctx, db, reg, only); err != nil {
		return err
	}
	h, err := a.harvest(ctx, db, f)
	if err != nil {
		return err
	}
	stored, err := db.Sessions(ctx, store.SessionFilter{Bare: true})
	if err != nil {
		return err
	}
	r := &harvestReport{Schema: 1, harvested: *h, Stored: len(stored), Skills: []harvestedSkill{}}
	r.noteStored(stored)
	if r.Skills, err = a.mineAll(ctx, db, reg, only, f.headless); err != nil {
		return err
	}
	if sidecars != "" {
		n, err := a.writeSidecars(ctx, db, sidecars)
		if err != nil {
			return err
		}
		a.Say("harvest: %d sidecars written or added to in %s", n, sidecars)
	}
	switch {
	case events:
		if n := len(r.Problems); n > 0 {
			a.Say("harvest: %d places could not be read; `evolve harvest` lists them", n)
		}
		return a.printEvents(ctx, db, only)
	case a.JSON:
		return a.PrintJSON(r)
	}
	return a.printHarvest(r)
}

// recordAll records the live texts of all skills that can be read, or of one: what was
// found, and what was edited by hand since. Before cases are made, so that new ones are
// held out for challengers that were carried over to an edit.
func (a *app) recordAll(ctx context.Context, db *store.Store, reg *skill.Registry, only string) error {
	for _, e := range reg.Entries {
		if only != "" && e.Name != only {
			continue
		}
		live, err := skill.ReadEntry(e)
		if err != nil {
			continue // of one that was used, the result says why
		}
		if err := a.recordLive(ctx, db, live); err != nil {
			return err
		}
	}
	return nil
}

// noteStored adds the problems that stand in the sessions of earlier harvests to what
// this one met, in the order of files and lines.
func (h *harvested) noteStored(sessions []harvest.Session) {
	for _, s := range sessions {
		h.note(s.Problems)
	}
	for _, list := range []*[]harvest.Problem{&h.Problems, &h.Remarks} {
		slices.SortFunc(*list, func(p, q harvest.Problem) int {
			return cmp.Or(cmp.Compare(p.Path, q.Path), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Reason, q.Reason))
		})
		*list = slices.Compact(*list)
	}
}

// mineAll makes cases of every skill that was used and can be read, or of one.
func (a *app) mineAll(ctx context.Context, db *store.Store, reg *skill.Registry, only string, headless bool) ([]harvestedSkill, error) {
	uses, err := usesOf(ctx, db, reg)
	if err != nil {
		return nil, err
	}
	out := []harvestedSkill{}
	for _, u := range uses {
		if only != "" && u.Skill != only {
			continue
		}
		s := harvestedSkill{Skill: u.Skill, Uses: u.Uses, Corrected: u.Corrected, Accepted: u.Accepted, Rejected: u.Rejected, Repeated: u.Repeated, Abandoned: u.Abandoned, Headless: u.Headless}
		live, err := a.skill(u.Skill)
		var unknown *skill.UnknownSkillError
		switch {
		case errors.As(err, &unknown):
			s.Note = "not in the skills folder"
		case err != nil:
			s.Note = oneLine(err.Error())
		default:
			trial, err := a.openTrial(ctx, db, live, skill.Harness)
			if err != nil {
				return nil, err
			}
			before, err := db.Cases(ctx, live.Name)
			if err != nil {
				return nil, err
			}
			// What the owner has dropped is mined again, and not stored again.
			if _, _, err := a.mine(ctx, db, live.Name, nil, headless, trial != nil); err != nil {
				return nil, fmt.Errorf("mine cases of %s: %w", live.Name, err)
			}
			s.NewCases = -len(before)
		}
		cases, err := db.Cases(ctx, u.Skill)
		if err != nil {
			return nil, err
		}
		if s.Cases = len(cases); s.Note == "" {
			s.NewCases += len(cases)
		}
		for _, c := range cases {
			if quoted(c) {
				s.Quoted++
			}
		}
		if s.Note == "" && s.Headless > 0 {
			s.Note = plain.Counted(s.Headless, "use") + " more without a person"
			if !headless {
				s.Note += ", left out (--include-headless)"
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// maxShown are the problems that are printed; --json has all.
const maxShown = 5

func (a *app) printHarvest(r *harvestReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d new or changed sessions (%d stored), %d uses of skills in them, %d secrets replaced\n", r.Sessions, r.Stored, r.Invocations, r.Redactions)
	if len(r.Found) > 1 {
		for _, f := range r.Found {
			fmt.Fprintf(&b, "  %-12s %d sessions, %d uses in %s\n", f.Source, f.Sessions, f.Invocations, f.Where)
		}
	}
	if len(r.Skills) > 0 {
		b.WriteByte('\n')
		t := a.NewTable(&b)
		fmt.Fprintln(t, "SKILL\tUSES\tCORRECTED\tACCEPTED\tCASES\tNEW\t")
		for _, s := range r.Skills {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", s.Skill, s.Uses, s.Corrected, s.Accepted, s.Cases, s.NewCases, s.Note)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if n := len(r.Problems); n > 0 {
		fmt.Fprintf(&b, "\n%d places could not be read; everything else was:\n", n)
		for i, p := range r.Problems {
			if i == maxShown {
				fmt.Fprintf(&b, "  and %d more (--json lists them all)\n", n-maxShown)
				break
			}
			at := p.Path
			if p.Line > 0 {
				at += fmt.Sprintf(":%d", p.Line)
			}
			fmt.Fprintf(&b, "  %s: %s\n", at, p.Reason)
		}
	}
	if n := len(r.Remarks); n > 0 {
		fmt.Fprintf(&b, "\n%s (--json lists them); nothing is missing because of them\n", plain.Counted(n, "remark"))
	}
	fmt.Fprintf(&b, "\nnext: %s\n", r.next())
	_, err := fmt.Fprint(a.Stdout, a.Folded(trimLines(b.String())))
	return err
}

// next is what to type after a harvest.
func (r *harvestReport) next() string {
	if r.Stored == 0 {
		return "no sessions were found; --claude-home names another folder"
	}
	for _, s := range r.Skills {
		switch {
		case s.Quoted > 0:
			return fmt.Sprintf("`evolve --skill %s` lets a model write the checks of %s, and looks for a better text", s.Skill, plain.Counted(s.Quoted, "corrected use"))
		case s.Cases > 0:
			return fmt.Sprintf("`evolve --skill %s` looks for a better text", s.Skill)
		}
	}
	return "use your skills and correct them where they are wrong: that is what cases are made of"
}

// A sessionEvents line names the session that its events stand in.
type sessionEvents struct {
	Session string `json:"session"`
	Agent   string `json:"agent"`
	Path    string `json:"path"`
	harvest.Sidecar
}

// printEvents writes one line for each stored session that has skill events,
// the oldest first.
func (a *app) printEvents(ctx context.Context, db *store.Store, only string) error {
	sessions, err := db.Sessions(ctx, store.SessionFilter{Skill: only})
	if err != nil {
		return err
	}
	slices.SortFunc(sessions, func(s, t harvest.Session) int {
		return cmp.Or(s.Started.Compare(t.Started), cmp.Compare(s.ID, t.ID), cmp.Compare(s.Path, t.Path))
	})
	enc := json.NewEncoder(a.Stdout)
	enc.SetEscapeHTML(false)
	for i := range sessions {
		s := &sessions[i]
		if only != "" {
			s.Invocations = slices.DeleteFunc(s.Invocations, func(v harvest.Invocation) bool { return v.Skill != only })
		}
		side := harvest.Events(s)
		if len(side.Events) == 0 {
			continue
		}
		if err := enc.Encode(sessionEvents{s.ID, s.Agent, s.Path, side}); err != nil {
			return fmt.Errorf("print events: %w", err)
		}
	}
	more, err := a.unwritten(sessions, only)
	if err != nil {
		return err
	}
	for _, line := range more {
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("print events: %w", err)
		}
	}
	return nil
}

// knownSkill makes sure that name is a skill on disk or one that the store has
// uses or cases of. onDisk is false for the latter.
func (a *app) knownSkill(ctx context.Context, db *store.Store, reg *skill.Registry, name string) (onDisk bool, err error) {
	_, err = reg.Lookup(name)
	var unknown *skill.UnknownSkillError
	if !errors.As(err, &unknown) {
		var broken *skill.BrokenSkillError
		if errors.As(err, &broken) {
			return true, nil
		}
		if err != nil {
			return false, problem.Inputf("`evolve status` lists the skills that were found", "%v", err)
		}
		return true, nil
	}
	uses, err := db.SkillUses(ctx)
	if err != nil {
		return false, err
	}
	cases, err := db.Cases(ctx, "")
	if err != nil {
		return false, err
	}
	var names []string
	for _, u := range uses {
		names = append(names, u.Skill)
	}
	for _, c := range cases {
		names = append(names, c.Skill)
	}
	if slices.Contains(names, name) {
		return false, nil
	}
	if unknown.Nearest == "" {
		unknown.Nearest = skill.Nearest(name, names)
	}
	return false, unknown
}

// splitCounts counts cases by what they are used for.
func splitCounts(cases []eval.Case) map[eval.Split]int {
	n := map[eval.Split]int{}
	for _, c := range cases {
		n[c.Split]++
	}
	return n
}

// trimLines takes away the blanks that a table leaves at the end of lines.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
