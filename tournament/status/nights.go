package status

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A Night is what `evolve sleep run --json` prints: schema 1.
type Night struct {
	*sleep.Night
	Spent eval.Spent `json:"spent"`
	// Warnings qualify the result of the night.
	Warnings []string `json:"warnings"`
	DryRun   bool     `json:"dry_run"`
	// Forecast of a dry run, null if nothing is to be paid.
	Forecast *sleep.Forecast `json:"forecast,omitempty"`
	Waiting  []string        `json:"waiting"` // what waits for its owner, in words; alarms first

	Alarms int `json:"-"` // of Waiting
	// Report is the night's page, "" for a night that had nothing to do.
	Report string `json:"report,omitempty"`
}

// NightOf is a night, and what it leaves to its owner.
func NightOf(n *sleep.Night) *Night {
	return &Night{Night: n, Spent: n.Spent(), Warnings: n.Warnings(), Waiting: waitingIn(n), Alarms: len(alarmsIn(n))}
}

// waitingIn lists what a night leaves to its owner, alarms first.
func waitingIn(n *sleep.Night) []string {
	out := alarmsIn(n)
	for _, k := range n.Steps {
		if w := leftTo(&k); w != "" {
			out = append(out, w)
		}
	}
	return append(out, beyond(n)...)
}

// leftTo is what a step leaves to its owner, "" for nothing.
func leftTo(k *sleep.Step) string {
	switch {
	case k.Kind == sleep.Install && k.Stage == sleep.Skipped && k.Result != nil:
		return fmt.Sprintf("%s@%.12s: %s; `evolve promote %s`", k.Skill, k.Result.Challenger, k.Note, k.Skill)
	case k.Kind == sleep.Rebase && k.Stage == sleep.Skipped:
		return k.Note
	case k.Kind == sleep.Install && (k.Stage == sleep.Skipped || k.Stage == sleep.Failed), asksForLabels(k):
		return k.Skill + ": " + k.Note
	}
	return ""
}

// asksForLabels reports whether a step was left because only its owner's
// labels can advance it.
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

// IsAlarm reports whether a step has reported that something got worse.
func IsAlarm(k *sleep.Step) bool {
	return (k.Kind == sleep.Watch || k.Kind == sleep.Certify) && strings.HasPrefix(k.Note, "alarm: ")
}

// AlarmWords describe an alarm and the possible remedies.
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

// Text sums up a night in a few lines.
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
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", k.Skill, KindOfStep(&k), k.Stage, plain.Line(foreseen(&k)+k.Note))
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
	}
	if !r.DryRun {
		fmt.Fprintf(&b, "  spent  %s\n", Spent(r.Spent))
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

// harvestedIn describes what a night has read, or that it has not come so
// far.
func harvestedIn(n *sleep.Night) string {
	if len(n.Steps) == 0 || n.Steps[0].Note == "" {
		return "it has read no sessions yet"
	}
	return n.Steps[0].Note
}

// NightPage is a night as its page shows it.
func NightPage(r *Night) *report.Night {
	n := &report.Night{ID: r.ID, Policy: string(r.Policy), Began: r.Began, Ended: r.Ended, Sessions: r.Sessions, TakenOver: r.TakenOver,
		Caps: r.Caps.Eval(), Spent: r.Spent, Waiting: r.Next(), Warnings: r.Warnings}
	for i := range r.Steps {
		n.Steps = append(n.Steps, nightStep(&r.Steps[i]))
	}
	return n
}

func nightStep(k *sleep.Step) report.NightStep {
	s := report.NightStep{Kind: KindOfStep(k), Skill: k.Skill, Stage: string(k.Stage), Note: k.Note, Gain: k.Gain,
		Attempts: k.Attempts, Errors: k.Errors, Alarm: IsAlarm(k)}
	switch k.Kind {
	case sleep.Continue, sleep.Search, sleep.Compare, sleep.Certify:
		if k.Spent != (eval.Spent{}) { // what never began has spent nothing
			s.Spent = &k.Spent
		}
	case sleep.Install:
		s.Installed = k.Stage == sleep.Done
	}
	if res := k.Result; res != nil {
		s.Simulated = res.Simulated
		if res.Report != "" {
			s.Report = filepath.Base(res.Report)
		}
		s.Proved = k.Kind == sleep.Install && k.Stage == sleep.Skipped
		if res.Decision != "" && k.Kind != sleep.Install {
			s.Trial = &report.NightTrial{Decision: string(res.Decision), Challenger: res.Challenger, EValue: res.EValue, Alpha: res.Alpha, Flagged: res.Flagged}
		}
	}
	s.Alarm = s.Alarm || k.Alarm != nil && k.Alarm.Raised()
	return s
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

// BoundsOf describe the policy of a continued night and what its caps leave.
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
		out = append(out, report.Duration(left.Duration.Milliseconds())+" left")
	}
	return strings.Join(out, ", ")
}

// shownWarnings is how many warnings of a night are shown.
const shownWarnings = 3

// Warned are the warnings of a night, a line each after head, cut short if
// there are many.
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

// Next is everything that is left to the owner, in words: alarms, and
// decisions.
func (r *Night) Next() []string {
	out := append([]string{}, r.Waiting[:r.Alarms]...)
	return append(out, grouped(r.Waiting[r.Alarms:])...)
}

// shownFailing is the number of failing skills that are named.
const shownFailing = 2

// Failing names the skills whose turn failed in a night, or that it skipped
// because of earlier failures, with the reason; "" for none.
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
