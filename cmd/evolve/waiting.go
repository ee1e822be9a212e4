package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release"
)

// waiting says that a challenger is undecided and no case is there to go on with:
// another search would find a rival that has no case to be tried on either.
type waiting struct{ trial tournament.TrialRecord }

func (w *waiting) Error() string {
	return fmt.Sprintf("challenger %.12s waits for more cases", w.trial.Challenger)
}

// wait ends a run whose challenger waits: that is no failure.
func (a *app) wait(ctx context.Context, p *prepared, w *waiting) error {
	for _, line := range p.heads {
		a.Say("%s", line)
	}
	if a.JSON {
		res, err := a.unrun(ctx, p, w.Error(), &w.trial)
		if err == nil {
			err = a.PrintJSON(res)
		}
		return errors.Join(err, &quietExit{exitDone})
	}
	fmt.Fprintf(a.Stdout, "%s: %v; %s\nnext: use the skill, its trial goes on with the sessions to come; or `evolve --skill %s --anew` looks for a better one\n",
		p.f.Skill, w, p.read(), p.f.Skill)
	return &quietExit{exitDone}
}

// read says what a run that came to nothing has spent: it has read corrections at most.
func (p *prepared) read() string {
	failed := 0
	if r := p.miner; r != nil {
		r.mu.Lock()
		failed = r.failed
		r.mu.Unlock()
	}
	s := p.budget.Spent()
	told := fmt.Sprintf("%s to read corrections and %s tokens were spent", plain.Counted(int(s.MinerCalls), "call"), plain.Thousands(s.TokensIn+s.TokensOut))
	switch {
	case s.MinerCalls > 0 && failed > 0:
		return fmt.Sprintf("%s; %d more failed without reporting their usage", told, failed)
	case s.MinerCalls > 0:
		return told
	case failed > 0:
		return fmt.Sprintf("%s to read corrections failed without reporting their usage", plain.Counted(failed, "call"))
	}
	return "nothing was spent"
}

// unrun is the result of a run that was over before it began: it has no name, and
// every field that another one has. trial is that of the challenger which waits, nil
// for none.
func (a *app) unrun(ctx context.Context, p *prepared, reason string, trial *tournament.TrialRecord) (*runResult, error) {
	live := p.live.Doc
	res := &runResult{Schema: 1, Skill: p.f.Skill, Simulated: p.back.Agent.Identity().Simulated, Status: "waiting",
		Incumbent: resultVersion{SHA: live.Hash()}, Spent: p.budget.Spent(), Kernel: resultKernel{live.KernelHash(), true},
		Verdict: &resultVerdict{Decision: string(pareto.Undecided), Reason: reason},
		Front:   []resultPoint{}, Warnings: []string{}, Targets: []release.Placed{}}
	if v, err := p.db.VersionBySHA(ctx, p.f.Skill, live.Hash()); err == nil {
		res.Incumbent.Version = v.N
	}
	if trial == nil {
		return res, nil
	}
	d, err := trial.Evidence()
	if err != nil {
		return nil, err
	}
	v := res.Verdict
	v.EValue, v.Alpha, v.Wins, v.Losses, v.Ties, v.Cases = finite(d.EValue), d.Alpha, d.Wins, d.Losses, d.Ties, d.Cases
	c, err := candidate.MadeBy(ctx, p.db, p.f.Skill, trial.Challenger)
	if err != nil {
		return nil, err
	}
	doc, err := skill.Parse(c.Text, live.Options())
	if err != nil {
		return nil, fmt.Errorf("read challenger %.12s: %w", c.SHA, err)
	}
	path, err := a.stage(p.f.Skill, doc)
	if err != nil {
		return nil, err
	}
	res.Challenger = &resultChallenger{SHA: c.SHA, Path: path, DiffStat: diffStat(live, doc), Shorter: tournament.ShorterThan(live, doc, p.cases)}
	res.Kernel.Unchanged = doc.KernelHash() == live.KernelHash()
	return res, nil
}
