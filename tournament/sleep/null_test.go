package sleep

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// null is a mutator that changes the text and never betters it.
type null struct{}

var _ eval.Model = null{}

func (null) Identity() eval.Identity {
	return eval.Identity{Backend: "null", Model: "null", Simulated: true}
}

func (null) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	text := p.User
	if i := strings.Index(text, "```"); i >= 0 {
		text = text[i:]
		text = text[strings.Index(text, "\n")+1:]
		if j := strings.Index(text, "```"); j >= 0 {
			text = text[:j]
		}
	}
	usd := 0.001
	// A remark on a subject of no request, another one each time.
	return eval.Completion{Text: fmt.Sprintf("I added a line.\n```\n%s\n- Mind the tone of voice (%x).\n```\n", strings.TrimRight(text, "\n"), uint64(p.Seed)&0xff), Finish: "stop",
		Usage: &eval.Usage{Input: 100, Output: 100}, CostUSD: &usd}, nil
}
