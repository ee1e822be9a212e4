package main

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// foreseen says how much of the night a step that is planned may take.
func foreseen(k *sleep.Step) string {
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
		parts = append(parts, report.Duration(k.Caps.Duration.Milliseconds()))
	}
	return "at most " + strings.Join(parts, ", ") + "; "
}

// shownTurns is how many of the skills that wait for a later night are named.
const shownTurns = 4

// laterNights says in a line which steps wait for a later night, "" for none. The
// reason of each stands in the JSON and in the night's page.
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
		return fmt.Sprintf("  later  %s %s %s\n", first.Skill, kindOfStep(first), oneLine(first.Note))
	}
	return fmt.Sprintf("  later  %s; all have had their turn after about %s like this one\n", fewNames(names), plain.Counted(n.Later(), "more night"))
}

// shownIdle is how many skills without anything to do are named with the reason.
const shownIdle = 8

// idleNight says why a night has nothing to do, for each skill that is in use.
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
				fmt.Fprintf(&b, "  waits  %s: %s\n", k.Skill, oneLine(k.Why))
			}
		}
	}
	if more := len(idle) - shown; more > 0 {
		fmt.Fprintf(&b, "  waits  %d more: --json lists them\n", more)
	}
	return b.String()
}

// beyond says which searches are more than a whole night can carry: one line, and
// none where there is no such search.
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
