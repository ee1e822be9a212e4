package campaign

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/search"
)

// A Result is the result of a run: schema 1.
type Result struct {
	Schema     int         `json:"schema"`
	Run        string      `json:"run"`
	Skill      string      `json:"skill"`
	Subject    subject.Ref `json:"subject"`
	Simulated  bool        `json:"simulated"`
	Status     string      `json:"status"`
	Incumbent  Incumbent   `json:"incumbent"`
	Challenger *Challenger `json:"challenger"`
	// Standing is the SHA-256 of the undecided challenger that kept its
	// place, "" for none.
	Standing string `json:"standing,omitempty"`
	// Shorter is a text that only lacks lines of the incumbent and was no
	// worse on validation; null if none was found, or if --evolve shorten
	// asked for it.
	Shorter *Shorter `json:"shorter"`
	Verdict *Verdict `json:"verdict"`
	Front   []Point  `json:"front"`
	// Worth compares the incumbent with no skill at all on the same
	// validation cases; null if the budget was used up before.
	Worth    *search.Worth  `json:"worth"`
	Spent    eval.Spent     `json:"spent"`
	Kernel   Kernel         `json:"kernel"`
	Search   *search.Stats  `json:"search,omitempty"`
	Stop     string         `json:"stop,omitempty"`
	Probes   *probes.Report `json:"kernel_probes,omitempty"` // nil unless the gate proved a text of a skill with locked rules
	Idle     *applies.Idle  `json:"idle,omitempty"`          // lines of a file of instructions that applied to nothing
	Warnings []string       `json:"warnings"`

	// Outcome is the result of the search and the gate; nil for a run that
	// ended before.
	Outcome *search.Outcome `json:"-"`
	doc     *skill.Document // the challenger's
}

// An Incumbent is the text that a run tried to improve.
type Incumbent struct {
	Version int          `json:"version"`
	SHA     string       `json:"sha256"`
	Metrics eval.Metrics `json:"metrics"`
}

// A Challenger is the text that a run put on trial.
type Challenger struct {
	SHA      string       `json:"sha256"`
	Path     string       `json:"path"`
	Metrics  eval.Metrics `json:"metrics"`
	DiffStat string       `json:"diff_stat"`
	// Shorter is set if it only lacks lines of the incumbent.
	Shorter *search.Shorter `json:"shorter,omitempty"`
}

// A Shorter is a text that only lacks lines of the incumbent.
type Shorter struct {
	SHA     string       `json:"sha256"`
	Metrics eval.Metrics `json:"metrics"`
	Lines   int          `json:"lines"` // that it lacks, whole or in part
}

// A Verdict flattens the gate's decision; without a gate Decision is "none".
type Verdict struct {
	Decision pareto.Verdict `json:"decision"`
	Route    string         `json:"-"` // of pareto.Decision
	Reason   string         `json:"reason"`
	EValue   float64        `json:"e_value"`
	Alpha    float64        `json:"alpha"`
	Wins     int            `json:"wins"`
	Losses   int            `json:"losses"`
	Ties     int            `json:"ties"`
	Cases    int            `json:"cases"`
	// Heard is what the verdict is about, nil if that is not known.
	Heard *record.Heard `json:"heard,omitempty"`
	// Share is to how many requests the changed lines of a file of instructions apply, and
	// Rest what is known of the others.
	Share *record.Share        `json:"share,omitempty"`
	Rest  *pareto.RestEvidence `json:"rest,omitempty"`
	// Beside is what the new text does to the requests of other skills.
	Beside []record.Beside `json:"beside,omitempty"`
	// Workers is the evidence without each worker of a fleet, and Controls how they agree.
	Workers  []pareto.WithoutWorker `json:"workers,omitempty"`
	Controls *record.Controls       `json:"controls,omitempty"`
	// Single: a promotion is proved as a single trial, and not among all trials of the skill.
	Single bool `json:"single_trial,omitempty"`
	// Takes describes what a promising trial still takes.
	Takes string `json:"takes,omitempty"`
	// Judge is set if a judge checks held-out cases.
	Judge *Judge `json:"judge,omitempty"`
	// Model and SearchModel are as in gate.Verdict.
	Model       string `json:"model,omitempty"`
	SearchModel string `json:"search_model,omitempty"`
}

// A Judge is how well the judge agrees with the owner's labels.
type Judge struct {
	Kappa   pareto.KappaEstimate `json:"kappa"`
	Trusted bool                 `json:"trusted"`
	// Sensitivity is record.Calibration.Sensitivity, nil if it is not known.
	Sensitivity *float64 `json:"sensitivity"`
	// Reviews is how many reviews the next look at the judge takes.
	Reviews int    `json:"reviews_missing"`
	Words   string `json:"-"`
}

// A Point is a text that no other one of the search dominates.
type Point struct {
	SHA     string       `json:"sha256"`
	Metrics eval.Metrics `json:"metrics"`
}

// A Kernel is the kernel of the skill, and whether the challenger has it.
type Kernel struct {
	SHA       string `json:"sha256"`
	Unchanged bool   `json:"unchanged"`
}

// result gathers a run's outcome and writes the challenger's text to disk.
func (c *Campaign) result(ctx context.Context, out *search.Outcome) (res *Result, err error) {
	inc := c.plan.Incumbent
	res = c.emptyResult(ctx, inc.Doc)
	res.Outcome, res.Run, res.Simulated, res.Status = out, c.run.ID, c.run.Simulated, string(c.run.Status)
	res.Spent, res.Worth = out.Spent, out.Worth
	res.Warnings = append(res.Warnings, out.Warnings...)
	if w := c.Config.farBeyond(c.forecast, out.Spent); w != "" {
		res.Warnings = append(res.Warnings, w)
	}
	var challenger *skill.Document
	if s := out.Search; s != nil {
		res.Incumbent.Metrics, res.Search, res.Stop = s.Incumbent.Metrics, &s.Stats, s.Stop
		res.Front = front(s.Pool, s.Noise)
		if found := s.Shorter; found != nil {
			doc, err := skill.Parse(found.Text, inc.Doc.Options())
			if err != nil {
				return nil, fmt.Errorf("read the shorter text: %w", err)
			}
			if lack := search.ShorterThan(inc.Doc, doc, nil); lack != nil {
				res.Shorter = &Shorter{found.SHA, found.Metrics, lack.Untested}
			}
		}
	}
	if found := out.Challenger; found != nil {
		doc, err := skill.Parse(found.Text, inc.Doc.Options())
		if err != nil {
			return nil, fmt.Errorf("read new text: %w", err)
		}
		challenger = doc
		res.Challenger = &Challenger{SHA: found.SHA, Metrics: found.Metrics}
	} else if c.plan.Carried != nil {
		challenger = c.plan.Carried.Doc
		res.Challenger = &Challenger{SHA: challenger.Hash()}
	}
	if res.doc = challenger; challenger != nil {
		if err := c.describe(res, inc.Doc, challenger); err != nil {
			return nil, err
		}
		if !res.Kernel.Unchanged {
			return nil, &search.KernelError{Candidate: challenger.Hash()}
		}
	}
	read := inc.Doc
	if c.Config.Given != nil { // whose lines nobody has read yet
		read = challenger
	}
	if res.Idle, err = applies.FindIdle(ctx, c.plan.Reader, read, c.cases); err != nil {
		return nil, err
	}
	switch v := out.Verdict; {
	case v != nil:
		res.Verdict = &Verdict{Decision: v.Verdict, Route: v.Route, Reason: v.Reason, EValue: pareto.Finite(v.EValue), Alpha: v.Alpha, Wins: v.Wins, Losses: v.Losses,
			Ties: v.Ties, Cases: v.Cases, Heard: v.Heard, Share: v.Share, Rest: v.Rest, Beside: v.Beside, Workers: v.Workers, Controls: v.Controls, Single: v.Single, Model: v.Model, SearchModel: v.SearchModel}
		if j := v.Judge; j != nil {
			res.Verdict.Judge = &Judge{pareto.Kappa(j.Labels), j.Trusted(), nil, j.Reviews(), j.String()}
			if l := j.Sensitivity(); l > 0 {
				res.Verdict.Judge.Sensitivity = &l
			}
		}
		if res.Verdict.Takes, err = c.StillTakes(ctx, v.Decision, v.Share); err != nil {
			return nil, err
		}
		res.Warnings = append(res.Warnings, v.Warnings...)
	case c.Config.Given != nil:
		res.Verdict = &Verdict{Decision: pareto.Undecided, Reason: "a cap ended the run before the second reader had read the text"}
	case c.Config.NoGate:
		res.Verdict = &Verdict{Decision: "none", Reason: "the trial was left out (--no-gate)"}
	case c.Config.Standing != "":
		res.Standing = c.Config.Standing
		res.Verdict = &Verdict{Decision: "none", Reason: fmt.Sprintf("no text was better than new text %.12s: its trial continues with new cases", c.Config.Standing)}
	default:
		res.Verdict = &Verdict{Decision: "none", Reason: "nothing beat your text on validation"}
	}
	return res, nil
}

// emptyResult returns a result with the incumbent alone.
func (c *Campaign) emptyResult(ctx context.Context, incumbent *skill.Document) *Result {
	res := &Result{Schema: 1, Skill: c.Config.Skill, Subject: subject.Parse(c.Config.Skill), Incumbent: Incumbent{SHA: incumbent.Hash()},
		Kernel: Kernel{incumbent.KernelHash(), true}, Front: []Point{}, Warnings: []string{}}
	if v, err := c.db.VersionBySHA(ctx, res.Skill, incumbent.Hash()); err == nil {
		res.Incumbent.Version = v.N
	}
	return res
}

// describe writes the challenger's text to disk, and its difference to the
// result.
func (c *Campaign) describe(res *Result, incumbent, doc *skill.Document) (err error) {
	ch := res.Challenger
	ch.DiffStat, ch.Shorter = diffStat(incumbent, doc), search.ShorterThan(incumbent, doc, c.cases)
	res.Kernel.Unchanged = doc.KernelHash() == incumbent.KernelHash()
	ch.Path, err = c.runner.stage(res.Skill, doc)
	return err
}

// front is the set of pooled candidates that no other one dominates on the
// four objectives, as measured on validation.
func front(pool []search.Scored, noise search.Noise) []Point {
	var full []search.Scored
	var metrics []eval.Metrics
	for _, c := range pool {
		if c.Full {
			full, metrics = append(full, c), append(metrics, c.Metrics)
		}
	}
	out := []Point{}
	for _, k := range search.Front(metrics, noise) {
		out = append(out, Point{full[k].SHA, full[k].Metrics})
	}
	return out
}

// stage writes a challenger's text to the data folder, from which it can be
// read, compared and promoted.
func (r *Runner) stage(name string, doc *skill.Document) (string, error) {
	dir := filepath.Join(r.Dir.Staged(), name, datadir.TextName(doc.Hash()))
	if path := filepath.Join(dir, skill.FileName); r.Access != datadir.Writes {
		if _, err := os.Stat(path); err != nil {
			path = ""
		}
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("stage new text: %w", err)
	}
	path := filepath.Join(dir, skill.FileName)
	if err := renameio.WriteFile(path, doc.Render(), 0o600); err != nil {
		return "", fmt.Errorf("stage new text: %w", err)
	}
	return path, nil
}

// diffStat counts what changed between two texts, in blocks, or in words if
// only the description did.
func diffStat(old, new *skill.Document) string {
	if was, is := old.Description(), new.Description(); was != is && bytes.Equal(old.Body(), new.Body()) {
		return fmt.Sprintf("its description: %d → %d words", len(strings.Fields(was)), len(strings.Fields(is)))
	}
	added, removed := mutate.Stat(old.View(), new.View())
	return fmt.Sprintf("+%d -%d blocks, about %+d tokens", added, removed,
		skill.Tokens(string(new.Body()))-skill.Tokens(string(old.Body())))
}

// Install installs the change that the run's own gate proved in the text that is live now,
// in the named targets, nil for those configured.
func (c *Campaign) Install(ctx context.Context, to []skill.Target) (*release.Result, error) {
	live, err := c.runner.Layout.Live(c.Config.Skill)
	if err != nil {
		return nil, err
	}
	in := c.runner.Installer(c.db)
	if err := in.Record(ctx, live); err != nil {
		return nil, err
	}
	v, err := in.Proved(ctx, live, c.run)
	if err != nil {
		return nil, err
	}
	plan, err := in.PlanProved(ctx, live, v, to)
	if err != nil {
		return nil, err
	}
	return in.Apply(ctx, plan)
}
