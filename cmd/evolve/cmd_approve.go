package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

func newApproveCommand(a *app) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "approve SKILL@CANDIDATE",
		Short: "Let a candidate be tried that the firewall holds in quarantine",
		Long: `approve shows what the firewall found in a candidate, how it differs from the live
text, and the cases that taught it, and asks. An approved candidate is not
installed: the next ` + "`evolve --skill SKILL`" + ` starts its search with it beside the live
text, and it has to prove itself like any other. That the firewall flagged it stays
on record: nothing but ` + "`evolve promote`" + `, typed by you, ever installs it. It also
takes a rejection back.`,
		Example: "  evolve status                       names what waits in quarantine\n  evolve approve dataviz@3f2a9c\n  evolve approve dataviz@3f2a9c --yes",
		Args:    exactArgs(1, "a skill and a candidate"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.decide(c.Context(), args[0], store.Approved, yes)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "approve without asking")
	return c
}

func newRejectCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reject SKILL@CANDIDATE",
		Short: "Drop a candidate for good: from quarantine, or from its trial",
		Long: `reject drops a candidate that waits in quarantine, or a challenger that is on trial
or proven. No later run proposes that text again. ` + "`evolve approve`" + ` takes it back.`,
		Example: "  evolve reject dataviz@3f2a9c\n  evolve reject dataviz@challenger",
		Args:    exactArgs(1, "a skill and a candidate"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.decide(c.Context(), args[0], store.Rejected, true)
		},
	}
}

// A decisionResult is what `evolve approve --json` and `evolve reject --json`
// print: schema 1.
type decisionResult struct {
	Schema int                `json:"schema"`
	Skill  string             `json:"skill"`
	SHA    string             `json:"sha256"`
	Run    string             `json:"run"`   // that made it
	Was    candidate.Standing `json:"was"`   // before
	State  candidate.Standing `json:"state"` // now
	By     string             `json:"by,omitempty"`
	At     *time.Time         `json:"at"`
	// Findings are what the firewall says, none for a text that it let pass.
	Findings []flagFinding `json:"findings"`
	// IncumbentChanged: the candidate was made from another text than the live one.
	IncumbentChanged bool             `json:"incumbent_changed"`
	Incumbent        string           `json:"incumbent"` // that it was made from
	Live             string           `json:"live"`
	Diff             *report.Diff     `json:"diff"` // from the live text
	Taught           []candidate.Case `json:"taught"`
	Next             string           `json:"next"`
}

// A flagFinding is one of the firewall's.
type flagFinding struct {
	Rule    string `json:"rule"`
	Line    int    `json:"line"` // 1-based in the candidate, 0 where it is not known any more
	Message string `json:"message"`
}

// A deciding is a word of the owner's on a candidate that is to be kept.
type deciding struct {
	live *skill.Live
	c    *candidate.Candidate
	r    *decisionText
	done bool // the word was given before: nothing changes
}

// deciding finds the candidate that arg names and refuses what cannot be decided
// so. Nothing of the candidate is changed.
func (a *app) deciding(ctx context.Context, db *store.Store, arg string, word store.Word) (*deciding, error) {
	name, at, _ := strings.Cut(arg, "@")
	live, err := a.skill(name)
	if err != nil {
		return nil, err
	}
	if err := a.recordLive(ctx, db, live); err != nil {
		return nil, err
	}
	c, err := a.nameCandidate(ctx, db, live, at, word)
	if err != nil {
		return nil, err
	}
	r, err := a.findings(ctx, db, live, c)
	if err != nil {
		return nil, err
	}
	d := &deciding{live: live, c: c, r: r}
	switch was := c.Standing(); {
	case word == store.Rejected && live.Doc.Hash() == c.SHA:
		return nil, problem.Inputf(fmt.Sprintf("`evolve rollback %s` takes it back", name), "candidate %.12s is installed", c.SHA)
	case word == store.Rejected:
		d.done = was == candidate.Rejected
	case was == candidate.Approved || c.Decision != nil && c.Decision.Word == store.Approved:
		d.done = true
	case was != candidate.Quarantined && was != candidate.Rejected:
		return nil, problem.Inputf(fmt.Sprintf("`evolve promote %s@%.12s` installs what is proven", name, c.SHA),
			"candidate %.12s is not in quarantine: it is %s", c.SHA, c.Words())
	default:
		doc, err := skill.Stored(c.Text)
		if err != nil {
			return nil, err
		}
		if err := skill.CheckKernel(live.Doc, doc, candidate.PartOf(c.Operator)); err != nil {
			return nil, problem.Refusef("the next run makes others from the live text", "candidate %.12s cannot be tried any more: %v", c.SHA, err)
		}
	}
	return d, nil
}

// decide asks, where that is called for, keeps the owner's word on a candidate and prints
// what follows from it.
func (a *app) decide(ctx context.Context, arg string, word store.Word, yes bool) error {
	name, _, _ := strings.Cut(arg, "@")
	if _, err := a.skill(name); err != nil { // before a store is made
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	d, err := a.deciding(ctx, db, arg, word)
	if err != nil {
		return err
	}
	r := d.r
	if word == store.Approved && !d.done && !yes {
		if yes, err = a.askApproval(r); err != nil || !yes {
			return err
		}
		r.asked = true
	}
	if err := a.keepWord(ctx, db, d, word); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r.decisionResult)
	}
	_, err = fmt.Fprint(a.Stdout, r.text(d.done, word == store.Approved && !r.asked))
	return err
}

// keepWord keeps the owner's word on a candidate, unless it was given before, and adds to
// d.r what follows from it.
func (a *app) keepWord(ctx context.Context, db *store.Store, d *deciding, word store.Word) (err error) {
	live, c, r := d.live, d.c, d.r
	if !d.done {
		w := store.Decision{Skill: live.Name, SHA: c.SHA, Word: word, By: whoami(), Run: c.Run, Incumbent: live.Doc.Hash(), Rules: []string{}}
		for _, f := range r.Findings {
			if !slices.Contains(w.Rules, f.Rule) {
				w.Rules = append(w.Rules, f.Rule)
			}
		}
		if _, err = db.Decide(ctx, w); err != nil {
			return err
		}
		if err = a.guardQuarantine(ctx, db, live.Name); err != nil {
			return err
		}
		if word == store.Approved { // made from an older text it is not tried as it is
			k, err := a.carrier(db)
			if err != nil {
				return err
			}
			if err := k.Approved(ctx, live); err != nil {
				return err
			}
		}
		if c, err = candidate.Of(ctx, db, live.Name, c.SHA); err != nil {
			return err
		}
		o, err := a.outbox()
		if err != nil {
			return err
		}
		if err := o.Decided(*c.Decision, c.Flagged); err != nil {
			return err
		}
	}
	r.State, r.By, r.At = c.Standing(), c.Decision.By, &c.Decision.Time
	r.Next, err = a.nextAfter(ctx, db, live, c)
	return err
}

// nameCandidate finds the candidate by the beginning of its name among those that
// the owner may have a word on.
func (a *app) nameCandidate(ctx context.Context, db *store.Store, live *skill.Live, at string, word store.Word) (*candidate.Candidate, error) {
	all, err := candidate.All(ctx, db, live.Name)
	if err != nil {
		return nil, err
	}
	var waiting []string
	for _, c := range all {
		if s := c.Standing(); s == candidate.Quarantined || word == store.Rejected && (s == candidate.Undecided || s == candidate.Proven) {
			waiting = append(waiting, c.SHA)
		}
	}
	hint := fmt.Sprintf("nothing of %s waits for a word of yours", live.Name)
	if len(waiting) > 0 {
		hint = "what waits: " + nameList(live.Name, waiting)
	}
	if at == "" {
		return nil, problem.Inputf(hint, "say which candidate: %s@CANDIDATE", live.Name)
	}
	s := &candidate.Texts{Skill: live.Name, Live: live, Store: db}
	sha, err := s.SHA(ctx, at)
	var none *candidate.NotNamedError
	if err != nil && !errors.As(err, &none) {
		return nil, err
	}
	for _, c := range all {
		switch {
		case err != nil || c.SHA != sha:
		case len(c.Text) == 0:
			return nil, problem.Inputf(hint, "the text of %.12s is gone: it was purged with the session that taught it", c.SHA)
		default:
			return c, nil
		}
	}
	var short []string
	for _, c := range all {
		short = append(short, c.SHA[:min(len(c.SHA), len(at))])
	}
	if near := skill.Nearest(at, short); near != "" {
		hint = "did you mean " + live.Name + "@" + near + "?"
	}
	if t, err := s.Find(ctx, at); err == nil && t.Candidate != nil { // there is one, that neither was flagged nor came before the gate
		return nil, problem.Inputf(hint, "candidate %.12s needs no approval: it was %s", t.Candidate.SHA, t.Candidate.State)
	}
	return nil, problem.Inputf(hint, "no candidate of %s that you may decide on begins with %q", live.Name, at)
}

func nameList(name string, shas []string) string {
	out := make([]string, len(shas))
	for i, sha := range shas {
		out[i] = name + "@" + plain.Short(sha)
	}
	return strings.Join(out, ", ")
}

// A decisionText is a decisionResult with what only people are told.
type decisionText struct {
	decisionResult
	words string
	asked bool
}

// findings gathers what the owner must see of a candidate.
func (a *app) findings(ctx context.Context, db *store.Store, live *skill.Live, c *candidate.Candidate) (*decisionText, error) {
	r := &decisionText{words: c.Words(), decisionResult: decisionResult{Schema: 1, Skill: live.Name, SHA: c.SHA, Run: c.Run,
		Was: c.Standing(), State: c.Standing(), Findings: []flagFinding{}, Taught: []candidate.Case{}, Live: live.Doc.Hash()}}
	opts := skill.OptionsFor(candidate.PartOf(c.Operator))
	doc, err := skill.Parse(c.Text, opts)
	if err != nil {
		return nil, fmt.Errorf("read candidate %.12s: %w", c.SHA, err)
	}
	if c.Flagged && len(c.Parents) > 0 {
		seen, err := db.Sightings(ctx, c.Parents[0])
		if err != nil {
			return nil, err
		}
		if len(seen) > 0 && len(seen[0].Text) > 0 {
			parent, err := skill.Parse(seen[0].Text, opts)
			if err != nil {
				return nil, fmt.Errorf("read candidate %.12s: %w", c.Parents[0], err)
			}
			for _, f := range skill.Check(parent, doc, skill.ClaudeCode) {
				if f.Severity == skill.Quarantine {
					r.Findings = append(r.Findings, flagFinding{f.Rule, f.Line, f.Message})
				}
			}
		}
	}
	if c.Flagged && len(r.Findings) == 0 { // an older firewall found it, or its parent is gone
		rule, message, _ := strings.Cut(c.Reason, ": ")
		r.Findings = append(r.Findings, flagFinding{Rule: rule, Message: message})
	}
	run, err := db.Run(ctx, c.Run)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", c.Run, err)
	}
	r.Incumbent, r.IncumbentChanged = run.Incumbent, run.Incumbent != r.Live
	if r.Diff, err = report.Between(live.Name+" live", fmt.Sprintf("%s candidate %s", live.Name, plain.Short(c.SHA)), live.Doc, doc); err != nil {
		return nil, err
	}
	s := &candidate.Texts{Skill: live.Name, Live: live, Store: db}
	words := &candidate.Words{Store: db, Sessions: map[string]map[string]string{}}
	for _, id := range c.Taught {
		k, err := s.Case(ctx, words, id)
		if err != nil {
			return nil, err
		}
		r.Taught = append(r.Taught, k)
	}
	return r, nil
}

// askApproval shows a candidate and asks. Without a terminal the answer is an
// error that says what to type, after it was shown.
func (a *app) askApproval(r *decisionText) (bool, error) {
	hint := fmt.Sprintf("`evolve approve %s@%s --yes` lets it be tried, `evolve reject %s@%s` drops it", r.Skill, plain.Short(r.SHA), r.Skill, plain.Short(r.SHA))
	if a.JSON {
		r.Next = hint
		if err := a.PrintJSON(r.decisionResult); err != nil {
			return false, err
		}
	} else if _, err := fmt.Fprint(a.Stdout, r.evidence(term.IsTerminal(a.Stdout) && a.Getenv("NO_COLOR") == "")); err != nil {
		return false, err
	}
	ok, err := a.Confirm(fmt.Sprintf("Let candidate %s be tried?", plain.Short(r.SHA)))
	if err == nil && !ok {
		err = problem.Refusef(hint, "candidate %s stays as it is: %s", plain.Short(r.SHA), r.words)
	}
	return ok, err
}

// evidence is what the owner must see before deciding.
func (r *decisionText) evidence(coloured bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s@%s: %s\n", r.Skill, plain.Short(r.SHA), oneLine(r.words))
	if len(r.Findings) > 0 {
		b.WriteString("\nwhat the firewall found:\n")
	}
	for _, f := range r.Findings {
		where := ""
		if f.Line > 0 {
			where = fmt.Sprintf("line %d, ", f.Line)
		}
		fmt.Fprintf(&b, "  %s%s: %s\n", where, f.Rule, oneLine(f.Message))
	}
	if r.IncumbentChanged {
		fmt.Fprintf(&b, "\nit was made from %s, and the live text has changed since: the diff is against the live text\n", plain.Short(r.Incumbent))
	}
	b.WriteString("\n" + r.Diff.Text(coloured) + "\n")
	if len(r.Taught) == 0 {
		b.WriteString("no case taught it\n")
	} else {
		fmt.Fprintf(&b, "taught by %s:\n%s", plain.Counted(len(r.Taught), "case"), caseLines(r.Taught, "  "))
	}
	return b.String()
}

// text says what was decided; evidence goes before it where nobody has seen it.
func (r *decisionText) text(done, unseen bool) string {
	var b strings.Builder
	if unseen && !done {
		b.WriteString(r.evidence(false) + "\n")
	}
	said := "approved"
	if r.State == candidate.Rejected {
		said = "rejected"
	}
	if done {
		said += " already"
	}
	fmt.Fprintf(&b, "%s: %s@%s, on %s by %s\nnext: %s\n", said, r.Skill, plain.Short(r.SHA), r.At.Local().Format("2006-01-02"), plain.Text(r.By), r.Next)
	return b.String()
}

// nextAfter says what follows from the owner's word.
func (a *app) nextAfter(ctx context.Context, db *store.Store, live *skill.Live, c *candidate.Candidate) (string, error) {
	switch {
	case c.Decision.Word == store.Rejected:
		return fmt.Sprintf("nothing: no later run of %s proposes it again; `evolve approve %s@%s` takes that back", live.Name, live.Name, plain.Short(c.SHA)), nil
	case c.TriedIn != "":
		return fmt.Sprintf("nothing: run %s tried it, `evolve log --run %s` tells how", c.TriedIn, c.TriedIn), nil
	case c.Trial != nil && c.Trial.Incumbent == live.Doc.Hash():
		switch c.Standing() {
		case candidate.Proven:
			return fmt.Sprintf("`evolve promote %s@%s` installs it", live.Name, plain.Short(c.SHA)), nil
		case candidate.Undecided:
			return fmt.Sprintf("`evolve --skill %s` goes on where its trial was", live.Name), nil
		}
		return "nothing: the gate rejected it", nil
	case c.Standing() == candidate.Approved && c.Base != live.Doc.Hash():
		return c.NextElsewhere(live.Name), nil
	}
	next := fmt.Sprintf("`evolve --skill %s` tries it beside the live text; it is installed by nothing but `evolve promote`, once it is proven, or with --yes as unproven", live.Name)
	if candidate.PartOf(c.Operator) == skill.Description {
		next = strings.Replace(next, live.Name+"`", live.Name+" --evolve description`", 1)
	}
	trial, err := a.openTrial(ctx, db, live, candidate.PartOf(c.Operator))
	if err == nil && trial != nil {
		next += fmt.Sprintf("; the trial of challenger %s goes first, unless --anew searches beside it", plain.Short(trial.Challenger))
	}
	return next, err
}
