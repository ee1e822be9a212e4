package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
)

// A baseline is a search that evolve is measured against, on the same worlds,
// prompts and mutator: what differs is how the rollouts are spent.
type baseline struct {
	t     testing.TB
	world simulated.World
	eval  *eval.Evaluator
	model eval.Model
	rng   *rand.Rand
	left  int64
	trial map[string]int // so that an evaluation again is a fresh draw
	cases Cases
	inc   eval.Variant
}

var errSpent = errors.New("spent")

func newBaseline(t testing.TB, w simulated.World, rollouts, seed int64) *baseline {
	t.Helper()
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &baseline{t: t, world: w, cases: split(w.Cases(30, 30, 60)), inc: eval.Variant{Name: doc.Name(), Doc: doc},
		eval:  &eval.Evaluator{Agent: w.Agent(), Grader: &eval.Checks{}, Budget: eval.NewBudget(eval.Caps{}, nil), Concurrency: 1},
		model: w.Model(), rng: rand.New(rand.NewPCG(uint64(seed), 1)), left: rollouts, trial: map[string]int{}}
}

// run measures v on cases, as far as the budget goes.
func (b *baseline) run(v eval.Variant, cases []eval.Case, idx []int) ([]*eval.Rollout, error) {
	if b.left < int64(len(idx)) {
		return nil, errSpent
	}
	b.left -= int64(len(idx))
	var jobs []eval.Job
	for _, i := range idx {
		key := v.SHA() + cases[i].ID
		jobs = append(jobs, eval.Job{Variant: v, Case: &cases[i], Trial: b.trial[key]})
		b.trial[key]++
	}
	rs, err := b.eval.Run(context.Background(), jobs)
	if err != nil {
		b.t.Fatal(err)
	}
	return rs, nil
}

// reflect asks for one plain reflection: nothing of the reply is taken out.
func (b *baseline) reflect(v eval.Variant, cases []eval.Case, idx []int, rs []*eval.Rollout) (eval.Variant, bool) {
	in := mutate.Input{Parent: v.Doc, MaxTokens: 5000, Seed: b.rng.Int64N(1 << 31)}
	for k, r := range rs {
		if r.Quality < 1 {
			in.Evidence = append(in.Evidence, mutate.Evidence{Case: &cases[idx[k]], Rollout: r})
		}
	}
	p, err := (&mutate.Reflect{Model: b.model, Plain: true}).Propose(context.Background(), in)
	if err != nil {
		return v, false
	}
	v.Doc = p.Doc
	return v, true
}

func sum(rs []*eval.Rollout) (s float64) {
	for _, r := range rs {
		s += r.Quality
	}
	return s
}

// gepa is the reference algorithm with its defaults (arXiv 2507.19457): a
// minibatch of 3, the parent evaluated on it again, strict acceptance, every
// accepted child on the whole validation split, parents from the instance
// fronts, the best validation mean wins.
func gepa(b *baseline) eval.Variant {
	fronts := pareto.NewInstances(len(b.cases.Val))
	pool := []eval.Variant{b.inc}
	add := func(v eval.Variant) error {
		rs, err := b.run(v, b.cases.Val, all(len(b.cases.Val)))
		if err != nil {
			return err
		}
		row := make([]float64, len(rs))
		for i, r := range rs {
			row[i] = r.Quality
		}
		fronts.Add(row)
		return nil
	}
	if add(b.inc) != nil {
		return b.inc
	}
	for tries := 0; tries < 5000; tries++ {
		v := pool[fronts.Pick(b.rng)]
		idx := b.rng.Perm(len(b.cases.Train))[:3]
		had, err := b.run(v, b.cases.Train, idx)
		if err != nil {
			break
		}
		if sum(had) == 3 {
			continue
		}
		child, ok := b.reflect(v, b.cases.Train, idx, had)
		if !ok {
			continue
		}
		got, err := b.run(child, b.cases.Train, idx)
		if err != nil {
			break
		}
		if sum(got) <= sum(had) {
			continue
		}
		if add(child) != nil {
			break
		}
		pool = append(pool, child)
	}
	best := 0
	for i := range fronts.Len() {
		m, _ := fronts.Mean(i)
		if top, _ := fronts.Mean(best); m > top {
			best = i
		}
	}
	return pool[best]
}

// greedy keeps one text: cached parent, a minibatch of 6, and ten validation
// cases drawn anew for both sides.
func greedy(b *baseline) eval.Variant {
	v := b.inc
	for tries := 0; tries < 5000; tries++ {
		idx := b.rng.Perm(len(b.cases.Train))[:6]
		had, err := b.run(v, b.cases.Train, idx)
		if err != nil {
			break
		}
		if sum(had) == 6 {
			continue
		}
		child, ok := b.reflect(v, b.cases.Train, idx, had)
		if !ok {
			continue
		}
		val := b.rng.Perm(len(b.cases.Val))[:10]
		old, err := b.run(v, b.cases.Val, val)
		if err != nil {
			break
		}
		new, err := b.run(child, b.cases.Val, val)
		if err != nil {
			break
		}
		if sum(new) > sum(old) {
			v = child
		}
	}
	return v
}

// score is the noise-free score of what a baseline found.
func (b *baseline) score(v eval.Variant) float64 {
	return b.world.Oracle(string(v.Doc.Render()), b.cases.Test)
}

// TestAheadOfTheBaselines compares the searches at equal rollouts over all
// worlds. EVOLVE_SURVEY=1 prints the table of docs/benchmarks.md, with more
// seeds and budgets.
func TestAheadOfTheBaselines(t *testing.T) {
	if testing.Short() {
		t.Skip("many searches; the race detector sees each kind of goroutine elsewhere")
	}
	seeds, budgets := int64(2), []int64{300}
	if long() {
		seeds, budgets = 10, []int64{150, 300, 600, 1200}
	}
	for _, n := range budgets {
		var mean [3]float64
		for _, w := range testWorlds {
			var got [3]float64
			for seed := range seeds {
				world := w.make(seed)
				score, _, _ := searchWorld(t, world, n, seed)
				got[0] += score / float64(seeds)
				b := newBaseline(t, world, n, seed)
				got[1] += b.score(gepa(b)) / float64(seeds)
				b = newBaseline(t, world, n, seed)
				got[2] += b.score(greedy(b)) / float64(seeds)
			}
			t.Logf("%5d %-12s evolve %.3f  plain GEPA %.3f  greedy %.3f", n, w.name, got[0], got[1], got[2])
			for k := range mean {
				mean[k] += got[k] / float64(len(testWorlds))
			}
		}
		t.Logf("%5d %-12s evolve %.3f  plain GEPA %.3f  greedy %.3f", n, "mean", mean[0], mean[1], mean[2])
		if mean[0] <= mean[1] || mean[0] <= mean[2] {
			t.Errorf("at %d rollouts evolve is behind: %.3f, plain GEPA %.3f, greedy %.3f", n, mean[0], mean[1], mean[2])
		}
	}
}
