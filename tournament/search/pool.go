package search

import (
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Member is a candidate in the Pareto pool: a text that won its minibatch
// (or the incumbent), with all its measurements.
type Member struct {
	record.Candidate
	Variant eval.Variant
	parents []int      // indexes into the pool
	Tokens  int        // of the body
	train   []attempts // by train case
	val     []attempts // by validation case
	full    bool       // validated on every case
	cut     bool       // only lacks lines of the incumbent
	// confirmed is the trial that had no part in choosing m, 0 for none.
	confirmed int
	tried     map[string]bool // what was tried on this text already
	depth     int             // stepping stones on the way here since the last gain
}

// An attempts is one case's rollouts by one candidate, in the order of
// trials. The first one is stored apart: most cases have no other, and a pool
// holds a record for every candidate and case.
type attempts struct {
	first *eval.Rollout
	more  []*eval.Rollout
}

func (r *attempts) add(x *eval.Rollout) {
	if r.first == nil {
		r.first = x
		return
	}
	r.more = append(r.more, x)
}

// trials is the number of rollouts, missing ones included.
func (r *attempts) trials() int {
	if r.first == nil {
		return 0
	}
	return 1 + len(r.more)
}

// at returns the rollout of a trial.
func (r *attempts) at(trial int) *eval.Rollout {
	if trial == 0 {
		return r.first
	}
	return r.more[trial-1]
}

// mean is the average quality over the trials that were scored, NaN for none.
func (r *attempts) mean() float64 {
	if len(r.more) == 0 && r.first != nil && r.first.Status == eval.Done {
		return r.first.Quality
	}
	sum, n := 0.0, 0
	for k := range r.trials() {
		if x := r.at(k); x.Status == eval.Done {
			sum, n = sum+x.Quality, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// last is the newest scored rollout, nil for none.
func (r *attempts) last() *eval.Rollout {
	for k := r.trials() - 1; k >= 0; k-- {
		if x := r.at(k); x.Status == eval.Done {
			return x
		}
	}
	return nil
}

// A pool is the candidates of one run, the incumbent first.
type pool struct {
	members []*Member
	fronts  *pareto.Instances
	train   int // cases
	cases   int // validation cases
}

func newPool(trainCases, valCases int) *pool {
	return &pool{fronts: pareto.NewInstances(valCases), train: trainCases, cases: valCases}
}

func (p *pool) add(c record.Candidate, v eval.Variant, parents ...int) *Member {
	m := &Member{Candidate: c, Variant: v, parents: parents, Tokens: skill.Tokens(string(v.Doc.Body())),
		train: make([]attempts, p.train), val: make([]attempts, p.cases), tried: map[string]bool{}}
	if len(p.members) > 0 {
		_, m.cut = mutate.Removed(p.members[0].Variant.Doc, v.Doc)
	}
	p.members = append(p.members, m)
	row := make([]float64, p.cases)
	for i := range row {
		row[i] = math.NaN()
	}
	p.fronts.Add(row)
	return m
}

func (p *pool) index(m *Member) int {
	for i, x := range p.members {
		if x == m {
			return i
		}
	}
	return -1
}

// ancestors returns m's ancestors, itself first, nearest first.
func (p *pool) ancestors(i int) []int {
	seen := map[int]bool{}
	queue := []int{i}
	var out []int
	for len(queue) > 0 {
		i, queue = queue[0], queue[1:]
		if seen[i] {
			continue
		}
		seen[i] = true
		out = append(out, i)
		queue = append(queue, p.members[i].parents...)
	}
	return out
}

// commonAncestor is the youngest member from which both descend.
func (p *pool) commonAncestor(a, b int) int {
	mine := map[int]bool{}
	for _, i := range p.ancestors(a) {
		mine[i] = true
	}
	best := 0
	for _, i := range p.ancestors(b) {
		if mine[i] {
			best = max(best, i)
		}
	}
	return best
}

// Validation is the plain validation mean over the cases that m has scores for.
func (m *Member) Validation() (mean float64, n int) {
	sum := 0.0
	for i := range m.val {
		if q := m.val[i].mean(); !math.IsNaN(q) {
			sum, n = sum+q, n+1
		}
	}
	if n == 0 {
		return math.NaN(), 0
	}
	return sum / float64(n), n
}

// valRollouts collects every validation rollout of m.
func (m *Member) valRollouts() (out []*eval.Rollout) {
	for i := range m.val {
		if r := &m.val[i]; r.first != nil {
			out = append(append(out, r.first), r.more...)
		}
	}
	return out
}
