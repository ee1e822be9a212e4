package outgoing

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/harvest/consent"
)

// Notes follow the decision on their project, and those that may be a denied one's stay here.
func TestNotes(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"be/ta", "be-ta", "gam-ma", "new"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	g := &Control{File: at("projects.json")}
	err = consent.Update(g.File, func(d *consent.Decisions) error {
		d.Allow(at("be-ta"))
		d.Allow(at("gam-ma"))
		d.Deny(at("be/ta"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	own, other := []agent.Recipient{{Vendor: "anthropic"}}, []agent.Recipient{{Vendor: "cheap.example.com"}}
	for _, c := range []struct {
		project string
		to      []agent.Recipient
		want    bool
	}{
		{"gam-ma", own, true}, {"gam-ma", nil, true}, {"gam-ma", other, false},
		{"be/ta", own, false}, {"be/ta", nil, false}, {"be-ta", own, false}, {"new", own, false},
	} {
		if got := g.Notes(at(c.project), "anthropic", c.to); got != c.want {
			t.Errorf("notes of %s to %v: %v", c.project, c.to, got)
		}
	}
	var none *Control
	if none.Notes(at("gam-ma"), "anthropic", own) || !none.Notes(at("gam-ma"), "anthropic", nil) {
		t.Error("without decisions notes stay on this machine")
	}
}

// The forecast says that the owner's set-up goes along.
func TestSendsSetup(t *testing.T) {
	w := newWorld(t, nil)
	back := asks(map[string]string{agent.Replay: "anthropic", agent.Mutate: "openai"})
	back.Owner = &setup.Set{Files: []setup.File{{Path: ".claude/CLAUDE.md", Text: []byte("x")}}}
	sends, err := w.Forecast(context.Background(), w.db, back, nil, map[string]int64{agent.Replay: 1000, agent.Mutate: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range Lines(sends) {
		if strings.Contains(line, "with your own instructions") != strings.Contains(line, "replay requests") {
			t.Error(line)
		}
	}
	if lines := strings.Join(Lines(sends), "\n"); !strings.Contains(lines, "with your own instructions and the agent's notes") {
		t.Error(lines)
	}
}
