package report

import (
	"slices"
	"sort"

	"github.com/skill-evolve/evolve/eval"
)

// A Case is one case with the two texts' results.
type Case struct {
	N       int            `json:"n"` // its number in this report: its row in Matrix, from 1
	ID      string         `json:"case"`
	Split   string         `json:"split"`
	Cluster string         `json:"cluster,omitempty"`
	Origin  string         `json:"origin,omitempty"`  // "mined", "generated" or "imported"
	Outcome string         `json:"outcome,omitempty"` // what the user did with the answer that the case was made from
	Prompt  string         `json:"prompt"`            // "" if the case is gone
	Context []eval.Message `json:"context,omitempty"`
	Checks  []string       `json:"checks"`                   // in words
	Trigger *bool          `json:"should_trigger,omitempty"` // of a trigger case: whether the skill should be loaded
	// Late: the gate measured it, and the evidence sufficed without it.
	Late bool      `json:"late,omitempty"`
	Arms []CaseArm `json:"arms"` // incumbent, challenger and no skill, as far as they were tried
}

// A CaseArm is one text's result on a case. All but Quality and Trials is of
// the first trial that has a score, else of the first.
type CaseArm struct {
	Label    string             `json:"label"` // "incumbent", "challenger", "no skill", "A", "B"
	Trials   int                `json:"trials"`
	Quality  *float64           `json:"quality"` // mean over the trials, nil if none has a score
	Solved   bool               `json:"solved"`
	Status   eval.Status        `json:"status"`
	Answer   string             `json:"answer"`
	Failure  string             `json:"failure,omitempty"`
	Checks   []eval.CheckResult `json:"checks"`
	Trace    []eval.ToolCall    `json:"trace,omitempty"`
	Latency  *int64             `json:"latency_ms"`
	CostUSD  *float64           `json:"cost_usd"`
	Tokens   *int64             `json:"tokens"`
	Retries  float64            `json:"retries"`
	Attempts int                `json:"attempts"`
	Invoked  *bool              `json:"skill_invoked"` // nil if the backend cannot tell
}

// arm sums up the trials of one text on one case; nil for none.
func arm(label string, rs []*eval.Rollout) *CaseArm {
	if len(rs) == 0 {
		return nil
	}
	rs = slices.Clone(rs)
	sort.SliceStable(rs, func(i, j int) bool { return rs[i].Trial < rs[j].Trial })
	r, sum, n := rs[0], 0.0, 0
	for _, x := range rs {
		if x.Status != eval.Done {
			continue
		}
		if n == 0 {
			r = x
		}
		sum, n = sum+x.Quality, n+1
	}
	a := &CaseArm{Label: label, Trials: len(rs), Solved: solved(rs), Status: r.Status, Answer: r.Answer, Failure: r.Failure,
		Checks: append([]eval.CheckResult{}, r.Checks...), Trace: r.Trace, Latency: r.LatencyMS, CostUSD: r.CostUSD,
		Retries: r.Retries, Attempts: r.Attempts, Invoked: r.SkillInvoked}
	if n > 0 {
		q := sum / float64(n)
		a.Quality = &q
	}
	if r.Usage != nil {
		t := r.Usage.Total()
		a.Tokens = &t
	}
	return a
}

// about is a case without its arms.
func about(n int, id, split string, c *eval.Case) Case {
	out := Case{N: n, ID: id, Split: split, Checks: []string{}, Arms: []CaseArm{}}
	if c == nil {
		return out
	}
	out.Prompt, out.Context, out.Cluster, out.Trigger = c.Prompt, c.Context, c.Cluster, c.ShouldTrigger
	if src := c.Source; src != nil {
		out.Origin, out.Outcome = src.Origin, src.Outcome
	}
	for i := range c.Checks {
		out.Checks = append(out.Checks, c.Checks[i].Criterion())
	}
	return out
}

// cases lists the results of incumbent, challenger and no skill on the
// matrix' cases, in the order of its rows.
func cases(m *Model, s *scores) []Case {
	heard := map[string]bool{}
	for _, e := range m.Evidence {
		heard[e.Cluster] = true
	}
	out := make([]Case, 0, len(m.Matrix.Rows))
	for i, row := range m.Matrix.Rows {
		c := about(i+1, row.Case, row.Split, s.known[row.Case])
		if k := s.known[row.Case]; k != nil && row.Split == string(eval.Test) && len(m.Evidence) > 0 {
			c.Late = !heard[eval.ClusterOf(k)] && !heard[""] // "": a pair of an earlier run
		}
		for _, who := range [...][2]string{{"your text", m.Incumbent}, {"new text", m.Challenger}, {"no skill", eval.NoSkill}} {
			if who[1] == "" {
				continue
			}
			if a := arm(who[0], s.byCase[row.Case][who[1]]); a != nil {
				c.Arms = append(c.Arms, *a)
			}
		}
		out = append(out, c)
	}
	return out
}
