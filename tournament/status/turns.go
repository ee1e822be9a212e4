package status

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// forecastOf describes how much of the night a planned step may take.
func forecastOf(k *sleep.Step) string {
	if k.Stage != sleep.Planned || k.Caps == (sleep.Caps{}) {
		return ""
	}
	var parts []string
	if k.Caps.Rollouts > 0 {
		parts = append(parts, plain.Counted(int(k.Caps.Rollouts), "rollout"))
	}
	if k.Caps.CostUSD > 0 {
		parts = append(parts, eval.FormatUSD(k.Caps.CostUSD))
	}
	if k.Caps.Tokens > 0 {
		parts = append(parts, plain.Thousands(k.Caps.Tokens)+" tokens")
	}
	if k.Caps.Duration > 0 {
		parts = append(parts, plain.Duration(k.Caps.Duration.Milliseconds()))
	}
	return "at most " + strings.Join(parts, ", ") + "; "
}

// laterNights lists in a line the steps that wait for a later night, "" for
// none. The reason of each is in the JSON and on the night's page.
func laterNights(n *sleep.Night) string {
	var names []string
	var first *sleep.Step
	for i := range n.Steps {
		if k := &n.Steps[i]; k.Stage == sleep.Waits && !k.Beyond(n.Caps) {
			if first == nil {
				first = k
			}
			names = append(names, k.Skill)
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) == 1:
		return fmt.Sprintf("  later  %s %s %s\n", first.Skill, KindOfStep(first), plain.Line(first.Note))
	}
	return fmt.Sprintf("  later  %s; all have had their turn after about %s like this one\n", fewNames(names), plain.Counted(n.Later(), "more night"))
}

// shownIdle is the number of idle skills that are named with the reason.
const shownIdle = 8

// idleNight describes why a night has nothing to do, for each skill that is
// in use.
func idleNight(idle []sleep.Idle) string {
	if len(idle) == 0 {
		return "  nothing to do: there is no skill to look at\n"
	}
	var b strings.Builder
	b.WriteString("  nothing to do: each skill waits for something\n")
	shown := 0
	for _, used := range []bool{true, false} {
		for _, k := range idle {
			if k.Used == used && shown < shownIdle {
				shown++
				fmt.Fprintf(&b, "  waits  %s: %s\n", k.Skill, plain.Line(k.Why))
			}
		}
	}
	if more := len(idle) - shown; more > 0 {
		fmt.Fprintf(&b, "  waits  %d more: --json lists them\n", more)
	}
	return b.String()
}

// beyond lists the searches that are more than a whole night can carry: one
// line, and none if there is no such search.
func beyond(n *sleep.Night) []string {
	var names []string
	most := int64(0)
	for i := range n.Steps {
		if k := &n.Steps[i]; k.Stage == sleep.Waits && k.Beyond(n.Caps) {
			names, most = append(names, k.Skill), max(most, k.Needs.Rollouts)
		}
	}
	if len(names) == 0 || most == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: not searched, for a search takes about %d rollouts and a night has %d; `evolve sleep run --max-rollouts %[2]d`", fewNames(names), most, n.Caps.Rollouts)}
}

// A Turn is why a skill waits for its turn of a night's budget.
type Turn struct {
	Step     string `json:"step"`     // as in the night: "search", "continue", "compare"
	Needs    int64  `json:"needs"`    // rollouts
	MaxNight int64  `json:"of_night"` // what a whole night has; 0 for no cap
	// Beyond: no night like the last one can carry it. Otherwise it has its
	// turn in a later one.
	Beyond bool   `json:"beyond"`
	Why    string `json:"why"` // in words
}

// laterOf is what the last night left to a later one, nil for nothing, or if
// something was run since or the text is another one.
func laterOf(last *sleep.Night, s *Skill) *Turn {
	if last == nil || s.Pinned || s.ran.After(last.Began) {
		return nil
	}
	for i := range last.Steps {
		k := &last.Steps[i]
		if k.Skill != s.Skill || k.Stage != sleep.Waits || k.Live != "" && k.Live != s.Live.SHA {
			continue
		}
		t := &Turn{Step: string(k.Kind), Needs: max(k.Needs.Rollouts, k.Rollouts), MaxNight: last.Caps.Rollouts, Beyond: k.Beyond(last.Caps), Why: plain.Line(k.Note)}
		if t.Beyond {
			t.Why = fmt.Sprintf("takes about %d, a night has %d", t.Needs, t.MaxNight)
		}
		return t
	}
	return nil
}

// waitingTurns counts the skills that a later night of the same size comes to.
func (r *Report) waitingTurns() (n int) {
	for i := range r.Skills {
		if t := r.Skills[i].Turn; t != nil && !t.Beyond {
			n++
		}
	}
	return n
}
