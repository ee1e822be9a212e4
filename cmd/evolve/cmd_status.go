package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

func newStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "All skills on one page: uses, corrections, version, challenger, what to do next",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.status(c.Context()) },
	}
}

// A statusReport is what `evolve status --json` prints: schema 1.
type statusReport struct {
	Schema    int           `json:"schema"`
	Home      string        `json:"home"`
	SkillsDir string        `json:"skills_dir"`
	Sessions  int           `json:"sessions"`
	Skills    []skillStatus `json:"skills"` // the most used first
	Broken    []brokenSkill `json:"broken"`

	harvested bool // there is a store
}

// A skillStatus is where one skill stands.
type skillStatus struct {
	Skill      string             `json:"skill"`
	Path       string             `json:"path"` // "" for a skill that only sessions know
	Uses       int                `json:"uses"`
	Corrected  int                `json:"corrected"`
	Accepted   int                `json:"accepted"`
	LastUse    *time.Time         `json:"last_use"`
	Cases      map[eval.Split]int `json:"cases"`
	Live       *liveStatus        `json:"live"`
	Kernel     *kernelStatus      `json:"kernel"`
	Challenger *challengerStatus  `json:"challenger"`
	Quarantine []quarantined      `json:"quarantine"` // waits for the owner's word, the newest first
	Approved   []string           `json:"approved"`   // SHA-256 of candidates that the next run tries
	Unfinished *unfinishedRun     `json:"unfinished_run"`
	Next       string             `json:"next"`
}

type liveStatus struct {
	Version int    `json:"version"`
	SHA     string `json:"sha256"`
	Author  string `json:"author"` // "evolve" or "you"
	Proven  bool   `json:"proven"`
	Note    string `json:"note,omitempty"`
}

type kernelStatus struct {
	SHA       string     `json:"sha256"`
	Confirmed *time.Time `json:"confirmed"`
}

type challengerStatus struct {
	SHA       string  `json:"sha256"`
	Run       string  `json:"run"`
	Decision  string  `json:"decision"`
	EValue    float64 `json:"e_value"`
	Alpha     float64 `json:"alpha"` // decisive at e_value ≥ 1/alpha
	Cases     int     `json:"cases"`
	Simulated bool    `json:"simulated"`
}

// quarantined is a candidate that the firewall holds.
type quarantined struct {
	SHA    string `json:"sha256"`
	Run    string `json:"run"`
	Reason string `json:"reason"`
}

type unfinishedRun struct {
	Run    string `json:"run"`
	Status string `json:"status"`
	Resume string `json:"resume"` // "" while a process is at work on it
}

type brokenSkill struct {
	Skill  string `json:"skill"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func (a *app) status(ctx context.Context) error {
	r, err := a.gatherStatus(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	return a.printStatus(r)
}

// gatherStatus looks at the skills on disk and at what the store has of them. It
// makes no store where there is none; in one that exists it records texts that
// were edited by hand.
func (a *app) gatherStatus(ctx context.Context) (*statusReport, error) {
	r := &statusReport{Schema: 1, Skills: []skillStatus{}, Broken: []brokenSkill{}}
	var err error
	if r.Home, err = a.home(); err != nil {
		return nil, err
	}
	if r.SkillsDir, err = a.skillsDir(); err != nil {
		return nil, err
	}
	reg, err := a.registry()
	if err != nil {
		return nil, err
	}
	db, err := a.existingStore(ctx)
	if err != nil {
		return nil, err
	}
	uses := map[string]store.SkillUse{}
	if db != nil {
		r.harvested = true
		list, err := db.SkillUses(ctx)
		if err != nil {
			return nil, err
		}
		for _, u := range list {
			uses[u.Skill] = u
		}
		sessions, err := db.Sessions(ctx, store.SessionFilter{Bare: true})
		if err != nil {
			return nil, err
		}
		r.Sessions = len(sessions)
	}
	for _, b := range reg.Broken {
		r.Broken = append(r.Broken, brokenSkill{b.Name, b.Path, b.Reason})
		delete(uses, b.Name)
	}
	for _, e := range reg.Entries {
		s, err := a.skillStatus(ctx, db, e)
		var syntax *skill.SyntaxError
		if errors.As(err, &syntax) { // broken since the registry looked
			r.Broken = append(r.Broken, brokenSkill{e.Name, e.Path, syntax.Error()})
			continue
		} else if err != nil {
			return nil, err
		}
		s.count(uses[e.Name])
		s.Next = s.next(r.harvested)
		delete(uses, e.Name)
		r.Skills = append(r.Skills, *s)
	}
	for name, u := range uses {
		s := skillStatus{Skill: name, Cases: map[eval.Split]int{}, Quarantine: []quarantined{}, Approved: []string{}, Next: "not in the skills folder"}
		s.count(u)
		r.Skills = append(r.Skills, s)
	}
	slices.SortFunc(r.Skills, func(s, t skillStatus) int {
		return cmp.Or(cmp.Compare(t.Uses, s.Uses), cmp.Compare(s.Skill, t.Skill))
	})
	return r, nil
}

// skillStatus is where one skill on disk stands, without its uses.
func (a *app) skillStatus(ctx context.Context, db *store.Store, e skill.Entry) (*skillStatus, error) {
	live, err := readSkill(e)
	if err != nil {
		return nil, err
	}
	sha := live.doc.Hash()
	s := &skillStatus{Skill: e.Name, Path: e.Path, Cases: map[eval.Split]int{}, Quarantine: []quarantined{}, Approved: []string{},
		Live:   &liveStatus{SHA: sha, Author: "you"},
		Kernel: &kernelStatus{SHA: live.doc.KernelHash()}}
	if db == nil {
		return s, nil
	}
	if err := a.recordLive(ctx, db, live); err != nil {
		return nil, err
	}
	v, err := db.VersionBySHA(ctx, e.Name, sha)
	if err != nil {
		return nil, err
	}
	s.Live = &liveStatus{v.N, sha, v.Author, v.Proven, v.Note}
	if at, ok, err := db.KernelConfirmed(ctx, e.Name, s.Kernel.SHA); err != nil {
		return nil, err
	} else if ok {
		s.Kernel.Confirmed = &at
	}
	cases, err := db.Cases(ctx, e.Name)
	if err != nil {
		return nil, err
	}
	s.Cases = splitCounts(cases)
	if s.Challenger, err = a.challenger(ctx, db, e.Name, sha); err != nil {
		return nil, err
	}
	all, err := candidacies(ctx, db, e.Name)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		switch {
		case c.standing() == inQuarantine:
			s.Quarantine = append(s.Quarantine, quarantined{c.SHA, c.Run, c.Reason})
		case c.standing() == approvedWord && c.triedIn == "":
			s.Approved = append(s.Approved, c.SHA)
		}
	}
	s.Unfinished, err = a.unfinished(ctx, db, e.Name)
	return s, err
}

// challenger is who waits to replace the live text: proven, or still on trial;
// nil for nobody.
func (a *app) challenger(ctx context.Context, db *store.Store, name, live string) (*challengerStatus, error) {
	trials, err := db.Trials(ctx, name)
	if err != nil {
		return nil, err
	}
	// The newest first; a proven one goes before one that is on trial.
	var on *tournament.TrialRecord
	for i := range trials {
		t := &trials[i]
		if t.Incumbent == live && t.Decision == string(pareto.Promote) {
			on = t
			break
		}
	}
	if on == nil {
		if on, err = a.openTrial(ctx, db, name, live, ""); on == nil {
			return nil, err
		}
	}
	c := &challengerStatus{SHA: on.Challenger, Run: on.Run, Decision: on.Decision, Simulated: on.Simulated}
	var state struct {
		Trial *pareto.Trial `json:"trial"`
	}
	if err := json.Unmarshal(on.State, &state); err != nil {
		return nil, fmt.Errorf("read the trial of %.12s: %w", on.Challenger, err)
	}
	if state.Trial != nil {
		d := state.Trial.Decide()
		c.EValue, c.Alpha, c.Cases = finite(d.EValue), d.Alpha, d.Cases
	}
	return c, nil
}

// unfinished is the skill's last run where that can be resumed, nil where it
// ended: an older one was given up.
func (a *app) unfinished(ctx context.Context, db *store.Store, name string) (*unfinishedRun, error) {
	open, err := db.UnfinishedRun(ctx, name)
	if err != nil || open == nil {
		return nil, err
	}
	last, err := db.LatestRun(ctx, name)
	if err != nil || last == nil || last.ID != open.ID {
		return nil, err
	}
	if open.Note == tournament.CapReached {
		return nil, nil // its caps are part of it: it would stop where it stopped
	}
	if busy, err := a.running(open.ID); err != nil || busy {
		return &unfinishedRun{Run: open.ID, Status: string(open.Status)}, err
	}
	return &unfinishedRun{open.ID, string(open.Status), "evolve --resume " + open.ID}, nil
}

func (s *skillStatus) count(u store.SkillUse) {
	s.Uses, s.Corrected, s.Accepted = u.Uses, u.Corrected, u.Accepted
	if !u.Last.IsZero() {
		s.LastUse = &u.Last
	}
}

// next is what to do about a skill, in a few words.
func (s *skillStatus) next(harvested bool) string {
	switch c := s.Challenger; {
	case s.Unfinished != nil && s.Unfinished.Resume == "":
		return fmt.Sprintf("wait: run %s is at work", s.Unfinished.Run)
	case s.Unfinished != nil:
		return fmt.Sprintf("`%s` goes on with the last run", s.Unfinished.Resume)
	case c != nil && c.Simulated:
		return fmt.Sprintf("`evolve --skill %s --agent …`: the evidence is simulated", s.Skill)
	case c != nil && c.Decision == string(pareto.Promote):
		return fmt.Sprintf("`evolve promote %s` installs it", s.Skill)
	case c != nil:
		return fmt.Sprintf("`evolve --skill %s` goes on with the trial once there are new cases", s.Skill)
	case s.Cases[eval.Train] > 0 && s.Cases[eval.Val] > 0:
		return fmt.Sprintf("`evolve --skill %s`", s.Skill)
	case !harvested:
		return "`evolve harvest`"
	case s.Uses == 0:
		return "nothing: not used yet"
	}
	return "use and correct it: too few cases yet"
}

func (a *app) printStatus(r *statusReport) error {
	var b strings.Builder
	if len(r.Skills) > 0 {
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "SKILL\tUSES\tCORRECTED\tCASES\tLIVE\tKERNEL\tCHALLENGER\tNEXT")
		for i := range r.Skills {
			s := &r.Skills[i]
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", s.Skill, s.Uses, s.Corrected,
				s.Cases[eval.Train]+s.Cases[eval.Val]+s.Cases[eval.Test], s.Live, s.Kernel, s.Challenger, s.Next)
		}
		t.Flush()
	}
	printQuarantine(&b, r.Skills)
	if len(r.Broken) > 0 {
		fmt.Fprintf(&b, "\nbroken, and left alone until they are mended:\n")
		for _, s := range r.Broken {
			name := s.Skill
			if name == "" {
				name = "the skills folder"
			}
			fmt.Fprintf(&b, "  %s: %s (%s)\n", name, oneLine(s.Reason), s.Path)
		}
	}
	switch {
	case len(r.Skills)+len(r.Broken) == 0:
		fmt.Fprintf(&b, "no skills in %s, and no sessions read yet\n", r.SkillsDir)
		fmt.Fprintf(&b, "next: `evolve demo` shows the whole way without a key; --claude-home or --skills-dir names another folder\n")
	case !r.harvested:
		fmt.Fprintf(&b, "\nnext: `evolve harvest` reads your sessions (nothing is sent anywhere)\n")
	default:
		fmt.Fprintf(&b, "\n%s read; `evolve harvest` reads what is new\n", counted(r.Sessions, "session"))
	}
	_, err := fmt.Fprint(a.stdout, strings.TrimPrefix(trimLines(b.String()), "\n"))
	return err
}

// shownQuarantine is how many candidates of a skill are named; --json has all.
const shownQuarantine = 5

// printQuarantine names what waits for its owner's word, and what has it and
// waits for a run.
func printQuarantine(b *strings.Builder, skills []skillStatus) {
	head := "\nin quarantine, never run (`evolve approve` shows it and lets it be tried, `evolve reject` drops it):\n"
	for _, s := range skills {
		for i, q := range s.Quarantine {
			if i == shownQuarantine {
				fmt.Fprintf(b, "  and %d more of %s\n", len(s.Quarantine)-i, s.Skill)
				break
			}
			fmt.Fprintf(b, "%s  evolve approve %s@%s  %s\n", head, s.Skill, report.Short(q.SHA), report.Excerpt(q.Reason, 120))
			head = ""
		}
	}
	head = "\napproved, and tried by the next run:\n"
	for _, s := range skills {
		for _, sha := range s.Approved {
			fmt.Fprintf(b, "%s  %s@%s\n", head, s.Skill, report.Short(sha))
			head = ""
		}
	}
}

// String is the version that is live, "-" for none.
func (l *liveStatus) String() string {
	switch {
	case l == nil:
		return "-"
	case l.Author == "evolve" && l.Proven:
		return fmt.Sprintf("v%d proven", l.Version)
	case l.Author == "evolve":
		return fmt.Sprintf("v%d not proven", l.Version)
	case l.Version > 0:
		return fmt.Sprintf("v%d by hand", l.Version)
	}
	return "v0"
}

// String says whether the owner has confirmed the kernel.
func (k *kernelStatus) String() string {
	switch {
	case k == nil:
		return "-"
	case k.Confirmed == nil:
		return "not confirmed"
	}
	return "confirmed"
}

// String is the challenger with its evidence, "-" for none.
func (c *challengerStatus) String() string {
	if c == nil {
		return "-"
	}
	word := c.Decision
	if word == string(pareto.Promote) {
		word = "proven"
	}
	if c.Simulated {
		word += " (simulated)"
	}
	s := fmt.Sprintf("%.12s %s", c.SHA, word)
	if c.Alpha > 0 {
		s += fmt.Sprintf(", e-value %.3g of %.3g, %s", c.EValue, 1/c.Alpha, counted(c.Cases, "case"))
	}
	return s
}
