package gate

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Arm names the rollouts in which two texts were compared for a purpose.
func Arm(purpose, old, new string) string {
	return purpose + ":" + old[:min(16, len(old))] + ":" + new[:min(16, len(new))]
}

// pairs runs both arms on the clusters and returns one difference each, nil
// for those that the budget did not reach, with the answers behind them and
// the models that they name (answeredBy).
func (g *Gate) pairs(ctx context.Context, incumbent, challenger eval.Variant, clusters []record.Cluster) ([]*pareto.Pair, [][]string, []string, error) {
	arm := Arm("gate", incumbent.SHA(), challenger.SHA())
	var jobs []eval.Job
	for _, c := range clusters {
		for _, k := range c.Cases {
			jobs = append(jobs, Adjacent(incumbent, challenger, k, arm, 0, g.Seed)...)
		}
	}
	var rollouts []*eval.Rollout
	var err error
	if len(jobs) > 0 {
		rollouts, err = g.Evaluator.Run(ctx, jobs)
	}
	var limit *eval.BudgetError
	if err != nil && !errors.As(err, &limit) {
		return nil, nil, nil, err
	}
	out, answers, models := make([]*pareto.Pair, len(clusters)), make([][]string, len(clusters)), make([]string, len(clusters))
	at := 0
	for i, c := range clusters {
		n := 2 * len(c.Cases)
		if out[i] = Difference(rollouts[at:at+n], incumbent.SHA()); out[i] != nil {
			g.inTokens = g.inTokens || rollouts[at].CostUSD == nil && !math.IsNaN(out[i].Cost)
			*out[i] = out[i].Only(g.Objectives)
			answers[i], models[i] = answersOf(rollouts[at:at+n], incumbent.SHA()), answeredBy(rollouts[at:at+n])
		}
		at += n
	}
	return out, answers, models, err
}

// Adjacent runs one case in both arms, one directly after the other, so that
// what changes over time (a busy server, a new model behind an old name)
// affects both. Their order is random but a function of the case and the
// seed, so that a resumed run asks in the same order.
func Adjacent(old, new eval.Variant, c *eval.Case, arm string, trial int, seed int64) []eval.Job {
	a, b := eval.Job{Variant: old, Case: c, Arm: arm, Trial: trial}, eval.Job{Variant: new, Case: c, Arm: arm, Trial: trial}
	h := fnv.New64a()
	h.Write([]byte(c.ID))
	if rand.New(rand.NewPCG(uint64(seed), h.Sum64())).IntN(2) == 1 {
		a, b = b, a
	}
	return []eval.Job{a, b}
}

// Difference averages each arm over a cluster's rollouts, which come in pairs
// of one case and trial, in any order, and subtracts the arms; incumbent is
// the candidate of the old one. Positive favours the other. A pair with a
// missing side is dropped; with none left every value is NaN. nil if an arm
// was not run at all (a nil rollout).
func Difference(rs []*eval.Rollout, incumbent string) *pareto.Pair {
	var old, new arm
	for i := 0; i+1 < len(rs); i += 2 {
		a, b := rs[i], rs[i+1]
		if a == nil || b == nil {
			return nil
		}
		if a.Status != eval.Done || b.Status != eval.Done {
			continue // missing on either side drops the pair
		}
		if a.Candidate != incumbent {
			a, b = b, a
		}
		old.add(a)
		new.add(b)
	}
	if old.n == 0 {
		return &pareto.Pair{Quality: math.NaN(), Latency: math.NaN(), Cost: math.NaN(), Retries: math.NaN()}
	}
	n := float64(old.n)
	cost := pareto.LogRatio(old.usd, new.usd)
	if math.IsNaN(cost) {
		cost = pareto.LogRatio(old.tokens, new.tokens)
	}
	return &pareto.Pair{
		Quality: (new.quality - old.quality) / n,
		Latency: pareto.LogRatio(old.latency, new.latency),
		Cost:    cost,
		Retries: max(-1, min(1, (old.retries-new.retries)/n)),
	}
}

// An arm sums up one side of a cluster; a value that any of its rollouts
// lacks is NaN.
type arm struct {
	n                                      int
	quality, retries, latency, usd, tokens float64
}

func (a *arm) add(r *eval.Rollout) {
	a.n++
	a.quality += r.Quality
	a.retries += r.Retries
	plus := func(sum *float64, known bool, x func() float64) {
		if !known {
			*sum = math.NaN()
			return
		}
		*sum += x()
	}
	plus(&a.latency, r.LatencyMS != nil, func() float64 { return float64(*r.LatencyMS) })
	plus(&a.usd, r.CostUSD != nil, func() float64 { return *r.CostUSD })
	plus(&a.tokens, r.Usage != nil, func() float64 { return float64(r.Usage.Total()) })
}

// number makes a difference fit for JSON, which has no NaN.
func number(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return x
}
