package eval

import (
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestKeysOfAnswerChecks: a case with checks of answers and files has the key that it had when
// there were no others, and so keeps its rollouts.
func TestKeysOfAnswerChecks(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n# S\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &Case{ID: "c", Skill: "s", Prompt: "p", Files: map[string]string{"a": "b"},
		Checks: []Check{{Type: Contains, Value: "x"}, {Type: NotContains, Value: "x"}, {Type: Regex, Value: "x"}, {Type: NotRegex, Value: "x"},
			{Type: Equals, Value: "x", Weight: 2, Feedback: "f"}, {Type: JSONSchema, Schema: []byte(`{"type": "object"}`)}, {Type: MaxChars, Max: 9},
			{Type: ToolCalled, Value: "x"}, {Type: SkillInvoked, Value: "x"}, {Type: SkillNotInvoked, Value: "x"}, {Type: FileExists, Path: "x"},
			{Type: FileContains, Path: "x", Value: "y"}, {Type: Judge, Rubric: "x"}, {Type: Command, Command: []string{"x", "y"}}, {Type: Exec, Command: []string{"x"}}}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	j := Job{Variant: Variant{Name: "s", Doc: doc}, Case: c, Trial: 1, Arm: "gate:t"}
	const want = "4ad264ed809970c62fb45f9d0a072ba70fea2a9ecd7d29d98390a62baee33f32"
	if got := j.Key(Setting{Agent: Identity{Backend: "b", Version: "1", Model: "m"}, Grader: "g"}); got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	c.Checks = append(c.Checks, Check{Type: Ran, Value: "x"})
	before := j.Key(Setting{})
	c.Checks[len(c.Checks)-1].After = "last_edit"
	if j.Key(Setting{}) == before {
		t.Error("when a command must have been run is not part of the key")
	}
}
