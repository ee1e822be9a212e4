package check

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// A skill of about the size that the specification advises at most.
func BenchmarkCheck(b *testing.B) {
	text := house + strings.Repeat("- Prefer a few well chosen colours, and label every axis with its unit so that readers can tell.\n", 200)
	parent, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		b.Fatal(err)
	}
	child, err := parent.WithView(strings.Replace(parent.View(), "Prefer few", "Use few", 1))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if fs := Check(parent, child, ClaudeCode); Worst(fs) != Warn {
			b.Fatal(fs)
		}
	}
}

// A candidate is read for the first time when it is checked; its parent was read
// with the candidates before it.
func BenchmarkCheckOfANewCandidate(b *testing.B) {
	text := house + strings.Repeat("- Prefer a few well chosen colours, and label every axis with its unit so that readers can tell.\n", 200)
	parent, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		b.Fatal(err)
	}
	view := strings.Replace(parent.View(), "Prefer few", "Use few", 1)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		child, err := parent.WithView(view)
		if err != nil {
			b.Fatal(err)
		}
		if fs := Check(parent, child, ClaudeCode); Worst(fs) != Warn {
			b.Fatal(fs)
		}
	}
}
