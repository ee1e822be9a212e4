package mutate

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/ownwords"
)

// OwnersWords is what the owner of a skill asks for in cases: what they said of recorded
// answers, without what they pasted, and the words of their own cases' checks. What a
// model wrote, or the file of another tool has, is not theirs. A check that something is
// not there asks for nothing.
func OwnersWords(cases []eval.Case) string {
	var b strings.Builder
	add := func(text string) { b.WriteString(ownwords.Of(text) + "\n\n") } // a paragraph each, so that no sentence goes on
	for i := range cases {
		switch c := &cases[i]; {
		case c.Origin() == "mined":
			add(c.Said())
		case c.Origin() == "imported" && (c.Source == nil || c.Source.Agent == ""):
			for _, k := range c.Checks {
				if !strings.Contains(k.Type, "not_") {
					add(k.Feedback)
					add(k.Rubric)
				}
			}
		}
	}
	return b.String()
}

// FeedbackOf lists the feedback of a rollout that the mutator may read: the
// message of each failed check, each line once. Rollout.Feedback repeats the
// checks, including those that the tournament attributed to noise, so it is
// used only if there is nothing else. Rollout.Failure reports that the agent
// itself failed.
func FeedbackOf(r *eval.Rollout) []string {
	var out []string
	for _, c := range r.Checks {
		if c.Score < 1 && c.Feedback != "" {
			out = append(out, c.Feedback)
		}
	}
	if len(r.Checks) == 0 {
		out = r.Feedback
	}
	return unique(out)
}

// feedback is what a proposal may read of one failure.
func (e Evidence) feedback() []string {
	if e.Only != nil {
		return e.Only
	}
	return FeedbackOf(e.Rollout)
}

// right is what the checks ask for that the rollout passed.
func (e Evidence) right() (out []string) {
	for k := range e.Rollout.Checks {
		if k < len(e.Case.Checks) && e.Rollout.Checks[k].Score >= 1 && !e.Rollout.Checks[k].Missing {
			out = append(out, clip(e.Case.Checks[k].Criterion(), maxLineQuote))
		}
	}
	out = unique(out)
	return out[:min(len(out), maxRight)]
}

// eachOnce removes repetitions from lines: checks that were made of one
// correction each quote it, in brackets after their own text.
func eachOnce(lines []string) []string {
	told := map[string]bool{}
	var out []string
	for _, line := range lines {
		body, tail := cutTail(strings.TrimSpace(line))
		var kept strings.Builder
		for _, part := range append(sentences(body), tail) {
			if key := strings.Join(strings.Fields(part), " "); key != "" && !told[key] {
				told[key] = true
				kept.WriteString(part)
			}
		}
		if s := strings.TrimSpace(kept.String()); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// cutTail removes the brackets at the end of line, and the blank before them.
func cutTail(line string) (body, tail string) {
	depth := 0
	for i := len(line) - 1; i > 0 && strings.HasSuffix(line, ")"); i-- {
		switch line[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 && line[i-1] == ' ' {
				return line[:i-1], line[i-1:]
			}
		}
	}
	return line, ""
}

// latest keeps the last one of several attempts at the same change.
func latest(attempts []Attempt) []Attempt {
	var out []Attempt
	for i, a := range attempts {
		if !slices.ContainsFunc(attempts[i+1:], func(b Attempt) bool { return a.Change == b.Change }) {
			out = append(out, a)
		}
	}
	return out
}
