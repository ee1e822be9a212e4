package tournament

import (
	"fmt"

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
	if len(list) == 0 && !hasQuality(t) {
		return nil, len(last) > 0
	}
	return append(list, last...), false
}

func hasQuality(t *pareto.Trial) bool { return t.Decide().PerObjective[pareto.Quality].Measured }

// tellJudge says in the verdict what rests on the judge alone, and what that is
// worth. judged and all count held-out cases.
func (g *Gate) tellJudge(v *Verdict, judged, all int, idle bool) {
	v.Judge = &g.Judge
	if g.Judge.Trusted() {
		return
	}
	text := fmt.Sprintf("%d of %d held-out cases rest on the judge alone, which is not calibrated (%s): they prove nothing; `evolve review %s` adds labels",
		judged, all, g.Judge, g.Skill)
	v.Warnings = append(v.Warnings, text)
	measured := v.PerObjective[pareto.Quality].Measured
	if v.Verdict != pareto.Undecided || measured || !idle && v.Cases == 0 {
		return
	}
	v.Reason = text
	if idle {
		v.Stop = "no held-out case is left that could prove anything"
	}
}

// withhold keeps the whole pair of a cluster of which the trial gets a part.
func (st *gateState) withhold(name string, p pareto.Pair) {
	if st.Withheld == nil {
		st.Withheld = map[string]pareto.Pair{}
	}
	st.Withheld[name] = p
}

// completed is the trial at the start of this run with what was withheld while
// the judge was not trusted. It is judged pair by pair, in the order in which
// they were measured, as if the judge had been trusted from the first: whether
// it is trusted says nothing about the pairs. A closed trial stays as it was.
func (st *gateState) completed() *pareto.Trial {
	pairs := st.Trial.Pairs()
	if len(st.Withheld) == 0 || len(pairs) != len(st.StartClusters) || st.Trial.Decide().Verdict != pareto.Undecided {
		return st.Trial
	}
	whole := pareto.NewTrial(st.Trial.Config())
	for i, p := range pairs {
		if w, ok := st.Withheld[st.StartClusters[i]]; ok {
			p = w
		}
		whole.Add(p)
	}
	return whole
}
