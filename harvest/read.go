package harvest

import (
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// readConfidence is that of a label by a model.
const readConfidence = .85

// Quotes reports whether words are part of what a person wrote, as a model sees it:
// white space does not count. Words without text are part of nothing.
func Quotes(own, words string) bool {
	words = strings.Join(strings.Fields(words), " ")
	return words != "" && strings.Contains(strings.Join(strings.Fields(eval.Inert(own)), " "), words)
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
