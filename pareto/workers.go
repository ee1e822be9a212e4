package pareto

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// A worker of a fleet sends what its agent answered, and nobody else has seen that: it could
// send better answers for one arm. So a proof must also hold without the pairs that any one
// worker had a part in. What is left is the evidence of the others, whose bound holds whatever
// that worker sent: which requests they get, and when one stops, may depend on it, as on
// anything that came before. One worker is left out at a time, so two that lie together are
// not found out.
//
// It holds back proofs and nothing else, so no error rate rises: of texts that are no better, at
// most as many are promoted as the others' pairs promote (18 of 1,000 equal ones in simulation,
// where the bound is 50). A proof takes 2.3 to 2.6 times the pairs with two workers, 1.7 to 1.9
// with three, 1.6 to 1.8 with four and 1.3 to 1.4 with eight.

// WithoutWorker is the evidence of a trial without the pairs of one worker.
type WithoutWorker struct {
	Worker string `json:"worker"`
	Pairs  int    `json:"pairs"` // that are left out, those of the rest included
	// EValue is against the hypothesis of Decision.EValue, Within against that of
	// ObjectiveEvidence.Within, of quality.
	EValue float64 `json:"e_value"`
	Within float64 `json:"within"`
	// Holds: of an open trial or a promotion, that these pairs alone promote, too; of a
	// rejection, that they reject, too.
	Holds bool `json:"holds"`
}

// leaveOut enters a pair into the evidence without each worker that had no part in it. It comes
// before the pair is entered into t: without a new worker there are all pairs before it.
func (t *Trial) leaveOut(p Pair, enter func(without *Trial, p Pair)) {
	for _, w := range p.Workers {
		if t.without == nil {
			t.without = map[string]*Trial{}
		}
		if t.without[w] == nil {
			t.without[w] = t.unattributed()
		}
	}
	for w, s := range t.without {
		if !slices.Contains(p.Workers, w) {
			own := p
			own.Workers = nil
			enter(s, own)
		}
	}
}

// unattributed is the evidence of t, as if this machine had measured all of it.
func (t *Trial) unattributed() *Trial {
	s := &Trial{cfg: t.cfg, verdict: Undecided}
	for _, p := range t.pairs {
		p.Workers = nil
		s.enter(p)
	}
	for i, p := range t.rest.pairs {
		p.Workers = nil
		s.enterRest(p, t.restAt[i])
	}
	return s
}

// proves is the route by which the evidence promotes, "" for none.
func (t *Trial) proves() string {
	if r := t.won(); r != "" && t.RestHolds() {
		return r
	}
	return ""
}

// HeldBy is the worker without whose pairs the evidence does not promote though all of it
// does: of several the one without which it is weakest. "" for none.
func (t *Trial) HeldBy() (worker string) {
	if t.verdict != Undecided || len(t.without) == 0 || t.proves() == "" {
		return ""
	}
	least, o := math.Inf(1), t.pending()
	for _, w := range slices.Sorted(maps.Keys(t.without)) {
		s := t.without[w]
		if e := s.evidence[o].better.Max(); e < least && s.proves() == "" {
			worker, least = w, e
		}
	}
	return worker
}

// wonWithoutEach reports whether the requests that the trial is about promote without each worker.
func (t *Trial) wonWithoutEach() bool {
	for _, s := range t.without {
		if s.won() == "" {
			return false
		}
	}
	return true
}

// pending is the objective that decides the verdict, or would by all pairs.
func (t *Trial) pending() Objective {
	if t.verdict != Undecided {
		return t.decider()
	}
	return named(t.won())
}

// WithoutEach is the evidence without each worker, by their ids, for a decision by that route;
// nil if no worker had a part.
func (t *Trial) WithoutEach(route string) (out []WithoutWorker) {
	for _, w := range slices.Sorted(maps.Keys(t.without)) {
		s := *t.without[w]
		of := WithoutWorker{Worker: w, Pairs: len(t.pairs) + len(t.rest.pairs) - len(s.pairs) - len(s.rest.pairs),
			Within: s.evidence[Quality].within.Max(), Holds: s.proves() != ""}
		if t.verdict == Reject {
			of.Holds = s.refuted() != ""
		}
		s.verdict, s.route = t.verdict, t.route
		of.EValue, _ = s.deciding(named(route))
		out = append(out, of)
	}
	return out
}

// Held says without which worker's pairs the challenger is not proved; "" if none holds it back.
func (t *Trial) Held() string {
	w, o := t.HeldBy(), t.pending()
	if w == "" {
		return ""
	}
	s, alpha := t.without[w], t.level(o)
	all := "proved with all pairs, not yet without those of worker " + shortWorker(w)
	switch e := s.evidence[o].better.Max(); {
	case len(s.pairs) == 0:
		return all + ": it has measured them all"
	case e < 1/alpha*(1-1e-9):
		return all + " (" + ChanceOf(e, alpha) + ")"
	case s.won() == "":
		return all + ": something else holds it back there"
	}
	return all + ": on the other requests too little is shown there"
}

// rejectedBy are the workers without whose pairs a rejected challenger would not be. Of one
// that was dropped nothing was shown, so it takes as many pairs as a drop does to say so.
func (t *Trial) rejectedBy() (workers []string) {
	for _, w := range t.WithoutEach(t.route) {
		if s := t.without[w.Worker]; t.verdict == Reject && !w.Holds && (t.route != routeDropped || s.evidence[Quality].n >= hopeAfter) {
			workers = append(workers, shortWorker(w.Worker))
		}
	}
	return workers
}

// shortWorker is what people see of a worker's id.
func shortWorker(id string) string { return fmt.Sprintf("%.12s", id) }
