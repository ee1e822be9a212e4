package harvest

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/work"
)

// readConfidence is that of a label by a model.
const readConfidence = .85

// Quotes reports whether words are part of what a person wrote, as a model sees it:
// white space does not count. Words without text are part of nothing.
func Quotes(own, words string) bool {
	words = strings.Join(strings.Fields(words), " ")
	return words != "" && strings.Contains(strings.Join(strings.Fields(eval.Inert(own)), " "), words)
}

// Copied reports whether the agent had written what a person says in a reply: all sentences of
// words that have several words. They are not the person's own.
func (s *Session) Copied(reply int, words string) bool {
	var rest []string
	for from, words := 0, strings.TrimSpace(words); from < len(words); {
		to := len(words)
		if at := sentence.FindStringIndex(words[from:]); at != nil {
			to = from + at[1]
		}
		if one := words[from:to]; len(strings.Fields(one)) >= 4 {
			rest = append(rest, one)
		}
		from = to
	}
	several := len(rest) > 0
	for t := range min(reply, len(s.Turns)) {
		rest = slices.DeleteFunc(rest, func(one string) bool {
			return Quotes(s.Turns[t].Answer, one) ||
				slices.ContainsFunc(s.Turns[t].Work, func(a work.Act) bool { return Quotes(a.Added, one) || Quotes(a.Removed, one) })
		})
	}
	return several && len(rest) == 0
}

// fits reports whether the session supports r as the reading of a turn: the quoted words
// are there, in a turn that may be about it.
func (r *Reading) fits(s *Session, turn int) bool {
	switch r.Label {
	case Unknown:
		return true
	case Corrected, Accepted, Rejected, Repeated:
		return r.Reply > turn && r.Reply <= turn+Horizon && r.Reply < len(s.Turns) && Quotes(s.Own(r.Reply), r.Words)
	}
	return false
}

// read labels a use by the readings of its turn and of those in which the user corrected
// it.
func (out *outcome) read(s *Session, v Invocation) {
	first := s.Turns[v.Turn].Reading
	if first.Label == Unknown {
		out.unsaid(s, v, -1)
		return
	}
	out.Feedback = Feedback{Label: first.Label, Confidence: readConfidence, Evidence: first.Words, Turn: first.Reply, By: first.By}
	for r := first; r != nil; {
		switch r.Label {
		case Corrected:
			out.corrections = append(out.corrections, r.Reply)
			if next := s.Turns[r.Reply].Reading; next != nil && len(out.corrections) < Horizon && next.fits(s, r.Reply) {
				r = next
				continue
			}
		case Accepted:
			out.accepted, out.final = r.Reply, lastAnswer(s, v.Turn, r.Reply)
		}
		break
	}
}
