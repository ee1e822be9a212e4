package report

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
)

// An Arm is one side of a comparison.
type Arm struct {
	Label  string `json:"label"`
	SHA    string `json:"sha256"` // eval.NoSkill for the arm without one
	Tokens int    `json:"tokens"` // of the skill's body, estimated
	// Metrics are over the pairs that both arms have, each cluster counted once.
	Metrics eval.Metrics `json:"metrics"`
	Solved  int          `json:"solved"` // cases on which most trials pass every check
	// CostPerSolved is all that the arm's first attempts took, divided by the
	// cases it solved: USD, or tokens if a price is unknown. nil if
	// nothing was solved or nothing is known.
	CostPerSolved *float64 `json:"cost_per_solved"`
}

// A Comparison is two arms on the same cases. Deltas are B against A.
type Comparison struct {
	Schema    int    `json:"schema"`
	Skill     string `json:"skill"`
	Split     string `json:"split"`
	Simulated bool   `json:"simulated"`
	Agent     string `json:"agent"`
	Judge     string `json:"judge,omitempty"`
	// Warnings qualify the numbers and must be shown with them.
	Warnings []string `json:"warnings"`
	A        Arm      `json:"a"`
	B        Arm      `json:"b"`
	CostUnit string   `json:"cost_unit"` // "usd" or "tokens"
	Cases    int      `json:"cases"`     // that both arms have a score on
	Clusters int      `json:"clusters"`  // independent units: the n of every interval
	Trials   int      `json:"trials"`    // most on any case
	// MaxRetries is how often a failed attempt could ask again: 1 +
	// MaxRetries is the largest number of an arm's retries on a case.
	MaxRetries int     `json:"max_retries"`
	Objectives []Delta `json:"objectives"`
	Flips      []Flip  `json:"flips"`
	// Lift is the gain in quality per 1,000 tokens of skill, if A is no
	// skill; else nil.
	Lift *float64 `json:"lift_per_1000_tokens"`

	// Pairs are the pairs behind the comparison, by case.
	Pairs []CasePair `json:"-"`
	// Diff is from A to B, nil if one of them is no skill.
	Diff *Diff `json:"-"`
	// Spent is the cost of this comparison, nil if all of it was recorded
	// before.
	Spent *eval.Spent `json:"-"`
}

// A Delta is the paired difference on one objective. Quality is in points and
// retries per case, B minus A; latency and cost are the ratio B/A (a geometric
// mean, each cluster's within a factor of 16). Intervals have the level of the gate's.
type Delta struct {
	Objective string   `json:"objective"`
	Unit      string   `json:"unit"` // "difference" or "ratio"
	A         *float64 `json:"a"`    // nil is unknown
	B         *float64 `json:"b"`
	Delta     *float64 `json:"delta"` // nil if no pair knows it
	// Low and High hold the true value at any stopping time with probability
	// Level.
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Level float64  `json:"level"`
	N     int      `json:"n"` // clusters
	// Wins count the clusters on which B is better.
	Wins   int `json:"wins"`
	Losses int `json:"losses"`
	Ties   int `json:"ties"`
	// Differs is false if the interval contains "no difference".
	Differs bool `json:"differs"`
}

// A Flip is a case that one arm solves and the other does not.
type Flip struct {
	Case   string   `json:"case"`
	Prompt string   `json:"prompt"`
	Solved string   `json:"solved_by"` // "a" or "b"
	Why    []string `json:"why"`       // what was wrong with the other's answer
}

// A CasePair is one case in both arms, trials in their order.
type CasePair struct {
	Case *eval.Case
	A, B []*eval.Rollout
}

// gateRule has the levels of the intervals: on the same pairs a comparison
// and the gate agree.
var gateRule = pareto.DefaultConfig()

// Solved reports whether every check passed.
func Solved(r *eval.Rollout) bool {
	if r.Status != eval.Done || r.Failure != "" {
		return false
	}
	for i := range r.Checks {
		if !r.Checks[i].Passed() {
			return false
		}
	}
	return len(r.Checks) > 0 || r.Quality >= 1
}

// solved is Solved on most of several trials.
func solved(rs []*eval.Rollout) bool {
	n := 0
	for _, r := range rs {
		if Solved(r) {
			n++
		}
	}
	return 2*n > len(rs)
}

// Pair matches the rollouts of two arms by case and trial. Those that are not
// Done on both sides are dropped; dropped counts them. The result is in the order
// of cases.
func Pair(cases []eval.Case, a, b []*eval.Rollout) (pairs []CasePair, dropped int) {
	type place struct {
		id    string
		trial int
	}
	at := map[place][2]*eval.Rollout{}
	for side, rs := range [][]*eval.Rollout{a, b} {
		for _, r := range rs {
			if r != nil {
				p := at[place{r.CaseID, r.Trial}]
				if p[side] == nil {
					p[side] = r
				}
				at[place{r.CaseID, r.Trial}] = p
			}
		}
	}
	trials := map[string][]int{}
	for k := range at {
		trials[k.id] = append(trials[k.id], k.trial)
	}
	for i := range cases {
		p := CasePair{Case: &cases[i]}
		sort.Ints(trials[p.Case.ID])
		for _, t := range trials[p.Case.ID] {
			both := at[place{p.Case.ID, t}]
			if both[0] == nil || both[1] == nil || both[0].Status != eval.Done || both[1].Status != eval.Done {
				dropped++
				continue
			}
			p.A, p.B = append(p.A, both[0]), append(p.B, both[1])
		}
		if len(p.A) > 0 {
			pairs = append(pairs, p)
		}
	}
	return pairs, dropped
}

// Compare computes a comparison from pairs. The caller has set the other
// fields: Skill, Split, the arms' Label, SHA and Tokens, Judge.
func (c *Comparison) Compare(pairs []CasePair, dropped int) {
	c.Schema, c.Pairs, c.Cases, c.CostUnit = Schema, pairs, len(pairs), "usd"
	c.Objectives, c.Flips, c.Warnings = []Delta{}, []Flip{}, append([]string{}, c.Warnings...)
	var all [2][]*eval.Rollout
	var clusters []string
	byCluster := map[string][]*eval.Rollout{}
	judged, checks := 0, 0
	for _, p := range pairs {
		name := eval.ClusterOf(p.Case)
		if byCluster[name] == nil {
			clusters = append(clusters, name)
		}
		for i := range p.A {
			all[0], all[1] = append(all[0], p.A[i]), append(all[1], p.B[i])
			byCluster[name] = append(byCluster[name], p.A[i], p.B[i])
			c.Simulated = c.Simulated || p.A[i].Agent.Simulated || p.B[i].Agent.Simulated
			c.Agent = p.B[i].Agent.Backend + "/" + p.B[i].Agent.Model
		}
		c.Trials = max(c.Trials, len(p.A))
		for _, k := range p.Case.Checks {
			checks++
			if k.Type == eval.Judge {
				judged++
			}
		}
		c.flip(p)
	}
	c.Clusters = len(clusters)
	of := map[string]string{}
	for _, p := range pairs {
		of[p.Case.ID] = eval.ClusterOf(p.Case)
	}
	cluster := func(r *eval.Rollout) string { return of[r.CaseID] }
	c.A.Metrics, c.B.Metrics = eval.SummariseBy(all[0], cluster), eval.SummariseBy(all[1], cluster)
	c.A.Metrics.Cases, c.B.Metrics.Cases = c.Cases, c.Cases
	if c.A.Metrics.CostUSD == nil || c.B.Metrics.CostUSD == nil {
		c.CostUnit = "tokens"
	}
	var diffs [4][]float64
	for _, name := range clusters {
		d := gate.Difference(byCluster[name], c.A.SHA)
		for i, v := range []float64{d.Quality, d.Latency, d.Cost, saved(byCluster[name])} {
			diffs[i] = append(diffs[i], v)
		}
	}
	for o := pareto.Quality; o <= pareto.Retries; o++ {
		c.Objectives = append(c.Objectives, c.delta(o, diffs[o]))
	}
	for side, arm := range []*Arm{&c.A, &c.B} {
		c.price(arm, side)
	}
	if c.A.SHA == eval.NoSkill && c.B.Tokens > 0 && c.Cases > 0 {
		lift := (c.B.Metrics.Quality - c.A.Metrics.Quality) * 1000 / float64(c.B.Tokens)
		c.Lift = &lift
	}
	c.warn(dropped, judged, checks)
}

// saved is how many retries fewer B takes on a cluster, whose rollouts come in pairs, A
// first. The gate's differences are cut off at 1.
func saved(pairs []*eval.Rollout) (mean float64) {
	for i := 0; i+1 < len(pairs); i += 2 {
		mean += pairs[i].Retries - pairs[i+1].Retries
	}
	return mean / float64(len(pairs)/2)
}

// delta turns a cluster's differences, positive if B is better, into the
// usual form: B minus A, or B over A.
func (c *Comparison) delta(o pareto.Objective, diffs []float64) Delta {
	unit := 1.0 // of differences, which an interval takes to be in [-1, 1]
	if o == pareto.Retries {
		unit = float64(1 + c.MaxRetries)
		for _, d := range diffs { // reissued calls, or rollouts of other settings
			unit = max(unit, math.Abs(d))
		}
		diffs = slices.Clone(diffs)
		for i := range diffs {
			diffs[i] /= unit
		}
	}
	e := pareto.Compare(diffs, gateRule.IntervalLevel(o))
	a, b := value(c.A.Metrics, o, c.CostUnit), value(c.B.Metrics, o, c.CostUnit)
	d := Delta{Objective: o.String(), Unit: "difference", A: a, B: b, Level: e.Level, N: e.N, Wins: e.Wins, Losses: e.Losses, Ties: e.Ties}
	if e.N == 0 {
		return d
	}
	turn := func(x float64) float64 { return x }
	low, high := e.Low, e.High
	switch o {
	case pareto.Latency, pareto.Cost:
		d.Unit = "ratio"
		turn = pareto.Times
		low, high = high, low
	case pareto.Retries:
		turn = func(x float64) float64 { return 0 - unit*x }
		low, high = high, low
	}
	mean, lo, hi := turn(e.Mean), turn(low), turn(high)
	d.Delta, d.Low, d.High = &mean, &lo, &hi
	d.Differs = e.Low > 0 || e.High < 0
	return d
}

// value is one objective of an arm in its natural unit.
func value(m eval.Metrics, o pareto.Objective, costUnit string) *float64 {
	if m.N == 0 {
		return nil
	}
	switch o {
	case pareto.Latency:
		return m.LatencyMS
	case pareto.Cost:
		if costUnit == "tokens" {
			return m.Tokens
		}
		return m.CostUSD
	case pareto.Retries:
		return &m.Retries
	}
	return &m.Quality
}

// price computes the cost of a solved case.
func (c *Comparison) price(arm *Arm, side int) {
	total := 0.0
	for _, p := range c.Pairs {
		rs := p.A
		if side == 1 {
			rs = p.B
		}
		if solved(rs) {
			arm.Solved++
		}
		for _, r := range rs {
			switch {
			case c.CostUnit == "usd" && r.CostUSD != nil:
				total += *r.CostUSD / float64(len(rs))
			case c.CostUnit == "tokens" && r.Usage != nil:
				total += float64(r.Usage.Total()) / float64(len(rs))
			default:
				total = math.NaN()
			}
		}
	}
	if arm.Solved > 0 && !math.IsNaN(total) {
		x := total / float64(arm.Solved)
		arm.CostPerSolved = &x
	}
}

func (c *Comparison) flip(p CasePair) {
	a, b := solved(p.A), solved(p.B)
	if a == b {
		return
	}
	f := Flip{Case: p.Case.ID, Prompt: p.Case.Prompt, Solved: "b", Why: []string{}}
	loser := p.A
	if a {
		f.Solved, loser = "a", p.B
	}
	for _, r := range loser {
		if !Solved(r) {
			f.Why = append(f.Why, wrong(r)...)
			break
		}
	}
	c.Flips = append(c.Flips, f)
}

// wrong lists the failures of an answer.
func wrong(r *eval.Rollout) (out []string) {
	if r.Failure != "" {
		out = append(out, r.Failure)
	}
	for i := range r.Checks {
		k := &r.Checks[i]
		switch {
		case k.Passed():
		case k.Feedback != "":
			out = append(out, k.Feedback)
		case k.Evidence != "":
			out = append(out, k.Evidence)
		default:
			out = append(out, k.Type)
		}
	}
	return out
}

func (c *Comparison) warn(dropped, judged, checks int) {
	add := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	if c.Simulated {
		c.Warnings = append([]string{"SIMULATED: nothing here was measured on a real model; it says nothing about one"}, c.Warnings...)
	}
	if dropped > 0 {
		add("%s dropped: the answer with one of the texts is missing", plain.Counted(dropped, "pair"))
	}
	if c.Cases > c.Clusters {
		add("%s come from %s; the intervals count clusters, because cases of one session are not independent", plain.Counted(c.Cases, "case"), plain.Counted(c.Clusters, "cluster"))
	}
	if c.Clusters > 0 && c.Clusters < 10 {
		add("only %s: the intervals are wide, and rightly so", plain.Counted(c.Clusters, "independent case"))
	}
	if judged > 0 && judged == checks {
		add("every check is a model's opinion (judge)")
	}
	if c.CostUnit == "tokens" && c.Cases > 0 {
		add("cost is compared in tokens: the price is not known")
	}
}
