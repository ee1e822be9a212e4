package simulated

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// judge scores the share of the lessons quoted in the criterion whose outcome is in the
// answer; if it quotes none, of those that the reference followed. If there are none
// either, the answer passes.
func (m *model) judge(p eval.Prompt) string {
	criterion, sectioned := section(p.User, "criterion")
	answer, _ := section(p.User, "answer")
	if !sectioned { // another prompt: an outcome in it is the answer's, a correction the criterion's
		criterion, answer = p.User, p.User
	}
	reference, _ := section(p.User, "reference")
	verdict := struct {
		Score  float64 `json:"score"`
		Reason string  `json:"reason"`
	}{1, "nothing in the answer speaks against the criterion"}
	n := normalise(answer)
	var met, lacks []string
	for _, i := range m.criteria(criterion, reference) {
		if l := &m.lessons[i]; stands(n, l.outcome) {
			met = append(met, l.Outcome)
		} else {
			lacks = append(lacks, l.Says)
		}
	}
	switch {
	case len(lacks) > 0:
		verdict.Score = float64(len(met)) / float64(len(met)+len(lacks))
		verdict.Reason = "the answer lacks this: " + strings.Join(lacks, "; ")
	case len(met) > 0:
		verdict.Reason = "the answer says: " + strings.Join(met, " ")
	}
	return encode(verdict)
}

// compare prefers the answer with more of the lessons' outcomes.
func (m *model) compare(p eval.Prompt) string {
	count := func(name string) (met int) {
		answer, _ := section(p.User, name)
		n := normalise(answer)
		for i := range m.lessons {
			if stands(n, m.lessons[i].outcome) {
				met++
			}
		}
		return met
	}
	first, second := count("first"), count("second")
	better := "neither"
	if first > second {
		better = "first"
	} else if second > first {
		better = "second"
	}
	return encode(struct {
		Reason string `json:"reason"`
		Better string `json:"better"`
	}{fmt.Sprintf("the first answer does %d of what users asked for, the second %d", first, second), better})
}

// criteria lists the lessons that a judge looks for.
func (c *compiled) criteria(criterion, reference string) (quoted []int) {
	n, ref := normalise(criterion), normalise(reference)
	var followed []int
	for i := range c.lessons {
		l := &c.lessons[i]
		if stands(n, l.says) || stands(n, l.phrase) {
			quoted = append(quoted, i)
		}
		if stands(ref, l.outcome) {
			followed = append(followed, i)
		}
	}
	if len(quoted) == 0 {
		return followed
	}
	return quoted
}

// section is the text between <name …> and </name in a prompt.
func section(text, name string) (string, bool) {
	_, rest, ok := strings.Cut(text, "<"+name+" ")
	if !ok {
		return "", false
	}
	_, rest, ok = strings.Cut(rest, ">\n")
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, "</"+name)
	return unquoted(inner), ok
}

// unquoted removes the quotation mark from the lines that have it.
func unquoted(text string) string {
	return strings.ReplaceAll("\n"+text, "\n> ", "\n")[1:]
}

// mine returns a check for every lesson whose correction the prompt quotes. It is empty
// if no lesson is quoted.
func (m *model) mine(p eval.Prompt) string {
	reply := struct {
		Checks []eval.Check `json:"checks"`
	}{Checks: []eval.Check{}}
	n := normalise(corrections(p.User))
	for i := range m.lessons {
		if l := &m.lessons[i]; stands(n, l.says) {
			reply.Checks = append(reply.Checks, eval.Check{Type: eval.Contains, Value: l.Outcome, Feedback: l.Says})
		}
	}
	return strings.Replace(fenced(encode(reply)), "```", "```json", 1)
}

// corrections is the user's text in a miner's prompt: the field of that name in its
// JSON object, or else all of it.
func corrections(user string) string {
	var recorded struct {
		Corrections []string `json:"corrections"`
	}
	user = unquoted(user)
	if i := strings.IndexByte(user, '{'); i >= 0 {
		if json.NewDecoder(strings.NewReader(user[i:])).Decode(&recorded) == nil && len(recorded.Corrections) > 0 {
			return strings.Join(recorded.Corrections, "\n")
		}
	}
	return user
}

// verify says of each item in a prompt which of its criteria the answer meets: one that quotes
// no lesson asks for all those of the request.
func (m *model) verify(p eval.Prompt) string {
	type decision struct {
		Met string `json:"met"`
	}
	type entry struct {
		ID       string     `json:"id"`
		Criteria []decision `json:"criteria"`
	}
	reply := struct {
		Items []entry `json:"items"`
	}{[]entry{}}
	for _, text := range strings.Split("\n"+p.User, "\nitem ")[1:] {
		id, quoted, _ := strings.Cut(text, "\n")
		var seen struct {
			Context         []eval.Message
			Request, Answer string
			Criteria        []string
		}
		if json.NewDecoder(strings.NewReader(unquoted(quoted))).Decode(&seen) != nil {
			continue
		}
		e, n := entry{ID: id}, normalise(seen.Answer)
		for _, criterion := range seen.Criteria {
			asked := m.criteria(criterion, "")
			if len(asked) == 0 {
				asked = m.request(&eval.Case{Prompt: seen.Request, Context: seen.Context}).lessons
			}
			met := "yes"
			for _, i := range asked {
				if !stands(n, m.lessons[i].outcome) {
					met = "no"
				}
			}
			e.Criteria = append(e.Criteria, decision{met})
		}
		reply.Items = append(reply.Items, e)
	}
	return strings.Replace(fenced(encode(reply)), "```", "```json", 1)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("simulated: encode reply: " + err.Error()) // plain data: a programming error
	}
	return string(b)
}
