package simulated

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// thanks matches a reply that accepts.
var thanks = lazyregexp.New(`(?i)\b(?:thanks|thank you|perfect|great|lgtm|looks good|exactly)\b`)

// read says of each moment in a prompt what its replies say: that a lesson was missed,
// thanks, or nothing.
func (m *model) read(p eval.Prompt) string {
	type entry struct {
		ID         string `json:"id"`
		Label      string `json:"label"`
		Words      string `json:"words,omitempty"`
		Replayable string `json:"replayable"`
		Rule       string `json:"rule,omitempty"`
		Concerns   string `json:"concerns,omitempty"`
	}
	reply := struct {
		Moments []entry `json:"moments"`
	}{[]entry{}}
	for _, text := range strings.Split("\n"+p.User, "\nmoment ")[1:] {
		id, quoted, _ := strings.Cut(text, "\n")
		var seen struct {
			Skills  []string
			Replies []struct{ Said string }
		}
		if json.NewDecoder(strings.NewReader(unquoted(quoted))).Decode(&seen) != nil {
			continue
		}
		e := entry{ID: id, Label: "unknown", Replayable: "yes"}
		for _, r := range seen.Replies {
			words := r.Said[:runeStart(r.Said, 200)]
			n := normalise(words)
			for i := range m.lessons {
				if l := &m.lessons[i]; e.Label == "unknown" && stands(n, l.says) {
					e.Label, e.Words, e.Rule, e.Concerns = "corrected", words, strings.Join(strings.Fields(l.Says)[:min(20, len(strings.Fields(l.Says)))], " "), "neither"
					if len(seen.Skills) > 0 {
						e.Concerns = "skill:" + seen.Skills[0]
					}
				}
			}
			if e.Label == "unknown" && thanks.MatchString(words) {
				e.Label, e.Words = "accepted", words
			}
			if e.Label != "unknown" {
				break
			}
		}
		reply.Moments = append(reply.Moments, e)
	}
	return strings.Replace(fenced(encode(reply)), "```", "```json", 1)
}

// group leaves each rule in a prompt alone: those of one lesson have the same words.
func (m *model) group(p eval.Prompt) string {
	type entry struct {
		Rules []string `json:"rules"`
	}
	reply := struct {
		Groups []entry `json:"groups"`
	}{[]entry{}}
	for _, text := range strings.Split("\n"+p.User, "\nrule ")[1:] {
		id, _, _ := strings.Cut(text, "\n")
		reply.Groups = append(reply.Groups, entry{[]string{id}})
	}
	return strings.Replace(fenced(encode(reply)), "```", "```json", 1)
}

// everyLine decides that each line of instructions applies to each request: a simulated world
// has none that it does not apply to.
func everyLine(p eval.Prompt) string {
	lines, requests, _ := strings.Cut(p.User, "\nrequest 1\n")
	all := []int{}
	for n := range strings.Count(lines, `"number":`) {
		all = append(all, n+1)
	}
	type entry struct {
		ID    string `json:"id"`
		Lines []int  `json:"lines"`
	}
	reply := struct {
		Requests []entry `json:"requests"`
	}{[]entry{{"1", all}}}
	for n := 2; strings.Contains(requests, fmt.Sprintf("\nrequest %d\n", n)); n++ {
		reply.Requests = append(reply.Requests, entry{fmt.Sprint(n), all})
	}
	data, err := json.Marshal(reply)
	if err != nil {
		return "" // of numbers and texts: never
	}
	return "```json\n" + string(data) + "\n```"
}
