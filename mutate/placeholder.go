package mutate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// redacted finds what stands for a secret in all that models are shown, as
// harvest/redact writes it or as a model may repeat it.
var redacted = regexp.MustCompile(`(?i)\[\s*redacted\s*:[^\]\n]*\]?`)

// newPlaceholder returns a placeholder that child's harness holds more often
// than that of any of the parents, "" where there is none. It teaches nothing,
// and where it takes the place of a secret that the skill itself holds, a text
// would be lost.
func newPlaceholder(child *skill.Document, parents ...*skill.Document) string {
	known := map[string]int{}
	for _, p := range parents {
		count := map[string]int{}
		for _, m := range placeholders(p) {
			k := kindOf(m)
			count[k]++
			known[k] = max(known[k], count[k])
		}
	}
	for _, m := range placeholders(child) {
		k := kindOf(m)
		if known[k]--; known[k] < 0 {
			return m
		}
	}
	return ""
}

func placeholders(d *skill.Document) []string {
	return redacted.FindAllString(eval.Inert(d.Description()+"\n"+d.View()), -1)
}

func kindOf(placeholder string) string {
	return strings.Trim(strings.Join(strings.Fields(strings.ToLower(placeholder)), ""), "[]")
}

// withoutSecrets refuses a child that holds a new placeholder.
func withoutSecrets(child *skill.Document, change string, parents ...*skill.Document) error {
	if m := newPlaceholder(child, parents...); m != "" {
		return &ReplyError{Reason: fmt.Sprintf("it writes %s, which stands for a secret, into the skill: state the rule without it", m), Change: change}
	}
	return nil
}
