package sleep

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament"
)

// An Outcome is what became of an installed version's claim on a new model.
type Outcome string

// The outcomes. What is Open goes on with fresh cases in another night.
const (
	Open      Outcome = ""
	Certified Outcome = "certified" // as good as the version before it, within the gate's tolerances
	Worse     Outcome = "worse"     // than the version before it
)

// A Lift says what a skill is worth on a model, against no skill at all.
type Lift string

// The lifts.
const (
	LiftOpen  Lift = ""
	LiftShown Lift = "shown"
	// NoLift: the difference is within RetireMargin of zero, or below it. The
	// skill is proposed for retirement; nothing retires it but its owner.
	NoLift Lift = "none"
)

// What a proposal for retirement asks for. The interval's sides are each wrong
// with probability 5 % at most, whenever one looks, and both would have to be: an
// intersection-union test of level 5 %. Some 60 cases without any difference
// suffice, some 100 where the arms differ on one in 25.
const (
	RetireMargin = 0.10 // of quality and of retries, either way
	retireCases  = 20   // at least
	liftLevel    = 0.90
)

// A Certificate is what is known of an installed version on another model than
// the one that its evidence is about. There is one for each version and model;
// once it is closed it stays as it is.
type Certificate struct {
	Version  string  `json:"version"`            // SHA-256
	Previous string  `json:"previous,omitempty"` // SHA-256 of the version that it replaced, "" where that is gone
	Model    Model   `json:"model"`
	Outcome  Outcome `json:"outcome"`
	Reason   string  `json:"reason,omitempty"` // in words, with the numbers
	Lift     Lift    `json:"lift"`
	Worth    string  `json:"worth,omitempty"` // the lift in words, with its numbers
	Cases    int     `json:"cases"`           // clusters so far
	// Calibration is how the judge of the last run that asked one agreed with the
	// owner; nil where none was asked.
	Calibration *tournament.Calibration `json:"calibration,omitempty"`
	// Parts are what each run added. A run that is resumed replaces its own.
	Parts   []CertificatePart `json:"parts,omitempty"`
	Updated time.Time         `json:"updated,omitzero"`
}

// A CertificatePart is what one night's run measured.
type CertificatePart struct {
	Run string `json:"run"`
	// Judge is whose word alone decides these clusters, by its grader's identity;
	// "" where other checks do. It counts for as long as that judge is trusted.
	Judge string `json:"judge,omitempty"`
	// Clusters names the held-out clusters by ClusterName: each is tried once.
	Clusters []string `json:"clusters"`
	// Against are the differences to the version before it, Alone those to no
	// skill; positive favours the installed text.
	Against []pareto.Pair `json:"against,omitempty"`
	Alone   []pareto.Pair `json:"alone,omitempty"`
}

// ClusterName names a case's cluster without a word of what is in it: a session's
// id must not outlive the session.
func ClusterName(c *eval.Case) string {
	h := sha256.Sum256([]byte(eval.ClusterOf(c)))
	return hex.EncodeToString(h[:8])
}

// Closed reports whether nothing is left to find out.
func (c *Certificate) Closed() bool {
	return (c.Previous == "" || c.Outcome != Open) && c.Lift != LiftOpen
}

// arms is how many texts a case is still tried with, the installed one included.
func (c *Certificate) arms() int {
	n := 1
	if c.Previous != "" && c.Outcome == Open {
		n++
	}
	if c.Lift == LiftOpen {
		n++
	}
	return n
}

// Tried reports whether a cluster is part of it, but for what run itself added.
func (c *Certificate) Tried(cluster, run string) bool {
	return slices.ContainsFunc(c.Parts, func(p CertificatePart) bool { return p.Run != run && slices.Contains(p.Clusters, cluster) })
}

// String is the certificate in one line.
func (c *Certificate) String() string {
	word := string(c.Outcome)
	switch {
	case c.Outcome == Worse:
		word = "worse than the version before it"
	case c.Outcome == Open && !c.Closed():
		word = "not proven yet"
	}
	s := fmt.Sprintf("on %v", c.Model)
	for _, more := range []string{word, c.Reason, c.Worth} {
		if more != "" {
			s += ": " + more
		}
	}
	return s
}

// certifying is the gate's rule without futility: a version that gains nothing
// over the one before it may stay, it only must not be worse.
func certifying() pareto.Config {
	c := pareto.DefaultConfig()
	c.FutilityAlpha = math.SmallestNonzeroFloat64
	return c
}

// A ledger is a certificate's evidence on its way.
type ledger struct {
	*Certificate
	against *pareto.Trial
	alone   []pareto.Pair
}

// Recount is the certificate without the word of judges that are not trusted (any
// more): what rests on it is open again. c stays as it is.
func (c Certificate) Recount(trusts func(judge string) bool) Certificate {
	if !slices.ContainsFunc(c.Judges(), func(j string) bool { return trusts == nil || !trusts(j) }) {
		return c
	}
	return *c.open("", trusts).Certificate
}

// Judges are those on whose word alone a part of it rests.
func (c *Certificate) Judges() (names []string) {
	for _, p := range c.Parts {
		if p.Judge != "" && !slices.Contains(names, p.Judge) {
			names = append(names, p.Judge)
		}
	}
	return names
}

// open reads back what other runs than this one have added, without the word of
// judges that are not trusted. What it was decided on is decided again: it is the
// owner's labels that say who is trusted, and they know nothing of the arms.
func (c *Certificate) open(run string, trusts func(judge string) bool) *ledger {
	l := &ledger{Certificate: c, against: pareto.NewTrial(certifying())}
	c.Parts = slices.DeleteFunc(slices.Clone(c.Parts), func(p CertificatePart) bool {
		return p.Run == run || p.Judge != "" && (trusts == nil || !trusts(p.Judge))
	})
	c.Outcome, c.Lift, c.Reason, c.Worth, c.Cases = Open, LiftOpen, "", "", 0
	for _, p := range c.Parts {
		c.Cases += len(p.Clusters)
		for _, d := range p.Against {
			l.against.Add(d)
		}
		l.alone = append(l.alone, p.Alone...)
	}
	l.judge()
	return l
}

// enter adds what one cluster says; nil for an arm that was not tried. It is
// judged batch by batch: looking more often would be as valid, and only cost time.
func (l *ledger) enter(part *CertificatePart, cluster string, against, alone *pareto.Pair) {
	part.Clusters = append(part.Clusters, cluster)
	l.Cases++
	if against != nil && l.Outcome == Open {
		part.Against = append(part.Against, *against)
		l.against.Add(*against)
	}
	if alone != nil && l.Lift == LiftOpen {
		part.Alone = append(part.Alone, *alone)
		l.alone = append(l.alone, *alone)
	}
}

// judge says how far the evidence goes. What was decided stays decided.
func (l *ledger) judge() {
	if l.Lift == LiftOpen {
		l.Lift, l.Worth = liftOf(l.alone)
	}
	if l.Previous == "" {
		if l.Lift == LiftShown {
			l.Outcome = Certified
		}
		return
	}
	if l.Outcome != Open {
		return
	}
	d := l.against.Decide()
	l.Reason = d.Reason
	switch d.Verdict {
	case pareto.Reject:
		l.Outcome = Worse
	case pareto.Promote:
		l.Outcome = Certified
	default:
		if d.PerObjective[pareto.Quality].Measured && within(d) {
			l.Outcome = Certified
			l.Reason = fmt.Sprintf("no worse than its tolerances allow over %d cases, quality %+.2f", d.Cases, d.PerObjective[pareto.Quality].Estimate.Mean)
		}
	}
}

// within reports whether every measured objective is shown to be within its
// tolerance: all of the tests have to succeed, so none needs a correction.
func within(d pareto.Decision) bool {
	alpha := certifying().ToleranceAlpha
	for _, o := range d.PerObjective {
		if o.Measured && o.Within*alpha < 1 {
			return false
		}
	}
	return true
}

// liftOf says what the differences to no skill show, and in words. A skill that
// brings no better answers, and saves neither money nor a second request, has no
// lift.
func liftOf(pairs []pareto.Pair) (Lift, string) {
	var of [3][]float64
	for _, p := range pairs {
		for i, d := range []float64{p.Quality, p.Retries, p.Cost} {
			if !math.IsNaN(d) {
				of[i] = append(of[i], d)
			}
		}
	}
	q := pareto.Compare(of[0], liftLevel)
	if q.N == 0 {
		return LiftOpen, ""
	}
	words := fmt.Sprintf("quality %+.2f over no skill (%.0f%% interval %+.2f to %+.2f, %d cases)", q.Mean, 100*liftLevel, q.Low, q.High, q.N)
	switch {
	case q.Low > 0:
		return LiftShown, words
	case q.N < retireCases:
		return LiftOpen, words
	case q.High < 0:
		return NoLift, words
	case q.Low <= -RetireMargin || q.High >= RetireMargin:
		return LiftOpen, words
	}
	switch r := pareto.Compare(of[1], liftLevel); {
	case r.N > 0 && r.Low > 0:
		return LiftShown, words + ", and it saves a second request"
	case r.N > 0 && r.High >= RetireMargin:
		return LiftOpen, words
	}
	if c := pareto.Compare(of[2], liftLevel); c.N > 0 && c.Low > 0 {
		return LiftShown, words + ", and it saves cost"
	}
	return NoLift, words
}
