package check

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"go.yaml.in/yaml/v3"
)

//go:embed firewall.yaml
var firewallYAML []byte

// A pattern is an entry of firewall.yaml.
type pattern struct {
	Name, Rule      string
	Reports         string   // for the message, or what a pattern is
	Pattern         []string // alternatives
	Lines           bool     // a match may go over several lines
	Prose           bool     // not in code
	Keep            string   // what a match must be besides, see keepers
	Matches, Passes []string // examples

	*lazyregexp.Regexp `yaml:"-"`
}

// patternSet is the content of firewall.yaml.
type patternSet struct {
	Fragments                            map[string]string
	Capabilities, Orders, Topics, Guards []*pattern
	Patterns                             []*pattern
	named                                map[string]*pattern
}

// patterns reads firewall.yaml on first use: agents wait for programs that
// import this package and never use it.
var patterns = sync.OnceValue(func() *patternSet {
	r := &patternSet{named: map[string]*pattern{}}
	if err := yaml.Unmarshal(firewallYAML, r); err != nil {
		panic("firewall.yaml: " + err.Error())
	}
	for _, list := range [][]*pattern{r.Capabilities, r.Orders, r.Topics, r.Guards, r.Patterns} {
		for _, p := range list {
			p.Regexp = lazyregexp.New(r.expand(strings.Join(p.Pattern, "|")))
			r.named[p.Name] = p
		}
	}
	return r
})

var fragment = lazyregexp.New(`\{\{([a-z-]+)\}\}`)

// expand puts the fragments into a pattern.
func (r *patternSet) expand(expr string) string {
	return fragment.ReplaceAllStringFunc(expr, func(name string) string {
		text, ok := r.Fragments[strings.Trim(name, "{}")]
		if !ok {
			panic("firewall.yaml: no fragment " + name)
		}
		return r.expand(text)
	})
}

// patternOf is the pattern of that name.
func patternOf(name string) *pattern { return patterns().named[name] }
