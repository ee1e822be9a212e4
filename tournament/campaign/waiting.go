package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// A WaitingError means that a challenger is undecided and that its trial has
// no case to continue with: another search would find a rival without cases
// for its trial either.
type WaitingError struct{ Trial candidate.OnTrial }

func (e *WaitingError) Error() string {
	return fmt.Sprintf("new text %.12s waits for more cases", e.Trial.Challenger)
}

// A TooFewCasesError means that there is no case to learn from.
type TooFewCasesError struct{}

func (*TooFewCasesError) Error() string { return "not enough cases" }

// SpentReading describes what a run without a result has spent: at most it
// has read corrections.
func (c *Campaign) SpentReading() string {
	failed := 0
	if r := c.miner; r != nil {
		failed = r.Failed()
	}
	s := c.budget.Spent()
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

// Unrun is the result of a run that ended before its search began, with a
// *WaitingError or a *TooFewCasesError: without a name, but with all other
// fields.
func (c *Campaign) Unrun(ctx context.Context, why error) (*Result, error) {
	live := c.Live.Doc
	res := c.emptyResult(ctx, live)
	res.Simulated, res.Status, res.Spent = c.back.Agent.Identity().Simulated, "waiting", c.budget.Spent()
	res.Verdict = &Verdict{Decision: pareto.Undecided, Reason: why.Error()}
	var waits *WaitingError
	if !errors.As(why, &waits) {
		return res, nil
	}
	d, err := waits.Trial.Evidence()
	if err != nil {
		return nil, err
	}
	share, err := waits.Trial.Share()
	if err != nil {
		return nil, err
	}
	v := res.Verdict
	if v.Takes, err = c.StillTakes(ctx, d, share); err != nil {
		return nil, err
	}
	v.Decision, v.EValue, v.Alpha, v.Wins, v.Losses, v.Ties, v.Cases, v.Share, v.Rest = d.Verdict, pareto.Finite(d.EValue), d.Alpha, d.Wins, d.Losses, d.Ties, d.Cases, share, d.Rest
	with := waits.Trial.With
	doc, err := skill.Parse(with.Text, live.Options())
	if err != nil {
		return nil, fmt.Errorf("read new text %.12s: %w", with.SHA, err)
	}
	res.Challenger = &Challenger{SHA: with.SHA}
	return res, c.describe(res, live, doc)
}

// TooFew reports, a line each, what a run with too few cases to learn from
// has found, and what to do about it.
func (c *Campaign) TooFew() []string {
	return append(c.Found(),
		fmt.Sprintf("nothing to learn from yet: %d cases of %s, none of them for training; %s", len(c.Cases()), c.Config.Skill, c.SpentReading()),
		"next: use the skill and correct its mistakes, or import cases with `evolve cases import FILE`")
}
