package script

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// Rules is a rule file, which hook-kit reads: nothing in it executes, and it has no kernel.
const Rules Language = "rules"

// checkRules finds what makes a text no rule file, or a guard that its owner has to look at: one
// that stops nothing, or every call of a tool. What the parent has is not judged.
func checkRules(parent, candidate []byte) ([]Finding, error) {
	was, err := rulefile.Parse(parent)
	if err != nil {
		return nil, fmt.Errorf("check script: the parent is no rule file: %w", err)
	}
	if found := checkText(parent, candidate); len(found) > 0 {
		return found, nil
	}
	is, err := rulefile.Parse(candidate)
	if err != nil {
		return []Finding{{Rule: "syntax", Text: "It is no rule file: " + err.Error() + "."}}, nil
	}
	var found []Finding
	if len(is.Rules) == 0 && len(was.Rules) > 0 {
		found = append(found, Finding{Kind: Held, Rule: "rules", Text: "It has no rule, and stops nothing."})
	}
	for i, r := range is.Rules {
		if r.All() && !slices.ContainsFunc(was.Rules, func(o rulefile.Rule) bool { return reflect.DeepEqual(o, r) }) {
			found = append(found, Finding{Kind: Held, Rule: "rules", Phrase: acts.Clip(r.Say), Text: fmt.Sprintf("Rule %d stops every call of %s.", i+1, r.Tool)})
		}
	}
	return found, nil
}
