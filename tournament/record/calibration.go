package record

import (
	"fmt"
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
)

// The agreement at which a judge's decision alone is evidence: Cohen's κ and the lower
// end of its interval. It is looked at after every TrustedLabels labels and no more
// often, because each look is another chance to be trusted by luck.
const (
	TrustedKappa  = 0.6
	TrustedLow    = 0.4
	TrustedLabels = 20
)

// A Calibration is how well a judge agrees with the owner's own labels. The
// zero value belongs to an unknown judge, which is not trusted.
type Calibration struct {
	// Judge is judge.Identity: another model, or another prompt, has to be
	// calibrated anew.
	Judge string `json:"judge,omitempty"`
	// Labels are the owner's reviews up to the last look: whether the first of two answers
	// is better, against what the judge finds of them.
	Labels pareto.Agreement `json:"labels"`
	// Leans counts those of Labels on which the judge agreed with the owner in one order
	// of the answers, and saw no difference in the other.
	Leans int `json:"leans,omitempty"`
	// Against sums up how much the judge found better what the owner found worse: 1 for
	// both orders, a half for one of them.
	Against float64 `json:"against,omitempty"`
	// Since counts the labels after the last look.
	Since int `json:"since,omitempty"`
	// Missing counts reviews without a readable reply of the judge, or that it was not
	// asked about yet.
	Missing int `json:"missing,omitempty"`
	// Stop is why not every label was used, "" if all were.
	Stop string `json:"stop,omitempty"`
}

// A Said is a review of the owner's with the judge's reading of the same answers.
type Said struct {
	First bool    // the owner finds the first answer better
	Score float64 // the judge's in favour of the first: see judge.Comparer
}

// Count fills in what the judge agreed on with the owner; said is the oldest first. A
// judge that sees no difference, or contradicts itself, where the owner saw one counts as
// of the opposite opinion: "no difference" is what a challenger that is no better needs.
func (c *Calibration) Count(said []Said) {
	looked := len(said) - len(said)%TrustedLabels
	c.Labels, c.Leans, c.Against, c.Since = pareto.Agreement{}, 0, 0, len(said)-looked
	for _, s := range said[:looked] {
		agrees := s.First && s.Score > 0 || !s.First && s.Score < 0
		c.Labels.Add(s.First, s.First == agrees)
		if agrees && math.Abs(s.Score) < 1 {
			c.Leans++
		}
		if !agrees {
			c.Against += math.Abs(s.Score)
		}
	}
}

// Trusted reports whether decisions of the judge alone count as evidence.
func (c Calibration) Trusted() bool {
	k := pareto.Kappa(c.Labels)
	return k.N >= TrustedLabels && k.Value >= TrustedKappa && k.Low >= TrustedLow // NaN is not
}

// Sensitivity is how much of a difference that the owner sees the judge sees for certain:
// the lower bound, one-sided at 95 %, of the chance that it finds worse, in both orders,
// what the owner finds worse, less the share in which it finds that better. A failure
// that a check finds counts that much beside one that the judge has to see. 0 below
// TrustedLabels labels.
func (c Calibration) Sensitivity() float64 {
	n := c.Labels.N()
	if n < TrustedLabels {
		return 0
	}
	return max(0, pareto.ShareAtLeast(c.Labels.BothPass+c.Labels.BothFail-c.Leans, n, 0.95)-c.Against/float64(n))
}

// Reviews is how many more of the owner's reviews the next look takes; 0 if the next run
// only has to ask the judge.
func (c Calibration) Reviews() int { return max(0, TrustedLabels-c.Since-c.Missing) }

// Undecided reports whether an untrusted judge may become trusted once it is asked about
// the reviews that there are.
func (c Calibration) Undecided() bool {
	return !c.Trusted() && c.Missing > 0 && c.Reviews() == 0
}

// String sums up the calibration, with the numbers that are needed.
func (c Calibration) String() string {
	k := pareto.Kappa(c.Labels)
	need := fmt.Sprintf("%g on %d needed", TrustedKappa, TrustedLabels)
	known := c.Since + c.Missing
	switch {
	case k.N == 0 && known > 0:
		return fmt.Sprintf("%d of the %d labels that it takes, %s", known, TrustedLabels, c.Next())
	case k.N == 0:
		return "no labels yet, an agreement of " + need + ", " + c.Next()
	case math.IsNaN(k.Value):
		return fmt.Sprintf("agreement unknown on %s of one kind, %s, %s", plain.Counted(k.N, "label"), need, c.Next())
	}
	found := fmt.Sprintf("agreement %.2f, %.0f %% interval %.2f to %.2f, on %s", k.Value, 100*k.Level, k.Low, k.High, plain.Counted(k.N, "label"))
	if c.Trusted() {
		return found
	}
	return found + fmt.Sprintf("; %g and an interval from %g needed, ", TrustedKappa, TrustedLow) + c.Next()
}

// Next says what the next look takes.
func (c Calibration) Next() string {
	switch n := c.Reviews(); n {
	case 0:
		return "the next run asks the judge about them"
	case 1:
		return "1 review is missing until the next look"
	default:
		return fmt.Sprintf("%d reviews are missing until the next look", n)
	}
}

// RestsOnJudge counts the held-out cases in whose cluster a judge makes a check:
// if there are none, the judge's quality does not matter.
func RestsOnJudge(test []eval.Case) int {
	n := 0
	list, _ := usable(test, nil, "", nil)
	for _, c := range list {
		if Asks(c.Cases...) {
			n += len(c.Cases)
		}
	}
	return n
}
