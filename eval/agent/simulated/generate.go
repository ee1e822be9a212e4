package simulated

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// The persona, the audience and the difficulty in a generated case.
var (
	askers    = []string{"I run a bakery", "I teach physics", "I am new in controlling", "I keep the club's books", "I am the night nurse", "I breed sheep"}
	audiences = []string{"my sister who hates numbers", "the village council", "a grant application", "our yearly meeting", "two sceptical partners"}
	twists    = []string{"half the rows are empty", "the units change in March", "one value is ten times too big", "there are three files", "the dates are American"}
)

// generate writes cases of the world: each is about the topic of a recorded one
// and checks what that topic's lesson brings about. A recorded case without a
// topic keeps its checks.
func (m *model) generate(p eval.Prompt, d *Draw) string {
	var shown struct {
		Recorded []struct {
			Prompt string       `json:"prompt"`
			Checks []eval.Check `json:"checks"`
		} `json:"recorded"`
		Wanted int `json:"wanted"`
	}
	_, data, _ := strings.Cut(p.User, "\n")
	if json.Unmarshal([]byte(unquoted(data)), &shown) != nil || len(shown.Recorded) == 0 {
		return "There is nothing to write from."
	}
	type written struct {
		From   int          `json:"from"`
		Kind   string       `json:"kind"`
		Prompt string       `json:"prompt"`
		Checks []eval.Check `json:"checks"`
	}
	reply := struct {
		Cases []written `json:"cases"`
	}{}
	for i := range shown.Wanted {
		from := i % len(shown.Recorded)
		r := shown.Recorded[from]
		about, checks := "this", r.Checks
		for k := range m.lessons {
			l := &m.lessons[k]
			for t, topic := range l.topics {
				if stands(normalise(r.Prompt), topic) {
					about = l.Topic[t]
					checks = []eval.Check{{Type: eval.Contains, Value: l.Outcome, Feedback: l.Says}}
				}
			}
		}
		asker, reader, twist := askers[d.Below(len(askers))], audiences[d.Below(len(audiences))], twists[d.Below(len(twists))]
		reply.Cases = append(reply.Cases, written{from + 1, "harder", fmt.Sprintf("%s and %s must see %s by %d o'clock, but %s: can you draw %s?",
			asker, reader, about, 7+d.Below(14), twist, about), checks})
	}
	return strings.Replace(fenced(encode(reply)), "```", "```json", 1)
}
