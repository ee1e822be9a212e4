package status

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// Sentence says what came of the night, for somebody who reads nothing else.
func (n *Night) Sentence() string {
	var installed, tried, proved, promising, undecided, rejected, failed, alarms, later int
	for i := range n.Steps {
		k := &n.Steps[i]
		switch {
		case k.Kind == sleep.Install && k.Stage == sleep.Done:
			installed++
		case k.Kind == sleep.Try && k.Stage == sleep.Done:
			tried++
		case k.Kind == sleep.Install && k.Stage == sleep.Skipped && k.Result != nil:
			proved++
		case k.Stage == sleep.Failed:
			failed++
		case k.Stage == sleep.Waits:
			later++
		}
		if Alarming(k) {
			alarms++
		}
		if r := TrialOf(k); r != nil {
			switch r.Decision {
			case pareto.Undecided:
				undecided++
			case pareto.Promising:
				promising++
			case pareto.Reject:
				rejected++
			}
		}
	}
	var parts []string
	add := func(k int, one, many string) {
		switch {
		case k == 1:
			parts = append(parts, one)
		case k > 1:
			parts = append(parts, fmt.Sprintf(many, k))
		}
	}
	add(alarms, "one installed version raises an alarm", "%d installed versions raise an alarm")
	add(installed, "one skill got better and is installed", "%d skills got better and are installed")
	add(tried, "one trial install began or ended", "%d trial installs began or ended")
	add(proved, "one better version waits for your decision", "%d better versions wait for your decision")
	add(promising, "one new text is probably better, and its trial goes on", "%d new texts are probably better, and their trials go on")
	add(undecided, "one trial goes on", "%d trials go on")
	add(rejected, "one new text was rejected", "%d new texts were rejected")
	add(failed, "one step failed", "%d steps failed")
	add(later, "one step waits for a later night", "%d steps wait for a later night")
	s := "Nothing was installed, and nothing waits for you"
	if k := len(n.Next()); k > 0 {
		s = "Nothing was installed; " + plain.Counted(k, "thing") + map[bool]string{true: " waits", false: " wait"}[k == 1] + " for you"
	}
	if len(parts) > 0 {
		s = report.Capital(strings.Join(parts, "; "))
	}
	if n.Ended.IsZero() {
		s += "; the night is not over, or was killed"
	}
	return s + "."
}
