package pareto

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Pair is the result of one cluster of held-out cases: the differences
// between challenger and incumbent, each in [-1, 1] and oriented so that
// positive favours the challenger. NaN if either arm has no value; the pair
// then is no evidence about that objective.
type Pair struct {
	Quality float64 // challenger - incumbent, replays averaged
	Latency float64 // LogRatio
	Cost    float64 // LogRatio
	Retries float64 // incumbent - challenger
	// Weight makes the pairs stand for use: the share of the pair's stratum
	// among all uses, over its share among the pairs, as both were known
	// before the pair was measured. Largest is the largest weight of any
	// stratum then. 0 is 1.
	Weight, Largest float64
	// Bill is what a request cost in each arm.
	Bill Bill
}

// A Bill is the mean of what a request took in the incumbent's arm and in the
// challenger's; both 0 if that is unknown.
type Bill struct {
	USD    [2]float64 `json:"usd,omitzero"`
	Tokens [2]float64 `json:"tokens,omitzero"`
}

// weight returns p's weight and the largest one that it could have had.
func (p *Pair) weight() (w, largest float64) {
	if !(p.Weight > 0) {
		return 1, 1
	}
	return p.Weight, max(p.Weight, p.Largest)
}

type pairState struct {
	Values []*float64 `json:"d"`           // quality, latency, cost, retries; null for unknown
	Weight []float64  `json:"w,omitempty"` // and the largest
	Bill   Bill       `json:"bill,omitzero"`
}

// MarshalJSON writes the four values, null for unknown, and what else is known.
func (p Pair) MarshalJSON() ([]byte, error) {
	s := pairState{Values: make([]*float64, objectives), Bill: p.Bill}
	values := p.values()
	for o := range s.Values {
		if !math.IsNaN(values[o]) {
			s.Values[o] = &values[o]
		}
	}
	if p.Weight > 0 {
		w, largest := p.weight()
		s.Weight = []float64{w, largest}
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote, or the values alone.
func (p *Pair) UnmarshalJSON(b []byte) error {
	var s pairState
	if err := json.Unmarshal(b, &s.Values); err != nil {
		if err := json.Unmarshal(b, &s); err != nil {
			return fmt.Errorf("read pair: %w", err)
		}
	}
	if len(s.Values) != objectives || len(s.Weight) != 0 && (len(s.Weight) != 2 || !(s.Weight[0] > 0) || !(s.Weight[1] >= s.Weight[0])) {
		return fmt.Errorf("read pair: %d values, weights %v; want %d, and none or two", len(s.Values), s.Weight, objectives)
	}
	*p = Pair{Bill: s.Bill}
	if len(s.Weight) == 2 {
		p.Weight, p.Largest = s.Weight[0], s.Weight[1]
	}
	for o, x := range s.Values {
		at := Objectives[o].Of(p)
		if *at = math.NaN(); x != nil {
			*at = *x
		}
	}
	return nil
}

// A Limit is what a trial requires of one objective. Tolerance and Gain are
// in the unit of a Pair.
type Limit struct {
	// Alpha is the error allowed in showing that the challenger is better.
	Alpha float64 `json:"alpha"`
	// Tolerance is how much worse the challenger may be while it wins
	// elsewhere.
	Tolerance float64 `json:"tolerance"`
	// Gain is the smallest improvement that would matter. Of quality it is
	// computed from Config.Failures.
	Gain float64 `json:"gain"`
}

// Config is the rule of a trial. The zero value means DefaultConfig.
type Config struct {
	Quality Limit `json:"quality"`
	Latency Limit `json:"latency"`
	Cost    Limit `json:"cost"`
	Retries Limit `json:"retries"`
	// ToleranceAlpha is the level at which quality is shown not to be lower
	// by its tolerance, which a challenger must show that wins elsewhere.
	ToleranceAlpha float64 `json:"tolerance_alpha"`
	// GuardAlpha is the level at which latency, cost or retries are shown to
	// be beyond their tolerance.
	GuardAlpha float64 `json:"guard_alpha"`
	// Failures is the share of uses in which the incumbent fails. What a
	// challenger may gain is judged by it.
	Failures float64 `json:"failures"`
	// Without are the objectives that do not count. The levels of the others are what they
	// are with all: so a trial may be judged under others at any time, see Under.
	Without Set `json:"without,omitzero"`
}

// DefaultConfig is the gate's rule. The four Alphas are the routes by which a
// challenger without any effect can be promoted; they add up to 0.05.
func DefaultConfig() Config {
	dearer := math.Log(1.25) / math.Log(clip)   // 1.25 times the cost or the time
	cheaper := -math.Log(0.90) / math.Log(clip) // a tenth less
	return Config{
		Quality:        Limit{Alpha: 0.04, Tolerance: 0.05},
		Latency:        Limit{Alpha: 0.01 / 3, Tolerance: dearer, Gain: cheaper},
		Cost:           Limit{Alpha: 0.01 / 3, Tolerance: dearer, Gain: cheaper},
		Retries:        Limit{Alpha: 0.01 / 3, Tolerance: 0.05, Gain: 0.05},
		ToleranceAlpha: 0.05,
		GuardAlpha:     0.05,
		Failures:       0.5,
	}
}

// Within returns c with the levels of its four routes scaled so that together
// they promote a challenger without effect with probability at most level: it
// turns a lifetime's level (LOND) into a trial's. The level at which quality
// is shown not to be lower is scaled alike: over many trials, texts that are
// worse by more than the tolerance would pass otherwise.
func (c Config) Within(level float64) Config {
	total := 0.0
	for _, l := range c.limits() {
		total += l.Alpha
	}
	for _, o := range Objectives {
		o.limit(&c).Alpha *= level / total
	}
	c.ToleranceAlpha *= level / total
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
	if c.Without.Has(Quality) {
		return errors.New("trial config: quality always counts")
	}
	if !level(c.ToleranceAlpha) || !level(c.GuardAlpha) || !(c.Failures >= 0 && c.Failures <= 1) {
		return fmt.Errorf("trial config: tolerance alpha %g, guard alpha %g, failures %g: want levels in (0, 1), a share",
			c.ToleranceAlpha, c.GuardAlpha, c.Failures)
	}
	return nil
}

// evidence is a trial's evidence on one objective: an e-process per
// hypothesis that it may refute, all about the weighted mean of d.
type evidence struct {
	better Process // refutes E[d] ≤ 0
	within Process // of quality: refutes E[d] ≤ -tolerance
	worse  Process // refutes E[d] ≥ 0 (quality), E[d] ≥ -tolerance (the others)
	n      int
	// Sums of weight, weight·d, and of weight², weight²·d, weight²·d².
	weights, sum, weights2, sum2, squares float64

	crossed int // the pair that refuted "no better", from 1; 0: none
}

func (e *evidence) add(o Objective, l Limit, d, weight, largest float64) {
	if math.IsNaN(d) {
		return
	}
	e.n++
	d = max(-1, min(1, d))
	e.weights, e.sum = e.weights+weight, e.sum+weight*d
	e.weights2, e.sum2, e.squares = e.weights2+weight*weight, e.sum2+weight*weight*d, e.squares+weight*weight*d*d
	bet, beyond := weight/largest, (d+l.Tolerance)/(1+l.Tolerance)
	e.better.Add(bet * d)
	if o == Quality {
		e.within.Add(bet * beyond)
		e.worse.Add(-bet * d)
	} else {
		e.worse.Add(-bet * beyond)
	}
}

// mean is the weighted mean.
func (e *evidence) mean() float64 {
	if e.n == 0 {
		return 0
	}
	return e.sum / e.weights
}

// spread is the sum of squared weighted deviations from the mean.
func (e *evidence) spread() float64 {
	m := e.mean()
	return max(0, e.squares-2*m*e.sum2+m*m*e.weights2)
}

// A Trial compares one challenger with one incumbent on held-out cases. It is
// judged after every pair, and once it is promoted or rejected it is closed.
// An open trial is kept as JSON and continued on fresh cases; no correction is
// needed for having looked, or for continuing because it looked well.
//
// Promote: quality is superior, or quality is non-inferior and one of
// latency, cost and retries is superior; and in either case no other
// objective is beyond its tolerance, by its mean or because that was shown.
// An objective that neither arm ever measured is not required; a warning names
// it. If the challenger makes no difference at all, each route ends in
// promotion with probability at most its Alpha, hence any of them with at most
// 0.05, at whatever time one stops.
//
// Promising: the evidence that quality is better reached promising, and
// decides nothing yet.
//
// Reject: quality is inferior (the mirror image of superior), another
// objective is shown to be beyond its tolerance, or the challenger is dropped:
// it has little chance left of a gain that matters (hopeless).
//
// Each hypothesis has its Process, and a hypothesis once refuted stays
// refuted (Process.Max), so that evidence on several objectives need not peak
// together. What is bounded is an error about the mean over the requests that
// were heard: each pair's expected weighted difference, given what came before,
// must on average be at most 0. One pair per cluster.
type Trial struct {
	cfg      Config
	pairs    []Pair
	after    []Pair // that were added before Under closed it without them
	evidence [objectives]evidence
	verdict  Verdict
	route    string
	outdated bool
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
// cfg. It may close earlier than t; those that come after count again under a
// rule that closes later.
//
// The objectives that count may be chosen anew at any time, knowing the evidence: a trial
// promotes only if an e-process has reached its level, and of those there are the same
// ones at the same levels, whichever count.
func (t *Trial) Under(cfg Config) *Trial {
	again := NewTrial(cfg)
	again.outdated = t.outdated
	for _, p := range slices.Concat(t.pairs, t.after) {
		if again.verdict != Undecided {
			again.after = append(again.after, p)
		}
		again.Add(p)
	}
	return again
}

// Clone returns a copy: what is added to one is not added to the other.
func (t *Trial) Clone() *Trial {
	c := &Trial{cfg: t.cfg, verdict: t.verdict, route: t.route, outdated: t.outdated, after: slices.Clone(t.after)}
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
	if t.verdict != Undecided { // it never holds Promising
		return
	}
	t.enter(p)
	t.judge()
}

func (t *Trial) enter(p Pair) {
	t.pairs = append(t.pairs, p)
	limits := t.cfg.limits()
	weight, largest := p.weight()
	for o, d := range p.values() {
		if t.cfg.Without.Has(Objective(o)) {
			continue
		}
		e := &t.evidence[o]
		e.add(Objective(o), limits[o], d, weight, largest)
		if e.crossed == 0 && t.better(Objective(o)) {
			e.crossed = len(t.pairs)
		}
	}
}

// trialVersion is the version of a trial's JSON, of the rule in judge, and of
// the grid. Evidence is replayed from the pairs, so a change of any of them
// needs a new number.
//
// Version 1 had cases that were sampled by how the incumbent did, so its pairs
// are no evidence under this rule: of those trials the verdict is kept, and one
// that was open is Outdated.
const trialVersion = 2

type trialState struct {
	Version int     `json:"version"`
	Config  Config  `json:"config"`
	Pairs   []Pair  `json:"pairs"`
	After   []Pair  `json:"after,omitempty"`
	Verdict Verdict `json:"verdict"`
	Route   string  `json:"route,omitempty"`
	Old     bool    `json:"outdated,omitempty"`
}

// MarshalJSON writes the rule, the pairs and the verdict.
func (t *Trial) MarshalJSON() ([]byte, error) {
	pairs := t.pairs
	if pairs == nil {
		pairs = []Pair{}
	}
	return json.Marshal(trialState{trialVersion, t.cfg, pairs, t.after, t.verdict, t.route, t.outdated})
}

// UnmarshalJSON reads what MarshalJSON wrote; errors are malformed JSON, a
// version that this program does not know, and a rule that makes no sense. The
// evidence is built again from the pairs; a verdict is kept as it was recorded.
func (t *Trial) UnmarshalJSON(b []byte) error {
	var s trialState
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read trial: %w", err)
	}
	switch s.Version {
	case trialVersion:
	case 1:
		s.upgrade()
	default:
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
	*t = *(&Trial{cfg: s.Config, pairs: s.Pairs, after: s.After, verdict: s.Verdict, route: s.Route, outdated: s.Old}).Clone()
	return nil
}

// upgrade puts a trial of version 1, whose ratios were clipped at 4, into the
// units of this one.
func (s *trialState) upgrade() {
	s.Old = true
	// Its level was not scaled with the others': see Config.Within.
	total := 0.0
	for _, l := range s.Config.limits() {
		total += l.Alpha
	}
	s.Config.ToleranceAlpha *= min(1, total/LifetimeAlpha)
	s.Config.GuardAlpha, s.Config.Failures = DefaultConfig().GuardAlpha, DefaultConfig().Failures
	for o := range Objectives {
		if !Objectives[o].Ratio {
			continue
		}
		l := Objectives[o].limit(&s.Config)
		l.Tolerance, l.Gain = l.Tolerance/2, l.Gain/2
		for i := range s.Pairs {
			*Objectives[o].Of(&s.Pairs[i]) /= 2
		}
	}
	if s.Route == "futility" {
		s.Route = routeDropped
	}
}

// Outdated reports whether the trial was begun under a rule whose pairs are no
// evidence any more.
func (t *Trial) Outdated() bool { return t.outdated }
