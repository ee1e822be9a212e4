package sleep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Model is the agent and model that answer, as for the gate: if it changes,
// trials start again and installed versions are compared again.
type Model = record.Model

// A Drift is an installed version, and the model that its evidence is about.
type Drift struct {
	Version  string `json:"version"`            // SHA-256
	Previous string `json:"previous,omitempty"` // SHA-256 of what it replaced, "" if that is gone
	From     Model  `json:"from"`
	To       Model  `json:"to"`
	// Cases counts the held-out cases that its gate has not used, Tries the
	// most attempts of a rollout.
	Cases int `json:"-"`
	Tries int `json:"-"`
}

// Against are the texts that the version is compared with: the version before
// it, and no skill at all.
func (d *Drift) Against() []string {
	if d.Previous == "" {
		return []string{eval.NoSkill}
	}
	return []string{d.Previous, eval.NoSkill}
}

// A Compared is a night's measurement of an installed version on another
// model than the one that it was proved on. It is for the report, and decides
// nothing.
type Compared struct {
	Version string `json:"version"` // SHA-256
	Against string `json:"against"` // SHA-256, or eval.NoSkill
	Model   Model  `json:"model"`
	// Quality is the mean difference in favour of the version; Low and High
	// hold the true one at any stopping time.
	Quality float64   `json:"quality"`
	Low     float64   `json:"low"`
	High    float64   `json:"high"`
	Cases   int       `json:"cases"` // independent ones
	Tried   int       `json:"tried"` // held-out cases; with more of them it is measured again
	Updated time.Time `json:"updated,omitzero"`
}

func (c *Compared) String() string {
	text := "the version before it"
	if c.Against == eval.NoSkill {
		text = "no skill"
	}
	how := "compared with"
	switch {
	case c.High < 0:
		how = "worse than"
	case c.Low > 0:
		how = "better than"
	}
	return fmt.Sprintf("%s %s on %v: quality %+.2f (%+.2f to %+.2f), %s", how, text, c.Model, c.Quality, c.Low, c.High, plain.Counted(c.Cases, "case"))
}

// ComparedOf are the comparisons of a version, the latest model's last.
func (s *State) ComparedOf(version string) (out []Compared) {
	for _, c := range s.Compared {
		if c.Version == version {
			out = append(out, c)
		}
	}
	return out
}

func (s *State) compared(version, against string, on Model) int {
	return slices.IndexFunc(s.Compared, func(c Compared) bool {
		return c.Version == version && c.Against == against && c.Model.Agent == on.Agent && c.Model.Simulated == on.Simulated && !on.DriftedFrom(c.Model)
	})
}

// keep replaces the earlier result for the same texts on the same model.
func (s *State) keep(c Compared) {
	if k := s.compared(c.Version, c.Against, c.Model); k >= 0 {
		s.Compared = slices.Delete(s.Compared, k, k+1)
	}
	s.Compared = append(s.Compared, c)
}

// planCompare plans the comparison for a changed model, nil if the model is
// the same, or the last comparison has used every held-out case.
func (c *Cycle) planCompare(o *Outlook, st *State) *Step {
	d := o.Drift
	if d == nil || c.Parts.Compare == nil || !d.To.DriftedFrom(d.From) {
		return nil
	}
	against := slices.DeleteFunc(d.Against(), func(text string) bool {
		k := st.compared(d.Version, text, d.To)
		return k >= 0 && st.Compared[k].Tried >= d.Cases
	})
	if d.Cases == 0 || len(against) == 0 {
		return nil
	}
	return &Step{Kind: Compare, Skill: o.Skill, Live: d.Version, Stage: Planned, Drift: d, Rollouts: int64(2 * len(against) * d.Cases * max(1, d.Tries)),
		Note: fmt.Sprintf("found better on %v, the agent is %v now: %d unseen requests", d.From, d.To, d.Cases)}
}

// compare measures an installed version on tonight's model, and keeps the
// result.
func (c *Cycle) compare(ctx context.Context, n *Night, i int) error {
	s := &n.Steps[i]
	var found []Compared
	r, ok, err := c.attempt(ctx, n, i, func(t Task) (r Result, err error) {
		found, r, err = c.Parts.Compare(ctx, t, *s.Drift)
		return r, err
	})
	if !ok || err != nil {
		return err
	}
	var words []string
	err = c.update(ctx, n, s.Skill, func(st *State) {
		for _, k := range found {
			k.Updated = s.Began
			st.keep(k)
			words = append(words, k.String())
		}
	})
	if err != nil {
		return err
	}
	if r.Reason != "" {
		words = append(words, r.Reason)
	}
	s.Note = cmp.Or(strings.Join(words, "; "), "no case has a score with both texts")
	return c.end(ctx, n, s, Done)
}
