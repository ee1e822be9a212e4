package campaign

import (
	"context"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/search"
)

// trial is the open trial that the run goes on with, nil for none. That of a given text goes
// on as any other does.
func (c *Campaign) trial(ctx context.Context) (*candidate.OnTrial, error) {
	f := &c.Config
	if f.Given == nil {
		return candidate.OpenTrial(ctx, c.db, c.Live, f.Evolve)
	}
	sha := skill.HashText(f.Given)
	t, err := candidate.TrialOf(ctx, c.db, c.Live, sha)
	switch {
	case t == nil || err != nil:
		return nil, err
	case !t.IsOpen():
		return nil, problem.Inputf(fmt.Sprintf("`evolve log %s` says how it ended", f.Skill), "the trial of %.12s is over", sha)
	}
	f.Given = nil
	return t, nil
}

// beginGiven has the run begin the trial of the text that its owner gave.
func (c *Campaign) beginGiven(ctx context.Context) error {
	f := &c.Config
	doc, err := skill.Parse(f.Given, c.Live.Doc.Options())
	if err != nil {
		return fmt.Errorf("read the given text: %w", err)
	}
	other, err := candidate.OpenTrial(ctx, c.db, c.Live, f.Evolve)
	if err != nil {
		return err
	}
	if other != nil {
		c.found = append(c.found, fmt.Sprintf("new text %.12s is undecided: its trial goes on when this one is over", other.Challenger))
	}
	spent, err := c.db.Journal(c.run.ID).SpentCases(ctx, f.Skill)
	if err != nil {
		return err
	}
	made, notes, err := candidate.Given(ctx, c.db, c.Live, f.Given)
	if err != nil {
		return err
	}
	c.found = append(c.found, notes...)
	if err := c.mayShow(ctx, "candidate", made.SHA, "check another text"); err != nil {
		return err
	}
	for _, sha := range made.Parents[1:] {
		if err := c.mayShow(ctx, "candidate", sha, "check a text without its lines"); err != nil {
			return err
		}
		if at := spent.Frozen[sha]; at.After(spent.Frozen[made.SHA]) {
			spent.Frozen[made.SHA] = at
		}
	}
	c.leaveOutQuoted(doc, spent)
	uses, err := expect.Uses(ctx, c.db, f.Skill, c.cases)
	if err != nil {
		return err
	}
	f.Carried = doc.Hash()
	said, err := c.db.Decisions(ctx, f.Skill)
	if err != nil {
		return err
	}
	f.ReadFirst = second.Needed(c.Live.Doc) && said[f.Carried].Word != store.Approved
	f.HeldOut, f.Clusters = spent.Unspent(slices.DeleteFunc(slices.Clone(c.cases), func(k eval.Case) bool { return spent.HasRead(f.Carried, &k) }), uses)
	return nil
}

// leaveOutQuoted moves the held-out cases that a text quotes, with their clusters, to train:
// whoever wrote it has read them, and they are no evidence about it.
func (c *Campaign) leaveOutQuoted(doc *skill.Document, spent *record.Spent) {
	var train, test []eval.Case
	for _, k := range c.cases {
		switch k.Split {
		case eval.Train:
			train = append(train, k)
		case eval.Test:
			if spent.On(&k) == "" {
				test = append(test, k)
			}
		}
	}
	clusters := map[string]bool{}
	for _, k := range search.Quoted(c.Live.Doc, doc, train, test) {
		clusters[eval.ClusterOf(k)] = true
	}
	if len(clusters) == 0 {
		return
	}
	c.quoted = map[string]eval.Split{}
	for i := range c.cases {
		if k := &c.cases[i]; k.Split == eval.Test && clusters[eval.ClusterOf(k)] {
			k.Split, c.quoted[k.ID] = eval.Train, eval.Train
		}
	}
	c.found = append(c.found, plain.Counted(len(c.quoted), "unseen request")+" left out: the text quotes it, and from now on it may teach")
}

// A HeldError means that the second reader holds the given text, of which nothing was run.
type HeldError struct {
	SHA, Reason string
	Spent       eval.Spent
}

func (e *HeldError) Error() string { return e.Reason }

// Quarantine keeps a given text that the firewall holds, so that its owner can approve it.
func (r *Runner) Quarantine(ctx context.Context, db *store.Store, live *skill.Live, text []byte, rule, reason string) error {
	c, _, err := candidate.Given(ctx, db, live, text)
	if err != nil {
		return err
	}
	if known, err := candidate.Of(ctx, db, live.Name, c.SHA); known != nil || err != nil {
		return err
	}
	if err := r.Installer(db).Record(ctx, live); err != nil {
		return err
	}
	at := r.Now().UTC()
	c.Run, c.State, c.Rule, c.Reason = record.NewID(at), record.Quarantined, rule, reason
	j := db.Journal(c.Run)
	if err := j.SaveRun(ctx, &record.Run{ID: c.Run, Skill: live.Name, Status: record.Finished, Incumbent: live.Doc.Hash(), Started: at, Ended: at,
		Note: "the firewall holds the text that was to be checked", Config: []byte("{}")}); err != nil {
		return err
	}
	return j.SaveCandidate(ctx, c)
}

// Measured compares the live text with another one by the pairs that decide their trial; nil
// if there are none, or they are from before the owner's edit of either.
func (c *Campaign) Measured(ctx context.Context, sha string) (*report.Comparison, error) {
	t, err := candidate.TrialOf(ctx, c.db, c.Live, sha)
	if t == nil || err != nil {
		return nil, err
	}
	st, _, err := t.Begin("", pareto.DefaultConfig(), record.Model{})
	if err != nil {
		return nil, err
	}
	o := CompareOptions{Split: string(eval.Test), Cases: []eval.Case{}}
	all, err := c.db.Cases(ctx, c.Config.Skill)
	if err != nil {
		return nil, err
	}
	for _, k := range casesOf(all, c.Config.Evolve) {
		if slices.Contains(st.Clusters, eval.ClusterOf(&k)) {
			o.Cases = append(o.Cases, k)
		}
	}
	s, err := candidate.Open(ctx, c.db, c.runner.Layout, c.Config.Skill)
	if err != nil || len(o.Cases) == 0 {
		return nil, err
	}
	m, err := c.runner.Compare(ctx, s, []string{"live", sha}, c.Config, o)
	if err != nil {
		return nil, err
	}
	m.Report.Warnings = nil // this is the trial itself
	if err := m.FromRecords(ctx); isInput(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return m.Report, nil
}

func isInput(err error) bool {
	kind, _ := problem.Of(err)
	return err != nil && kind == problem.Input
}
