package sleep

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/pareto"
)

// A Policy is what a night may do with what the gate proved.
type Policy string

const (
	// Staging leaves a proof for its owner to install.
	Staging Policy = "stage"
	// Auto installs it, unless there is an objection.
	Auto Policy = "auto"
)

// MayInstall reports whether a night may install the result r, and why not.
// level is what the lifetime's control left this trial; demo allows simulated
// evidence, in folders that are evolve's own.
func (p Policy) MayInstall(r *Result, level float64, demo bool) (ok bool, why string) {
	switch {
	case r.Decision != pareto.Promote:
		return false, "not shown to be better"
	case p != Auto && !r.Proved(level) && r.Alpha > 0:
		return false, r.alone(level) + ", and waits for your word (policy stage)"
	case p != Auto:
		return false, "better, and waits for your word (policy stage)"
	case r.Objection(demo) != "":
		return false, r.Objection(demo)
	case !r.Proved(level):
		return false, r.alone(level) + ": `evolve promote` installs it if you say so, else it waits for fresh cases"
	}
	return true, ""
}

// MayKeep is why a night may not keep a text that is on trial in place with this result as
// proved, "" for nothing: what would keep it from installing that, whatever its policy is.
func (r *Result) MayKeep(level float64, demo bool) string {
	if why := r.Objection(demo); why != "" || r.Proved(level) {
		return why
	}
	return r.alone(level)
}

// Objection is why a night may not put a challenger in place, whatever the evidence says;
// "" for nothing.
func (r *Result) Objection(demo bool) string {
	switch {
	case r.Simulated && !demo:
		return "the evidence is simulated: it says nothing about a real model"
	case r.Unboxed:
		return "the agent ran its tools without a sandbox: it is yours to install"
	case r.Against != "":
		return r.Against + ": it is yours to install"
	case len(r.Flagged) > 0:
		return fmt.Sprintf("the firewall flagged it (%s): it is yours to install", strings.Join(r.Flagged, ", "))
	case !r.Kernel:
		return "its locked lines were never confirmed: `evolve kernel confirm` first"
	case r.Probes != "":
		return "waits for you: " + r.Probes
	}
	return ""
}

// alone describes a proof that does not hold at the level of its number.
func (r *Result) alone(level float64) string {
	if r.EValue >= r.asks(level) {
		return "better as a single trial; among all trials of this skill it is not shown yet that quality is no lower"
	}
	return fmt.Sprintf("better as a single trial (%s); among all trials of this skill it takes %s", pareto.Chance(r.EValue), pareto.Proves(1/r.asks(level)))
}
