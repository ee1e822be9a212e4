package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
)

// runResult is what `evolve --skill NAME --json` prints: schema 1.
type runResult struct {
	Schema     int               `json:"schema"`
	Run        string            `json:"run"`
	Skill      string            `json:"skill"`
	Simulated  bool              `json:"simulated"`
	Status     string            `json:"status"`
	Incumbent  resultVersion     `json:"incumbent"`
	Challenger *resultChallenger `json:"challenger"`
	// Standing is the SHA-256 of the undecided challenger that kept its place, "" for
	// none.
	Standing string `json:"standing,omitempty"`
	// Shorter is a text that only lacks lines of the incumbent and was no worse on
	// validation; null where none was found, or --evolve shorten asked for it.
	Shorter *resultShorter `json:"shorter"`
	Verdict *resultVerdict `json:"verdict"`
	Front   []resultPoint  `json:"front"`
	// Worth compares the incumbent with no skill at all on the same validation
	// cases; null where nothing was left to measure it.
	Worth     *tournament.Worth `json:"worth"`
	Spent     eval.Spent        `json:"spent"`
	Kernel    resultKernel      `json:"kernel"`
	Search    *tournament.Stats `json:"search,omitempty"`
	Stop      string            `json:"stop,omitempty"`
	Warnings  []string          `json:"warnings"`
	Installed bool              `json:"installed"`
	// Targets says what became of each, with --promote and a proof.
	Targets []release.Placed `json:"targets"`
	Report  string           `json:"report"`
}

type resultVersion struct {
	Version int          `json:"version"`
	SHA     string       `json:"sha256"`
	Metrics eval.Metrics `json:"metrics"`
}

type resultChallenger struct {
	SHA      string       `json:"sha256"`
	Path     string       `json:"path"`
	Metrics  eval.Metrics `json:"metrics"`
	DiffStat string       `json:"diff_stat"`
	// Shorter is set where it only lacks lines of the incumbent.
	Shorter *tournament.Shorter `json:"shorter,omitempty"`
}

type resultShorter struct {
	SHA     string       `json:"sha256"`
	Metrics eval.Metrics `json:"metrics"`
	Lines   int          `json:"lines"` // that it lacks, whole or in part
}

// resultVerdict flattens the gate's decision; without a gate Decision is "none".
type resultVerdict struct {
	Decision string  `json:"decision"`
	Reason   string  `json:"reason"`
	EValue   float64 `json:"e_value"`
	Alpha    float64 `json:"alpha"`
	Wins     int     `json:"wins"`
	Losses   int     `json:"losses"`
	Ties     int     `json:"ties"`
	Cases    int     `json:"cases"`
	// Judge is set where held-out cases rest on a judge alone.
	Judge *resultJudge `json:"judge,omitempty"`
}

// resultJudge says how well the judge agrees with the owner's labels.
type resultJudge struct {
	Kappa   pareto.KappaEstimate `json:"kappa"`
	Trusted bool                 `json:"trusted"`
	words   string
}

type resultPoint struct {
	SHA     string       `json:"sha256"`
	Metrics eval.Metrics `json:"metrics"`
}

type resultKernel struct {
	SHA       string `json:"sha256"`
	Unchanged bool   `json:"unchanged"`
}

// conclude stages what a run found, installs it where that was asked for and
// proved, and says so.
func (a *app) conclude(ctx context.Context, p *prepared, out *tournament.Outcome) error {
	res, err := a.result(ctx, p, out)
	if err != nil {
		return err
	}
	var refusal error // the run is told all the same: it was paid for
	if p.f.promote && out.Verdict != nil && out.Verdict.Verdict == pareto.Promote {
		var done []release.Placed
		if done, refusal = a.installProved(ctx, p, out); len(done) > 0 {
			res.Targets = done
		}
		if refusal != nil {
			res.Warnings = append(res.Warnings, "not installed: "+oneLine(refusal.Error()))
		}
		var some *release.PartialError
		res.Installed = refusal == nil || errors.As(refusal, &some) && some.Some()
	}
	if err := a.guardQuarantine(ctx, p.db, p.run.Skill); err != nil {
		res.Warnings = append(res.Warnings, "texts in quarantine are not kept from being loaded: "+oneLine(err.Error()))
	}
	if v := out.Verdict; v != nil && v.Verdict == pareto.Promote && !res.Installed && res.Challenger != nil && res.Challenger.Shorter == nil {
		a.leaveNote(p.run.Skill, hook.Waiting, "a better version (%.12s) is proved and waits: `evolve diff %s@%.12[1]s`, `evolve promote %[2]s`", res.Challenger.SHA, p.run.Skill)
	}
	if res.Report, err = a.writeReport(ctx, p.db, p.run.ID); err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(res)
	} else {
		err = a.printResult(res)
	}
	var drift *skill.DriftError
	switch {
	case err != nil:
	case errors.As(refusal, &drift):
		err = problem.Hinted(refusal, fmt.Sprintf("your edit stays; `evolve --skill %s` tries to better the edited text", p.run.Skill))
	case refusal != nil:
		err = refusal
	case out.BudgetStop:
		err = &quietExit{exitStopped}
	}
	return err
}

// result gathers a run's outcome and writes the challenger's text to disk.
func (a *app) result(ctx context.Context, p *prepared, out *tournament.Outcome) (*runResult, error) {
	inc := p.plan.Incumbent
	res := &runResult{Schema: 1, Run: p.run.ID, Skill: p.run.Skill, Simulated: p.run.Simulated, Status: string(p.run.Status),
		Incumbent: resultVersion{SHA: inc.SHA()}, Spent: out.Spent, Warnings: append([]string{}, out.Warnings...),
		Kernel: resultKernel{SHA: inc.Doc.KernelHash(), Unchanged: true}, Front: []resultPoint{}, Targets: []release.Placed{}}
	if v, err := p.db.VersionBySHA(ctx, p.run.Skill, inc.SHA()); err == nil {
		res.Incumbent.Version = v.N
	}
	if w := p.f.farBeyond(p.foreseen, out.Spent); w != "" {
		res.Warnings = append(res.Warnings, w)
	}
	res.Worth = out.Worth
	var challenger *skill.Document
	if s := out.Search; s != nil {
		res.Incumbent.Metrics, res.Search, res.Stop = s.Incumbent.Metrics, &s.Stats, s.Stop
		res.Front = front(s.Pool, s.Noise)
		if c := s.Shorter; c != nil {
			doc, err := skill.Parse(c.Text, inc.Doc.Options())
			if err != nil {
				return nil, fmt.Errorf("read the shorter text: %w", err)
			}
			if lack := tournament.ShorterThan(inc.Doc, doc, nil); lack != nil {
				res.Shorter = &resultShorter{c.SHA, c.Metrics, lack.Untested}
			}
		}
	}
	if c := out.Challenger; c != nil {
		doc, err := skill.Parse(c.Text, inc.Doc.Options())
		if err != nil {
			return nil, fmt.Errorf("read challenger: %w", err)
		}
		challenger = doc
		res.Challenger = &resultChallenger{SHA: c.SHA, Metrics: c.Metrics}
	} else if p.plan.Carried != nil {
		challenger = p.plan.Carried.Doc
		res.Challenger = &resultChallenger{SHA: challenger.Hash()}
	}
	if challenger != nil {
		path, err := a.stage(p.run.Skill, challenger)
		if err != nil {
			return nil, err
		}
		res.Challenger.Path, res.Challenger.DiffStat = path, diffStat(inc.Doc, challenger)
		res.Challenger.Shorter = tournament.ShorterThan(inc.Doc, challenger, p.cases)
		res.Kernel.Unchanged = challenger.KernelHash() == inc.Doc.KernelHash()
		if !res.Kernel.Unchanged {
			return nil, &tournament.KernelError{Candidate: challenger.Hash()}
		}
	}
	switch v := out.Verdict; {
	case v != nil:
		res.Verdict = &resultVerdict{string(v.Verdict), v.Reason, finite(v.EValue), v.Alpha, v.Wins, v.Losses, v.Ties, v.Cases, nil}
		if j := v.Judge; j != nil {
			res.Verdict.Judge = &resultJudge{pareto.Kappa(j.Labels), j.Trusted(), j.String()}
		}
		res.Warnings = append(res.Warnings, v.Warnings...)
	case p.f.NoGate:
		res.Verdict = &resultVerdict{Decision: "none", Reason: "the gate was left out (--no-gate)"}
	case p.f.Standing != "":
		res.Standing = p.f.Standing
		res.Verdict = &resultVerdict{Decision: "none", Reason: fmt.Sprintf("no text was better than challenger %.12s: its trial continues with new cases", p.f.Standing)}
	default:
		res.Verdict = &resultVerdict{Decision: "none", Reason: "nothing beat the incumbent on validation"}
	}
	return res, nil
}

// front is the set of pooled candidates that no other one dominates on the four
// objectives as they were measured on validation.
func front(pool []tournament.Scored, noise tournament.Noise) []resultPoint {
	var full []tournament.Scored
	var metrics []eval.Metrics
	for _, c := range pool {
		if c.Full {
			full, metrics = append(full, c), append(metrics, c.Metrics)
		}
	}
	out := []resultPoint{}
	for _, k := range tournament.FrontWithin(metrics, noise) {
		out = append(out, resultPoint{full[k].SHA, full[k].Metrics})
	}
	return out
}

// stage writes a challenger's text to the data folder, where it can be read,
// compared and promoted from.
func (a *app) stage(name string, doc *skill.Document) (string, error) {
	h, err := a.home()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(h.Staged(), name, doc.Hash()[:16])
	if path := filepath.Join(dir, skill.FileName); a.access != datadir.Writes {
		if !exists(path) {
			path = ""
		}
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("stage challenger: %w", err)
	}
	path := filepath.Join(dir, skill.FileName)
	if err := renameio.WriteFile(path, doc.Render(), 0o600); err != nil {
		return "", fmt.Errorf("stage challenger: %w", err)
	}
	return path, nil
}

// printResult says in a few lines what came of a run.
func (a *app) printResult(r *runResult) error {
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
		fmt.Fprintf(&b, "  challenger   %.12s, %s, kernel unchanged\n", c.SHA, c.DiffStat)
		if c.Shorter != nil {
			fmt.Fprintf(&b, "               %s; `evolve promote` alone installs it\n", c.Shorter)
		}
	} else if r.Standing != "" && r.Incumbent.Metrics.N > 0 {
		fmt.Fprintf(&b, "  validation   quality %.2f; nothing beat the challenger that waits (%s)\n", r.Incumbent.Metrics.Quality, r.Stop)
	} else if r.Incumbent.Metrics.N > 0 {
		fmt.Fprintf(&b, "  validation   quality %.2f on %s; nothing beat it (%s)\n", r.Incumbent.Metrics.Quality, plain.Counted(r.Incumbent.Metrics.Cases, "case"), r.Stop)
	}
	if w := r.Worth; w != nil {
		fmt.Fprintf(&b, "  worth        %s\n", report.Worth(w, fmt.Sprintf("v%d", r.Incumbent.Version), r.Incumbent.Metrics.Cases))
	}
	if v := r.Verdict; v.Decision != "none" {
		fmt.Fprintf(&b, "  verdict      %s: %s\n", v.Decision, v.Reason)
	} else {
		fmt.Fprintf(&b, "  verdict      none: %s\n", v.Reason)
	}
	if j := r.Verdict.Judge; j != nil && j.Trusted { // else a warning tells
		fmt.Fprintf(&b, "  judge        agrees with your labels: %s\n", j.words)
	}
	if s := r.Shorter; s != nil {
		fmt.Fprintf(&b, "  shorter      without %s it was no worse on validation: `evolve --skill %s --evolve shorten` tries that\n", plain.Counted(s.Lines, "line"), r.Skill)
	}
	if r.Search != nil && r.Search.Quarantined > 0 {
		fmt.Fprintf(&b, "  quarantine   %s asked for more than the skill may do: `evolve status` says what to type\n", plain.Counted(r.Search.Quarantined, "candidate"))
	}
	fmt.Fprintf(&b, "  spent        %s\n", spent(r.Spent))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "  warning      %s\n", w)
	}
	if r.Report != "" && !a.passing {
		fmt.Fprintf(&b, "  report       %s\n", r.Report)
	}
	if a.kept != "" {
		fmt.Fprintf(&b, "  kept         `%s`, and every command works on this demo\n", a.kept)
	}
	next := r.next()
	if a.passing {
		next = "`evolve demo --keep DIR` keeps the skill, its versions and the report; `evolve --skill NAME` does it to yours"
	}
	fmt.Fprintf(&b, "  next         %s\n", next)
	_, err := fmt.Fprint(a.Stdout, a.Folded(b.String()))
	return err
}

// next is what to type after a run.
func (r *runResult) next() string {
	s := report.Standing{Skill: r.Skill, Stopped: r.Status == string(tournament.Stopped), Installed: r.Installed,
		Doubted: r.Verdict.Judge != nil && !r.Verdict.Judge.Trusted}
	if r.Challenger != nil {
		s.Challenger, s.Shorter = r.Challenger.SHA, r.Challenger.Shorter != nil
	}
	if r.Verdict.Decision != "none" {
		s.Decision = pareto.Verdict(r.Verdict.Decision)
	}
	return s.Next()
}

// spent says what a run took, in one line.
func spent(s eval.Spent) string {
	cost := s.Dollars()
	if s.Nothing() {
		return cost
	}
	if !s.CostKnown {
		cost += " (" + untold(s) + ")"
	}
	tokens := plain.Thousands(s.TokensIn+s.TokensOut) + " tokens"
	if s.TokensIn+s.TokensOut == 0 && s.Rollouts > 0 {
		tokens = "tokens unknown" // no attempt takes none: nobody told
	}
	miner := ""
	if s.MinerCalls > 0 {
		miner = fmt.Sprintf(", %d to read your corrections", s.MinerCalls)
	}
	return fmt.Sprintf("%d rollouts, %d mutator and %d judge calls%s, %s, %s, %s", s.Rollouts, s.MutatorCalls, s.JudgeCalls, miner,
		tokens, cost, report.Duration(s.WallMS))
}

// untold says why a cost is not known.
func untold(s eval.Spent) string {
	if s.Uncounted > 0 {
		return plain.Counted(int(s.Uncounted), "call") + " reported no usage"
	}
	return "no price for this model"
}

// ratio is new/old as a factor, "unknown" where either is.
func ratio(old, new *float64) string {
	if old == nil || new == nil || *old <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("×%.2f", *new / *old)
}

// diffStat counts what changed between two texts, in blocks, or in words where
// it is the description alone.
func diffStat(old, new *skill.Document) string {
	if was, is := old.Description(), new.Description(); was != is && bytes.Equal(old.Body(), new.Body()) {
		return fmt.Sprintf("its description: %d → %d words", len(strings.Fields(was)), len(strings.Fields(is)))
	}
	added, removed := mutate.Stat(old.View(), new.View())
	return fmt.Sprintf("+%d -%d blocks, about %+d tokens", added, removed,
		skill.Tokens(string(new.Body()))-skill.Tokens(string(old.Body())))
}

// finite keeps a value that JSON can carry.
func finite(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return math.MaxFloat64
	}
	return x
}

func sha256Hex(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
