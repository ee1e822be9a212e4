package harvest

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Horizon is how many human turns after a turn, or after a correction of it, may still be
// about it.
const Horizon = 3

// order is the highest confidence for a reply that may be a correction or a new
// request: "use a log scale", "use postgres for the new service".
const order = .75

// An outcome is the result of one invocation, as the user's turns show it.
type outcome struct {
	Feedback
	corrections []int // turns in which the user corrected, in order
	accepted    int   // turn of the user's last acceptance; -1
	final       int   // turn with the accepted answer; -1
}

// Assess labels every invocation of s by what the user wrote and did next. It reads the
// next three human turns, three more after a correction, and stops at the next use of
// the same skill. What a model has read counts more than the lexicon: see Reading. It may
// be called again.
func Assess(s *Session) {
	for i := range s.Invocations {
		s.Invocations[i].Feedback = assess(s, s.Invocations[i]).Feedback
	}
}

func assess(s *Session, v Invocation) outcome {
	out := outcome{Feedback: Feedback{Label: Unknown}, accepted: -1, final: -1}
	if v.Turn < 0 || v.Turn >= len(s.Turns) || s.Subagent != "" {
		return out
	}
	used := &s.Turns[v.Turn]
	if r := used.Reading; r != nil && r.fits(s, v.Turn) {
		out.read(s, v)
	} else {
		out.listen(s, v)
	}
	if used.Interrupted {
		switch out.Label {
		case Corrected:
			out.Confidence = max(out.Confidence, .9)
		default: // whatever the reply, this answer was stopped
			out.Feedback = Feedback{Label: Rejected, Confidence: .8, Evidence: "[interrupted by the user]", Turn: v.Turn}
			out.accepted, out.final = -1, -1
		}
	}
	return out
}

// listen labels a use by the cues of the lexicon.
func (out *outcome) listen(s *Session, v Invocation) {
	used := &s.Turns[v.Turn]
	left := -1 // the turn that began another subject
	decide := func(f Feedback, turn int) {
		if out.Label == Unknown {
			f.Turn = turn
			out.Feedback = f
		}
	}
	last := min(len(s.Turns)-1, v.Turn+Horizon)
	for t := v.Turn + 1; t <= last; t++ {
		prompt, own := s.Turns[t].Prompt, s.Own(t)
		if uses(s, t, v.Skill) {
			if own != "" && (reworks(own) || near(used.Prompt, prompt)) {
				decide(Feedback{Label: Repeated, Confidence: .8, Evidence: firstWords(own)}, t)
			}
			// "/dataviz no, a log scale" corrects the use before it.
			if f := Classify(arguments(own)); f.Label == Corrected && f.Confidence >= .7 {
				decide(f, t)
				if out.Label == Corrected {
					out.corrections = append(out.corrections, t)
				}
			}
			break
		}
		f := Classify(own)
		if f.Label == Unknown && delivers(own) {
			f = Feedback{Label: Accepted, Confidence: .75, Evidence: firstWords(own)}
		}
		if f.Label == Unknown && own != "" && near(used.Prompt, prompt) {
			f = Feedback{Label: Repeated, Confidence: .7, Evidence: firstWords(own)}
		}
		if f.Label == Corrected && f.Confidence <= order && !about(s.Turns[t-1], own) {
			f = Feedback{Label: Unknown}
		}
		switch f.Label {
		case Corrected:
			decide(f, t)
			if out.Label == Corrected {
				if len(out.corrections) == 0 || f.Confidence >= .5 { // a mere question adds no evidence
					out.corrections = append(out.corrections, t)
				}
				last = min(len(s.Turns)-1, t+Horizon, v.Turn+3*Horizon) // the reaction to the correction
				continue
			}
		case Accepted:
			decide(f, t)
			out.accepted = t
			out.final = lastAnswer(s, v.Turn, t)
		case Rejected, Repeated:
			decide(f, t)
		case Unknown:
			if s.continues(t, own) {
				continue
			}
			left = t
		}
		break
	}
	if out.Label == Unknown {
		out.unsaid(s, v, left)
	}
}

// uses reports whether the skill was invoked in turn t.
func uses(s *Session, t int, skill string) bool {
	return slices.ContainsFunc(s.Invocations, func(v Invocation) bool { return v.Turn == t && v.Skill == skill && !v.Planned() })
}

// lastAnswer is the turn in [from, before) with the last answer that was not
// stopped; -1 if there is none.
func lastAnswer(s *Session, from, before int) int {
	for t := before - 1; t >= from; t-- {
		if s.Turns[t].Answer != "" && !s.Turns[t].Interrupted {
			return t
		}
	}
	return -1
}

// reworks reports whether a prompt asks for the same thing again.
func reworks(prompt string) bool {
	text := normal(arguments(prompt))
	return rework.MatchString(text) && len(strings.Fields(text)) <= 12
}

// near reports whether two prompts are nearly the same request.
func near(a, b string) bool {
	x, y := words(arguments(a)), words(arguments(b))
	return len(x) >= 3 && len(y) >= 3 && jaccard(x, y) >= .8
}

// continues reports whether turn t, of which the person wrote own, continues the subject
// of the turn before. If not, it begins a new subject and is no feedback on the old one. A
// prompt without any text of the person's own is judged by what they pasted.
func (s *Session) continues(t int, own string) bool {
	before, text := s.Turns[t-1], normal(cmp.Or(own, s.Turns[t].Prompt))
	if onward.MatchString(text) || anaphor.MatchString(clause(text)) || len(strings.Fields(text)) <= 3 {
		return true
	}
	shared, all := common(before, text)
	return all > 0 && 2*shared >= all
}

// about is continues for a prompt in the form of an order: one word in common is
// enough, and so is being short.
func about(before Turn, prompt string) bool {
	text := normal(prompt)
	shared, _ := common(before, text)
	return shared > 0 || len(strings.Fields(text)) <= 5 || anaphor.MatchString(clause(text))
}

// common counts the longer words of text, and those of them that also occur in the turn
// before.
func common(before Turn, text string) (shared, all int) {
	longer := words(text)
	maps.DeleteFunc(longer, func(w string, _ bool) bool { return len(w) <= 3 })
	all = len(longer)
	for _, old := range [...]string{before.Prompt, before.Answer} {
		for w := range eachWord(old) {
			if len(longer) == 0 {
				break
			}
			delete(longer, w)
		}
	}
	return all - len(longer), all
}

// arguments is a prompt without the command that it begins with.
func arguments(prompt string) string {
	if _, ok := SlashCommand(prompt); !ok {
		return prompt
	}
	_, rest, _ := strings.Cut(strings.TrimSpace(prompt), " ")
	return rest
}

// words is the set of words of text, in lower case.
func words(text string) map[string]bool {
	set := make(map[string]bool)
	for w := range eachWord(text) {
		set[w] = true
	}
	return set
}

func eachWord(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// jaccard is the share of common elements in two sets, in [0,1].
func jaccard[K comparable](a, b map[K]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for k := range a {
		if b[k] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}
