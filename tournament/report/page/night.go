package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// nightView is what a night's page shows.
type nightView struct {
	*report.Night
	Sentence  string
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
func Night(n *report.Night) func(io.Writer) error {
	v := &nightView{Night: n, Sentence: n.Sentence(), Warnings: warnings(n)}
	v.Facts = []fact{{"cost", spentText(n.Spent) + capped(n)}, {"sessions", plain.Counted(n.Sessions, "new or changed session")}}
	for _, x := range n.Waiting {
		v.Facts = append(v.Facts, fact{"next", x})
	}
	if len(n.Waiting) == 0 {
		v.Facts = append(v.Facts, fact{"next", "nothing waits for you"})
	}
	for _, k := range n.Steps {
		v.Simulated = v.Simulated || k.Simulated
		r := nightRow{Kind: plain.Text(k.Kind), Skill: plain.Text(k.Skill), Stage: plain.Text(k.Stage), Note: k.Note}
		if k.Spent != nil && nightLink.MatchString(k.Report) {
			r.Report = k.Report
		}
		if k.Spent != nil {
			r.Rollouts, r.Cost = thousands(k.Spent.Rollouts), k.Spent.Dollars()
		}
		if k.Gain > 0 {
			r.Gain = fmt.Sprintf("%.1f", k.Gain)
		}
		if t := k.Trial; t != nil && t.Alpha > 0 {
			r.Evidence = fmt.Sprintf("%.3g of %.0f", t.EValue, 1/t.Alpha)
		}
		v.Rows = append(v.Rows, r)
	}
	return render("night.html", v)
}

func warnings(n *report.Night) (out []string) {
	for _, k := range n.Steps {
		if k.Simulated {
			out = append(out, "SIMULATED: nothing here was measured on a real model; it says nothing about one")
			break
		}
	}
	for _, k := range n.Steps {
		who := strings.TrimSpace(k.Skill + " " + k.Kind)
		switch {
		case k.Stage == "failed":
			out = append(out, fmt.Sprintf("%s failed: %s", who, k.Note))
		case k.Alarm:
			out = append(out, fmt.Sprintf("%s: %s", k.Skill, k.Note))
		}
		if k.Trial != nil && len(k.Trial.Flagged) > 0 {
			out = append(out, fmt.Sprintf("%s: the firewall flags the challenger %s: %s", k.Skill, plain.Short(k.Trial.Challenger), strings.Join(k.Trial.Flagged, ", ")))
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

// capped describes the caps of the night.
func capped(n *report.Night) string {
	var of []string
	c := n.Caps
	if c.Rollouts > 0 {
		of = append(of, thousands(c.Rollouts)+" rollouts")
	}
	if c.CostUSD > 0 {
		of = append(of, report.USD(&c.CostUSD))
	}
	if c.Tokens > 0 {
		of = append(of, thousands(c.Tokens)+" tokens")
	}
	if c.Duration > 0 {
		of = append(of, c.Duration.String())
	}
	if len(of) == 0 {
		return ", without a cap"
	}
	return "; at most " + strings.Join(of, ", ")
}
