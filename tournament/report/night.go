package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// A Night is one nightly cycle over all skills, as its page shows it.
type Night struct {
	ID        string
	Policy    string // "stage" or "auto"
	Began     time.Time
	Ended     time.Time // zero while it is not over
	Sessions  int       // new or changed ones that the harvest found
	TakenOver int       // how often another process went on with it
	Caps      eval.Caps // of the night, all skills together
	Spent     eval.Spent
	Steps     []NightStep
	Waiting   []string // what waits for the owner, commands in backticks
	Warnings  []string // of the runs, and of the caps
}

// A NightStep is one thing that a night did.
type NightStep struct {
	Kind, Skill, Stage string // as package sleep calls them
	Note               string // in words, what came of it
	Gain               float64
	Attempts, Errors   int         // how often it was begun, and how often that failed
	Spent              *eval.Spent // nil for a step that asks no model
	Report             string      // file name of its run's page beside the night's, "" for none
	Simulated          bool
	Installed          bool // it put a version in place
	Proved             bool // what it proved waits for the owner
	Alarm              bool // it reports that something got worse
	Trial              *NightTrial
}

// A NightTrial is the evidence of a step.
type NightTrial struct {
	Decision, Challenger string
	EValue, Alpha        float64 // decisive at EValue ≥ 1/Alpha
	Flagged              []string
}

// Sentence sums up the night in one sentence.
func (n *Night) Sentence() string {
	var installed, proved, undecided, rejected, failed, alarms, later int
	for _, k := range n.Steps {
		switch {
		case k.Installed:
			installed++
		case k.Proved:
			proved++
		case k.Stage == "failed":
			failed++
		case k.Stage == "waits":
			later++
		}
		if k.Alarm {
			alarms++
		}
		if k.Trial != nil {
			switch k.Trial.Decision {
			case "undecided":
				undecided++
			case "reject":
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
	add(proved, "one better version is proved and waits for your decision", "%d better versions are proved and wait for your decision")
	add(undecided, "one trial goes on", "%d trials go on")
	add(rejected, "one challenger was rejected", "%d challengers were rejected")
	add(failed, "one step failed", "%d steps failed")
	add(later, "one step waits for a later night", "%d steps wait for a later night")
	s := "Nothing was installed, and nothing waits for you"
	if k := len(n.Waiting); k > 0 {
		s = "Nothing was installed; " + plain.Counted(k, "thing") + map[bool]string{true: " waits", false: " wait"}[k == 1] + " for you"
	}
	if len(parts) > 0 {
		s = capital(strings.Join(parts, "; "))
	}
	if n.Ended.IsZero() {
		s += "; the night is not over, or was killed"
	}
	return s + "."
}
