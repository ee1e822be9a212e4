package promptcorpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A score is what rules find of the replies to one situation's prompts.
type score struct {
	kind, name string
	replies    int
	parsed     bool
	kernel     bool     // the reply has every token of it, once and in order
	held       []string // by the firewall
	// Rules that the prompt showed, and of these the ones that the result states; known are
	// those that the search knew and the prompt may have shown, stated the same of them.
	shown, found, known, stated int
	kept                        int      // phrases that must survive and do
	lost                        []string // and do not
	tokens                      int      // that the text grew by
	again                       int      // new lines that say what another line says
	bloat, gone                 int      // phrases to be removed, and removed
	right, of                   int      // decisions, or other demands of the situation
	notes                       []string
}

func (s *score) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// keep are the phrases of the parent that must survive.
func (s *situation) keep() (out []string) {
	view := s.parent().View()
	for _, phrase := range s.of.Keep {
		if holds(view, phrase) {
			out = append(out, phrase)
		}
	}
	return out
}

// quoted are the ends of a prompt's lines without their marks, on one line.
func quoted(prompt string) string {
	var b strings.Builder
	for line := range strings.Lines(prompt) {
		b.WriteString(strings.TrimLeft(line, "> ") + " ")
	}
	return b.String()
}

// start is enough of a feedback line to find it in a prompt.
func start(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	return string(r[:min(len(r), 40)])
}

// score compares the text that came of a reply with what the situation wants of it.
func (s *situation) score(out *score, in mutate.Input, p eval.Prompt, child *skill.Document) {
	parent, view := in.Parent.View(), child.View()
	switch s.Kind {
	case "description":
		s.scoreDescription(out, child)
		return
	case "union", "merge":
		s.scoreUnion(out, in, view)
	default:
		s.scoreRules(out, in, quoted(p.User), view)
	}
	for _, phrase := range s.keep() {
		if holds(view, phrase) {
			out.kept++
		} else {
			out.lost = append(out.lost, phrase)
		}
	}
	out.tokens = max(0, skill.Tokens(view)-skill.Tokens(parent))
	if s.Kind == "prune" {
		for _, phrase := range s.of.Bloat {
			out.bloat++
			if !holds(view, phrase) {
				out.gone++
			}
		}
	}
	out.again = s.repeated(parent, view)
	for _, phrase := range s.Gone {
		out.demand(!holds(view, phrase), "still says %q", phrase)
	}
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
func (s *situation) scoreRules(out *score, in mutate.Input, prompt, view string) {
	parent := in.Parent.View()
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
		if out.shown++; states {
			out.found++
		} else {
			out.note("missed rule %s", r.ID)
		}
	}
}

// scoreUnion wants each rule of the sides, stated once.
func (s *situation) scoreUnion(out *score, in mutate.Input, view string) {
	for _, id := range s.Rules {
		r := s.of.rule(id)
		out.shown, out.known = out.shown+1, out.known+1
		if r.in(view) {
			out.found, out.stated = out.found+1, out.stated+1
		} else {
			out.note("lost rule %s", id)
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

// maxDescription is how long a description should be, in runes: agents read those of all
// skills in every session.
const maxDescription = 500

func (s *situation) scoreDescription(out *score, child *skill.Document) {
	text := child.Description()
	n := len([]rune(text))
	out.demand(n <= maxDescription, "has %d characters", n)
	for _, mark := range s.Want {
		out.demand(match(mark, text), "does not say %q", mark)
	}
	for _, mark := range s.Never {
		out.demand(!match(mark, text), "says %q", mark)
	}
	out.tokens = max(0, skill.Tokens(text)-skill.Tokens(s.parent().Description()))
}
