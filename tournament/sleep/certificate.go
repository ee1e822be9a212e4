package sleep

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
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
	// NoLift: the quality is shown to be within RetireMargin of that without the
	// skill, or below it, and what it saves to be less than matters. The skill is
	// proposed for retirement; nothing retires it but its owner.
	NoLift Lift = "none"
)

// What a proposal for retirement asks for: that the skill is shown to be worth
// little on all that was measured, at 5 % each, whenever one looks. All would have
// to be wrong at once: an intersection-union test of level 5 %. Some 45 cases
// without any difference suffice, some 80 where the arms differ on one in 25.
const (
	RetireMargin = 0.10 // of quality, either way, and of retries
	retireCases  = 20   // at least
	liftLevel    = 0.90
	// savesLevel is that of the three other ways to be worth something than better
	// answers: one-sided, 1 % together, as in the gate.
	savesLevel = 1 - 2*0.01/3
)

// SavingMargin is a fifth of the cost or the time, in the unit of a pareto.Pair.
var SavingMargin = math.Log(1/0.8) / math.Log(4)

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

// String is the certificate in one line: what became of it, and the numbers that
// this rests on.
func (c *Certificate) String() string {
	s, mark := fmt.Sprintf("on %v: %s", c.Model, c.Word()), ": "
	if c.Reason != "" {
		s, mark = s+mark+c.Reason, "; "
	}
	if c.Worth != "" && (c.Outcome != Worse || c.Lift == NoLift) { // an alarm has no need of more
		s += mark + c.Worth
	}
	return s
}

// Word is what became of it, in a word.
func (c *Certificate) Word() string {
	switch {
	case c.Outcome == Worse:
		return "worse than the version before it"
	case c.Outcome == Certified:
		return string(Certified)
	case !c.Closed():
		return "not proven yet"
	}
	return "worth no more than no skill"
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
	strange int // clusters in a row that another model answered
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
	switch {
	case d.Verdict == pareto.Reject:
		l.Outcome = Worse
	case d.Verdict == pareto.Promote, d.PerObjective[pareto.Quality].Measured && len(beyond(d)) == 0:
		l.Outcome = Certified
	}
	l.Reason = against(d)
}

// against says in words how the installed version compares with the one before it.
func against(d pareto.Decision) string {
	q := d.PerObjective[pareto.Quality]
	if !q.Measured {
		return "no case was compared yet"
	}
	decided := q
	for _, o := range d.PerObjective {
		if o.Objective == d.Route {
			decided = o
		}
	}
	words := decided.Words()
	if d.Verdict != pareto.Reject { // else it is said already
		words += " over the version before it"
	}
	if decided.Objective != q.Objective {
		words += ", " + q.Words()
	}
	words += fmt.Sprintf(", %d cases", d.Cases)
	if open := beyond(d); d.Verdict == pareto.Undecided && len(open) > 0 {
		words += ", not shown to be within tolerance: " + strings.Join(open, ", ")
	}
	return words
}

// Trade reports whether a version that is Worse gives better answers, as far as
// was measured, and is worse in cost, latency or repeated requests alone: its owner
// has to weigh that.
func (c Certificate) Trade() bool {
	d := c.open("", func(string) bool { return true }).against.Decide()
	return d.Verdict == pareto.Reject && d.Route != pareto.Quality.String() && d.PerObjective[pareto.Quality].Estimate.Mean > 0
}

// beyond are the measured objectives that are not shown to be within their
// tolerance: all of the tests have to succeed, so none needs a correction.
func beyond(d pareto.Decision) (names []string) {
	alpha := certifying().ToleranceAlpha
	for _, o := range d.PerObjective {
		if o.Measured && o.Within*alpha < 1 {
			names = append(names, o.Objective)
		}
	}
	return names
}

// liftOf says what the differences to no skill show, and in words. A skill that
// brings no better answers, and saves neither a second request nor cost nor time,
// has no lift; that nothing was shown is not enough for that.
func liftOf(pairs []pareto.Pair) (Lift, string) {
	of := func(value func(p pareto.Pair) float64) (ds []float64) {
		for _, p := range pairs {
			if d := value(p); !math.IsNaN(d) {
				ds = append(ds, d)
			}
		}
		return ds
	}
	q := pareto.Compare(of(func(p pareto.Pair) float64 { return p.Quality }), liftLevel)
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
		return NoLift, words + ", worse than no skill"
	case q.Low <= -RetireMargin || q.High >= RetireMargin:
		return LiftOpen, words
	}
	lift := NoLift
	for _, save := range []struct {
		what   string
		of     func(p pareto.Pair) float64
		margin float64
	}{
		{"a second request", func(p pareto.Pair) float64 { return p.Retries }, RetireMargin},
		{"cost", func(p pareto.Pair) float64 { return p.Cost }, SavingMargin},
		{"time", func(p pareto.Pair) float64 { return p.Latency }, SavingMargin},
	} {
		d := of(save.of)
		if len(d) == 0 {
			continue
		}
		if pareto.Compare(d, savesLevel).Low > 0 {
			return LiftShown, words + ", and it saves " + save.what
		}
		if pareto.Compare(d, liftLevel).High >= save.margin {
			lift = LiftOpen
		}
	}
	return lift, words
}
