package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

func newLogCommand(a *app) *cobra.Command {
	var run string
	var all bool
	c := &cobra.Command{
		Use:   "log SKILL | --run RUN",
		Short: "Draw a skill's versions as a tree, or list a run's events",
		Long: `log draws the versions of a skill as a tree, the newest first: who made each and from
what, the evidence that it was installed on, what its run cost, how many cases and
sessions taught it, and which targets hold it; above them the candidates on trial.
With --run it lists what one run did, in order.`,
		Example: "  evolve log dataviz\n  evolve log dataviz --all\n  evolve log --run last --json",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case run != "" && len(args) == 0:
				return a.logRun(c.Context(), run)
			case run == "" && len(args) == 1:
				return a.logSkill(c.Context(), args[0], all)
			}
			return problem.Inputf("usage: evolve log SKILL, or evolve log --run RUN", "evolve log needs a skill or --run")
		},
	}
	c.Flags().StringVar(&run, "run", "", "list the events of this run (\"last\" is the newest)")
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("every version, not the newest %d alone", logNewest))
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
	status, err := a.statusNow(run)
	if err != nil {
		return err
	}
	l := runLog{1, run.ID, run.Skill, string(status), run.Simulated, report.Timeline(events)}
	if a.JSON {
		return a.PrintJSON(l)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: run %s, %s%s\n", l.Skill, l.Run, l.Status, simulatedMark(l.Simulated))
	fmt.Fprintf(&b, "%9s  %5s\n", "rollouts", "best")
	for _, e := range l.Events {
		best := "-"
		if e.Best != nil {
			best = fmt.Sprintf("%.2f", *e.Best)
		}
		fmt.Fprintf(&b, "%9d  %5s  %s\n", e.Rollouts, best, plain.Text(e.Text))
	}
	_, err = fmt.Fprint(a.Stdout, b.String())
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
	Pinned     string       `json:"pinned"`     // SHA-256 of the text that it was pinned at
	Versions   []logVersion `json:"versions"`   // newest first
	Candidates []logTrial   `json:"candidates"` // with a trial, newest first; installed ones are versions
	// Edited names targets whose text nobody has recorded yet.
	Edited []string `json:"edited_targets,omitempty"`
}

type logVersion struct {
	Version   int          `json:"version"`
	SHA       string       `json:"sha256"`
	Parent    string       `json:"parent"`
	Live      bool         `json:"live"`
	Created   time.Time    `json:"created"`
	Author    string       `json:"author"`
	Operator  string       `json:"operator"`
	Proven    bool         `json:"proven"`
	Simulated bool         `json:"simulated"`
	Run       string       `json:"run"`
	Note      string       `json:"note"`
	Evidence  *logEvidence `json:"evidence"`
	logOrigin
	Targets []string `json:"targets"` // where this text is installed
	Pinned  bool     `json:"pinned"`
	// RolledBack is when it was last taken back, where it is in no target since.
	RolledBack *time.Time `json:"rolled_back"`
	Alarm      bool       `json:"alarm"` // the watch has raised one
	// SameText is the version before it with the same text, Again the one after it:
	// what was taken back may be installed again.
	SameText *int `json:"same_text_as"`
	Again    *int `json:"again_as"`
	// Certificates say how it stands on other models than it was proved on, the
	// newest last.
	Certificates []logCertificate `json:"certificates,omitempty"`

	parent int // the version that it was made from, -1 for none
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
	logOrigin
	// Current: the evidence is about the live text.
	Current bool `json:"against_live"`
	// Offer is the command that installs it, "" where promote refuses; then Refused
	// says why, where the fields above do not.
	Offer   string `json:"offer"`
	Refused string `json:"refused"`

	parent int
	trial  *tournament.TrialRecord
}

// logOrigin is what a text was made from, and what that cost.
type logOrigin struct {
	// CostUSD and Rollouts are what its run spent, CostUSD null where nobody told.
	CostUSD  *float64 `json:"cost_usd"`
	Rollouts int64    `json:"rollouts"`
	// Cases and Sessions are the ids of what taught it, over all its steps.
	Cases    []string `json:"taught_cases"`
	Sessions []string `json:"taught_sessions"`
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
	return &logEvidence{string(d.Verdict), d.Reason, campaign.Finite(d.EValue), d.Alpha, counting(&d), d.Wins, d.Losses, d.Ties}
}

// phrase is the evidence in a few words.
func (e *logEvidence) phrase() string {
	if e == nil {
		return "no evidence"
	}
	return fmt.Sprintf("e = %.3g on %d cases (%d won, %d lost, %d tied)", e.EValue, e.Cases, e.Wins, e.Losses, e.Ties)
}

func (a *app) logSkill(ctx context.Context, name string, all bool) error {
	s, err := a.texts(ctx, name)
	if err != nil {
		return err
	}
	l, err := logOf(ctx, s, func(path string) string { return a.targetOf(name, path) })
	if err != nil {
		return err
	}
	rd, err := a.reader(ctx)
	if err != nil {
		return err
	}
	for i := range l.Candidates {
		if err := rd.offerTrial(ctx, s, &l.Candidates[i]); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(l)
	}
	newest := logNewest
	if all {
		newest = 0
	}
	_, err = fmt.Fprint(a.Stdout, l.tree(newest, a.utf8()))
	return err
}

// offerTrial says how a candidate that is proved is installed, or why it is not.
func (rd *reader) offerTrial(ctx context.Context, s *candidate.Texts, t *logTrial) error {
	if s.Live == nil || t.Decision != string(pareto.Promote) || !t.Current {
		return nil
	}
	command, against, err := rd.Release.Offer(ctx, s.Live, t.trial)
	t.Offer, t.Refused = command, against.Without(release.Simulated).String()
	return err
}

// tokensOf is the size of what an agent reads of a text, estimated.
func tokensOf(doc *skill.Document) int {
	if doc == nil {
		return 0
	}
	return skill.Tokens(string(doc.Body()))
}
