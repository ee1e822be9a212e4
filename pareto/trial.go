package pareto

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A Pair is the result of one cluster of held-out cases: the differences
// between challenger and incumbent, each in [-1, 1] and oriented so that
// positive favours the challenger. NaN if either arm has no value; the pair
// then is no evidence about that objective.
type Pair struct {
	Quality float64 // challenger - incumbent, trials averaged
	Latency float64 // LogRatio
	Cost    float64 // LogRatio
	Retries float64 // incumbent - challenger
}

// MarshalJSON writes [quality, latency, cost, retries], null for unknown.
func (p Pair) MarshalJSON() ([]byte, error) {
	row, values := [objectives]*float64{}, p.values()
	for o := range row {
		if !math.IsNaN(values[o]) {
			row[o] = &values[o]
		}
	}
	return json.Marshal(row)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Pair) UnmarshalJSON(b []byte) error {
	var row []*float64
	if err := json.Unmarshal(b, &row); err != nil {
		return fmt.Errorf("read pair: %w", err)
	}
	if len(row) != objectives {
		return fmt.Errorf("read pair: %d values, want %d", len(row), objectives)
	}
	for o, x := range row {
		at := Objectives[o].Of(p)
		if *at = math.NaN(); x != nil {
			*at = *x
		}
	}
	return nil
}

// LogRatio is the difference of two costs or durations in the unit of a Pair:
// log(incumbent/challenger) / log 4, clipped to [-1, 1], so that half the cost
// is +0.5 and a quarter or less is +1. NaN if either is unknown or not
// positive.
func LogRatio(incumbent, challenger float64) float64 {
	if !(incumbent > 0) || !(challenger > 0) {
		return math.NaN()
	}
	// Inf/Inf is NaN, and stays it.
	return max(-1, min(1, math.Log(incumbent/challenger)/math.Log(4)))
}

// A Limit is what a trial requires of one objective. Tolerance and Gain are
// in the unit of a Pair.
type Limit struct {
	// Alpha is the error allowed in showing that the challenger is better;
	// the opposite, that it is worse (beyond its tolerance), is shown at the
	// same level and rejects it.
	Alpha float64 `json:"alpha"`
	// Tolerance is how much worse the challenger may be while it wins
	// elsewhere.
	Tolerance float64 `json:"tolerance"`
	// Gain is the smallest improvement that would matter: a challenger whose
	// gains are shown to be smaller is rejected as futile.
	Gain float64 `json:"gain"`
}

// Config is the rule of a trial. The zero value means DefaultConfig.
type Config struct {
	Quality Limit `json:"quality"`
	Latency Limit `json:"latency"`
	Cost    Limit `json:"cost"`
	Retries Limit `json:"retries"`
	// ToleranceAlpha is the level of every single test that an objective
	// stays within its tolerance. All of them have to succeed, so the
	// probability that a challenger passes although one objective is beyond
	// its tolerance is at most that of passing the one test: an intersection
	// needs no correction (Berger 1982, intersection-union tests).
	ToleranceAlpha float64 `json:"tolerance_alpha"`
	// FutilityAlpha is the level at which gains are shown to be smaller than
	// what matters; all objectives must agree, so that level is not divided
	// either.
	FutilityAlpha float64 `json:"futility_alpha"`
}

// DefaultConfig is the gate's rule. The four Alphas are the routes by which a
// challenger without any effect can be promoted; they add up to 0.05.
func DefaultConfig() Config {
	dearer := math.Log(1.25) / math.Log(4)   // 1.25 times the cost or the time
	cheaper := -math.Log(0.90) / math.Log(4) // a tenth less
	return Config{
		Quality:        Limit{Alpha: 0.04, Tolerance: 0.05, Gain: 0.05},
		Latency:        Limit{Alpha: 0.01 / 3, Tolerance: dearer, Gain: cheaper},
		Cost:           Limit{Alpha: 0.01 / 3, Tolerance: dearer, Gain: cheaper},
		Retries:        Limit{Alpha: 0.01 / 3, Tolerance: 0.05, Gain: 0.05},
		ToleranceAlpha: 0.05,
		FutilityAlpha:  0.05,
	}
}

// Within returns c with the levels of its four routes scaled so that together
// they promote a challenger without effect with probability at most level: it
// turns a lifetime's level (LOND) into a trial's.
func (c Config) Within(level float64) Config {
	total := 0.0
	for _, l := range c.limits() {
		total += l.Alpha
	}
	for _, o := range Objectives {
		o.limit(&c).Alpha *= level / total
	}
	return c
}

// IntervalLevel is the coverage of the interval that is shown for an
// objective: 0.95, or the coverage of the verdict if that is less. Otherwise
// "promoted" could be shown beside an interval that contains 0.
func (c Config) IntervalLevel(o Objective) float64 {
	return min(intervalLevel, 1-2*c.limits()[o].Alpha)
}

// check returns an error if a level or a bound makes no sense.
func (c Config) check() error {
	level := func(a float64) bool { return a > 0 && a < 1 }
	for o, l := range c.limits() {
		if !level(l.Alpha) || !(l.Tolerance >= 0 && l.Tolerance < 1) || !(l.Gain >= 0 && l.Gain < 1) {
			return fmt.Errorf("trial config: %v: %+v: want 0 < alpha < 1, 0 <= tolerance, gain < 1", Objective(o), l)
		}
	}
	if !level(c.ToleranceAlpha) || !level(c.FutilityAlpha) {
		return fmt.Errorf("trial config: tolerance alpha %g, futility alpha %g: want both in (0, 1)",
			c.ToleranceAlpha, c.FutilityAlpha)
	}
	return nil
}

// evidence is a trial's evidence on one objective: an e-process per
// hypothesis that it may refute.
type evidence struct {
	better  Process // refutes E[d] ≤ 0
	within  Process // refutes E[d] ≤ -tolerance
	worse   Process // refutes E[d] ≥ 0 (quality), E[d] ≥ -tolerance (the others)
	smaller Process // refutes E[d] ≥ gain
	n       int
}

func (e *evidence) add(o Objective, l Limit, d float64) {
	if math.IsNaN(d) {
		return
	}
	e.n++
	d = max(-1, min(1, d))
	e.better.Add(d)
	if e.within.grid == nil && Objectives[o].Ratio {
		e.within.grid = toleranceGrid(l.Tolerance)
	}
	e.within.Add(above(d, -l.Tolerance))
	if o == Quality {
		e.worse.Add(below(d, 0))
	} else {
		e.worse.Add(below(d, -l.Tolerance))
	}
	e.smaller.Add(below(d, l.Gain))
}

// A Trial compares one challenger with one incumbent on held-out cases. It is
// judged after every pair, and once it is promoted or rejected it is closed.
// An undecided trial is kept as JSON and continued on fresh cases; no
// correction is needed for having looked, or for continuing because it looked
// well.
//
// Promote: quality is superior, or quality is non-inferior and one of
// latency, cost and retries is superior; and in either case every other
// objective is within its tolerance. An objective that neither arm ever
// measured is not required; a warning names it. If the challenger makes no
// difference at all, each route ends in promotion with probability at most
// its Alpha, hence any of them with at most 0.05, at whatever time one stops.
//
// Reject: quality is inferior (the mirror image of superior), or another
// objective is beyond its tolerance, so that it can no longer be promoted, or
// it is futile: on no measured objective is the gain as large as the smallest
// that matters.
//
// Each hypothesis has its Process, and a hypothesis once refuted stays
// refuted (Process.Max), so that evidence on several objectives need not peak
// together. Pairs must be independent, or at least fair given the past: one
// per cluster.
type Trial struct {
	cfg      Config
	pairs    []Pair
	evidence [objectives]evidence
	verdict  Verdict
	route    string
}

// NewTrial returns an empty trial under the rule cfg, DefaultConfig if it is
// the zero Config. It panics on levels or bounds that make no sense.
func NewTrial(cfg Config) *Trial {
	if cfg == (Config{}) {
		cfg = DefaultConfig()
	}
	if err := cfg.check(); err != nil {
		panic("pareto: " + err.Error())
	}
	return &Trial{cfg: cfg, verdict: Undecided}
}

// Config returns the rule that the trial was begun with.
func (t *Trial) Config() Config { return t.cfg }

// Under returns the trial of the same pairs, in their order, under the rule
// cfg. It may close earlier than t, and then keeps fewer of them.
func (t *Trial) Under(cfg Config) *Trial {
	again := NewTrial(cfg)
	for _, p := range t.pairs {
		again.Add(p)
	}
	return again
}

// Clone returns a copy: what is added to one is not added to the other.
func (t *Trial) Clone() *Trial {
	c := &Trial{cfg: t.cfg, verdict: t.verdict, route: t.route}
	for _, p := range t.pairs {
		c.enter(p)
	}
	return c
}

// Cases returns the number of pairs that were added.
func (t *Trial) Cases() int { return len(t.pairs) }

// Pairs returns the pairs that were added, in order.
func (t *Trial) Pairs() []Pair { return slices.Clone(t.pairs) }

// Add enters one pair and judges. A closed trial takes no more: its verdict
// rests on the pairs that it has. Values outside [-1, 1] are clipped.
func (t *Trial) Add(p Pair) {
	if t.verdict != Undecided {
		return
	}
	t.enter(p)
	t.judge()
}

func (t *Trial) enter(p Pair) {
	t.pairs = append(t.pairs, p)
	limits := t.cfg.limits()
	for o, d := range p.values() {
		t.evidence[o].add(Objective(o), limits[o], d)
	}
}

// trialVersion is the version of a trial's JSON, of the rule in judge, and of
// the grid. Evidence is replayed from the pairs, so a change of any of them
// needs a new number, and trials of the old one need the old code.
const trialVersion = 1

type trialState struct {
	Version int     `json:"version"`
	Config  Config  `json:"config"`
	Pairs   []Pair  `json:"pairs"`
	Verdict Verdict `json:"verdict"`
	Route   string  `json:"route,omitempty"`
}

// MarshalJSON writes the rule, the pairs and the verdict.
func (t *Trial) MarshalJSON() ([]byte, error) {
	pairs := t.pairs
	if pairs == nil {
		pairs = []Pair{}
	}
	return json.Marshal(trialState{trialVersion, t.cfg, pairs, t.verdict, t.route})
}

// UnmarshalJSON reads what MarshalJSON wrote; errors are malformed JSON, a
// version that this program does not know, and a rule that makes no sense. The
// evidence is built again from the pairs; a verdict is kept as it was recorded.
func (t *Trial) UnmarshalJSON(b []byte) error {
	var s trialState
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read trial: %w", err)
	}
	if s.Version != trialVersion {
		return fmt.Errorf("read trial: version %d, want %d", s.Version, trialVersion)
	}
	if err := s.Config.check(); err != nil {
		return fmt.Errorf("read trial: %w", err)
	}
	switch s.Verdict {
	case Promote, Reject, Undecided:
	default:
		return fmt.Errorf("read trial: unknown verdict %q", s.Verdict)
	}
	*t = *(&Trial{cfg: s.Config, pairs: s.Pairs, verdict: s.Verdict, route: s.Route}).Clone()
	return nil
}
