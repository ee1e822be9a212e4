package gate

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Arm names the rollouts in which two texts were compared for a purpose.
func Arm(purpose, old, new string) string {
	return purpose + ":" + old[:min(16, len(old))] + ":" + new[:min(16, len(new))]
}

// A measured pair is what the two arms did on the cases of a cluster.
type measured struct {
	cases []sides
	gate  *Gate
	lost  map[string]int // State.Losses after it
	// workers are those of a fleet that had a part in it, and seen the difference in quality as
	// each answer was graded: see control.
	workers []string
	seen    float64
}

// sides are the arms on one case: the replays of both that have a value, and those
// in which the challenger alone has none.
type sides struct {
	kase     *eval.Case
	old, new arm
	both     [2][]*eval.Rollout // of old and new, in the same order
	lost     []*eval.Rollout    // the incumbent's of them
	score    *comparison        // nil: no judge compares them
}

// pairs runs both arms on the clusters and returns what they did, nil for those
// that the budget did not reach, with the models that they name (answeredBy).
//
// If either side of a replay is missing, both are measured again. If the
// challenger's is missing once more while the incumbent's is not, that counts as
// its worst, and so does an answer for which the agent did what it must not (void)
// at once: that is the text's doing, and another answer would be a better one than
// the text usually gets. So is what is missing of the challenger more often than of the
// incumbent: see retaken.
func (g *Gate) pairs(ctx context.Context, st *state, incumbent, challenger eval.Variant, clusters []record.Cluster) ([]*measured, []string, error) {
	arm := Arm("gate", incumbent.SHA(), challenger.SHA())
	var jobs []eval.Job
	ends := map[int]int{} // clusters by the number of jobs up to their last one
	for i, c := range clusters {
		for _, k := range c.Cases {
			for replay := range st.Replays {
				jobs = append(jobs, Adjacent(incumbent, challenger, k, arm, replay, g.Seed)...)
			}
		}
		ends[len(jobs)] = i
	}
	rollouts, limit, err := g.run(ctx, jobs)
	if err != nil {
		return nil, nil, err
	}
	var unsettled []int // the first of two jobs
	var repeated []eval.Job
	lost, after := st.Losses(), make([]map[string]int, len(clusters))
	for i := 0; i+1 < len(rollouts); i += 2 {
		if a, b := rollouts[i], rollouts[i+1]; a != nil && b != nil && retaken(a, b, incumbent.SHA(), lost) {
			unsettled = append(unsettled, i)
			for _, j := range jobs[i : i+2] {
				j.Trial += st.Replays
				repeated = append(repeated, j)
			}
		}
		if k, ok := ends[i+2]; ok {
			after[k] = maps.Clone(lost)
		}
	}
	first := slices.Clone(rollouts)
	if len(repeated) > 0 && limit == nil {
		second, spent, err := g.run(ctx, repeated)
		if err != nil {
			return nil, nil, err
		}
		limit = spent
		for n, i := range unsettled {
			copy(rollouts[i:i+2], second[2*n:2*n+2])
		}
	} else {
		for _, i := range unsettled { // not paid for: the cluster is measured when there is a budget
			rollouts[i] = nil
		}
	}
	out, models := make([]*measured, len(clusters)), make([]string, len(clusters))
	at := 0
	for i, c := range clusters {
		n := 2 * st.Replays * len(c.Cases)
		if rs := rollouts[at : at+n]; !slices.Contains(rs, nil) {
			out[i] = &measured{gate: g, lost: after[i], workers: workersOf(rs, first[at:at+n]), seen: Difference(rs, incumbent.SHA()).Quality}
			n := 0
			for one := range slices.Chunk(rs, 2*st.Replays) {
				out[i].cases = append(out[i].cases, sidesOf(one, incumbent.SHA()))
				out[i].cases[n].kase = c.Cases[n]
				n++
			}
			models[i] = answeredBy(rs)
		}
		at += n
	}
	unjudged, err := compareAll(ctx, out)
	switch {
	case err != nil:
		return nil, nil, err
	case limit != nil:
		return out, models, limit
	case unjudged != nil:
		return out, models, unjudged
	}
	return out, models, nil
}

// retaken reports whether two rollouts of one replay are measured again. lost is by how many
// replays more the challenger's alone was missing than the incumbent's alone, by the machine
// that made them: chance makes it 1, and a text whose failures get lost would be given a second
// answer for each of them.
func retaken(a, b *eval.Rollout, incumbent string, lost map[string]int) bool {
	by := cmp.Or(a.Worker, b.Worker)
	if a.Candidate != incumbent {
		a, b = b, a
	}
	switch {
	case a.Status == eval.Done && b.Status == eval.Missing:
		if lost[by] > 0 {
			return false
		}
		lost[by]++
		return true
	case a.Status == eval.Missing && b.Status == eval.Done:
		lost[by]--
	}
	return a.Status != eval.Done
}

// run is Evaluator.Run of what the budget reaches; the others are nil.
func (g *Gate) run(ctx context.Context, jobs []eval.Job) ([]*eval.Rollout, *eval.BudgetError, error) {
	if len(jobs) == 0 {
		return nil, nil, nil
	}
	rollouts, err := g.Evaluator.Run(ctx, jobs)
	if limit, ok := errors.AsType[*eval.BudgetError](err); ok {
		return rollouts, limit, nil
	}
	return rollouts, nil, err
}

// sidesOf sorts the rollouts of one case, which come in pairs of one replay, in any
// order.
func sidesOf(rs []*eval.Rollout, incumbent string) (s sides) {
	for i := 0; i+1 < len(rs); i += 2 {
		a, b := rs[i], rs[i+1]
		if a.Candidate != incumbent {
			a, b = b, a
		}
		switch {
		case a.Status == eval.Done && b.Status == eval.Done:
			s.old.add(a)
			s.new.add(b)
			s.both[0], s.both[1] = append(s.both[0], a), append(s.both[1], b)
		case a.Status == eval.Done:
			s.lost = append(s.lost, a)
		}
	}
	return s
}

// weighted is the cluster's pair: the mean over its cases, each with its weight, and
// the part of its quality that counts by the judge's sensitivity. A cluster counts once,
// however many cases it has.
func (m *measured) weighted(weight record.Weight) (p pareto.Pair, checked float64) {
	p = pareto.Pair{Quality: math.NaN(), Latency: math.NaN(), Cost: math.NaN(), Retries: math.NaN(), Workers: m.workers}
	scale := float64(1 + m.gate.Evaluator.MaxRetries)
	var old, new arm
	quality, retries, total, heard, all := 0., 0., 0., 0., 0.
	for i, s := range m.cases {
		replays, w := float64(s.old.n+len(s.lost)), weight.Cases[i]
		if all += w; replays == 0 {
			continue
		}
		r := s.old.retries - s.new.retries
		for _, a := range s.lost {
			r += a.Retries - scale
		}
		retries, total = retries+w*r/replays/scale, total+w
		if q, part, known := s.quality(); known {
			quality, checked, heard = quality+w*q/replays, checked+w*part/replays, heard+w
		}
		old.join(s.old)
		new.join(s.new)
	}
	if total == 0 {
		return p, 0
	}
	if heard > 0 {
		p.Quality, checked = max(-1, min(1, quality/heard)), checked/heard
	}
	p.Retries = max(-1, min(1, retries/total))
	p.Weight = all / float64(len(m.cases))
	p.Largest = max(weight.Largest, p.Weight)
	p.Latency, p.Cost, p.Bill = costs(old, new)
	m.gate.inTokens = m.gate.inTokens || p.Bill.USD == [2]float64{} && !math.IsNaN(p.Cost)
	return p, checked
}

// costs compares two arms of as many rollouts.
func costs(old, new arm) (latency, cost float64, bill pareto.Bill) {
	latency, cost = pareto.LogRatio(old.latency, new.latency), pareto.LogRatio(old.usd, new.usd)
	mean := func(sums ...float64) (of [2]float64) {
		for i, sum := range sums {
			if of[i] = sum / float64(max(old.n, 1)); math.IsNaN(sum) || math.IsNaN(sums[0]) {
				return [2]float64{}
			}
		}
		return of
	}
	bill = pareto.Bill{USD: mean(old.usd, new.usd), Tokens: mean(old.tokens, new.tokens)}
	if math.IsNaN(cost) {
		cost, bill.USD = pareto.LogRatio(old.tokens, new.tokens), [2]float64{}
	}
	return latency, cost, bill
}

// answeredBy is the model that all rollouts of a pair name, "" if one names
// another, or none does.
func answeredBy(rs []*eval.Rollout) (model string) {
	for i, r := range rs {
		if r.Status != eval.Done || i > 0 && r.Model != model {
			return ""
		}
		model = r.Model
	}
	return model
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
// was not run at all (a nil rollout). Retries are not compared.
func Difference(rs []*eval.Rollout, incumbent string) *pareto.Pair {
	if slices.Contains(rs, nil) {
		return nil
	}
	s := sidesOf(rs, incumbent)
	p := &pareto.Pair{Quality: math.NaN(), Latency: math.NaN(), Cost: math.NaN(), Retries: math.NaN()}
	if s.old.n == 0 {
		return p
	}
	p.Quality = (s.new.quality - s.old.quality) / float64(s.old.n)
	p.Latency, p.Cost, p.Bill = costs(s.old, s.new)
	return p
}

// An arm sums up one side of a cluster; a value that any of its rollouts
// lacks is NaN.
type arm struct {
	n                                      int
	quality, retries, latency, usd, tokens float64
}

func (a *arm) join(b arm) {
	a.n += b.n
	a.quality, a.retries = a.quality+b.quality, a.retries+b.retries
	a.latency, a.usd, a.tokens = a.latency+b.latency, a.usd+b.usd, a.tokens+b.tokens
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

// event is what a run's events keep of a pair.
func (st *state) event(cluster string, p pareto.Pair, rest bool) map[string]any {
	pair := map[string]any{"cluster": cluster, "e_value": st.Trial.EValue(), "cases": st.Trial.Cases()}
	if rest {
		pair["rest"] = true
	}
	if len(p.Workers) > 0 {
		pair["workers"] = p.Workers
	}
	for _, o := range pareto.Objectives {
		pair[o.Name] = number(*o.Of(&p))
	}
	return pair
}

// number makes a difference fit for JSON, which has no NaN.
func number(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return x
}
