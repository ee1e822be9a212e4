package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A Result is what `evolve approve --json` and `evolve reject --json`
// print: schema 1.
type Result struct {
	Schema int                `json:"schema"`
	Skill  string             `json:"skill"`
	SHA    string             `json:"sha256"`
	Run    string             `json:"run"`   // that made it
	Was    candidate.Standing `json:"was"`   // before
	State  candidate.Standing `json:"state"` // now
	By     string             `json:"by,omitempty"`
	At     *time.Time         `json:"at"`
	// Findings are those of the firewall and of the second reader, none for a text that both
	// let pass.
	Findings []Finding `json:"findings"`
	// IncumbentChanged: the candidate was made from another text than the live one.
	IncumbentChanged bool             `json:"incumbent_changed"`
	Incumbent        string           `json:"incumbent"` // that it was made from
	Live             string           `json:"live"`
	Diff             *report.Diff     `json:"diff"` // from the live text
	Taught           []candidate.Case `json:"taught"`
	Next             string           `json:"next"`
}

// A Finding is a finding of the firewall, or what a second reader said.
type Finding struct {
	Rule    string `json:"rule"`
	Line    int    `json:"line"` // 1-based in the candidate, 0 if it is not known any more
	Message string `json:"message"`
}

// rules are those of the firewall that the candidate breaks.
func (r *Result) rules() []string {
	out := []string{}
	for _, f := range r.Findings {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return out
}

// shown gathers what the owner must see of a candidate.
func shown(ctx context.Context, db *store.Store, live *skill.Live, c *candidate.Candidate) (r Result, err error) {
	r = Result{Schema: 1, Skill: live.Name, SHA: c.SHA, Run: c.Run,
		Was: c.Standing(), State: c.Standing(), Findings: []Finding{}, Taught: []candidate.Case{}, Live: live.Doc.Hash()}
	opts := live.Doc.Options().Evolving(candidate.PartOf(c.Operator))
	doc, err := skill.Parse(c.Text, opts)
	if err != nil {
		return r, fmt.Errorf("read candidate %.12s: %w", c.SHA, err)
	}
	if c.Flagged && len(c.Parents) > 0 {
		seen, err := db.Sightings(ctx, c.Parents[0])
		if err != nil {
			return r, err
		}
		if len(seen) > 0 && len(seen[0].Text) > 0 {
			parent, err := skill.Parse(seen[0].Text, opts)
			if err != nil {
				return r, fmt.Errorf("read candidate %.12s: %w", c.Parents[0], err)
			}
			for _, f := range check.Check(parent, doc, check.ClaudeCode) {
				if f.Severity == check.Quarantine {
					r.Findings = append(r.Findings, Finding{f.Rule, f.Line, f.Reason})
				}
			}
		}
	}
	// An older firewall found it, or its parent is gone; what a second reader said is only
	// recorded.
	if c.Flagged && (len(r.Findings) == 0 || c.Rule == second.Rule) {
		rule, message := c.Rule, strings.TrimPrefix(c.Reason, c.Rule+": ")
		if rule == "" {
			rule, message = c.Reason, ""
		}
		r.Findings = append(r.Findings, Finding{Rule: rule, Message: message})
	}
	run, err := db.Run(ctx, c.Run)
	if err != nil {
		return r, fmt.Errorf("read run %s: %w", c.Run, err)
	}
	r.Incumbent, r.IncumbentChanged = run.Incumbent, run.Incumbent != r.Live
	if r.IncumbentChanged {
		with, _, err := candidate.Seed(ctx, db, live, c.SHA, r.rules()...)
		if err != nil {
			return r, err
		}
		if with != nil {
			if doc, err = skill.Parse(with.Text, opts); err != nil {
				return r, fmt.Errorf("read candidate %.12s: %w", c.SHA, err)
			}
		}
	}
	if r.Diff, err = report.Between(live.Name+" live", fmt.Sprintf("%s candidate %s", live.Name, plain.Short(c.SHA)), live.Doc, doc); err != nil {
		return r, err
	}
	s := &candidate.Texts{Skill: live.Name, Live: live, Store: db}
	words := &candidate.Words{Store: db, Sessions: map[string]map[string]string{}}
	for _, id := range c.Taught {
		k, err := s.Case(ctx, words, id)
		if err != nil {
			return r, err
		}
		r.Taught = append(r.Taught, k)
	}
	return r, nil
}

// Evidence is what the owner must see before deciding.
func (d *Decision) Evidence(coloured bool) string {
	r := &d.Result
	var b strings.Builder
	fmt.Fprintf(&b, "%s@%s: %s\n", subject.Parse(r.Skill).Path(), plain.Short(r.SHA), plain.Line(d.Words))
	if len(r.Findings) > 0 {
		by := "the firewall"
		if r.Findings[0].Rule == second.Rule {
			by = "the second reader"
		}
		b.WriteString("\nwhat " + by + " found:\n")
	}
	for _, f := range r.Findings {
		where := ""
		if f.Line > 0 {
			where = fmt.Sprintf("line %d, ", f.Line)
		}
		fmt.Fprintf(&b, "  %s%s: %s\n", where, f.Rule, plain.Line(f.Message))
	}
	if r.IncumbentChanged {
		fmt.Fprintf(&b, "\nit was made from %s, and the live text has changed since: the diff makes its change in the live text\n", plain.Short(r.Incumbent))
	}
	b.WriteString("\n" + r.Diff.Text(coloured) + "\n")
	if len(r.Taught) == 0 {
		b.WriteString("no case taught it\n")
	} else {
		fmt.Fprintf(&b, "taught by %s:\n%s", plain.Counted(len(r.Taught), "case"), candidate.Lines(r.Taught, "  "))
	}
	return b.String()
}

// Text reports the decision, with the evidence before it if unseen is set.
func (d *Decision) Text(unseen bool) string {
	r := &d.Result
	var b strings.Builder
	if unseen && !d.Done {
		b.WriteString(d.Evidence(false) + "\n")
	}
	said := "approved"
	if r.State == candidate.Rejected {
		said = "rejected"
	}
	if d.Done {
		said += " already"
	}
	fmt.Fprintf(&b, "%s: %s@%s, on %s by %s\nnext: %s\n", said, r.Skill, plain.Short(r.SHA), r.At.Local().Format("2006-01-02"), plain.Text(r.By), r.Next)
	return b.String()
}
