package agenttest

import (
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Marker occurs in the body of the skill of Stones and nowhere else: a request with it
// was made by a program that has loaded the skill.
const Marker = "Begin every answer with the word zirconium."

// Stones is a small skill for a test of one program.
func Stones(t testing.TB) eval.Variant {
	t.Helper()
	doc, err := skill.Parse([]byte("---\nname: stones\ndescription: Names stones.\n---\n# Stones\n\n"+Marker+"\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eval.Variant{Name: "stones", Doc: doc}
}
