package probes

import (
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// shown is how much of a rule a line quotes, in characters.
const shown = 60

// An Outcome is how two texts answered the probes of their kernel: schema 1.
type Outcome struct {
	Schema     int       `json:"schema"`
	Skill      string    `json:"skill"`
	Incumbent  string    `json:"incumbent"`     // SHA-256
	Challenger string    `json:"challenger"`    // SHA-256
	Set        string    `json:"set_sha256"`    // its Fingerprint
	By         string    `json:"answered_by"`   // agent, model, parameters and sandbox: it counts for no other
	Run        string    `json:"run,omitempty"` // that has it on its bill
	At         time.Time `json:"at"`
	Findings   []Finding `json:"findings"`
	// Replays are those that were compared or not, with both texts.
	Replays int        `json:"replays"`
	Spent   eval.Spent `json:"spent"`
	// Stopped is why some probes are not answered, "" if all are.
	Stopped   string `json:"stopped,omitempty"`
	Simulated bool   `json:"simulated,omitempty"`
}

// Held are the findings that hold the challenger back.
func (o *Outcome) Held() (out []Finding) {
	for _, f := range o.Findings {
		if f.Held {
			out = append(out, f)
		}
	}
	return out
}

// Decide completes an outcome: few answers decide nothing.
func (o *Outcome) Decide() {
	decide(o.Findings)
	for _, f := range o.Findings {
		few := f.Screen.N*2 < f.Probes*ScreenReplays || f.Fresh != nil && f.Fresh.N*2 < f.Probes*FreshReplays
		if o.Stopped == "" && few {
			o.Stopped = fmt.Sprintf("too few answers about “%s”", plain.Excerpt(f.Rule.Text, shown))
		}
	}
}

// String is the outcome in a line.
func (o *Outcome) String() string {
	held := o.Held()
	switch {
	case len(held) == 0 && o.Stopped != "":
		return fmt.Sprintf("not answered: %s", o.Stopped)
	case len(held) == 0:
		return fmt.Sprintf("no rule is broken more often than before, in %s", plain.Counted(o.Replays, "replay"))
	}
	var out []string
	for _, f := range held {
		out = append(out, fmt.Sprintf("it breaks “%s” in %d of %d replays, the live text in %d", plain.Excerpt(f.Rule.Text, shown), f.Fresh.After, f.Fresh.N, f.Fresh.Before))
	}
	return strings.Join(out, "; ")
}
