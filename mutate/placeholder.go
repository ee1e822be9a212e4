package mutate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// redacted finds the placeholders of secrets in texts that models are shown,
// as harvest/redact writes them or as a model may repeat them.
var redacted = lazyregexp.New(`(?i)\[\s*redacted\s*:[^\]\n]*\]?`)

// newPlaceholder returns a placeholder that child's harness holds more often
// than that of any of the parents, "" if there is none. A placeholder teaches
// an agent nothing, and if it replaces a secret that the skill itself holds,
// text would be lost.
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

// restore puts back the lines of view that are a parent's except for a secret
// of the skill's own, which the model saw as a placeholder. It leaves a line
// that could be one of several, and one that would then occur more often than
// in the parents: newPlaceholder finds what is left.
func restore(view string, parents ...string) string {
	if n := len(redacted.FindAllStringIndex(view, -1)); n == 0 || n > 100 {
		return view // no skill holds so many
	}
	own := map[string]int{}
	for _, p := range parents {
		count := map[string]int{}
		for line := range strings.SplitSeq(p, "\n") {
			count[line]++
			own[line] = max(own[line], count[line])
		}
	}
	lines := strings.Split(view, "\n")
	for _, line := range lines {
		if _, ok := own[line]; ok {
			own[line]--
		}
	}
	for i, line := range lines {
		if left, ok := own[line]; ok && left >= 0 {
			continue
		}
		pattern := exceptSecrets(line)
		if pattern == nil {
			continue
		}
		var was []string
		for o := range own {
			if !redacted.MatchString(o) && pattern.MatchString(strings.TrimSpace(o)) {
				was = append(was, o)
			}
		}
		if len(was) == 1 && own[was[0]] > 0 {
			own[was[0]]--
			lines[i] = was[0]
		}
	}
	return strings.Join(lines, "\n")
}

// exceptSecrets matches texts that equal line except at its placeholders; nil
// if line holds none, or so many, or so little else, that it identifies no
// line.
func exceptSecrets(line string) *regexp.Regexp {
	kept := redacted.Split(strings.TrimSpace(line), -1)
	if n := len(kept) - 1; n < 1 || n > 8 || strings.TrimSpace(strings.Join(kept, "")) == "" {
		return nil
	}
	for i, k := range kept {
		kept[i] = regexp.QuoteMeta(k)
	}
	re, err := regexp.Compile("^" + strings.Join(kept, ".+") + "$")
	if err != nil {
		return nil
	}
	return re
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
		return &ReplyError{Reason: fmt.Sprintf("it writes %s, which stands for a secret, into the skill: keep the line of such a one as it is, and add none", m), Change: change}
	}
	return nil
}
