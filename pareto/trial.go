package pareto

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

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
	// Rest is what a challenger must show on the rest of the requests, see Trial.AddRest: that
	// quality is not lower by its Tolerance, at level Alpha. The zero value: the trial is about
	// all requests, and there is no rest.
	Rest Limit `json:"rest,omitzero"`
	// Share is the share of requests that the trial is about, if there is a rest; 0: it is not
	// known. A proof takes that quality over all requests is not estimated to be lower.
	Share float64 `json:"share,omitzero"`
	// Removes: the challenger only lacks something. It needs no gain, so it is dropped only
	// after as many pairs as say something of what its absence does.
	Removes bool `json:"removes,omitempty"`
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
// worse by more than the tolerance would pass otherwise. So is that of the rest.
func (c Config) Within(level float64) Config {
	total := 0.0
	for _, l := range c.limits() {
		total += l.Alpha
	}
	for _, o := range Objectives {
		o.limit(&c).Alpha *= level / total
	}
	c.ToleranceAlpha *= level / total
	c.Rest.Alpha *= level / total
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
	if r := c.Rest; r != (Limit{}) && (!level(r.Alpha) || !(r.Tolerance > 0 && r.Tolerance < 1) || r.Gain != 0) {
		return fmt.Errorf("trial config: the rest: %+v: want 0 < alpha, tolerance < 1, and no gain", r)
	}
	if !(c.Share >= 0 && c.Share <= 1) {
		return fmt.Errorf("trial config: a share of %g", c.Share)
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
// Promising: the evidence that quality is better reached promising, or all pairs promote and
// those without one worker's do not (WithoutWorker). It decides nothing yet.
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
//
// A change that applies to some requests only has a trial about those (Add), and must not
// harm the rest (AddRest): see Config.Rest. Promote then also takes that quality is shown
// there not to be lower by Rest.Tolerance, that no other objective is beyond its tolerance
// there, and that quality over all requests (Config.Share) is not estimated to be lower; Reject, too, if harm is shown there.
type Trial struct {
	cfg      Config
	sample          // of the requests that the trial is about
	rest     sample // of the others
	restAt   []int  // how many pairs the sample had before each of the rest
	after    []Pair // that were added before Under closed it without them
	later    rests  // the same of the rest
	verdict  Verdict
	route    string
	outdated bool

	without map[string]*Trial // the evidence without the pairs of a worker: see WithoutWorker
}

// A sample is pairs, and the evidence of them.
type sample struct {
	pairs    []Pair
	evidence [objectives]evidence
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
	rest := t.rests()
	pairs := slices.Concat(t.pairs, t.after)
	for n := range len(pairs) + 1 {
		for ; len(rest) > 0 && (rest[0].After <= n || n == len(pairs)); rest = rest[1:] {
			if again.verdict != Undecided {
				again.later = append(again.later, rest[0])
			}
			again.AddRest(rest[0].Pair)
		}
		if n == len(pairs) {
			break
		}
		if again.verdict != Undecided {
			again.after = append(again.after, pairs[n])
		}
		again.Add(pairs[n])
	}
	return again
}

// Clone returns a copy: what is added to one is not added to the other.
func (t *Trial) Clone() *Trial {
	c := &Trial{cfg: t.cfg, verdict: t.verdict, route: t.route, outdated: t.outdated, after: slices.Clone(t.after), later: slices.Clone(t.later)}
	for _, p := range t.pairs {
		c.enter(p)
	}
	for i, p := range t.rest.pairs {
		c.enterRest(p, t.restAt[i])
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
	t.leaveOut(p, (*Trial).enter)
	t.sample.add(t.cfg, p)
	for o := range Objective(objectives) {
		if e := &t.evidence[o]; e.crossed == 0 && t.better(o) {
			e.crossed = len(t.pairs)
		}
	}
}

// add enters a pair under the limits of cfg.
func (s *sample) add(cfg Config, p Pair) {
	s.pairs = append(s.pairs, p)
	limits := cfg.limits()
	weight, largest := p.weight()
	for o, d := range p.values() {
		if !cfg.Without.Has(Objective(o)) {
			s.evidence[o].add(Objective(o), limits[o], d, weight, largest)
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
	Rest    rests   `json:"rest,omitempty"`
	Later   rests   `json:"rest_after,omitempty"`
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
	return json.Marshal(trialState{trialVersion, t.cfg, pairs, t.after, t.rests()[:len(t.rest.pairs)], t.later, t.verdict, t.route, t.outdated})
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
	for i, r := range slices.Concat(s.Rest, s.Later) {
		if r.After < 0 || i > 0 && i != len(s.Rest) && r.After < slices.Concat(s.Rest, s.Later)[i-1].After {
			return fmt.Errorf("read trial: pair %d of the rest after %d others", i, r.After)
		}
	}
	was := &Trial{cfg: s.Config, sample: sample{pairs: s.Pairs}, after: s.After, later: s.Later, verdict: s.Verdict, route: s.Route, outdated: s.Old}
	for _, r := range s.Rest {
		was.rest.pairs, was.restAt = append(was.rest.pairs, r.Pair), append(was.restAt, r.After)
	}
	*t = *was.Clone()
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
