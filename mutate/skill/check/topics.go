package check

import "strings"

// withoutHarmless is a sentence without the harmless phrases.
func withoutHarmless(s string) string { return patternOf("harmless").ReplaceAllString(s, " ") }

// newTopics finds the topics of fresh sentences that the parent's sentences
// (was) do not mention.
func newTopics(was, fresh []match) []finding {
	var out []finding
	known := map[string]bool{}
	var said strings.Builder
	for _, s := range was {
		known[s.text] = true
		said.WriteString(s.text + "\n")
	}
	for _, run := range fresh {
		for _, s := range sentences(run.text) {
			if known[s.text] {
				continue
			}
			for _, t := range spoken.of(s.text, topicsIn) {
				if !strings.Contains(said.String(), t.word) {
					out = append(out, finding{"new-topic", "speaks of " + t.what, s.text, t.word, run.at + s.at})
					break
				}
			}
		}
	}
	return out
}

// A mention is a topic of a sentence, and the words that name it.
type mention struct{ what, word string }

var spoken remembered[[]mention]

// topicsIn are the topics of a sentence that forbids nothing.
func topicsIn(sentence string) (out []mention) {
	if patternOf("forbids").MatchString(sentence) && !patternOf("doubtful").MatchString(sentence) {
		return nil
	}
	text := withoutHarmless(sentence)
	for _, t := range patterns().Topics {
		if w := t.FindString(text); w != "" {
			out = append(out, mention{t.Reports, w})
		}
	}
	return out
}
