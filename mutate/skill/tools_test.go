package skill

import (
	"slices"
	"testing"
)

func TestAllowedTools(t *testing.T) {
	for front, want := range map[string][]string{
		"allowed-tools: Read Bash(git add *) Grep\n":     {"Read", "Bash(git add *)", "Grep"},
		"allowed-tools: Read, Bash(a, b), mcp__x__y\n":   {"Read", "Bash(a, b)", "mcp__x__y"},
		"allowed-tools:\n  - Read\n  - \"Bash(ls *)\"\n": {"Read", "Bash(ls *)"},
		"allowed-tools:\n":                 nil,
		"allowed-tools: {a: b}\n":          nil,
		"license: MIT\n":                   nil,
		"allowed-tools: Bash(never ends\n": {"Bash(never ends"},
	} {
		d := parse(t, "---\nname: x\ndescription: d\n"+front+"---\n# X\n")
		if got := d.AllowedTools(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", front, got, want)
		}
	}
}
