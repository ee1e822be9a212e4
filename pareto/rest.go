package pareto

import (
	"fmt"
	"strings"
)

const (
	// restMargin is how much lower quality may be, on the requests that a change does not
	// apply to, without its having to be shown: twice the margin of a trial. To refute as much
	// takes 70 to 95 pairs in half of trials, and to refute the margin itself three times as many.
	restMargin = 0.10
	// RestLeast is how many pairs of the rest a trial has at least before its challenger is
	// proved, or is put in place on trial by a night.
	RestLeast = 20
	// restMost is how many it has at most before nothing else is missing: about as many as a
	// proof takes anyway.
	restMost = 100
)

// WithRest returns c for a change that applies to some requests only: on the others quality
// must be shown not to be lower by 10 points, at the level at which a win elsewhere shows that
// quality is not lower.
//
// The two levels do not share a budget. A proof needs both, so the probability of a wrong one
// is at most the larger: of a text that is no better where it applies, whatever it does
// elsewhere, the sum of the Alphas; and of one that is worse elsewhere by the margin or more,
// however good it is where it applies, Rest.Alpha. What is worse elsewhere by less may be
// proved, if the estimate over all requests is not negative. It is shown with its interval. As
// that only holds proofs back, no error rate rises.
func (c Config) WithRest() Config {
	c.Rest = Limit{Alpha: c.ToleranceAlpha, Tolerance: restMargin}
	return c
}

// A restPair is a pair of the rest, and how many pairs the trial had before it: under another
// rule they count in the same order.
type restPair struct {
	After int  `json:"after"`
	Pair  Pair `json:"pair"`
}

type rests []restPair

// rests are the pairs of the rest, those that came after its end included.
func (t *Trial) rests() (out rests) {
	for i, p := range t.rest.pairs {
		out = append(out, restPair{t.restAt[i], p})
	}
	return append(out, t.later...)
}

// AddRest enters a pair of a request that the trial is not about, and judges: see Add. Which
// ones are drawn must depend on no answer to them, and all of the rest must be as likely to be
// drawn, but for what Weight makes up for.
func (t *Trial) AddRest(p Pair) {
	if t.verdict != Undecided {
		return
	}
	t.enterRest(p, len(t.pairs))
	t.judge()
}

func (t *Trial) enterRest(p Pair, after int) {
	t.leaveOut(p, func(s *Trial, p Pair) { s.enterRest(p, after) })
	cfg := t.cfg
	cfg.Quality.Tolerance = cfg.Rest.Tolerance
	t.rest.add(cfg, p)
	t.restAt = append(t.restAt, after)
}

// RestCases is the number of pairs of the rest.
func (t *Trial) RestCases() int { return len(t.rest.pairs) }

// RestPairs returns the pairs of the rest, in order.
func (t *Trial) RestPairs() []Pair { return append([]Pair(nil), t.rest.pairs...) }

// WantsRest reports whether the next pair should be of the rest. They are many and cost as much
// as others, and most challengers never come near a proof: so none is measured before the
// challenger is promising, and then those that a trial install by a night takes (RestSeen), up
// to restMost; those that a proof takes are measured when nothing else is missing. That depends
// on no pair of the rest but on how many there are, and on whether they suffice.
func (t *Trial) WantsRest() bool {
	switch {
	case t.cfg.Rest == (Limit{}) || t.verdict != Undecided:
		return false
	case t.OnlyRest():
		return true
	}
	n := t.rest.evidence[Quality].n
	return t.Verdict() == Promising && (n < RestLeast || n < restMost && !t.RestSeen())
}

// OnlyRest reports whether nothing but the rest is missing for a promotion.
func (t *Trial) OnlyRest() bool {
	return t.verdict == Undecided && t.won() != "" && t.wonWithoutEach()
}

// RestHolds reports whether the rest lets the challenger be promoted.
func (t *Trial) RestHolds() bool {
	if t.cfg.Rest == (Limit{}) {
		return true
	}
	for o := range Objective(objectives) {
		if t.rest.beyond(&t.cfg, o) {
			return false
		}
	}
	q := &t.rest.evidence[Quality]
	total, known := t.overAll()
	return q.n >= RestLeast && reached(&q.within, t.cfg.Rest.Alpha) && !(known && total < 0)
}

// overAll is the estimated change of quality over all requests: the means of those that the
// trial is about and of the rest, by their shares.
func (t *Trial) overAll() (change float64, known bool) {
	s, about, rest := t.cfg.Share, &t.evidence[Quality], &t.rest.evidence[Quality]
	return s*about.mean() + (1-s)*rest.mean(), s > 0 && about.n > 0 && rest.n > 0
}

// RestSeen reports whether the rest lets a night put the challenger in place before it is
// proved: it is promising there, too, that quality is not lower by the margin, and there is no
// sign of harm. Of texts that are worse there by the margin or more, 1 in 4 at most ever gets so
// far. That there is no sign of harm after RestLeast pairs says much less: so do nine of ten of
// those that are worse by just the margin.
func (t *Trial) RestSeen() bool {
	q := &t.rest.evidence[Quality]
	return t.cfg.Rest == (Limit{}) || q.n >= RestLeast && q.within.Max() >= promising && q.worse.Max() < promising
}

// restHarmed reports whether harm is shown on the rest.
func (t *Trial) restHarmed() bool {
	for o := range Objective(objectives) {
		if t.rest.shownBeyond(&t.cfg, o) {
			return true
		}
	}
	return t.cfg.Rest != (Limit{}) && reached(&t.rest.evidence[Quality].worse, t.cfg.GuardAlpha)
}

// restAgainst is the largest e-value of harm on the rest, and its level.
func (t *Trial) restAgainst() (e, alpha float64) {
	for o := range Objective(objectives) {
		if o == Quality || t.rest.shownBeyond(&t.cfg, o) {
			e = max(e, t.rest.evidence[o].worse.Max())
		}
	}
	return e, t.cfg.GuardAlpha
}

// RestEvidence is a trial's evidence on the requests that it is not about.
type RestEvidence struct {
	Cases   int      `json:"cases"`
	Quality Estimate `json:"quality"`
	// Within is against "worse by Margin or more", decisive at 1/Alpha; Worse against "no worse".
	Within float64 `json:"within"`
	Worse  float64 `json:"worse"`
	Margin float64 `json:"margin"`
	Alpha  float64 `json:"alpha"`
	Holds  bool    `json:"holds"` // it does not hold back a promotion
	// OverAll is the estimate over all requests: those that the trial is about and the rest.
	OverAll *float64 `json:"over_all,omitempty"`
	// Beyond are the other objectives that are beyond their tolerance there.
	Beyond []string `json:"beyond,omitempty"`
}

func (t *Trial) restEvidence() *RestEvidence {
	if t.cfg.Rest == (Limit{}) {
		return nil
	}
	q := &t.rest.evidence[Quality]
	// At this level the interval leaves out -Margin as soon as that is refuted.
	level := min(intervalLevel, 1-2*t.cfg.Rest.Alpha)
	r := &RestEvidence{Cases: len(t.rest.pairs), Quality: estimate(t.rest.pairs, Quality, level),
		Within: q.within.Max(), Worse: q.worse.Max(), Margin: t.cfg.Rest.Tolerance, Alpha: t.cfg.Rest.Alpha, Holds: t.RestHolds()}
	if x, known := t.overAll(); known {
		r.OverAll = &x
	}
	for o := range Objective(objectives) {
		if t.rest.beyond(&t.cfg, o) {
			r.Beyond = append(r.Beyond, o.String())
		}
	}
	return r
}

// Words say what was seen on the rest.
func (r *RestEvidence) Words() string {
	if r.Cases == 0 {
		return "no other request was compared yet"
	}
	seen := "no difference seen"
	switch e := r.Quality; {
	case e.N == 0:
		seen = "quality is missing"
	case e.High < 0:
		seen = "it is worse"
	case e.Low > 0:
		seen = "it is better, too"
	}
	s := fmt.Sprintf("on %d others %s (%s", r.Cases, seen, change(Quality, r.Quality))
	switch {
	case len(r.Beyond) > 0:
		s += "; beyond its tolerance: " + strings.Join(r.Beyond, ", ")
	case r.Within >= 1/r.Alpha*(1-1e-9):
		s += fmt.Sprintf("; not lower by %.0f points, %s", 100*r.Margin, Chance(r.Within))
	default:
		s += fmt.Sprintf("; not yet shown not to be lower by %.0f points", 100*r.Margin)
	}
	s += ")"
	if r.OverAll != nil {
		s += fmt.Sprintf("; over all your requests %+.3f", *r.OverAll)
		if *r.OverAll < 0 {
			s += ", and \"better\" takes that it is not lower"
		}
	}
	return s
}

// Unmissed reports whether a challenger that only lacks something made no difference that was
// seen in RestLeast pairs or more: not that there is none, which the interval says.
func (t *Trial) Unmissed() bool {
	q := t.estimate(Quality, len(t.pairs))
	return t.cfg.Removes && t.verdict != Promote && q.N >= RestLeast && q.Low <= 0 && q.High >= 0
}
