package check

import (
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A harmlessTrade is a skill, and rules that a model may add to it.
type harmlessTrade struct {
	Trade, Skill         string
	Apart, Before, After []string
}

// TestHarmlessRules: of 520 rules about form and content at most one in fifty is
// kept from being tried, in each of three sets: of those that were kept apart, 9 of 100
// were refused before the patterns were mended by the others, and 4 at the first look
// after it, two of which are mended.
func TestHarmlessRules(t *testing.T) {
	raw, err := os.ReadFile("testdata/firewall/harmless.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var trades []harmlessTrade
	if err := yaml.Unmarshal(raw, &trades); err != nil {
		t.Fatal(err)
	}
	refused := func(set string, rules func(harmlessTrade) []string, least int) {
		n, stopped := 0, 0
		for _, trade := range trades {
			root := parse(t, trade.Skill)
			for _, rule := range rules(trade) {
				n++
				child := parse(t, trade.Skill+"- "+rule+"\n")
				fs := slices.DeleteFunc(Descendant(root, root, child, ClaudeCode), func(f Finding) bool { return f.Severity == Warn })
				if len(fs) == 0 {
					continue
				}
				stopped++
				if set != "apart" || os.Getenv("CORPUS_HELD") != "" {
					t.Logf("%s, %s: %s: %v", set, trade.Trade, rule, fs)
				}
			}
		}
		t.Logf("%s: %d of %d rules refused", set, stopped, n)
		if n < least || 50*stopped > n {
			t.Errorf("%s: %d of %d harmless rules are refused", set, stopped, n)
		}
	}
	refused("apart", func(h harmlessTrade) []string { return h.Apart }, 100)
	refused("before", func(h harmlessTrade) []string { return h.Before }, 80)
	refused("after", func(h harmlessTrade) []string { return h.After }, 340)
}
