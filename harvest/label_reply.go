package harvest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// parseLabels parses the one fenced block of a reply about so many uses. There is at
// most one label per use; the labels are not judged here.
func parseLabels(text string, uses int) ([]judgement, error) {
	var got struct {
		Labels []judgement `json:"labels"`
	}
	if err := parseBlock(text, &got); err != nil {
		return nil, fmt.Errorf("parse labels: %w", err)
	}
	seen := make([]bool, uses)
	for _, r := range got.Labels {
		switch {
		case r.Use < 1 || r.Use > uses:
			return nil, fmt.Errorf("parse labels: there is no use %d", r.Use)
		case seen[r.Use-1]:
			return nil, fmt.Errorf("parse labels: use %d has two", r.Use)
		case !slices.Contains([]Label{Corrected, Accepted, Rejected, Repeated, Unknown}, r.Label):
			return nil, fmt.Errorf("parse labels: unknown label %q", r.Label)
		}
		seen[r.Use-1] = true
	}
	return got.Labels, nil
}

// longReply is the length, in words, from which the lexicon, which reads the first
// sentence, may miss the point of the rest.
const longReply = 40

// english are English words that are rare in messages in other languages: not "was",
// "also" and "is", which other languages have too, nor the ones that all borrow
// ("commit", "test").
var english = lazyregexp.New(`\b(?:the|and|of|to|for|with|from|it|its|this|that|these|those|are|were|be|been|has|have|had|does|did|can|could|would|should|` +
	`not|don't|doesn't|isn't|what|which|when|where|why|how|who|there|here|my|your|our|you|we|they|us|i'm|i|let's|` +
	`yes|yep|yeah|go|ahead|continue|proceed|next|now|then|again|more|all|both|other|another|new|please|thanks|` +
	`add|show|make|use|using|write|run|fix|update|change|remove|delete|check|look|find|list|create|open|read|explain|build|` +
	`review|keep|leave|move|rename|try|get|put|first|second|third|last|one|two|only|just|file|files|page|function|notes|table|chart|` +
	`after|before|into|about|without|than|by|up|ok|okay|commit|push|merge)\b`)

// opaque reports whether the lexicon may misread a reply: it is not plain English, or
// it is long.
func opaque(reply string) bool {
	text := normal(arguments(ownwords.Of(reply)))
	words := strings.Fields(text)
	if len(words) > longReply {
		return true
	}
	letters := false
	for _, r := range text {
		if r > unicode.MaxASCII && unicode.IsLetter(r) {
			return true
		}
		letters = letters || unicode.IsLetter(r)
	}
	// A name, a path or a single letter has no meaning in any language.
	if !letters || len(text) < 3 || len(words) == 1 && strings.ContainsAny(strings.Trim(text, "."), "./_:=") {
		return false
	}
	return 4*len(english.FindAllStringIndex(text, -1)) < len(words)
}
