package search

import (
	"context"
	"errors"

	"github.com/skill-evolve/evolve/eval"
)

// worthCases is how many validation cases the no-skill arm is tried on at most.
const worthCases = 12

// Worth compares the incumbent with no skill at all on the same validation
// cases: what the skill is worth.
type Worth struct {
	With    eval.Metrics `json:"with"`    // the incumbent
	Without eval.Metrics `json:"without"` // the agent without the skill
}

// worth spends what search and gate have left on a few validation cases
// without a skill. nil if nothing is left, or if the incumbent was not
// measured in this run.
func (p *Plan) worth(ctx context.Context, out *Outcome, budget *eval.Budget, val []eval.Case) (*Worth, error) {
	if out.Search == nil || len(val) == 0 {
		return nil, nil
	}
	n := min(len(val), worthCases)
	if left := budget.Remaining().Rollouts; left < 0 || left > 0 && left < int64(n) {
		n = int(max(0, left))
	}
	if n == 0 {
		return nil, nil
	}
	var jobs []eval.Job
	for i := range val[:n] {
		jobs = append(jobs, eval.Job{Variant: p.Incumbent, Case: &val[i]},
			eval.Job{Variant: p.Incumbent.With(nil), Case: &val[i]})
	}
	rs, err := p.searching(budget).Run(ctx, jobs)
	var limit *eval.BudgetError
	if err != nil && !errors.As(err, &limit) {
		return nil, err
	}
	var with, without []*eval.Rollout
	for i := 0; i+1 < len(rs); i += 2 {
		if a, b := rs[i], rs[i+1]; a != nil && b != nil && a.Status == eval.Done && b.Status == eval.Done {
			with, without = append(with, a), append(without, b)
		}
	}
	if len(with) == 0 {
		return nil, nil
	}
	return &Worth{With: eval.Summarise(with), Without: eval.Summarise(without)}, nil
}
