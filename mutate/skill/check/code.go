package check

import (
	"context"

	"github.com/skill-evolve/evolve/mutate/script"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// code compares the script of a hook with the one that it was made from, by its syntax tree.
func code(parent, child *skill.Document) (out []Finding) {
	found, err := script.Check(context.Background(), parent.Render(), child.Render(), child.Language())
	if err != nil {
		return []Finding{{Rule: "unread", Severity: Reject, Reason: err.Error()}}
	}
	for _, f := range found {
		severity := Reject
		if f.Kind == script.Held {
			severity = Quarantine
		}
		out = append(out, Finding{Rule: f.Rule, Severity: severity, Line: f.Line, Reason: f.Text, Phrase: f.Phrase})
	}
	return out
}
