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
