package gate

import (
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// provable moves the clusters that an untrusted judge alone would decide
// behind the others, and leaves them out (idle) if the trial has no other
// evidence and gets none: cost and latency alone prove nothing, and a
// held-out case is spent only once.
func (g *Gate) provable(clusters []record.Cluster, t *pareto.Trial) (list []record.Cluster, idle bool) {
	if g.Judge.Trusted() {
		return clusters, false
	}
	var last []record.Cluster
	for _, c := range clusters {
		if record.JudgeOnly(c.Cases...) {
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

// reportJudge adds to the verdict what rests on the judge alone, and how far
// that can be trusted. judged and all count held-out cases, owners the
// clusters among them on which the owner's own decision replaces the judge's.
func (g *Gate) reportJudge(v *Verdict, judged, all, owners int, idle bool) {
	told := g.Judge.WithoutOutcomes()
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
	if !v.Verdict.Open() || measured || !idle && v.Cases == 0 {
		v.Warnings = append(v.Warnings, text)
		return
	}
	v.Reason = text // once is enough
	if idle {
		v.Stop = "no held-out case is left that could prove anything"
	}
}

// answersOf names the answers of a cluster's rollouts, which come in pairs of
// one case; nil if one of them is missing.
func answersOf(rs []*eval.Rollout, incumbent string) (keys []string) {
	for i := 0; i+1 < len(rs); i += 2 {
		a, b := rs[i], rs[i+1]
		if a == nil || b == nil || a.Status != eval.Done || b.Status != eval.Done {
			return nil
		}
		if a.Candidate != incumbent {
			a, b = b, a
		}
		keys = append(keys, record.OutcomeKey(a.CaseID, skill.HashText([]byte(a.Answer)), skill.HashText([]byte(b.Answer))))
	}
	return keys
}
