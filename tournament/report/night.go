package report

import (
	"fmt"
	"io"
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
	Alarm              bool // it tells of something that got worse
	Certified          bool // an installed version holds on another model
	Trial              *NightTrial
}

// A NightTrial is the evidence that a step came to.
type NightTrial struct {
	Decision, Challenger string
	EValue, Alpha        float64 // decisive at EValue ≥ 1/Alpha
	Flagged              []string
}

// nightView is what a night's page shows.
type nightView struct {
	*Night
	Sentence  string
	Warnings  []string
	Facts     []fact
	Rows      []nightRow
	Simulated bool
}

type nightRow struct {
	Kind, Skill, Stage, Note, Rollouts, Cost, Evidence, Gain, Report string
}

// HTML writes the night as one self-contained page: no script, no network. Its
// only links lead to the pages of its runs beside it.
func (n *Night) HTML(w io.Writer) error {
	v := &nightView{Night: n, Sentence: n.Sentence(), Warnings: n.warnings()}
	v.Facts = []fact{{"cost", spentText(n.Spent) + n.capped()}, {"sessions", plain.Counted(n.Sessions, "new or changed session")}}
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
	return render(w, "night.html", v)
}

// Sentence says what came of the night, for somebody who reads nothing else.
func (n *Night) Sentence() string {
	var installed, proved, undecided, rejected, failed, alarms, certified, later int
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
		case k.Certified:
			certified++
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
	add(proved, "one better version is proved and waits for your word", "%d better versions are proved and wait for your word")
	add(certified, "one installed version holds on another model", "%d installed versions hold on another model")
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

func (n *Night) warnings() (out []string) {
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

// capped says what the night might have taken.
func (n *Night) capped() string {
	var of []string
	c := n.Caps
	if c.Rollouts > 0 {
		of = append(of, thousands(c.Rollouts)+" rollouts")
	}
	if c.CostUSD > 0 {
		of = append(of, usdText(&c.CostUSD))
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
