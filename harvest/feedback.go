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

// An outcome is the result of one invocation, as the user's turns show it.
type outcome struct {
	Feedback
	corrections []int // turns in which the user corrected, in order
	accepted    int   // turn of the user's last acceptance; -1
	final       int   // turn with the accepted answer; -1
}

// Assess labels every invocation of s by what the user wrote and did next. It looks at the
// next three human turns, three more after a correction, and stops at the next use of
// the same skill. What a model has read counts (see Reading); where none has, only words
// do that are hardly ever anything else, an interruption, and the same request again. It
// may be called again.
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
	r := used.Reading
	read := r != nil && r.fits(s, v.Turn)
	if read {
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
	out.Unread = !read && s.Replied(v.Turn)
	return out
}

// Replied reports whether the user wrote something that may be about a turn.
func (s *Session) Replied(turn int) bool {
	for t := turn + 1; t < len(s.Turns) && t <= turn+Horizon; t++ {
		if strings.TrimSpace(s.Own(t)) != "" {
			return true
		}
	}
	return false
}

// listen labels a use by sure cues and by what the user did. What follows a reply that may
// be feedback, which only a model can tell, is not about the use for sure.
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
		again := own != "" && near(used.Prompt, prompt)
		repeated := Feedback{Label: Repeated, Confidence: .8, Evidence: firstWords(own)}
		if uses(s, t, v.Skill) {
			if again {
				decide(repeated, t)
			}
			// "/dataviz no, a log scale" corrects the use before it.
			if f := sure(arguments(own), &s.Turns[t-1]); f.Label == Corrected {
				decide(f, t)
				if out.Label == Corrected {
					out.corrections = append(out.corrections, t)
				}
			}
			break
		}
		f := s.Heard(t)
		if f.Label == Unknown && delivers(own) {
			f = Feedback{Label: Accepted, Confidence: .75, Evidence: firstWords(own)}
		}
		if f.Label == Unknown && again {
			f = repeated
		}
		switch f.Label {
		case Corrected:
			decide(f, t)
			if out.Label == Corrected {
				out.corrections = append(out.corrections, t)
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
			if Classify(own).Label != Unknown {
				break
			}
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

// near reports whether two prompts are the same request, but for a word in ten.
func near(a, b string) bool {
	x, y := words(arguments(a)), words(arguments(b))
	return len(x) >= 3 && len(y) >= 3 && Jaccard(x, y) >= .9
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

// Jaccard is the share of common elements in two sets, in [0,1].
func Jaccard[K comparable](a, b map[K]bool) float64 {
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

// AssessTurn labels the work of a turn, whatever skills were used in it, as Assess does.
func AssessTurn(s *Session, turn int) Feedback {
	return assess(s, Invocation{Turn: turn}).Feedback
}
