package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// tonight is who answers in this night: the agent, and what may be tried on it.
type tonight struct {
	model sleep.Model
	f     campaign.Config
	back  *agent.Backends
}

// model is who answers in this night, as far as can be told without asking a
// model; the zero Model where no agent works.
func (s *Worker) model(ctx context.Context) sleep.Model {
	if s.now == nil {
		s.now = &tonight{f: s.Config}
		back, err := s.Runner.Backends(ctx, &s.now.f.Spec)
		if err != nil {
			return s.now.model // it is told by the first run that needs it
		}
		id := back.Agent.Identity()
		reported, err := s.Store.LastModel(ctx, id)
		if err != nil {
			reported = ""
		}
		s.now.back, s.now.model = back, sleep.ModelOf(id, reported)
	}
	return s.now.model
}

// Close ends what the night has open.
func (s *Worker) Close() {
	if s.now != nil {
		s.now.back.Close() // folders for temporary files; what stays behind does no harm
	}
}

// outdated says that a challenger was proved on another model than the one that
// answers tonight, "" where it was not, or nobody knows.
func (s *Worker) outdated(ctx context.Context, challenger string) (string, error) {
	on, err := candidate.ProvedOn(ctx, s.Store, challenger)
	if err != nil {
		return "", err
	}
	if now := s.model(ctx); now.DriftedFrom(on) {
		return fmt.Sprintf("it was proved on %v, and the agent is %v now", on, now), nil
	}
	return "", nil
}

// drift says which model the evidence of the installed version is about, who
// answers now, and, where that is another one, on what it could be tried. A text
// that no gate has proved claims nothing that could be out of date.
func (s *Worker) drift(ctx context.Context, live *skill.Live, cases []eval.Case) (*sleep.Drift, error) {
	v, err := s.Store.VersionBySHA(ctx, live.Name, live.Doc.Hash())
	if errors.Is(err, store.ErrNotFound) || err == nil && v.Author != "evolve" {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	from, err := candidate.ProvedOn(ctx, s.Store, v.SHA)
	if err != nil || from.Agent == "" {
		return nil, err
	}
	to := s.model(ctx)
	if to.Agent == "" || to.Simulated && !s.Demo {
		return nil, nil
	}
	d := &sleep.Drift{Version: v.SHA, From: from, To: to, Clusters: map[string]int{}, Tries: 1 + s.Config.MaxRetries}
	if !to.DriftedFrom(from) {
		return d, nil
	}
	before, err := s.replaced(ctx, live)
	if err != nil {
		return nil, err
	}
	if len(before) > 0 {
		if previous, err := s.previous(ctx, live, before[0]); err != nil {
			return nil, err
		} else if previous != nil {
			d.Previous = before[0]
		}
	}
	held, err := s.certifiable(ctx, s.now.back, &s.now.f, cases)
	if err != nil {
		return nil, err
	}
	if held, err = s.uncertifiedCases(ctx, live, d, held); err != nil {
		return nil, err
	}
	return d, s.clusters(ctx, live.Name, d, held, cases)
}

// clusters fills in which of the held-out cases count, by all of them.
func (s *Worker) clusters(ctx context.Context, name string, d *sleep.Drift, held, all []eval.Case) error {
	groups := map[string][]*eval.Case{}
	for i := range held {
		cluster := sleep.ClusterName(&held[i])
		groups[cluster] = append(groups[cluster], &held[i])
	}
	rests := record.RestsOnJudge(held) > 0
	var err error
	if d.Trust, err = s.trust(ctx, name, d, all, rests); err != nil {
		return err
	}
	for cluster, g := range groups {
		switch {
		case sleep.Countable(d.Judge != "", g...):
			d.Clusters[cluster] = len(g)
		case sleep.Countable(true, g...):
			d.Unproven += len(g)
		}
	}
	return nil
}

// previous is the text that a version replaced; nil where nothing is left of it.
func (s *Worker) previous(ctx context.Context, live *skill.Live, sha string) (*skill.Document, error) {
	if sha == "" || sha == live.Doc.Hash() {
		return nil, nil
	}
	v, err := s.Store.VersionBySHA(ctx, live.Name, sha)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(v.Text) == 0 {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return skill.Stored(v.Text)
}

// uncertifiedCases are those that the certificate has not heard yet, under whatever
// names.
func (s *Worker) uncertifiedCases(ctx context.Context, live *skill.Live, d *sleep.Drift, held []eval.Case) ([]eval.Case, error) {
	st, err := sleep.Stored(s.Store).State(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	spent, err := s.Store.Journal("").SpentCases(ctx, live.Name, d.Previous)
	if err != nil {
		return nil, err
	}
	var heard []string
	if st != nil {
		c := st.Certificate(d.Version, d.Previous, d.To)
		for _, p := range c.Parts {
			heard = append(heard, p.Heard...)
		}
	}
	held, _ = spent.Unused(held, heard)
	return held, nil
}

// certifiable are the held-out cases that this agent can be tried on.
func (s *Worker) certifiable(ctx context.Context, back *agent.Backends, f *campaign.Config, cases []eval.Case) ([]eval.Case, error) {
	ordinary, _ := eval.SeparateTriggers(cases)
	test, _ := record.HeldOut(ordinary)
	kept, _, err := back.Usable(ctx, &f.Spec, test)
	return kept, err
}

// certify goes on with the certificate of an installed version, as the run that
// the task names.
func (s *Worker) certify(ctx context.Context, t sleep.Task, d sleep.Drift, c sleep.Certificate) (r sleep.CertificationResult, err error) {
	live, err := s.Runner.Layout.Live(t.Skill)
	if err != nil {
		return r, aboutSkill(err)
	}
	if live.Doc.Hash() != d.Version {
		return r, sleep.ErrReplaced
	}
	f := s.Config
	f.Skill, f.Evolve = t.Skill, skill.Harness
	f.MaxRollouts, f.MaxCostUSD, f.MaxTokens, f.MaxDuration = t.Caps.Rollouts, t.Caps.CostUSD, t.Caps.Tokens, t.Caps.Duration
	back, err := s.Runner.Backends(ctx, &f.Spec)
	if err != nil {
		return r, aboutSkill(err)
	}
	defer back.Close()
	if now := sleep.ModelOf(back.Agent.Identity(), ""); now.DriftedFrom(d.To) || now.Simulated != d.To.Simulated {
		// A night that was killed is gone on with by whatever command comes next.
		return r, &sleep.Hopeless{Err: fmt.Errorf("the night began on %v, and the agent is %v now", d.To, now)}
	}
	if err := f.Settle(back); err != nil {
		return r, aboutSkill(err)
	}
	if err := back.Ping(ctx); err != nil {
		return r, aboutSkill(err)
	}
	unlock, err := s.Locks.Run(ctx, t.Run, t.Lease)
	if err != nil {
		return r, err
	}
	defer unlock()
	k, err := s.certification(ctx, live, &f, back, &c, d.To)
	if err != nil {
		return r, err
	}
	b := k.Evaluator.Budget
	record, err := campaign.NewRecord(ctx, s.Store, t.Run, b, 0, t.Lease)
	if err != nil {
		return r, err
	}
	defer record.Close()
	k.Evaluator.Recorder = record.Journal()
	doubt, err := s.calibrate(ctx, t.Run, live.Name, &d, back, &f, k, &c)
	if err == nil {
		r.Certificate, r.Stop, err = k.Run(ctx, t.Run, c)
		if words := k.Copies(); words != "" {
			doubt = append(doubt, words)
		}
	}
	r.Spent, r.Assumed, r.Warnings = b.Spent(), b.Assumed(), append(b.Warnings(), doubt...)
	return r, aboutSkill(err)
}

// certification is what a certificate goes on with.
func (s *Worker) certification(ctx context.Context, live *skill.Live, f *campaign.Config, back *agent.Backends, c *sleep.Certificate, on sleep.Model) (*sleep.Certification, error) {
	cases, err := s.Store.Cases(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	if cases, err = s.certifiable(ctx, back, f, cases); err != nil {
		return nil, err
	}
	k := &sleep.Certification{On: on, Cases: cases, Objectives: f.Objectives}
	if k.Installed, err = campaign.VariantOf(live); err != nil {
		return nil, err
	}
	if k.Spent, err = s.Store.Journal("").SpentCases(ctx, live.Name, c.Previous); err != nil {
		return nil, err
	}
	if c.Previous != "" {
		doc, err := s.previous(ctx, live, c.Previous)
		if err != nil {
			return nil, err
		}
		switch {
		case doc != nil:
			before := k.Installed
			before.Doc = doc
			k.Previous = &before
		case c.Outcome == sleep.Open: // the next night goes on without it
			return nil, &sleep.Hopeless{Err: fmt.Errorf("nothing is left of the version before it (%.12s)", c.Previous)}
		}
		k.Seen = func(id string) bool { return k.Spent.By[id] == c.Version }
	}
	k.Evaluator = f.Evaluator(back, cases, f.Budget(s.Runner.Now), s.Runner.Now)
	return k, nil
}
