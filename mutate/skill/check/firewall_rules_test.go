package check

import (
	"slices"
	"testing"
)

// Each pattern finds its examples, and passes the others.
func TestPatternsFindTheirExamples(t *testing.T) {
	all := patterns()
	n := 0
	for _, kind := range []struct {
		list  []*pattern
		finds func(p *pattern, s string) bool
	}{
		{all.Capabilities, func(p *pattern, s string) bool { return len(p.find(s)) > 0 }},
		{all.Orders, func(p *pattern, s string) bool { return commands(p, withoutHarmless(normalize(s))) != "" }},
		{all.Topics, func(p *pattern, s string) bool {
			return slices.ContainsFunc(topicsIn(normalize(s)), func(m mention) bool { return m.what == p.Reports })
		}},
		{all.Guards, func(p *pattern, s string) bool { return p.MatchString(normalize(s)) }},
		{all.Patterns, func(p *pattern, s string) bool { return p.MatchString(s) || p.MatchString(normalize(s)) }},
	} {
		for _, p := range kind.list {
			name := p.Rule + p.Name + ", " + p.Reports
			if len(p.Pattern) == 0 || p.Reports == "" || len(p.Matches) == 0 || len(p.Passes) == 0 {
				t.Errorf("%s: a pattern needs a report, and examples that match and that pass", name)
			}
			if p.Keep != "" && keepers[p.Keep] == nil {
				t.Errorf("%s: no %q", name, p.Keep)
			}
			for _, s := range p.Matches {
				if n++; !kind.finds(p, s) {
					t.Errorf("%s does not find %q", name, s)
				}
			}
			for _, s := range p.Passes {
				if n++; kind.finds(p, s) {
					t.Errorf("%s finds %q", name, s)
				}
			}
		}
	}
	t.Logf("%d examples", n)
}
