// Package check grades an answer by one criterion; each type of check is a Type in a file
// of its own and a line in types.go.
package check

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A Check is one criterion of a case. Which fields it needs depends on Type; see
// Validate.
type Check struct {
	Type string `json:"type"`
	// Value is the text (contains, not_contains, equals, file_contains), the
	// RE2 pattern (regex, not_regex, added, not_added), the tool (tool_called), the skill
	// (skill_invoked, skill_not_invoked), the command (ran, not_ran) or the name of one
	// (tests).
	Value string `json:"value,omitempty"`
	// Path is a file (file_exists, file_contains) or a glob over files (changed,
	// not_changed, added, not_added).
	Path    string          `json:"path,omitempty"`
	After   string          `json:"after,omitempty"`  // ran, not_ran: LastEdit or nothing
	Max     int             `json:"max,omitempty"`    // max_chars, in runes
	Schema  json.RawMessage `json:"schema,omitempty"` // json_schema
	Rubric  string          `json:"rubric,omitempty"` // judge
	Command []string        `json:"command,omitempty"`
	// Weight is relative to the case's other checks; 0 or absent means 1.
	Weight float64 `json:"weight,omitempty"`
	// Feedback is what the mutator may read if the check fails. If it is empty, the
	// mutator is shown the literal value instead.
	Feedback string `json:"feedback,omitempty"`
}

// A Result is one check's outcome on one rollout.
type Result struct {
	Type     string  `json:"type"`
	Score    float64 `json:"score"` // [0,1]
	Weight   float64 `json:"weight"`
	Feedback string  `json:"feedback,omitempty"` // for the mutator; empty when the score is 1
	Evidence string  `json:"evidence,omitempty"` // for the owner: a judge's quote, a program's output
	// Missing: the judge or the program could not be reached; then the whole rollout is
	// missing.
	Missing bool `json:"missing,omitempty"`
}

// PassMark is the score from which a check counts as passed. Below it the user
// would have to ask again.
const PassMark = 0.5

// Passed reports whether the check was met well enough.
func (r *Result) Passed() bool { return r.Score >= PassMark }

// A Type is a kind of check.
type Type interface {
	Spec() Spec
	// Validate returns the first fault of a check that has the fields of Spec and no
	// others.
	Validate(k *Check) error
	// Grade scores the check. An error means that the infrastructure failed; if the
	// check cannot be decided, the Result is Missing.
	Grade(ctx context.Context, k *Check, s *Subject) (Result, error)
	// Explain is the feedback of a failed check for which the owner wrote none.
	Explain(k *Check) string
}

// A Spec describes a type.
type Spec struct {
	Name   string
	Fields []string // required
	// Optional are further fields; a check may have no others but weight and feedback.
	Optional []string
	Runs     bool  // runs a program: for cases that the owner has read
	Asks     bool  // calls a model
	Files    bool  // reads what the agent left in the workspace
	Work     bool  // reads what was recorded of the agent's work
	Cases    Cases // in which it may be
	// Example is the check as a model may write it, and Means its meaning; "" if it
	// cannot be graded by the answer, or the recorded work, alone.
	Example, Means string
	Text           string // label of Value, Max, Schema or Rubric in a form
}

// Cases are the kinds of cases that may have a check of a type.
type Cases uint8

// Most types grade answers, which trigger cases do not have.
const (
	AnswerCases Cases = iota
	AllCases
	TriggerCases
)

// A Subject is an answer to be graded, with everything that grading needs.
type Subject struct {
	Skill, Prompt, Reference string // of the case
	ShouldTrigger            *bool
	Neighbour                string

	Answer       string
	Trace        []ToolCall
	Work         *Work    // nil if nobody recorded it
	ShowWork     bool     // to a judge
	Skills       []string // every skill that was loaded
	SkillInvoked *bool    // whether Skill was; nil if the backend does not report it
	Workspace    string   // the folder that the agent worked in; "" if there is none

	// Record is what a program reads on stdin: case and rollout as JSON.
	Record   func() ([]byte, error)
	Programs ProgramRunner
	Limit    time.Duration // of one program
	Ask      func(ctx context.Context, p Prompt) (Reply, error)
	Redact   func(text string) string // for Ask's prompt
}

// A ToolCall is one tool use in an agent's trace.
type ToolCall struct {
	Name   string `json:"name"`
	Input  string `json:"input,omitempty"` // compact JSON or text, redacted and capped
	Failed bool   `json:"failed,omitempty"`
}

// find returns the type of that name.
func find(name string) (Type, bool) {
	i := slices.IndexFunc(types, func(t Type) bool { return t.Spec().Name == name })
	if i < 0 {
		return nil, false
	}
	return types[i], true
}

// Specs are those of all types, in the order of types.go.
func Specs() []Spec {
	list := make([]Spec, len(types))
	for i, t := range types {
		list[i] = t.Spec()
	}
	return list
}

// Names are the names of the types for which keep is true, in order; nil is all.
func Names(keep func(s Spec) bool) (names []string) {
	for _, s := range Specs() {
		if keep == nil || keep(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Writable are the types of the checks that a model may write: of answers and, if work was
// recorded, of that.
func Writable(work bool) []string {
	return Names(func(s Spec) bool { return s.Example != "" && (work || !s.Work) })
}

// ListTypes inserts the checks that a model may write into its prompt, one per line; see
// Writable.
func ListTypes(prompt string, work bool) string {
	var b strings.Builder
	for _, name := range Writable(work) {
		s := (&Check{Type: name}).Spec()
		fmt.Fprintf(&b, "%-43s %s\n", `{"type":"`+s.Name+`",`+s.Example+"}", s.Means)
	}
	return strings.Replace(prompt, "{{check types}}\n", b.String(), 1)
}

// Spec is that of the check's type; for an unknown type it has only the name.
func (k *Check) Spec() Spec {
	if t, ok := find(k.Type); ok {
		return t.Spec()
	}
	return Spec{Name: k.Type}
}

// Executing reports whether the check runs a program. Generated cases never hold such a
// check, and mined ones only Tests that their owner confirmed.
func (k *Check) Executing() bool { return k.Spec().Runs }

// Asks reports whether grading the check calls a model.
func (k *Check) Asks() bool { return k.Spec().Asks }

// Criterion is what the check asks for, in words.
func (k *Check) Criterion() string {
	switch {
	case k.Rubric != "":
		return k.Rubric
	case k.Type == MaxChars:
		return fmt.Sprintf("at most %d characters", k.Max)
	case k.Path != "" && k.Value != "":
		return fmt.Sprintf("%s %s: %s", k.Type, k.Path, k.Value)
	case k.Path != "" || k.Value != "":
		return fmt.Sprintf("%s: %s", k.Type, k.Path+k.Value)
	}
	return k.Type
}

// Relative is the check's weight with the default in place.
func (k *Check) Relative() float64 {
	if k.Weight == 0 {
		return 1
	}
	return k.Weight
}

// Known reports whether the check's type exists.
func (k *Check) Known() bool {
	_, ok := find(k.Type)
	return ok
}

// Validate returns the first fault of the check: a field that its type lacks or cannot
// use, or an invalid value.
func (k *Check) Validate() error {
	t, ok := find(k.Type)
	if !ok {
		return fmt.Errorf("unknown check type %q", k.Type)
	}
	needs, may := t.Spec().Fields, t.Spec().Optional
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"value", k.Value != ""}, {"path", k.Path != ""}, {"max", k.Max != 0}, {"schema", len(k.Schema) > 0},
		{"rubric", strings.TrimSpace(k.Rubric) != ""}, {"command", len(k.Command) > 0}, {"after", k.After != ""},
	} {
		switch need := slices.Contains(needs, f.name); {
		case need && !f.set:
			return fmt.Errorf("%s: no %s", k.Type, f.name)
		case !need && f.set && !slices.Contains(may, f.name):
			takes := strings.Join(slices.Concat(needs, may), ", ")
			if takes == "" {
				takes = "nothing but weight and feedback"
			}
			return fmt.Errorf("%s: has no use for %s (it takes %s)", k.Type, f.name, takes)
		}
	}
	if k.Weight < 0 || math.IsNaN(k.Weight) || math.IsInf(k.Weight, 0) {
		return fmt.Errorf("%s: weight %v, want a number above 0 (leave it out for 1)", k.Type, k.Weight)
	}
	if err := t.Validate(k); err != nil {
		return fmt.Errorf("%s: %w", k.Type, err)
	}
	return nil
}

// Grade scores the check. An error means that the infrastructure failed.
func (k *Check) Grade(ctx context.Context, s *Subject) (Result, error) {
	t, ok := find(k.Type)
	if !ok {
		return Result{}, fmt.Errorf("unknown check type %q", k.Type)
	}
	return t.Grade(ctx, k, s)
}

// Blame is what the mutator may read if the check fails: the feedback that the case's
// owner wrote, else what the check looks for, literally.
func (k *Check) Blame() string {
	if k.Feedback != "" {
		return k.Feedback
	}
	if t, ok := find(k.Type); ok {
		return t.Explain(k)
	}
	return fmt.Sprintf("The check %q failed.", k.Type)
}

// pass is the result of a check that is met or not.
func (k *Check) pass(ok bool) Result {
	if ok {
		return Result{Score: 1}
	}
	return Result{Feedback: k.Blame()}
}
