package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A Night is what `evolve sleep run --json` prints: schema 1.
type Night struct {
	*sleep.Night
	Spent eval.Spent `json:"spent"`
	// Warnings qualify what the night came to.
	Warnings []string `json:"warnings"`
	DryRun   bool     `json:"dry_run"`
	// Forecast of a dry run, null if nothing is to be paid.
	Forecast *sleep.Forecast `json:"forecast,omitempty"`
	Waiting  []string        `json:"waiting"` // what waits for its owner, in words; alarms first

	Alarms int `json:"-"` // of Waiting
	// Report is the night's page, "" for a night that had nothing to do.
	Report string `json:"report,omitempty"`
}

// NightOf is a night, and what it leaves for the owner to do.
func NightOf(n *sleep.Night) *Night {
	return &Night{Night: n, Spent: n.Spent().Plus(n.Probed()), Warnings: n.Warnings(), Waiting: waitingIn(n), Alarms: len(alarmsIn(n))}
}

// waitingIn lists what a night leaves for the owner to do, alarms first.
func waitingIn(n *sleep.Night) []string {
	out := alarmsIn(n)
	for _, k := range n.Steps {
		if w := leftTo(&k); w != "" {
			out = append(out, w)
		}
	}
	return append(out, beyond(n)...)
}

// leftTo is what a step leaves for the owner to do, "" for nothing.
func leftTo(k *sleep.Step) string {
	switch {
	case k.Kind == sleep.Install && k.Stage == sleep.Skipped && k.Result != nil:
		return fmt.Sprintf("%s@%.12s: %s; `%s`", k.Skill, k.Result.Challenger, k.Note, cmp.Or(k.Result.Command, "evolve promote "+k.Skill))
	case k.Kind == sleep.Install && (k.Stage == sleep.Skipped || k.Stage == sleep.Failed), asksForLabels(k):
		return k.Skill + ": " + k.Note
	}
	return ""
}

// asksForLabels reports whether a step was left because nothing but its owner's labels
// would bring it on.
func asksForLabels(k *sleep.Step) bool {
	return k.Stage == sleep.Skipped && strings.Contains(k.Note, "`evolve review ")
}

func alarmsIn(n *sleep.Night) []string {
	out := []string{}
	for _, k := range n.Steps {
		if IsAlarm(&k) {
			out = append(out, k.Skill+": "+AlarmWords(&k))
		}
	}
	return out
}

// IsAlarm reports whether a step has told of something that got worse.
func IsAlarm(k *sleep.Step) bool {
	return (k.Kind == sleep.Watch || k.Kind == sleep.Certify) && strings.HasPrefix(k.Note, "alarm: ")
}

// Alarming reports whether a step is about something that got worse, reported or not.
func Alarming(k *sleep.Step) bool { return IsAlarm(k) || k.Alarm != nil && k.Alarm.Raised() }

// AlarmWords are an alarm with what can be done about it.
func AlarmWords(k *sleep.Step) string {
	if strings.HasSuffix(k.Note, sleep.TakenBack) {
		return k.Note
	}
	return fmt.Sprintf("%s; `evolve rollback %s`", k.Note, k.Skill)
}

// KindOfStep is what a step does, in words.
func KindOfStep(k *sleep.Step) string {
	if k.Part != sleep.Harness {
		return fmt.Sprintf("%s %s", k.Kind, k.Part)
	}
	return string(k.Kind)
}

// Text says in a few lines what came of a night.
func (r *Night) Text() string {
	var b strings.Builder
	if r.DryRun {
		if r.Generation > 0 { // it was saved
			fmt.Fprintf(&b, "night %s continues (%s):\n", r.ID, BoundsOf(r.Night))
		} else {
			fmt.Fprintf(&b, "a night now, with the sessions harvested so far:\n")
		}
	} else {
		fmt.Fprintf(&b, "night %s: %s\n", r.ID, harvestedIn(r.Night))
	}
	t := tabwriter.NewWriter(&b, 2, 0, 2, ' ', 0)
	said := 0
	var open []string // of a night that stays open
	for _, k := range r.Steps {
		if k.Skill == "" {
			continue
		}
		said++
		if k.Stage == sleep.Waits || !r.DryRun && (IsAlarm(&k) || leftTo(&k) != "") {
			continue // below
		}
		if !r.DryRun && k.Stage == sleep.Planned {
			open = append(open, k.Skill)
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", k.Skill, KindOfStep(&k), k.Stage, plain.Line(forecastOf(&k)+k.Note))
	}
	t.Flush()
	b.WriteString(laterNights(r.Night))
	if len(open) > 0 {
		fmt.Fprintf(&b, "  later  %s: not begun\n", fewNames(open))
	}
	if said == 0 && (r.DryRun || !r.Ended.IsZero()) {
		b.WriteString(idleNight(r.Idle))
	}
	if fc := r.Forecast; fc != nil {
		fmt.Fprintf(&b, "  forecast  %s\n", fc.Takes())
		if words := fc.Reads(); words != "" {
			fmt.Fprintf(&b, "  reading   corrections: %s\n", words)
		}
		if fc.Probes != nil {
			fmt.Fprintf(&b, "  %s\n", fc.Probes)
		}
		for _, line := range fc.Sends {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if !r.DryRun {
		fmt.Fprintf(&b, "  spent  %s\n", Spent(r.Spent))
		if p := r.Probed(); !p.Nothing() {
			fmt.Fprintf(&b, "         of it kernel probes: %s\n", Spent(p))
		}
		b.WriteString(r.Warned("  warning"))
	}
	if r.Report != "" {
		fmt.Fprintf(&b, "  report %s\n", r.Report)
	}
	for _, w := range r.Next() {
		fmt.Fprintf(&b, "  next   %s\n", plain.Line(w))
	}
	return b.String()
}

// harvestedIn says what a night has read, or that it has not come so far.
func harvestedIn(n *sleep.Night) string {
	if len(n.Steps) == 0 || n.Steps[0].Note == "" {
		return "it has read no sessions yet"
	}
	return n.Steps[0].Note
}

// TrialOf is what the trial of a step came to, nil for none.
func TrialOf(k *sleep.Step) *sleep.Result {
	if k.Kind == sleep.Install || k.Result == nil || k.Result.Decision == "" {
		return nil
	}
	return k.Result
}

// Night finds a night by its name or the beginning of it; "night" is the newest.
// nil if there is none of that name.
func (rd *Reader) Night(ctx context.Context, name string) (*Night, error) {
	nights, err := sleep.Nights(ctx, rd.Store, 0)
	if err != nil {
		return nil, err
	}
	name = strings.TrimPrefix(name, "night-")
	at := slices.IndexFunc(nights, func(n sleep.Night) bool { return n.ID == name })
	if at < 0 {
		at = slices.IndexFunc(nights, func(n sleep.Night) bool { return name == "night" || strings.HasPrefix(n.ID, name) })
	}
	if at < 0 {
		if name == "night" {
			err = problem.Inputf("`evolve sleep run` has one", "there was no night yet")
		}
		return nil, err
	}
	r := NightOf(&nights[at])
	if at == 0 { // what is to do now is no matter of an older night
		r.Waiting, r.Alarms, err = rd.WaitingNow(ctx, r.Night)
	}
	return r, err
}

// BoundsOf are the policy of a night that goes on and what its caps leave, in words.
func BoundsOf(n *sleep.Night) string {
	left, _ := n.Left()
	out := []string{string(cmp.Or(n.Policy, sleep.Staging))}
	if n.Caps.Rollouts > 0 {
		out = append(out, plain.Counted(int(left.Rollouts), "rollout")+" left")
	}
	if n.Caps.CostUSD > 0 {
		out = append(out, eval.FormatUSD(left.CostUSD)+" left")
	}
	if n.Caps.Tokens > 0 {
		out = append(out, plain.Thousands(left.Tokens)+" tokens left")
	}
	if n.Caps.Duration > 0 {
		out = append(out, plain.Duration(left.Duration.Milliseconds())+" left")
	}
	return strings.Join(out, ", ")
}

// shownWarnings is how many warnings of a night are shown.
const shownWarnings = 3

// Warned is what a night warns of, a line each after head, cut short if there is much.
func (r *Night) Warned(head string) string { return Listed(head, head, r.Warnings, shownWarnings) }

// Listed is at most n lines, the first after head and the others after next.
func Listed(head, next string, lines []string, n int) string {
	var b strings.Builder
	for i, line := range lines {
		if i == n-1 && len(lines) > n {
			fmt.Fprintf(&b, "%s and %d more: `evolve sleep status --json`\n", head, len(lines)-i)
			break
		}
		fmt.Fprintf(&b, "%s %s\n", head, plain.Line(line))
		head = next
	}
	return b.String()
}

// Next is all that is left for the owner to do, in words: alarms, and what waits.
func (r *Night) Next() []string {
	out := append([]string{}, r.Waiting[:r.Alarms]...)
	return append(out, grouped(r.Waiting[r.Alarms:])...)
}

// shownFailing is how many skills that fail are named.
const shownFailing = 2

// Failing names the skills whose turn failed in a night, or that it passed by because
// of earlier ones, with the reason; "" for none.
func Failing(n *sleep.Night) string {
	var lines []string
	for i := range n.Steps {
		k := &n.Steps[i]
		switch {
		case k.Stage == sleep.Failed && k.Kind != sleep.Install, k.Stage == sleep.Skipped && k.Trouble != "":
			lines = append(lines, fmt.Sprintf("%s: %s: %s", k.Skill, KindOfStep(k), plain.Line(k.Note)))
		case k.Stage == sleep.Waits && k.Trouble != "":
			lines = append(lines, fmt.Sprintf("%s: %s: failed when it was tried last (%s), and waits for its turn", k.Skill, KindOfStep(k), k.Trouble))
		}
	}
	return Listed("failing ", "        ", lines, shownFailing)
}
