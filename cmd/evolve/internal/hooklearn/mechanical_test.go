package hooklearn

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest/corrections"
)

// What a guard has to do follows from the check, where a guard can see that.
func TestNeeds(t *testing.T) {
	for want, k := range map[string]check.Check{
		"at Stop, go on only if `go vet` ran":                     {Type: check.Ran, Value: "go vet"},
		"at Stop, go on only if `go vet` ran after the last edit": {Type: check.Ran, Value: "go vet", After: check.LastEdit},
		"at PreToolUse, stop `git push`":                          {Type: check.NotRan, Value: "git push"},
		"at Stop, go on only if docs/** changed":                  {Type: check.Changed, Path: "docs/**"},
		"at PreToolUse, stop edits of go.sum":                     {Type: check.NotChanged, Path: "go.sum"},
	} {
		if got := needs(&k); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := needs(&check.Check{Type: check.Added, Value: "x"}); got != "" {
		t.Errorf("%q of added lines", got)
	}
}

func TestWritten(t *testing.T) {
	for want, r := range map[string]Rule{
		"written in shop/CLAUDE.md and loaded, and broken in 2 sessions since":             {Written: corrections.Written{Path: "/x", File: "shop/CLAUDE.md", Since: 2}},
		"written in shop/CLAUDE.md, and not broken since":                                  {Written: corrections.Written{Path: "/x", File: "shop/CLAUDE.md"}},
		"in shop/CLAUDE.md or ~/.claude/CLAUDE.md it would have to prevent these 2 calls ": {Written: corrections.Written{Project: "shop/CLAUDE.md", Own: "~/.claude/CLAUDE.md"}, Calls: make([]Call, 2)},
		"in ~/.codex/AGENTS.md it would have to prevent this call ":                        {Written: corrections.Written{Own: "~/.codex/AGENTS.md"}, Calls: make([]Call, 1)},
	} {
		if got := r.written(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := new(Rule).written(); got != "" {
		t.Errorf("%q", got)
	}
}
