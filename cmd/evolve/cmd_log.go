package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

func newLogCommand(a *app) *cobra.Command {
	var run string
	c := &cobra.Command{
		Use:   "log SKILL | --run RUN",
		Short: "List a skill's versions with their evidence, or a run's events",
		Long: `log lists the versions of a skill, the newest first, each with who made it and the
evidence that it was installed on, then the candidates on trial.
With --run it lists what one run did, in order.`,
		Example: "  evolve log dataviz\n  evolve log --run last --json",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case run != "" && len(args) == 0:
				return a.logRun(c.Context(), run)
			case run == "" && len(args) == 1:
				return a.logSkill(c.Context(), args[0])
			}
			return usage("usage: evolve log SKILL, or evolve log --run RUN", "evolve log needs a skill or --run")
		},
	}
	c.Flags().StringVar(&run, "run", "", "list the events of this run (\"last\" is the newest)")
	return c
}

// runLog is what `evolve log --run RUN --json` prints: schema 1.
type runLog struct {
	Schema    int           `json:"schema"`
	Run       string        `json:"run"`
	Skill     string        `json:"skill"`
	Status    string        `json:"status"`
	Simulated bool          `json:"simulated"`
	Events    []report.Step `json:"events"`
}

func (a *app) logRun(ctx context.Context, name string) error {
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	if name, err = a.findRun(ctx, db, name); err != nil {
		return err
	}
	run, err := db.Run(ctx, name)
	if err != nil {
		return err
	}
	events, err := db.Events(ctx, run.ID)
	if err != nil {
		return err
	}
	l := runLog{1, run.ID, run.Skill, string(run.Status), run.Simulated, report.Timeline(events)}
	if a.json {
		return a.printJSON(l)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: run %s, %s%s\n", l.Skill, l.Run, l.Status, simulatedMark(l.Simulated))
	fmt.Fprintf(&b, "%9s  %5s\n", "rollouts", "best")
	for _, e := range l.Events {
		best := "-"
		if e.Best != nil {
			best = fmt.Sprintf("%.2f", *e.Best)
		}
		fmt.Fprintf(&b, "%9d  %5s  %s\n", e.Rollouts, best, report.Plain(e.Text))
	}
	_, err = fmt.Fprint(a.stdout, b.String())
	return err
}

func simulatedMark(simulated bool) string {
	if simulated {
		return " (SIMULATED)"
	}
	return ""
}

// skillLog is what `evolve log SKILL --json` prints: schema 1.
type skillLog struct {
	Schema int    `json:"schema"`
	Skill  string `json:"skill"`
	// Live is the SHA-256 of the file that agents load, "" where it is gone;
	// Recorded is false where no version is that text: it was edited since.
	Live       string       `json:"live"`
	Recorded   bool         `json:"live_recorded"`
	Versions   []logVersion `json:"versions"`   // newest first
	Candidates []logTrial   `json:"candidates"` // with a trial, newest first; installed ones are versions
}

type logVersion struct {
	Version   int          `json:"version"`
	SHA       string       `json:"sha256"`
	Parent    string       `json:"parent,omitempty"`
	Live      bool         `json:"live"`
	Created   time.Time    `json:"created"`
	Author    string       `json:"author"`
	Operator  string       `json:"operator"`
	Proven    bool         `json:"proven"`
	Simulated bool         `json:"simulated"`
	Run       string       `json:"run,omitempty"`
	Note      string       `json:"note,omitempty"`
	Evidence  *logEvidence `json:"evidence"`

	from string // the parent as a version, where it is one
}

type logTrial struct {
	SHA       string       `json:"sha256"`
	Incumbent string       `json:"incumbent"`
	Decision  string       `json:"decision"`
	Operator  string       `json:"operator"`
	Simulated bool         `json:"simulated"`
	Run       string       `json:"run"`
	Updated   time.Time    `json:"updated"`
	Evidence  *logEvidence `json:"evidence"`
	// Current: the evidence is about the live text.
	Current bool `json:"against_live"`
}

// logEvidence is a verdict in numbers.
type logEvidence struct {
	Decision string  `json:"decision"`
	Reason   string  `json:"reason"`
	EValue   float64 `json:"e_value"`
	Alpha    float64 `json:"alpha"`
	Cases    int     `json:"cases"`
	Wins     int     `json:"wins"`
	Losses   int     `json:"losses"`
	Ties     int     `json:"ties"`
}

func evidenceFrom(d pareto.Decision) *logEvidence {
	return &logEvidence{string(d.Verdict), d.Reason, finite(d.EValue), d.Alpha, d.Cases, d.Wins, d.Losses, d.Ties}
}

// phrase is the evidence in a few words.
func (e *logEvidence) phrase() string {
	if e == nil {
		return "no evidence"
	}
	return fmt.Sprintf("e = %.3g on %d cases (%d won, %d lost, %d tied)", e.EValue, e.Cases, e.Wins, e.Losses, e.Ties)
}

func (a *app) logSkill(ctx context.Context, name string) error {
	s, err := a.texts(ctx, name)
	if err != nil {
		return err
	}
	l, err := s.log(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(l)
	}
	_, err = fmt.Fprint(a.stdout, l.text())
	return err
}

// log gathers a skill's versions and trials.
func (s *skillTexts) log(ctx context.Context) (*skillLog, error) {
	l := &skillLog{Schema: 1, Skill: s.name, Versions: []logVersion{}, Candidates: []logTrial{}}
	if s.live != nil {
		l.Live = s.live.doc.Hash()
		l.Recorded = s.versionOf(l.Live) != nil
	}
	installed := map[string]bool{}
	number := map[string]int{}
	for _, v := range s.versions {
		installed[v.SHA] = true
		k := logVersion{Version: v.N, SHA: v.SHA, Parent: v.Parent, Created: v.Created, Author: v.Author, Operator: v.Operator,
			Proven: v.Proven, Simulated: v.Simulated, Run: v.Run, Note: v.Note}
		if d, err := verdictOf(v.Evidence); err != nil {
			return nil, fmt.Errorf("version v%d of %s: %w", v.N, s.name, err)
		} else if d != nil {
			k.Evidence = evidenceFrom(d.Decision)
		}
		if n, ok := number[v.Parent]; ok {
			k.from = fmt.Sprintf("v%d", n)
		}
		number[v.SHA] = v.N
		l.Versions = append([]logVersion{k}, l.Versions...)
	}
	for i := range l.Versions { // the newest version of the live text is the live one
		if l.Versions[i].SHA == l.Live {
			l.Versions[i].Live = true
			break
		}
	}
	trials, err := s.db.Trials(ctx, s.name)
	if err != nil {
		return nil, err
	}
	for _, t := range trials {
		if installed[t.Challenger] {
			continue
		}
		d, err := t.Evidence()
		if err != nil {
			return nil, err
		}
		k := logTrial{SHA: t.Challenger, Incumbent: t.Incumbent, Decision: t.Decision, Simulated: t.Simulated, Run: t.Run,
			Updated: t.Updated, Evidence: evidenceFrom(d), Current: t.Incumbent == l.Live}
		if c, err := s.db.Candidate(ctx, t.Challenger); err == nil {
			k.Operator = c.Operator
		}
		l.Candidates = append(l.Candidates, k)
	}
	return l, nil
}

func (l *skillLog) text() string {
	var b strings.Builder
	if l.Live == "" {
		fmt.Fprintf(&b, "%s is not installed any more\n", l.Skill)
	} else if !l.Recorded && len(l.Versions) > 0 {
		fmt.Fprintf(&b, "%s was edited since: the live text %s is not recorded yet\n", l.Skill, report.Short(l.Live))
	}
	if len(l.Versions) == 0 {
		fmt.Fprintf(&b, "no versions of %s yet; the first run records what is there\n", l.Skill)
	}
	for _, v := range l.Versions {
		live := " "
		if v.Live {
			live = "*"
		}
		fmt.Fprintf(&b, "%s v%-3d %s  %s  %s\n", live, v.Version, report.Short(v.SHA), v.Created.UTC().Format("2006-01-02 15:04"), v.describe())
		if v.Evidence != nil {
			fmt.Fprintf(&b, "       %s\n", v.Evidence.phrase())
		}
	}
	rejected := 0
	head := "on trial:\n"
	for _, t := range l.Candidates {
		if t.Decision == string(pareto.Reject) || t.Decision == store.Withdrawn {
			rejected++
			continue
		}
		fmt.Fprintf(&b, "%s  %s        %s  %s\n       %s\n       %s\n", head, report.Short(t.SHA), t.Updated.UTC().Format("2006-01-02 15:04"), t.describe(), t.Evidence.phrase(), t.Evidence.Reason)
		head = ""
	}
	if rejected > 0 {
		fmt.Fprintf(&b, "rejected: %d (--json lists them)\n", rejected)
	}
	if l.Live != "" && l.Recorded {
		b.WriteString("* is live\n")
	}
	return report.Plain(b.String())
}

// describe says who made a version, from what, and whether it is proven.
func (v *logVersion) describe() string {
	s := v.Author
	if v.Operator != "" {
		s += ", " + v.Operator
	}
	if v.Author == "evolve" {
		if v.Proven {
			s += ", proven"
		} else {
			s += ", NOT proven"
		}
	}
	if v.Simulated {
		s += ", SIMULATED"
	}
	if v.from != "" {
		s += ", from " + v.from
	}
	if v.Note != "" {
		s += " (" + report.Excerpt(v.Note, 100) + ")"
	}
	return s
}

func (t *logTrial) describe() string {
	s := t.Operator
	if t.Decision == string(pareto.Promote) {
		s += ", proven, waits for `evolve promote`"
	} else {
		s += ", " + t.Decision
	}
	if t.Simulated {
		s += ", SIMULATED"
	}
	if !t.Current {
		s += ", against an older text"
	}
	return strings.TrimPrefix(s, ", ")
}

// tokensOf is the size of what an agent reads of a text, estimated.
func tokensOf(doc *skill.Document) int {
	if doc == nil {
		return 0
	}
	return skill.Tokens(string(doc.Body()))
}
