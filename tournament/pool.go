package tournament

import (
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
)

// A member is a candidate in the Pareto pool: a text that won its minibatch (or
// the incumbent), with all that is known of it.
type member struct {
	Candidate
	variant eval.Variant
	parents []int // indexes into the pool
	tokens  int   // of the body
	train   map[int]*record
	val     map[int]*record
	full    bool            // validated on every case
	tried   map[string]bool // what was tried on this text already
	depth   int             // stepping stones on the way here since the last gain
}

// A record is one case's rollouts by one candidate, one per trial.
type record struct{ rollouts []*eval.Rollout }

// mean is the average quality over the trials that were scored, NaN for none.
func (r *record) mean() float64 {
	if r == nil {
		return math.NaN()
	}
	sum, n := 0.0, 0
	for _, x := range r.rollouts {
		if x.Status == eval.Done {
			sum, n = sum+x.Quality, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// last is the newest scored rollout, nil for none.
func (r *record) last() *eval.Rollout {
	if r == nil {
		return nil
	}
	for i := len(r.rollouts) - 1; i >= 0; i-- {
		if r.rollouts[i].Status == eval.Done {
			return r.rollouts[i]
		}
	}
	return nil
}

// A pool is the candidates of one run, the incumbent first.
type pool struct {
	members []*member
	fronts  *pareto.Instances
	cases   int // validation cases
}

func newPool(valCases int) *pool {
	return &pool{fronts: pareto.NewInstances(valCases), cases: valCases}
}

func (p *pool) add(c Candidate, v eval.Variant, parents ...int) *member {
	m := &member{Candidate: c, variant: v, parents: parents, tokens: skill.Tokens(string(v.Doc.Body())),
		train: map[int]*record{}, val: map[int]*record{}, tried: map[string]bool{}}
	p.members = append(p.members, m)
	row := make([]float64, p.cases)
	for i := range row {
		row[i] = math.NaN()
	}
	p.fronts.Add(row)
	return m
}

func (p *pool) index(m *member) int {
	for i, x := range p.members {
		if x == m {
			return i
		}
	}
	return -1
}

func (p *pool) holds(sha string) bool {
	for _, m := range p.members {
		if m.SHA == sha {
			return true
		}
	}
	return false
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

// commonAncestor is the youngest member that both descend from.
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

// meanVal is the plain validation mean over the cases that m has scores for.
func (m *member) meanVal() (mean float64, n int) {
	sum := 0.0
	for _, r := range m.val {
		if q := r.mean(); !math.IsNaN(q) {
			sum, n = sum+q, n+1
		}
	}
	if n == 0 {
		return math.NaN(), 0
	}
	return sum / float64(n), n
}

// rolloutsOn collects every validation rollout of m.
func (m *member) valRollouts(cases int) (out []*eval.Rollout) {
	for i := 0; i < cases; i++ {
		if r := m.val[i]; r != nil {
			out = append(out, r.rollouts...)
		}
	}
	return out
}
