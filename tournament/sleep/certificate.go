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
	"github.com/skill-evolve/evolve/tournament/record"
)

// An Outcome is what became of an installed version's claim on a new model.
type Outcome string

// The outcomes. What is Open goes on with fresh cases in another night.
const (
	Open      Outcome = ""
	Certified Outcome = "certified" // as good as the version before it, within the gate's tolerances
	Worse     Outcome = "worse"     // than the version before it
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
	Calibration *record.Calibration `json:"calibration,omitempty"`
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
	// Heard are the prints of their cases (record.Spent): clusters are renamed,
	// and cases are brought again under other names. An older evolve has left none.
	Heard []string `json:"heard,omitempty"`
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

// heard are the prints of the cases that are part of it, but for what run itself
// added.
func (c *Certificate) heard(run string) (prints []string) {
	for _, p := range c.Parts {
		if p.Run != run {
			prints = append(prints, p.Heard...)
		}
	}
	return prints
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
