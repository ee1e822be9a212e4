package page

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// nightView is what a night's page shows.
type nightView struct {
	*status.Night
	Warnings  []string
	Facts     []fact
	Rows      []nightRow
	Simulated bool
}

type nightRow struct {
	Kind, Skill, Stage, Note, Rollouts, Cost, Evidence, Gain, Report string
}

// Night writes a night as one self-contained page: no script, no network. Its
// only links lead to the pages of its runs beside it.
func Night(n *status.Night) func(io.Writer) error {
	v := &nightView{Night: n, Warnings: warnings(n)}
	v.Facts = []fact{{"cost", spentText(n.Spent) + capped(n)}, {"sessions", plain.Counted(n.Sessions, "new or changed session")}}
	next := n.Next()
	for _, x := range next {
		v.Facts = append(v.Facts, fact{"next", x})
	}
	if len(next) == 0 {
		v.Facts = append(v.Facts, fact{"next", "nothing waits for you"})
	}
	for i := range n.Steps {
		k := &n.Steps[i]
		v.Simulated = v.Simulated || simulated(k)
		r := nightRow{Kind: plain.Text(status.KindOfStep(k)), Skill: plain.Text(k.Skill), Stage: plain.Text(string(k.Stage)), Note: k.Note}
		if k.Spent != (eval.Spent{}) { // what never began has spent nothing
			r.Rollouts, r.Cost = plain.Grouped(k.Spent.Rollouts), k.Spent.Dollars()
			if k.Result != nil && nightLink.MatchString(filepath.Base(k.Result.Report)) {
				r.Report = filepath.Base(k.Result.Report)
			}
		}
		if k.Gain > 0 {
			r.Gain = fmt.Sprintf("%.1f", k.Gain)
		}
		if t := status.TrialOf(k); t != nil && t.Alpha > 0 {
			r.Evidence = pareto.ChanceOf(t.EValue, t.Alpha)
		}
		v.Rows = append(v.Rows, r)
	}
	return render("night.html", v)
}

func simulated(k *sleep.Step) bool { return k.Result != nil && k.Result.Simulated }

func warnings(n *status.Night) (out []string) {
	for i := range n.Steps {
		if simulated(&n.Steps[i]) {
			out = append(out, "SIMULATED: nothing here was measured on a real model; it says nothing about one")
			break
		}
	}
	for i := range n.Steps {
		k := &n.Steps[i]
		switch {
		case k.Stage == sleep.Failed:
			out = append(out, fmt.Sprintf("%s failed: %s", strings.TrimSpace(k.Skill+" "+status.KindOfStep(k)), k.Note))
		case status.Alarming(k):
			out = append(out, fmt.Sprintf("%s: %s", k.Skill, k.Note))
		}
		if t := status.TrialOf(k); t != nil && len(t.Flagged) > 0 {
			out = append(out, fmt.Sprintf("%s: the firewall flags the new text %s: %s", k.Skill, plain.Short(t.Challenger), strings.Join(t.Flagged, ", ")))
		}
	}
	out = append(out, n.Warnings...)
	if n.TakenOver > 0 {
		out = append(out, fmt.Sprintf("the night was cut short and taken up again %s", map[bool]string{true: "once", false: fmt.Sprintf("%d times", n.TakenOver)}[n.TakenOver == 1]))
	}
	if n.Spent.Rollouts > 0 && !n.Spent.CostKnown {
		why := "some calls reported none and have no price"
		if k := n.Spent.Uncounted; k > 0 {
			why = plain.Counted(int(k), "call") + " reported no usage"
		}
		out = append(out, "the cost is a lower bound: "+why)
	}
	for i := range out {
		out[i] = plain.Text(out[i])
	}
	return out
}

// capped says what the night might have taken.
func capped(n *status.Night) string {
	var of []string
	c := n.Caps
	if c.Rollouts > 0 {
		of = append(of, plain.Grouped(c.Rollouts)+" rollouts")
	}
	if c.CostUSD > 0 {
		of = append(of, report.USD(&c.CostUSD))
	}
	if c.Tokens > 0 {
		of = append(of, plain.Thousands(c.Tokens)+" tokens")
	}
	if c.Duration > 0 {
		of = append(of, c.Duration.String())
	}
	if len(of) == 0 {
		return ", without a cap"
	}
	return "; at most " + strings.Join(of, ", ")
}
