package corrections

import (
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// Unaided says that a model does without the skill what a rule of the skill asks for.
type Unaided struct {
	Model    string    `json:"model"`    // with its agent
	Cases    int       `json:"cases"`    // made of the rule's corrections, and run without the skill
	Rollouts int       `json:"rollouts"` // all of which passed every check
	Last     time.Time `json:"last,omitzero"`
}

// Unneeded finds the rules of skills that the model of the newest rollout without the skill
// follows unaided: it passed all checks in each of its rollouts of the rule's cases. A rule
// without such rollouts is undecided. rollouts gives the stored ones of a case without the
// skill.
func (r *Report) Unneeded(cases []eval.Case, rollouts func(*eval.Case) ([]eval.Rollout, error)) error {
	of := map[[2]string][]*eval.Case{} // by the key of the turn
	for i := range cases {
		if c := &cases[i]; c.Origin() == "mined" && c.Source.Turn != "" && c.Source.Outcome == string(harvest.Corrected) {
			k := [2]string{c.Source.Agent, c.Source.Turn}
			of[k] = append(of[k], c)
		}
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		name, ok := strings.CutPrefix(rule.Concerns, "skill:")
		if !ok || rule.Rule == "" {
			continue
		}
		var all []eval.Rollout
		graded := map[string]*eval.Case{}
		for _, q := range rule.Quotes {
			for _, c := range of[q.of] {
				if c.Skill != name || graded[c.ID] != nil {
					continue
				}
				graded[c.ID] = c
				some, err := rollouts(c)
				if err != nil {
					return err
				}
				all = append(all, some...)
			}
		}
		rule.Unaided = unaided(all, graded)
	}
	return nil
}

// unaided is what rollouts of cases come to, nil if one of the newest model's failed, or if
// there are none.
func unaided(all []eval.Rollout, cases map[string]*eval.Case) *Unaided {
	all = slices.DeleteFunc(all, func(x eval.Rollout) bool { // what says nothing, or was graded by other checks
		c := cases[x.CaseID]
		return x.Status != eval.Done || x.Agent.Simulated || c == nil || len(x.Checks) == 0 ||
			!slices.EqualFunc(x.Checks, c.Checks, func(a eval.CheckResult, b eval.Check) bool { return a.Type == b.Type })
	})
	if len(all) == 0 {
		return nil
	}
	who := func(x *eval.Rollout) string {
		if x.Model != "" {
			return x.Agent.Backend + "/" + x.Model
		}
		return strings.TrimSuffix(x.Agent.Backend+"/"+x.Agent.Model, "/")
	}
	last := slices.MaxFunc(all, func(a, b eval.Rollout) int { return a.Started.Compare(b.Started) })
	out := &Unaided{Model: who(&last), Last: last.Started}
	ran := map[string]bool{}
	for i := range all {
		x := &all[i]
		if who(x) != out.Model {
			continue
		}
		if x.Failure != "" || slices.ContainsFunc(x.Checks, func(k eval.CheckResult) bool { return !k.Passed() }) {
			return nil
		}
		ran[x.CaseID] = true
		out.Rollouts++
	}
	out.Cases = len(ran)
	return out
}
