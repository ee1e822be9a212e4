package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/checking"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/status"
)

// runResult is what `evolve --skill NAME --json` prints: schema 1.
type runResult struct {
	campaign.Result
	Installed bool `json:"installed"`
	// TrialInstall is what became of a text that was in place on trial, "" if it goes on, or
	// there was none.
	TrialInstall string `json:"trial_install,omitempty"`
	// Targets has the result for each target, with --promote and a proof.
	Targets []release.Placed `json:"targets"`
	Report  string           `json:"report"`
	// Check is what a text came to that was given, and not searched for.
	Check *checking.Result `json:"check,omitempty"`

	promote string // the command that installs the challenger
}

// concludeRun prints the result of a run, and first installs its challenger
// if --promote was given and the gate proved it.
func concludeRun(ctx context.Context, a *global, f *runFlags, c *campaign.Campaign, found *campaign.Result) (err error) {
	res, out := &runResult{Result: *found, Targets: []release.Placed{}}, found.Outcome
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	var refusal error // the result is printed all the same: it was paid for
	res.TrialInstall, res.Installed = c.Settled.Words, c.Settled.Kept
	if p := found.Probes; p != nil && p.Against != "" && (!a.isDemo() || p.Holds()) {
		res.Warnings = append(res.Warnings, p.Against)
	}
	if f.promote && !res.Installed && !found.Probes.Holds() && out.Verdict != nil && out.Verdict.Verdict == pareto.Promote {
		var placed []release.Placed
		if placed, refusal = installProved(ctx, a, f, c, found); len(placed) > 0 {
			res.Targets = placed
		}
		if refusal != nil {
			res.Warnings = append(res.Warnings, "not installed: "+oneLine(refusal.Error()))
		}
		var some *release.PartialError
		res.Installed = refusal == nil || errors.As(refusal, &some) && some.Some()
	}
	o, err := a.outbox()
	if err != nil {
		return err
	}
	if err := o.Guard(ctx, db, res.Skill); err != nil {
		res.Warnings = append(res.Warnings, "texts in quarantine may be loaded by agents: "+oneLine(err.Error()))
	}
	if res.Challenger != nil {
		if res.promote, err = tracked.Command(ctx, db, c.Live, res.Challenger.SHA, res.Skill); err != nil {
			return err
		}
	}
	if v := out.Verdict; v != nil && v.Verdict == pareto.Promote && !res.Installed && res.Challenger != nil && res.Challenger.Shorter == nil {
		o.Leave(res.Skill, hook.Waiting, "a better version (%.12s, at most 5 %% luck) waits: `evolve diff %s@%.12[1]s`, `%[3]s`", res.Challenger.SHA, res.Skill, res.promote)
	}
	if res.Report, err = writeReport(ctx, a, db, res.Run); err != nil {
		return err
	}
	if f.checks || c.Config.Given != nil {
		if res.Check, err = checking.ResultOf(ctx, db, c, found); err != nil {
			return err
		}
	}
	err = printResult(a, res)
	var drift *install.DriftError
	switch {
	case err != nil:
	case errors.As(refusal, &drift):
		err = problem.Hinted(refusal, fmt.Sprintf("your edit stays; `evolve --skill %s` tries to improve the edited text", res.Skill))
	case refusal != nil:
		err = refusal
	case out.BudgetStop:
		err = &quietExit{exitStopped}
	}
	return err
}

// installProved installs the challenger that the run's own gate proved, and
// returns the targets.
func installProved(ctx context.Context, a *global, f *runFlags, c *campaign.Campaign, found *campaign.Result) ([]release.Placed, error) {
	to, err := namedTargets(a, c.Config.Skill, f.to)
	if err != nil {
		return nil, err
	}
	if why := record.Against(found.Verdict.Beside); why != "" {
		return nil, problem.Refusef(fmt.Sprintf("`evolve promote %s` installs it all the same", c.Config.Skill), "%s", why)
	}
	done, err := c.Install(ctx, to)
	if err != nil {
		return nil, err
	}
	return sayProved(a, done, to != nil)
}

// printResult prints a summary of a run.
func printResult(a *global, r *runResult) error {
	if r.Check != nil {
		return a.Print(r, r.Check.Text(&r.Result, r.Report, &a.Terminal))
	}
	var b strings.Builder
	sim := ""
	if r.Simulated {
		sim = " (simulated: nothing here was measured on a real model)"
	}
	fmt.Fprintf(&b, "%s: run %s%s\n", r.Skill, r.Run, sim)
	if c := r.Challenger; c != nil {
		if c.Metrics.N > 0 {
			old, new := &r.Incumbent.Metrics, &c.Metrics
			on := plain.Counted(new.Cases, "case")
			if old.Cases != new.Cases { // a cap ended the search before all were tried
				on = fmt.Sprintf("%d and %s", old.Cases, on)
			}
			fmt.Fprintf(&b, "  validation   quality %.2f → %.2f on %s, tokens %s, retries %.2f → %.2f\n", old.Quality, new.Quality, on,
				ratio(old.Tokens, new.Tokens), old.Retries, new.Retries)
		}
		fmt.Fprintf(&b, "  new text     %.12s, %s, locked lines unchanged\n", c.SHA, c.DiffStat)
		if c.Shorter != nil {
			fmt.Fprintf(&b, "               %s; `evolve promote` alone installs it\n", c.Shorter)
		}
	} else if r.Standing != "" && r.Incumbent.Metrics.N > 0 {
		fmt.Fprintf(&b, "  validation   quality %.2f; nothing beat the new text that waits (%s)\n", r.Incumbent.Metrics.Quality, r.Stop)
	} else if r.Incumbent.Metrics.N > 0 {
		fmt.Fprintf(&b, "  validation   quality %.2f on %s; nothing beat it (%s)\n", r.Incumbent.Metrics.Quality, plain.Counted(r.Incumbent.Metrics.Cases, "case"), r.Stop)
	}
	if w := r.Worth; w != nil {
		fmt.Fprintf(&b, "  worth        %s\n", report.Worth(w, fmt.Sprintf("v%d", r.Incumbent.Version), r.Incumbent.Metrics.Cases))
	}
	if v := r.Verdict; v.Decision != "none" {
		alone := ""
		if v.Single && v.Decision == pareto.Promote {
			alone = ", as a single trial"
		}
		fmt.Fprintf(&b, "  verdict      %s%s: %s\n", pareto.Answer(v.Decision, v.Route), alone, v.Reason)
	} else {
		fmt.Fprintf(&b, "  verdict      no difference seen: %s\n", v.Reason)
	}
	if v := r.Outcome.Verdict; v != nil && v.Measured() != "" {
		fmt.Fprintf(&b, "               %s\n", v.Measured())
	}
	if v := r.Verdict; v.Heard != nil && (v.Decision == pareto.Promote || v.Decision == pareto.Promising) {
		fmt.Fprintf(&b, "  heard        %s\n", v.Heard)
	}
	for i := range r.Verdict.Beside {
		fmt.Fprintf(&b, "  together     %s\n", &r.Verdict.Beside[i])
	}
	if s := r.Verdict.Takes; s != "" {
		fmt.Fprintf(&b, "  still        %s\n", s)
	}
	if j := r.Verdict.Judge; j != nil && j.Trusted { // otherwise a warning reports it
		fmt.Fprintf(&b, "  judge        agrees with your labels: %s\n", j.Words)
	}
	if s := r.Shorter; s != nil {
		fmt.Fprintf(&b, "  shorter      without %s it was no worse on validation: `evolve --skill %s --evolve shorten` tries that\n", plain.Counted(s.Lines, "line"), r.Skill)
	}
	if s := r.Idle.Text(); s != "" {
		fmt.Fprintf(&b, "  idle         %s; `%s` tries to do without\n", s, applies.Shorten(r.Skill))
	}
	if r.Search != nil && r.Search.Quarantined > 0 {
		fmt.Fprintf(&b, "  quarantine   %s asked for more than the skill may do: `evolve status` shows the commands\n", plain.Counted(r.Search.Quarantined, "candidate"))
	}
	fmt.Fprintf(&b, "  spent        %s\n", status.Spent(r.Spent))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "  warning      %s\n", w)
	}
	if r.TrialInstall != "" {
		fmt.Fprintf(&b, "  trial        %s\n", r.TrialInstall)
	}
	if r.Report != "" && !a.demo.passing {
		fmt.Fprintf(&b, "  report       %s\n", r.Report)
	}
	if a.demo.kept != "" {
		fmt.Fprintf(&b, "  kept         `%s`, and every command works on this demo\n", a.demo.kept)
	}
	next := r.next()
	if a.demo.passing {
		next = "`evolve demo --keep DIR` keeps the skill, its versions and the report; `evolve --skill NAME` does it to yours"
	}
	fmt.Fprintf(&b, "  next         %s\n", next)
	return a.Print(r, b.String())
}

// next is the command to type after a run.
func (r *runResult) next() string {
	s := report.Standing{Skill: r.Skill, Promote: r.promote, Stopped: r.Status == string(record.Stopped), Installed: r.Installed,
		Doubted: r.Verdict.Judge != nil && !r.Verdict.Judge.Trusted}
	if r.Challenger != nil {
		s.Challenger, s.Shorter = r.Challenger.SHA, r.Challenger.Shorter != nil
	}
	if r.Verdict.Decision != "none" {
		s.Decision = pareto.Verdict(r.Verdict.Decision)
	}
	return s.Next()
}

// ratio is new/old as a factor, "unknown" if either is.
func ratio(old, new *float64) string {
	if old == nil || new == nil || *old <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("×%.2f", *new / *old)
}

// sayWaiting ends a run whose challenger waits for cases, which is no failure.
func sayWaiting(ctx context.Context, a *global, c *campaign.Campaign, w *campaign.WaitingError) error {
	for _, line := range c.Found() {
		a.Say("%s", line)
	}
	if a.JSON {
		return errors.Join(printUnrun(ctx, a, c, w), &quietExit{exitDone})
	}
	res, err := c.Unrun(ctx, w)
	if err != nil {
		return err
	}
	if s := res.Verdict.Takes; s != "" {
		a.Say("%s", s)
	}
	_ = a.Show(fmt.Sprintf("%s: %v; %s\nnext: keep using the skill, and its trial continues with the new sessions; or search for a better text with `evolve --skill %s --anew`\n",
		c.Config.Skill, w, c.SpentReading(), c.Config.Skill))
	return &quietExit{exitDone}
}

// tooFew ends a run that has too few cases to learn from: it is reported, and no failure.
func tooFew(ctx context.Context, a *global, c *campaign.Campaign, few *campaign.TooFewCasesError) error {
	for _, line := range c.TooFew() {
		a.Say("%s", line)
	}
	if a.JSON {
		if err := printUnrun(ctx, a, c, few); err != nil {
			return err
		}
	}
	return &quietExit{exitDone}
}

// printUnrun prints the result of a run that ended before its search began.
func printUnrun(ctx context.Context, a *global, c *campaign.Campaign, why error) error {
	res, err := c.Unrun(ctx, why)
	if err != nil {
		return err
	}
	return a.PrintJSON(&runResult{Result: *res, Targets: []release.Placed{}})
}
