package harvest_test

import (
	"fmt"

	"github.com/skill-evolve/evolve/harvest"
)

func ExampleClassify() {
	for _, reply := range []string{"no, use a log scale", "no problem, thanks", "now do the same for costs", "did we fix the comment?"} {
		f := harvest.Classify(reply)
		fmt.Printf("%-27s %-9s %.2f\n", reply, f.Label, f.Confidence)
	}
	// Output:
	// no, use a log scale         corrected 0.90
	// no problem, thanks          accepted  0.90
	// now do the same for costs   unknown   0.00
	// did we fix the comment?     corrected 0.40
}
