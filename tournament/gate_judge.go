package tournament

import (
	"fmt"
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
)

// provable puts the clusters that an untrusted judge alone would decide behind
// the others, and leaves them out (idle) where the trial has nothing and gets
// nothing else to rest on: cost and latency alone prove nothing, and a held-out
// case is spent only once.
func (g *Gate) provable(clusters []cluster, t *pareto.Trial) (list []cluster, idle bool) {
	if g.Judge.Trusted() {
		return clusters, false
	}
	var last []cluster
	for _, c := range clusters {
		if JudgeOnly(c.cases...) {
			last = append(last, c)
		} else {
			list = append(list, c)
		}
	}
	if len(list) == 0 && !t.Measured(pareto.Quality) {
		return nil, len(last) > 0
	}
	return append(list, last...), false
}

// tellJudge says in the verdict what rests on the judge alone, and what that is
// worth. judged and all count held-out cases, owners the clusters among them on
// which the owner's own word stands for the judge's.
func (g *Gate) tellJudge(v *Verdict, judged, all, owners int, idle bool) {
	told := g.Judge.numbers()
	v.Judge = &told
	if g.Judge.Trusted() {
		return
	}
	but := ""
	if owners > 0 {
		but = fmt.Sprintf(" but for the %d where you compared the answers yourself", owners)
	}
	text := fmt.Sprintf("%d of %d held-out cases rest on the judge alone, which is not calibrated (%s): they prove nothing%s; `evolve review %s` adds labels",
		judged, all, g.Judge, but, g.Skill)
	measured := v.PerObjective[pareto.Quality].Measured
	if v.Verdict != pareto.Undecided || measured || !idle && v.Cases == 0 {
		v.Warnings = append(v.Warnings, text)
		return
	}
	v.Reason = text // once is enough
	if idle {
		v.Stop = "no held-out case is left that could prove anything"
	}
}

// A heldPair is a pair that a judge alone has measured, with the answers that it
// was measured on (OutcomeKey), one for each case of the cluster.
type heldPair struct {
	Pair    pareto.Pair `json:"pair"`
	Answers []string    `json:"answers"`
}

// withhold keeps the whole pair of a cluster of which the trial gets a part.
func (st *gateState) withhold(name string, p heldPair) {
	if st.Withheld == nil {
		st.Withheld = map[string]heldPair{}
	}
	st.Withheld[name] = p
}

// outcome is the owner's own comparison of the arms on a cluster, the mean over
// its cases; false where the owner did not compare all of them.
func (c Calibration) outcome(p heldPair) (d float64, ok bool) {
	for _, key := range p.Answers {
		x, ok := c.Outcomes[key]
		if !ok {
			return 0, false
		}
		d += x / float64(len(p.Answers))
	}
	return d, len(p.Answers) > 0
}

// completed is the trial at the start of this run with what has become known
// since of the clusters that an untrusted judge alone had measured: the owner's
// own word, or else the judge's, once it is trusted. It is judged pair by pair,
// in the order in which they were measured, as if that had been known from the
// first: whether it is known says nothing about which arm is better. (The owner
// is never asked about two equal answers. Without the ties a difference only
// looks larger, on either side: a challenger that is no better on all pairs is
// no better on those, and one that is worse is all the worse.) owners counts the
// clusters that rest on the owner's word. A closed trial stays as it was.
func (st *gateState) completed(c Calibration) (t *pareto.Trial, owners int) {
	pairs := st.Trial.Pairs()
	if len(st.Withheld) == 0 || len(pairs) != len(st.StartClusters) || st.Trial.Verdict() != pareto.Undecided {
		return st.Trial, 0
	}
	whole := pareto.NewTrial(st.Trial.Config())
	for i, p := range pairs {
		if w, ok := st.Withheld[st.StartClusters[i]]; ok {
			if d, ok := c.outcome(w); ok {
				p.Quality = d
				owners++
			} else if c.Trusted() {
				p = w.Pair
			}
		}
		whole.Add(p)
	}
	return whole, owners
}

// open are the clusters of which a word is still withheld.
func (st *gateState) open() map[string]bool {
	out := map[string]bool{}
	pairs := st.Trial.Pairs()
	if len(pairs) != len(st.Clusters) || st.Trial.Verdict() != pareto.Undecided {
		return out
	}
	for i, name := range st.Clusters {
		if w, ok := st.Withheld[name]; ok && math.IsNaN(pairs[i].Quality) && !math.IsNaN(w.Pair.Quality) {
			out[name] = true
		}
	}
	return out
}

// answersOf names the answers of a cluster's rollouts, which come in pairs of
// one case; nil where one of them is not there.
func answersOf(rs []*eval.Rollout, incumbent string) (keys []string) {
	for i := 0; i+1 < len(rs); i += 2 {
		a, b := rs[i], rs[i+1]
		if a == nil || b == nil || a.Status != eval.Done || b.Status != eval.Done {
			return nil
		}
		if a.Candidate != incumbent {
			a, b = b, a
		}
		keys = append(keys, OutcomeKey(a.CaseID, skill.HashText([]byte(a.Answer)), skill.HashText([]byte(b.Answer))))
	}
	return keys
}
