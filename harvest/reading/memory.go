package reading

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// byMemory is who read a turn after which the agent wrote into its memory.
const byMemory = "memory"

// memories are the names of files that agents load in every session.
var memories = []string{"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "MEMORY.md", "copilot-instructions.md", "SKILL.md"}

// maxLesson is how many lines the agent may have added for them to be what it was told,
// and no document.
const maxLesson = 3

// lasting matches messages that are meant for later, too.
var lasting = lazyregexp.New(`(?i)\b(?:remember|always|never|from now on|next time|in (?:the )?future|don't ever|do not ever|every time|add (?:a|this|that) rule|as a rule)\b`)

// remembered is the reading of a turn if the user's next message, which is meant to last,
// had the agent write a few lines into its memory: the agent says itself what it learned,
// so no model is needed.
func remembered(s *harvest.Session, turn int) (r harvest.Reading, ok bool) {
	next := turn + 1
	if next >= len(s.Turns) || strings.TrimSpace(s.Own(next)) == "" {
		return r, false
	}
	if own := s.Own(next); !lasting.MatchString(own) || harvest.Classify(own).Label == harvest.Accepted {
		return r, false // a task like any other, or praise: what is noted is of the next one
	}
	for _, a := range s.Turns[next].Work {
		own, added := strings.HasPrefix(a.File, work.Memory), a.Added
		if a.Kind != work.Changed || !own && !slices.Contains(memories, path.Base(a.File)) && !strings.HasSuffix(a.File, ".mdc") {
			continue
		}
		if own {
			added = note(added)
		}
		lines := strings.FieldsFunc(added, func(r rune) bool { return r == '\n' })
		lesson := squeeze(strings.TrimLeft(strings.Join(lines, " "), "-*# "))
		if n := len(strings.Fields(lesson)); len(lines) == 0 || len(lines) > maxLesson || n < 3 || n > 2*maxRule {
			continue
		}
		r = harvest.Reading{Label: harvest.Corrected, Words: plain.Runes(squeeze(s.Own(next)), maxWords), Reply: next, Rule: plain.Runes(lesson, maxWords), Concerns: "standing", By: byMemory}
		if !own && path.Base(a.File) == "SKILL.md" {
			name := path.Base(path.Dir(a.File))
			if name == "." || name == ".." { // the session works in the skill's folder
				name = path.Base(strings.ReplaceAll(s.CWD, `\`, "/"))
			}
			if name == "." || name == "/" {
				continue
			}
			r.Concerns = "skill:" + name
		}
		return r, harvest.Quotes(s.Own(next), r.Words)
	}
	return r, false
}

var (
	front  = lazyregexp.New(`\A---\n(?s:.*?)\n---\n`)
	listed = lazyregexp.New(`\[([^\]\n]+)\]\([^)\n]+\.md\)`)
)

// note is what an agent noted in its own memory: the first paragraph of a file, without what
// stands above it, or an entry of the list of files, without its link. Why and how are below.
func note(added string) string {
	added = strings.TrimLeft(front.ReplaceAllString(added, ""), "\n")
	added, _, _ = strings.Cut(added, "\n\n")
	return listed.ReplaceAllString(added, "$1")
}
