package report

import (
	"fmt"
	"io"
	"math"
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
	Watch              *NightWatch
}

// A NightTrial is the evidence that a step came to.
type NightTrial struct {
	Decision, Challenger string
	EValue, Alpha        float64 // decisive at EValue ≥ 1/Alpha
	Flagged              []string
}

// evidence is the e-value, and the one that is decisive.
func (t *NightTrial) evidence() string { return fmt.Sprintf("%.3g of %.0f", t.EValue, 1/t.Alpha) }

// A NightWatch is what real sessions say of an installed version.
type NightWatch struct {
	OldSessions, NewSessions int
	OldRate, NewRate         float64 // shares of failed uses
	Limit                    float64 // what the new rate must not exceed, 1 where too little is known
	EValue, Alpha            float64
	Raised                   bool
}

// nightView is what a night's page shows.
type nightView struct {
	*Night
	Sentence             string
	Warnings             []string
	Facts                []fact
	Contents             []link
	Budget, Proof, Alarm *Plot
	Rows                 []nightRow
	Simulated            bool
}

type nightRow struct {
	Kind, Skill, Stage, Note, Rollouts, Cost, Evidence, Gain, Report string
}

// HTML writes the night as one self-contained page: no script, no network. Its
// only links lead to the pages of its runs beside it.
func (n *Night) HTML(w io.Writer) error {
	v := &nightView{Night: n, Sentence: n.Sentence(), Warnings: n.warnings(), Budget: n.budgetChart(), Proof: n.proofChart(), Alarm: n.watchChart()}
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
			r.Evidence = t.evidence()
		}
		v.Rows = append(v.Rows, r)
	}
	for _, c := range []struct {
		link
		there bool
	}{{link{"steps", "Steps"}, len(v.Rows) > 0}, {link{"evidence", "Evidence"}, v.Proof != nil}, {link{"watch", "After installation"}, v.Alarm != nil}, {link{"spent", "Spent"}, v.Budget != nil}} {
		if c.there {
			v.Contents = append(v.Contents, c.link)
		}
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
		if k.alarm() {
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
		case k.alarm():
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

// alarm reports whether an installed version turned out to be worse.
func (k *NightStep) alarm() bool { return k.Alarm || k.Watch != nil && k.Watch.Raised }

// title is a step's name in a drawing.
func (k *NightStep) title() string { return plain.Text(k.Skill + " " + k.Kind) }

// budgetChart draws how much of the night each step took; nil for none.
func (n *Night) budgetChart() *Plot {
	var rows []barRow
	most := float64(n.Caps.Rollouts)
	for i := range n.Steps {
		if k := &n.Steps[i]; k.Spent != nil {
			most = max(most, float64(k.Spent.Rollouts))
		}
	}
	for i := range n.Steps {
		k := &n.Steps[i]
		if k.Spent == nil || most == 0 {
			continue
		}
		rows = append(rows, barRow{k.title(), float64(k.Spent.Rollouts) / most, fmt.Sprintf("%s, %s", plain.Counted(int(k.Spent.Rollouts), "rollout"), k.Spent.Dollars())})
	}
	what := "of the night's cap"
	if n.Caps.Rollouts == 0 {
		what = "of the largest step"
	}
	return barChart("plot-budget", "Rollouts of each step", "share "+what, rows)
}

// proofChart draws how far each trial is on its way to 1/α, on a logarithmic
// axis; nil for none.
func (n *Night) proofChart() *Plot {
	var rows []barRow
	for i := range n.Steps {
		k := &n.Steps[i]
		if k.Trial == nil || !(k.Trial.Alpha > 0 && k.Trial.Alpha < 1) {
			continue
		}
		share := math.Log(max(k.Trial.EValue, 1)) / -math.Log(k.Trial.Alpha)
		rows = append(rows, barRow{k.title(), share, fmt.Sprintf("%s: e = %s", k.Trial.Decision, k.Trial.evidence())})
	}
	return barChart("plot-proof", "Evidence of each trial", "log e of log 1/α: full is proof", rows)
}

// A barRow is one bar with its name above it; share is of the whole width.
type barRow struct {
	name  string
	share float64
	text  string
}

func barChart(id, title, unit string, rows []barRow) *Plot {
	if len(rows) == 0 {
		return nil
	}
	const pitch, left, right = 38.0, 4.0, plotWidth - 4.0
	p := &Plot{ID: id, Width: plotWidth, Height: pitch*float64(len(rows)) + 24, Title: title}
	for i, r := range rows {
		y := pitch * float64(i)
		w := textWidth(r.text, fontSize)
		p.text("branch", "start", left, y+14, cut(r.name, right-left-w-12, fontSize))
		p.text("tick", "end", right, y+14, r.text)
		p.path("bar-back", rect(left, y+20, right, y+29))
		if s := min(max(r.share, 0), 1); s > 0 {
			p.titled("bar", rect(left, y+20, left+s*(right-left), y+29), r.name+": "+r.text)
		}
		p.Desc += r.name + ": " + r.text + ". "
	}
	p.text("axis-title", "end", right, p.Height-6, unit)
	return p
}

// watchChart draws the failure rates before and after an installation; nil where
// nothing is watched.
func (n *Night) watchChart() *Plot {
	var all []*NightStep
	for i := range n.Steps {
		if n.Steps[i].Watch != nil {
			all = append(all, &n.Steps[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	const pitch, top = 40.0, 8.0
	bottom := top + pitch*float64(len(all))
	p := &Plot{ID: "plot-watch", Width: plotWidth, Height: bottom + 38, Title: "Failed uses before and after an installation"}
	x := axis{lo: 0, hi: 1, from: 14, to: plotWidth - 14}
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		for i := range all { // beside the marks, not through the words
			y := top + pitch*float64(i) + 27
			p.line("grid", x.at(v), y-8, x.at(v), y+8)
		}
		p.text("tick", anchorWithin(x.at(v), 40, p.Width), x.at(v), bottom+15, fmt.Sprintf("%.0f%%", 100*v))
	}
	p.text("axis-title", "end", x.to, bottom+31, "failed uses, mean over sessions")
	for i, k := range all {
		w, y := k.Watch, top+pitch*float64(i)+27
		text := fmt.Sprintf("%.0f%% of %d → %.0f%% of %d", 100*w.OldRate, w.OldSessions, 100*w.NewRate, w.NewSessions)
		if w.Raised {
			text = "ALARM " + text
		}
		p.text("branch", "start", x.from, y-13, cut(plain.Text(k.Skill), x.to-x.from-textWidth(text, fontSize)-12, fontSize))
		p.text("tick", "end", x.to, y-13, text)
		p.line("interval", x.at(w.OldRate), y, x.at(w.NewRate), y)
		if w.Limit < 1 {
			p.line("rule", x.at(w.Limit), y-7, x.at(w.Limit), y+7)
		}
		p.titled("point-open", glyph(ring, x.at(w.OldRate), y, 4), "before: "+text)
		class := "on-front"
		if w.Raised {
			class = "no-skill"
		}
		p.titled(class, glyph(map[bool]shape{false: disc, true: cross}[w.Raised], x.at(w.NewRate), y, 4), "after: "+text)
		p.Desc += k.Skill + ": " + text + ". "
	}
	p.Desc = plain.Text(p.Desc)
	return p
}
