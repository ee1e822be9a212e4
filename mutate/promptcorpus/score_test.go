package promptcorpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A score is what rules find of the replies to one situation's prompts.
type score struct {
	kind, name string
	replies    int
	parsed     bool
	kernel     bool     // the reply has every token of it, once and in order
	held       []string // by the firewall, or by the limit
	flagged    bool     // by the firewall
	notes      []string
	counts
}

// counts are the numbers of a score, or the sums of several.
type counts struct {
	// Rules that the prompt showed, and of these the ones that the result states; known are
	// those that the search knew and the prompt may have shown, stated the same of them.
	shown, found, known, stated int
	kept, lost                  int // phrases that must survive, and do not
	tokens                      int // that the text grew by
	again                       int // new lines that say what another line says
	bloat, gone                 int // phrases to be removed, and removed
	right, of                   int // decisions, or other demands of the situation
}

func (s *score) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// keep are the phrases of the parent that must survive; a description may lose any.
func (s *situation) keep() (out []string) {
	if s.Kind == "description" {
		return nil
	}
	view := s.parent().View()
	for _, phrase := range s.of.Keep {
		if holds(view, phrase) {
			out = append(out, phrase)
		}
	}
	return out
}

// start is enough of a feedback line to find it in a prompt.
func start(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	return string(r[:min(len(r), 40)])
}

// maxDescription is how long a description should be, in runes: agents read those of all
// skills in every session.
const maxDescription = 500

// score compares the text that came of a reply with what the situation wants of it.
func (s *situation) score(out *score, in mutate.Input, m *stored, child *skill.Document) {
	parent, view := in.Parent.View(), child.View()
	switch s.Kind {
	case "description":
		parent, view = in.Parent.Description(), child.Description()
		n := len([]rune(view))
		out.demand(n <= maxDescription, "has %d characters", n)
	case "union", "merge":
		for _, id := range s.Rules {
			out.demand(s.of.rule(id).in(view), "lost rule %s", id)
		}
	default:
		s.scoreRules(out, in, m, view)
	}
	for _, phrase := range s.keep() {
		if out.kept++; !holds(view, phrase) {
			out.lost++
			out.note("lost %q", phrase)
		}
	}
	if s.Kind == "prune" {
		for _, phrase := range s.of.Bloat {
			out.bloat++
			if !holds(view, phrase) {
				out.gone++
			}
		}
	}
	out.tokens = max(0, skill.Tokens(view)-skill.Tokens(parent))
	out.again = s.repeated(parent, view)
	for _, mark := range s.Never {
		out.demand(!match(mark, view), "says %q", mark)
	}
	for _, mark := range s.Want {
		out.demand(match(mark, view), "does not say %q", mark)
	}
}

func (s *score) demand(ok bool, format string, args ...any) {
	if s.of++; ok {
		s.right++
	} else {
		s.note(format, args...)
	}
}

// scoreRules counts the rules that the parent lacked and the text has.
func (s *situation) scoreRules(out *score, in mutate.Input, m *stored, view string) {
	parent, prompt := in.Parent.View(), strings.ReplaceAll(m.prompts[0].User, "\n> ", "\n")
	_, reply, _ := strings.Cut(m.texts[len(m.texts)-1], "\n```")
	said := map[string][]string{} // what was said of each rule that a case failed
	for i := range s.of.Cases {
		for _, m := range s.of.Cases[i].Miss {
			r, words := s.of.said(m)
			if s.of.Cases[i].Set == s.Set {
				said[r.ID] = append(said[r.ID], words)
			}
		}
	}
	for i := range s.of.Rules {
		r := &s.of.Rules[i]
		if r.N > 0 && !s.Alone {
			said[r.ID] = append(said[r.ID], r.Say)
		}
		if len(said[r.ID]) == 0 || r.in(parent) || slices.Contains([]string{"prune", "examples", "rephrase"}, s.Kind) {
			continue
		}
		states := r.in(view)
		if out.known++; states {
			out.stated++
		}
		if !slices.ContainsFunc(said[r.ID], func(words string) bool { return holds(prompt, start(words)) }) {
			continue
		}
		switch out.shown++; {
		case states:
			out.found++
		case r.in(reply):
			out.note("rule %s is in the reply, and was undone", r.ID)
		default:
			out.note("missed rule %s", r.ID)
		}
	}
}

// alikeFrom is the similarity of two lines that say the same, as mutate.Similarity counts.
const alikeFrom = 0.65

// repeated counts the lines that the parent lacks and that say what another line says: they
// state the same rule, or consist of the same words.
func (s *situation) repeated(parent, view string) (n int) {
	var lines []string
	for _, b := range skill.Blocks(view) {
		if text := strings.TrimSpace(view[b.Start:b.End]); b.Kind == "paragraph" || b.Kind == "item" {
			lines = append(lines, text)
		}
	}
	had := blocksOf(parent)
	for i, a := range lines {
		if slices.Contains(had, a) {
			continue
		}
		for j, b := range lines {
			if i == j || j > i && !slices.Contains(had, b) {
				continue // of two new lines the second repeats
			}
			if mutate.Similarity(a, b) >= alikeFrom || slices.ContainsFunc(s.of.Rules, func(r rule) bool { return r.inBlock(a) && r.inBlock(b) }) {
				n++
				break
			}
		}
	}
	return n
}
