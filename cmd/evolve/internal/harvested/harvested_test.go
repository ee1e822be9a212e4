package harvested

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/ingest"
)

// The test command that would grade the most cases is named with what confirms it.
func TestUnconfirmedTests(t *testing.T) {
	var out bytes.Buffer
	r := &Report{Learned: new(corrections.Report), Skills: []ingest.SkillCases{{Skill: "dataviz", Unconfirmed: []ingest.Ungraded{
		{Project: "/home/dev/my shop", Command: "go test ./...", Cases: 4}, {Project: "/home/dev/my shop", Command: "make test", Cases: 1}}}, {Skill: "plot"}}}
	if err := r.Print(&term.Terminal{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	const want = "4 cases of dataviz would be graded by `go test ./...`: `evolve projects tests '/home/dev/my shop' --confirm 'go test ./...'`\n"
	if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "make test") {
		t.Errorf("%s", &out)
	}
}

// Without cases the next step is to have read what may bring some, if anything waits.
func TestNext(t *testing.T) {
	for want, skills := range map[string][]ingest.SkillCases{
		"use your skills and correct them":              {{Skill: "plot"}},
		"`evolve corrections --read --dry-run` says":    {{Skill: "plot", Unread: 1}, {Skill: "file:~:.claude/CLAUDE.md", Unread: 2}},
		"`evolve --skill plot` looks for a better text": {{Skill: "plot", Unread: 1, Cases: 1}},
	} {
		if got := (&Report{Stored: 1, Skills: skills}).next(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
