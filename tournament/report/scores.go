package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/search"
)

// scores are the rollouts behind a run's decisions, by case and candidate.
type scores struct {
	byCase        map[string]map[string][]*eval.Rollout
	split         map[string]eval.Split
	known         map[string]*eval.Case
	agent         string
	missing, void int
	unmeasured    search.Unmeasured
}

// newScores takes what the run paid for and, for the run's own candidates,
// what it must have reused: the search's rollouts of the same agent, and the
// pairs of a trial that earlier runs began. The store does not record which
// of them it was; measurements of one agent on one case and trial are
// interchangeable here.
func newScores(d *Data) *scores {
	s := &scores{byCase: map[string]map[string][]*eval.Rollout{}, split: map[string]eval.Split{}, known: map[string]*eval.Case{}}
	for i := range d.Cases {
		c := &d.Cases[i]
		s.split[c.ID], s.known[c.ID] = c.Split, c
	}
	// A held-out case moves to another split once its trial is closed; its
	// split in this run is in the run's configuration.
	var config struct {
		Splits map[string]eval.Split `json:"splits"`
	}
	if json.Unmarshal(d.Run.Config, &config) == nil {
		maps.Copy(s.split, config.Splits)
	}
	type place struct {
		sha, id, arm string
		trial        int
	}
	seen := map[place]bool{}
	add := func(r *eval.Rollout) {
		p := place{r.Candidate, r.CaseID, r.Arm, r.Trial}
		if seen[p] {
			return
		}
		seen[p] = true
		s.unmeasured.Add(r)
		if s.byCase[r.CaseID] == nil {
			s.byCase[r.CaseID] = map[string][]*eval.Rollout{}
		}
		s.byCase[r.CaseID][r.Candidate] = append(s.byCase[r.CaseID][r.Candidate], r)
	}
	var agents [2]*eval.Identity // of the search, and of the gate: it may have another model
	for i := range d.Rollouts {
		r := &d.Rollouts[i]
		agents[part(r)] = &r.Agent
		switch r.Status {
		case eval.Missing:
			s.missing++
		case eval.Void:
			s.void++
		}
		add(r)
	}
	mine := map[string]bool{d.Run.Incumbent: true, d.Run.Challenger: true}
	for _, c := range d.Candidates {
		mine[c.SHA] = true
	}
	trial := gate.Arm("gate", d.Run.Incumbent, d.Run.Challenger)
	for i := range d.Reused {
		r := &d.Reused[i]
		agent := cmp.Or(agents[part(r)], agents[1-part(r)], &r.Agent)
		if agents == [2]*eval.Identity{} {
			agents[part(r)] = agent
		}
		late := !d.Run.Ended.IsZero() && r.Started.After(d.Run.Ended)
		if mine[r.Candidate] && r.Status == eval.Done && r.Agent == *agent && !late && (r.Arm == "" || r.Arm == trial) {
			add(r)
		}
	}
	if agent := cmp.Or(agents[1], agents[0]); agent != nil {
		s.agent = agent.Backend
		if agent.Model != "" {
			s.agent += "/" + agent.Model
		}
	}
	return s
}

// part is 1 for a rollout of the gate, else 0.
func part(r *eval.Rollout) int {
	if strings.HasPrefix(r.Arm, "gate:") {
		return 1
	}
	return 0
}

// mean is the mean quality of a candidate on a case over its scored trials, nil
// for none.
func (s *scores) mean(id, sha string) *float64 {
	sum, n := 0.0, 0
	for _, r := range s.byCase[id][sha] {
		if r.Status == eval.Done {
			sum, n = sum+r.Quality, n+1
		}
	}
	if n == 0 {
		return nil
	}
	q := sum / float64(n)
	return &q
}

// validation lists a candidate's rollouts on validation cases, the gate's left
// out.
func (s *scores) validation(sha string) (out []*eval.Rollout) {
	for _, id := range slices.Sorted(maps.Keys(s.byCase)) { // in order: sums of floats depend on it
		if s.split[id] != eval.Val {
			continue
		}
		for _, r := range s.byCase[id][sha] {
			if part(r) == 0 {
				out = append(out, r)
			}
		}
	}
	return out
}

// lastTrial returns the rollouts of the newest trial: of a confirmed text,
// that is the one that had no part in choosing it.
func lastTrial(rs []*eval.Rollout) []*eval.Rollout {
	last := 0
	for _, r := range rs {
		last = max(last, r.Trial)
	}
	return slices.DeleteFunc(rs, func(r *eval.Rollout) bool { return r.Trial < last })
}

// worth compares the incumbent with no skill on the validation cases that both
// were tried on, nil if there is none.
func (s *scores) worth(incumbent string) *search.Worth {
	var with, without []*eval.Rollout
	for _, r := range s.validation(eval.NoSkill) {
		for _, o := range s.byCase[r.CaseID][incumbent] {
			if r.Status == eval.Done && o.Status == eval.Done && o.Arm == r.Arm && o.Trial == r.Trial {
				with, without = append(with, o), append(without, r)
			}
		}
	}
	if len(with) == 0 {
		return nil
	}
	return &search.Worth{With: eval.Summarise(with), Without: eval.Summarise(without)}
}

// cases counts the cases of a split that a candidate has a score on.
func (s *scores) cases(sha string, split eval.Split) (n int) {
	for id := range s.byCase {
		if s.split[id] == split && s.mean(id, sha) != nil {
			n++
		}
	}
	return n
}
