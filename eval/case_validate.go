package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// The check types. All are inert, they read what was recorded, but Command and
// Exec, which run a program.
const (
	Contains        = "contains"          // the answer contains Value, letter case included
	NotContains     = "not_contains"      // it does not
	Regex           = "regex"             // the RE2 pattern Value matches somewhere in the answer
	NotRegex        = "not_regex"         // it matches nowhere
	Equals          = "equals"            // the answer is Value, space around both aside
	JSONSchema      = "json_schema"       // the answer, a code fence aside, is JSON that Schema accepts
	MaxChars        = "max_chars"         // the answer has at most Max runes
	ToolCalled      = "tool_called"       // the trace has a call of the tool Value
	SkillInvoked    = "skill_invoked"     // the agent loaded the skill Value
	SkillNotInvoked = "skill_not_invoked" // it did not
	Trigger         = "trigger"           // it loaded the case's skill or left it alone, as ShouldTrigger says, and loaded Neighbour
	FileExists      = "file_exists"       // Path is a file in the workspace
	FileContains    = "file_contains"     // and contains Value, letter case included
	Judge           = "judge"             // a model's opinion of the answer against Rubric
	Command         = "command"           // Command, run in the workspace, exits with 0
	Exec            = "exec"              // Command reads {case, rollout} and prints {"score", "feedback"}
)

// CheckTypes are all values of Check.Type.
var CheckTypes = []string{Contains, NotContains, Regex, NotRegex, Equals, JSONSchema, MaxChars,
	ToolCalled, SkillInvoked, SkillNotInvoked, Trigger, FileExists, FileContains, Judge, Command, Exec}

// checkFields lists, per type, the fields that a check needs. It may have no
// others but weight and feedback.
var checkFields = map[string][]string{
	Contains: {"value"}, NotContains: {"value"}, Regex: {"value"}, NotRegex: {"value"}, Equals: {"value"},
	JSONSchema: {"schema"}, MaxChars: {"max"}, ToolCalled: {"value"}, SkillInvoked: {"value"},
	SkillNotInvoked: {"value"}, Trigger: {},
	FileExists: {"path"}, FileContains: {"path", "value"}, Judge: {"rubric"},
	Command: {"command"}, Exec: {"command"},
}

// Executing reports whether the check runs a program. Mined and generated
// cases never hold such a check.
func (k *Check) Executing() bool { return k.Type == Command || k.Type == Exec }

// weight is the check's weight with the default in place.
func (k *Check) weight() float64 {
	if k.Weight == 0 {
		return 1
	}
	return k.Weight
}

// Validate reports the first thing that makes c unusable: no id, skill, prompt
// or check, a check that lacks what its type needs or holds what it cannot use,
// a pattern or schema that does not compile, a path that leaves the workspace, a
// generated case that is held out or runs a program, a trigger case that asks
// for anything but which skill is loaded.
func (c *Case) Validate() error {
	if c.ID == "" {
		return errors.New("validate case: no id")
	}
	if err := c.validate(); err != nil {
		return fmt.Errorf("validate case %q: %w", c.ID, err)
	}
	return nil
}

func (c *Case) validate() error {
	switch {
	case c.Skill == "":
		return errors.New("no skill")
	case strings.TrimSpace(c.Prompt) == "":
		return errors.New("no prompt")
	case len(c.Checks) == 0 && !c.IsTrigger():
		return errors.New("no checks: nothing would tell a good answer from a bad one")
	case c.Workspace != nil && c.Workspace.Repo == "":
		return errors.New("workspace: no repo")
	}
	switch c.Split {
	case Unassigned, Train, Val, Test:
	default:
		return fmt.Errorf("unknown split %q%s", c.Split, didYouMean(string(c.Split),
			[]string{string(Train), string(Val), string(Test)}))
	}
	if err := c.validateTrigger(); err != nil {
		return err
	}
	if c.Generated() {
		if c.Split == Test {
			return errors.New("a generated case cannot be held out (split test)")
		}
		if i := slices.IndexFunc(c.Checks, func(k Check) bool { return k.Executing() }); i >= 0 {
			return fmt.Errorf("checks[%d]: a generated case cannot run a program (%s)", i, c.Checks[i].Type)
		}
	}
	for i, m := range c.Context {
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Errorf("context[%d]: role %q, want user or assistant", i, m.Role)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		if err := validPath(path); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
	for i := range c.Checks {
		if err := c.Checks[i].validate(); err != nil {
			return fmt.Errorf("checks[%d]: %w", i, err)
		}
	}
	return nil
}

func (k *Check) validate() error {
	needs, ok := checkFields[k.Type]
	if !ok {
		return fmt.Errorf("unknown check type %q%s", k.Type, didYouMean(k.Type, CheckTypes))
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"value", k.Value != ""}, {"path", k.Path != ""}, {"max", k.Max != 0}, {"schema", len(k.Schema) > 0},
		{"rubric", strings.TrimSpace(k.Rubric) != ""}, {"command", len(k.Command) > 0},
	} {
		switch need := slices.Contains(needs, f.name); {
		case need && !f.set:
			return fmt.Errorf("%s: no %s", k.Type, f.name)
		case !need && f.set:
			takes := strings.Join(needs, ", ")
			if takes == "" {
				takes = "nothing but weight and feedback"
			}
			return fmt.Errorf("%s: has no use for %s (it takes %s)", k.Type, f.name, takes)
		}
	}
	if k.Weight < 0 || math.IsNaN(k.Weight) || math.IsInf(k.Weight, 0) {
		return fmt.Errorf("%s: weight %v, want a number above 0 (leave it out for 1)", k.Type, k.Weight)
	}
	switch k.Type {
	case Regex, NotRegex:
		if _, err := regexp.Compile(k.Value); err != nil {
			return fmt.Errorf("%s: %w", k.Type, err)
		}
	case JSONSchema:
		if _, err := compileSchema(k.Schema); err != nil {
			return fmt.Errorf("%s: %w", k.Type, err)
		}
	case MaxChars:
		if k.Max < 0 {
			return fmt.Errorf("%s: max %d, want a number above 0", k.Type, k.Max)
		}
	case FileExists, FileContains:
		if err := validPath(k.Path); err != nil {
			return fmt.Errorf("%s: %w", k.Type, err)
		}
	case Command, Exec:
		if k.Command[0] == "" {
			return fmt.Errorf("%s: the program's name is empty", k.Type)
		}
	}
	return nil
}

// validPath accepts slash-separated paths that stay inside a workspace on every
// system. A case must not plant a repository either: git runs what its
// configuration names.
func validPath(path string) error {
	if !fs.ValidPath(path) || path == "." || strings.ContainsAny(path, "\\:\x00") {
		return fmt.Errorf("path %q does not stay inside the workspace", path)
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("path %q: .git is not for cases to write", path)
		}
	}
	return nil
}
