package checking

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A Result is what a check came to.
type Result struct {
	Answer string `json:"answer"`
	// Measured is nil if nothing was.
	Measured *report.Comparison `json:"measured"`

	live *skill.Live
	new  bool // the trial began with it
}

// ResultOf is the result of a run that tried a given text, or of one that waits.
func ResultOf(ctx context.Context, c *campaign.Campaign, res *campaign.Result) (*Result, error) {
	out := &Result{live: c.Live, new: c.Config.Given != nil}
	v := res.Verdict
	d := pareto.Decision{Verdict: v.Decision}
	if o := res.Outcome; o != nil && o.Verdict != nil {
		d = o.Verdict.Decision
	}
	if out.Answer = Answer(&d); v.Cases == 0 && v.Decision.IsOpen() {
		out.Answer = "not tried yet"
	}
	if v.Cases == 0 || res.Challenger == nil {
		return out, nil
	}
	if v.Single && v.Decision == pareto.Promote {
		out.Answer += ", as a single trial"
	}
	var err error
	out.Measured, err = c.Measured(ctx, res.Challenger.SHA)
	return out, err
}

// Waits ends a check whose text waits for requests to be tried on.
func Waits(ctx context.Context, t *term.Terminal, c *campaign.Campaign, w *campaign.WaitingError) error {
	res, err := c.Unrun(ctx, w)
	if err != nil {
		return err
	}
	x, err := ResultOf(ctx, c, res)
	if err != nil {
		return err
	}
	return t.Print(struct {
		*campaign.Result
		Check *Result `json:"check"`
	}{res, x}, x.Text(res, "", t))
}

// Text is the result for a terminal: the table, the answer, and what to type next.
func (x *Result) Text(r *campaign.Result, page string, t *term.Terminal) string {
	var b strings.Builder
	sim := ""
	if r.Simulated {
		sim = " (simulated: nothing here was measured on a real model)"
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-12s %s\n", name, plain.Text(text))
		}
	}
	fmt.Fprintf(&b, "%s: %s%s\n", r.Skill, x.Answer, sim)
	v := r.Verdict
	if v.Cases > 0 {
		line("measured", fmt.Sprintf("on %s: %d better, %d worse, %d the same", plain.Counted(v.Cases, "held-out request"), v.Wins, v.Losses, v.Ties))
	}
	line("because", v.Reason)
	if x.new && (v.Decision == pareto.Promote || v.Decision == pareto.Promising) {
		line("provided", "whoever wrote it has not read these sessions, which are older than it")
	}
	line("still", v.Takes)
	if c := r.Challenger; c != nil {
		line("text", fmt.Sprintf("%.12s, %s", c.SHA, c.DiffStat))
	}
	if s := r.Idle.Text(); s != "" {
		line("idle", fmt.Sprintf("%s; `%s` tries to do without", s, applies.Shorten(r.Skill)))
	}
	line("spent", status.Spent(r.Spent))
	for _, w := range r.Warnings {
		line("warning", w)
	}
	line("report", page)
	sha := ""
	if r.Challenger != nil {
		sha = r.Challenger.SHA
	}
	next := nextAfter(x.live, sha, v.Decision)
	if j := v.Judge; j != nil && !j.Trusted && v.Decision.IsOpen() {
		next = fmt.Sprintf("`evolve review %s`, then the same command: what the judge said counts once it agrees with you", r.Skill)
	} else if r.Status == "stopped" && v.Decision.IsOpen() {
		next = "a cap ended it before an answer: the same command goes on with the requests that are left"
	}
	line("next", next)
	if x.Measured == nil {
		return b.String()
	}
	return x.Measured.Table(report.Look{Width: term.Columns(t.Stdout), Colour: t.Coloured(t.Stdout)}) + "\n" + b.String()
}

// nextAfter is the command to type after an answer, commands in backticks.
func nextAfter(live *skill.Live, sha string, v pareto.Verdict) string {
	try := fmt.Sprintf("`evolve try %s@%s` puts it in place meanwhile, ", live.Name, plain.Short(sha))
	if live.Tracked { // nobody's word puts it there before it is proved
		try = ""
	}
	switch v {
	case pareto.Promote:
		return fmt.Sprintf("`evolve diff %s@%s` shows it, `evolve promote %[1]s@%[2]s` installs it", live.Name, plain.Short(sha))
	case pareto.Promising:
		return try + "nights or the same command go on with your next sessions"
	case pareto.Undecided:
		return fmt.Sprintf("nothing to do; nights or the same command go on with your next sessions, `evolve reject %s@%s` ends that", live.Name, plain.Short(sha))
	}
	return fmt.Sprintf("nothing to do: %s stays as it is", live.Name)
}
