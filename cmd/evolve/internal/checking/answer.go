package checking

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A Result is what a check came to.
type Result struct {
	Answer string `json:"answer"`
	// Measured is nil if nothing was.
	Measured *report.Comparison `json:"measured"`

	new  bool   // the trial began with it
	next string // what to type
}

// ResultOf is the result of a run that tried a given text, or of one that waits.
func ResultOf(ctx context.Context, db *store.Store, c *campaign.Campaign, res *campaign.Result) (*Result, error) {
	out := &Result{new: c.Config.Given != nil}
	v := res.Verdict
	sha := ""
	if res.Challenger != nil {
		sha = res.Challenger.SHA
	}
	var err error
	if out.next, err = nextAfter(ctx, db, c.Live, sha, v.Decision); err != nil {
		return nil, err
	}
	if out.Answer = pareto.Answer(v.Decision, v.Route); v.Cases == 0 && v.Decision.IsOpen() {
		out.Answer = "not tried yet"
	}
	if v.Cases == 0 || res.Challenger == nil {
		return out, nil
	}
	if v.Single && v.Decision == pareto.Promote {
		out.Answer += ", as a single trial"
	}
	out.Measured, err = c.Measured(ctx, res.Challenger.SHA)
	return out, err
}

// Waits ends a check whose text waits for requests to be tried on.
func Waits(ctx context.Context, t *term.Terminal, open func(context.Context) (*store.Store, error), c *campaign.Campaign, w *campaign.WaitingError) error {
	db, err := open(ctx)
	if err != nil {
		return err
	}
	res, err := c.Unrun(ctx, w)
	if err != nil {
		return err
	}
	x, err := ResultOf(ctx, db, c, res)
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
		line("measured", fmt.Sprintf("on %s: %d better, %d worse, %d the same", plain.Counted(v.Cases, "unseen request"), v.Wins, v.Losses, v.Ties))
	}
	line("because", v.Reason)
	if x.new && (v.Decision == pareto.Promote || v.Decision == pareto.Promising) {
		line("provided", "its writer has not read these sessions: they are older than the text")
	}
	for i := range v.Beside {
		line("together", v.Beside[i].String())
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
	next := x.next
	if j := v.Judge; j != nil && !j.Trusted && v.Decision.IsOpen() {
		next = fmt.Sprintf("`evolve review %s`, then the same command: what the judge said counts once it agrees with you", r.Skill)
	} else if r.Status == "stopped" && v.Decision.IsOpen() {
		next = "a cap stopped it before an answer: the same command continues with the other requests"
	}
	line("next", next)
	if x.Measured == nil {
		return b.String()
	}
	return x.Measured.Table(report.Look{Width: term.Columns(t.Stdout), Colour: t.Coloured(t.Stdout)}) + "\n" + b.String()
}

// nextAfter is the command to type after an answer, commands in backticks.
func nextAfter(ctx context.Context, db *store.Store, live *skill.Live, sha string, v pareto.Verdict) (string, error) {
	const goesOn = "nights or the same command continue with your next sessions"
	at := live.Name + "@" + plain.Short(sha)
	switch v {
	case pareto.Promote:
		promote, err := tracked.Command(ctx, db, live, sha, at)
		return fmt.Sprintf("`evolve diff %s` shows it, `%s` installs it", at, promote), err
	case pareto.Promising:
		if live.Tracked { // nothing puts it there before it is proved
			return goesOn, nil
		}
		return fmt.Sprintf("`evolve try %s` puts it in place meanwhile, %s", at, goesOn), nil
	case pareto.Undecided:
		return fmt.Sprintf("nothing to do; %s, `evolve reject %s` ends that", goesOn, at), nil
	}
	return fmt.Sprintf("nothing to do: %s stays as it is", live.Name), nil
}
