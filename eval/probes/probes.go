// Package probes tests the rules of a kernel as behaviour: requests that tempt an agent to break
// a rule, and checks that see when it does. It holds what a rule and a probe are, whether two
// texts differ in how often they break a rule, and what the owner has approved.
package probes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
)

// A Probe is a request that tempts an agent to break a rule, and the checks of which one fails
// if it does. It is no case: neither the search nor the mutator sees it, and it is no evidence
// that a text is better.
type Probe struct {
	ID       string            `json:"id"`
	Rule     Rule              `json:"rule"`
	Prompt   string            `json:"prompt"`
	Files    map[string]string `json:"files,omitempty"`
	Checks   []eval.Check      `json:"checks"`
	Feedback string            `json:"feedback"` // what a failed check shows, for the owner
}

// An Untested rule has no probe.
type Untested struct {
	Rule Rule   `json:"rule"`
	Why  string `json:"why"`
}

// A Set is the probes of the kernel of one skill: schema 1.
type Set struct {
	Schema   int        `json:"schema"`
	Skill    string     `json:"skill"`
	Kernel   string     `json:"kernel_sha256"` // of the kernel that they were last completed for
	Writer   string     `json:"written_by"`    // the model, "" for the owner
	Approved *time.Time `json:"approved"`      // by the owner; null is not yet
	Probes   []Probe    `json:"probes"`
	Untested []Untested `json:"untested"`
}

// Missing are the rules that the set neither probes nor names as untested. It may be nil.
func (s *Set) Missing(rules []Rule) (out []Rule) {
	for _, r := range rules {
		if s == nil || len(s.Of(r)) == 0 && !slices.ContainsFunc(s.Untested, func(u Untested) bool { return u.Rule.ID == r.ID }) {
			out = append(out, r)
		}
	}
	return out
}

// rules are those that the set has probes of, as it names them.
func (s *Set) rules() (out []Rule) {
	for i := range s.Probes {
		out = append(out, s.Probes[i].Rule)
	}
	return out
}

// Of are the probes of a rule.
func (s *Set) Of(r Rule) (out []Probe) {
	for _, p := range s.Probes {
		if p.Rule.ID == r.ID {
			out = append(out, p)
		}
	}
	return out
}

// For is the part of the set that is about these rules, with their present lines.
func (s *Set) For(rules []Rule) *Set {
	out := *s
	out.Probes, out.Untested = []Probe{}, []Untested{}
	for _, r := range rules {
		for _, p := range s.Of(r) {
			p.Rule = r
			out.Probes = append(out.Probes, p)
		}
		for _, u := range s.Untested {
			if u.Rule.ID == r.ID {
				u.Rule = r
				out.Untested = append(out.Untested, u)
			}
		}
	}
	return &out
}

// Fingerprint is from all that can change an answer or its grade.
func (s *Set) Fingerprint() string {
	type asked struct {
		Rule, Prompt string
		Files        map[string]string
		Checks       []eval.Check
	}
	var all []asked
	for _, p := range s.Probes {
		all = append(all, asked{p.Rule.ID, p.Prompt, p.Files, p.Checks})
	}
	data, err := json.Marshal(all)
	if err != nil {
		panic(err) // it was read from JSON
	}
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// Bounds on what is approved at once.
const (
	maxProbes = 60
	maxOfRule = 8
	maxText   = 8000 // bytes of a request, a file or a check
)

// Check refuses a set that cannot be run: a probe without a check, a check that runs a program,
// or one about a rule that the kernel does not have.
func (s *Set) Check(rules []Rule) error {
	if s.Schema != 1 {
		return fmt.Errorf("schema %d is not 1", s.Schema)
	}
	if len(s.Probes) > maxProbes {
		return fmt.Errorf("%d probes are more than %d", len(s.Probes), maxProbes)
	}
	ids := map[string]bool{}
	for i := range s.Probes {
		p := &s.Probes[i]
		if err := p.check(rules); err != nil {
			return fmt.Errorf("probe %q: %w", p.ID, err)
		}
		if ids[p.ID] {
			return fmt.Errorf("probe %q is there twice", p.ID)
		}
		if ids[p.ID] = true; len(s.Of(p.Rule)) > maxOfRule {
			return fmt.Errorf("more than %d probes of the rule %q", maxOfRule, p.Rule.Text)
		}
	}
	for _, u := range s.Untested {
		if u.Why == "" {
			return fmt.Errorf("the rule %q has no probe, and no reason why", u.Rule.Text)
		}
	}
	return nil
}

func (p *Probe) check(rules []Rule) error {
	if !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == p.Rule.ID }) {
		return fmt.Errorf("the kernel has no rule %q with the id %q", p.Rule.Text, p.Rule.ID)
	}
	for i := range p.Checks {
		k := &p.Checks[i]
		if k.Executing() || !slices.Contains(check.Writable(true), k.Type) {
			return fmt.Errorf("a check %q is not for probes", k.Type)
		}
		if len(k.Value)+len(k.Path)+len(k.Rubric)+len(k.Feedback) > maxText {
			return errors.New("a check is too long")
		}
		if strings.Contains(k.Value, "[redacted:") { // an answer may speak of the mark and keep the secret
			return errors.New("what a check looks for was taken for a secret and replaced: write a made-up one as ordinary words")
		}
	}
	size := len(p.Prompt)
	for _, text := range p.Files {
		size = max(size, len(text))
	}
	if size > maxText || len(p.Files) > 12 {
		return errors.New("the request or its files are too long")
	}
	c := p.Case("x")
	return c.Validate()
}

// Case is the probe as an agent gets it.
func (p *Probe) Case(skill string) eval.Case {
	return eval.Case{ID: "probe-" + p.ID, Skill: skill, Prompt: p.Prompt, Files: p.Files, Checks: p.Checks}
}

// Broken reports whether a replay of a probe broke its rule; ok is false if that is not known,
// because the agent gave no answer or the checks could not be made.
func Broken(r *eval.Rollout) (broken, ok bool) {
	if r == nil || r.Status != eval.Done || r.Failure != "" {
		return false, false
	}
	return r.Quality < 1-1e-9, true
}
