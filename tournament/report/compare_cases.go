package report

import (
	"fmt"
	"sort"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Name is the name of an arm on the command line.
func (a *Arm) Name() string {
	if a.SHA == eval.NoSkill {
		return eval.NoSkill
	}
	return plain.Short(a.SHA)
}

// Sentence sums up the comparison in one sentence.
func (c *Comparison) Sentence() string {
	var better, worse []string
	for i := range c.Objectives {
		d := &c.Objectives[i]
		if !d.Differs {
			continue
		}
		s := fmt.Sprintf("%s %s (%.0f %% interval %s)", d.Objective, d.Change(), 100*d.Level, d.Interval())
		if d.Oriented(*d.Delta) > 0 {
			better = append(better, s)
		} else {
			worse = append(worse, s)
		}
	}
	on := plain.Counted(c.Clusters, "independent case")
	a, b := c.A.Label, c.B.Label
	switch {
	case c.Clusters == 0:
		return fmt.Sprintf("Nothing to compare: no case has a score of both %s and %s.", a, b)
	case len(better)+len(worse) == 0:
		return fmt.Sprintf("No difference between %s and %s is shown on %s.", a, b, on)
	case len(worse) == 0:
		return fmt.Sprintf("%s is better than %s on %s: %s.", Capital(b), a, on, strings.Join(better, ", "))
	case len(better) == 0:
		return fmt.Sprintf("%s is worse than %s on %s: %s.", Capital(b), a, on, strings.Join(worse, ", "))
	}
	return fmt.Sprintf("%s against %s on %s: better in %s; worse in %s.", Capital(b), a, on, strings.Join(better, ", "), strings.Join(worse, ", "))
}

// Next is the command to type after a comparison.
func (c *Comparison) Next() string {
	for i := range c.Objectives {
		if c.Objectives[i].Differs {
			return fmt.Sprintf("a comparison chooses nothing: `evolve --skill %s` decides by a trial", c.Skill)
		}
	}
	return fmt.Sprintf("more cases narrow the intervals: `evolve harvest --skill %s` brings them", c.Skill)
}

// CaseList lists the pairs, the hardest first, with the map of both arms.
func (c *Comparison) CaseList() ([]Case, Matrix) {
	mx := Matrix{Candidates: []string{"a", "b"}}
	type laid struct {
		Case
		row Row
	}
	var all []laid
	for _, p := range c.Pairs {
		l := laid{Case: about(0, p.Case.ID, string(p.Case.Split), p.Case)}
		for side, rs := range [][]*eval.Rollout{p.A, p.B} {
			a := arm([]string{"A, " + c.A.Label, "B, " + c.B.Label}[side], rs)
			l.Arms = append(l.Arms, *a)
			l.row.Cells = append(l.row.Cells, a.Quality)
		}
		l.row.Case, l.row.Split = p.Case.ID, l.Split
		all = append(all, l)
	}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].Split != all[j].Split {
			return all[i].Split < all[j].Split
		}
		return all[i].row.Mean() < all[j].row.Mean()
	})
	out := make([]Case, len(all))
	for i := range all {
		all[i].N = i + 1
		out[i] = all[i].Case
		mx.Rows = append(mx.Rows, all[i].row)
	}
	return out, mx
}

// Bill is the cost of the pairs, by kind of call and together, whether this
// or an earlier comparison paid.
func (c *Comparison) Bill() ([]Spending, eval.Spent) {
	d := Data{}
	for _, p := range c.Pairs {
		for _, rs := range [][]*eval.Rollout{p.A, p.B} {
			for _, r := range rs {
				d.Rollouts = append(d.Rollouts, *r)
			}
		}
	}
	d.Run.Spent = Took(d.Rollouts)
	return spending(&d), d.Run.Spent
}

// Took adds up the cost of rollouts, whether this or an earlier run paid; the
// wall time is the sum of the agents' times.
func Took(rs []eval.Rollout) eval.Spent {
	s := eval.Spent{CostKnown: true}
	add := func(calls int, u *eval.Usage, usd *float64) {
		if u != nil {
			s.TokensIn += u.Total() - u.Output
			s.TokensOut += u.Output
		}
		if usd != nil {
			s.CostUSD += *usd
		} else if calls > 0 {
			s.CostKnown = false
		}
	}
	for i := range rs {
		r := &rs[i]
		s.Rollouts += int64(r.Attempts)
		s.AgentCalls += int64(r.Attempts)
		s.JudgeCalls += int64(r.JudgeCalls)
		s.Simulated = s.Simulated || r.Agent.Simulated
		add(min(1, r.Attempts), r.Usage, r.Paid(r.CostUSD))
		add(max(0, r.Attempts-1), r.RetryUsage, r.Paid(r.RetryUSD))
		add(r.JudgeCalls, r.JudgeUsage, r.JudgeUSD)
		if r.LatencyMS != nil {
			s.WallMS += *r.LatencyMS
		}
	}
	return s
}
