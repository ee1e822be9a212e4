package simulated

import (
	"encoding/json"

	"github.com/skill-evolve/evolve/eval"
)

// judge scores 1 where the answer holds the outcome of every lesson that the
// rubric quotes, else 0. The answer and the rubric both stand somewhere in the
// prompt: an outcome there is the answer's, a correction or a phrase the
// rubric's. A rubric that quotes no lesson passes.
func (m *model) judge(p eval.Prompt) string {
	n := normalise(p.User)
	verdict := struct {
		Score  float64 `json:"score"`
		Reason string  `json:"reason"`
	}{1, "nothing in the answer speaks against the rubric"}
	for i := range m.lessons {
		l := &m.lessons[i]
		if !stands(n, l.says) && !stands(n, l.phrase) {
			continue
		}
		if !stands(n, l.outcome) {
			verdict.Score, verdict.Reason = 0, "the answer lacks: "+l.Says
			break
		}
		verdict.Reason = "the answer says: " + l.Outcome
	}
	return encode(verdict)
}

// mine returns a check for every lesson whose correction the prompt quotes: an
// array of checks in a fenced block. It is empty where no lesson is quoted.
func (m *model) mine(p eval.Prompt) string {
	n := normalise(p.User)
	checks := []eval.Check{}
	for i := range m.lessons {
		if l := &m.lessons[i]; stands(n, l.says) {
			checks = append(checks, eval.Check{Type: "contains", Value: l.Outcome, Feedback: l.Says})
		}
	}
	return "The checks that the conversation supports:\n\n" + fenced(encode(checks))
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("simulated: encode reply: " + err.Error()) // plain data: a programming error
	}
	return string(b)
}
