package record

import (
	"fmt"
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
)

// The agreement at which a judge's decision alone is evidence.
const (
	TrustedKappa  = 0.6
	TrustedLabels = 20
)

// A Calibration is how well a judge agrees with the owner's own labels. The
// zero value belongs to an unknown judge, which is not trusted.
type Calibration struct {
	// Judge is the grader's identity: another model, or another prompt, has
	// to be calibrated anew.
	Judge string `json:"judge,omitempty"`
	// Labels counts the owner's labels (pass, fail) against the judge's.
	Labels pareto.Agreement `json:"labels"`
	// Missing counts labelled answers without a readable reply of the judge.
	Missing int `json:"missing,omitempty"`
	// Stop is why not every label was used, "" if all were.
	Stop string `json:"stop,omitempty"`
}

// Trusted reports whether what the judge decides counts as evidence.
func (c Calibration) Trusted() bool {
	return c.Labels.N() >= TrustedLabels && pareto.Kappa(c.Labels).Value >= TrustedKappa // NaN is not
}

// String sums up the calibration, with the numbers that are needed.
func (c Calibration) String() string {
	k := pareto.Kappa(c.Labels)
	need := fmt.Sprintf("%g on %d needed", TrustedKappa, TrustedLabels)
	switch {
	case k.N == 0 && c.Missing > 0 && c.Missing < TrustedLabels:
		return fmt.Sprintf("%d of the %d labels that it takes", c.Missing, TrustedLabels)
	case k.N == 0:
		return "no labels yet, κ " + need
	case math.IsNaN(k.Value):
		return fmt.Sprintf("κ unknown on %s of one kind, %s", plain.Counted(k.N, "label"), need)
	}
	return fmt.Sprintf("κ %.2f, %.0f%% interval %.2f to %.2f, on %s, %s", k.Value, 100*k.Level, k.Low, k.High, plain.Counted(k.N, "label"), need)
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
