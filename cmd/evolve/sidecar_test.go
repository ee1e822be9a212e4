package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSidecars: written once, merged with what is there, nothing foreign lost,
// inferred uses left out.
func TestSidecars(t *testing.T) {
	claude, home := person(t), t.TempDir()
	dir := filepath.Join(t.TempDir(), "sidecars")
	const id = "956e2661-152c-4e51-b4d4-963028c3c369"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, id+".skills.json")
	foreign := `{"session_id":"` + id + `","turn_id":"t1","token_usage":{"input":12345678901234567890},"skill_events_version":1,
		"skill_events":[{"id":"other-1","event_type":"tool_invocation","skill":{"name":"review"},"source":{"agent":"claude-code","signal":"skill_tool_use","confidence":"explicit"}}]}`
	if err := os.WriteFile(path, []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		if code, _, errs := runHere(t, home, "harvest", "--claude-home", claude, "--sidecar", dir); code != exitDone {
			t.Fatalf("round %d: exit %d, %s", round, code, errs)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version int `json:"skill_events_version"`
		Events  []struct {
			ID     string
			Skill  struct{ Name string }
			Source struct{ Confidence string }
		} `json:"skill_events"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != 1 || len(got.Events) != 2 || got.Events[0].ID != "other-1" || got.Events[1].Skill.Name != "dataviz" {
		t.Errorf("events %+v", got)
	}
	if !strings.Contains(string(text), "12345678901234567890") || !strings.Contains(string(text), `"turn_id": "t1"`) {
		t.Errorf("what Entire wrote was changed: %s", text)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 { // one of the five sessions used no skill
		t.Errorf("%d sidecars, %v", len(entries), err)
	}
	if err := os.WriteFile(path, []byte("not json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := runHere(t, home, "harvest", "--claude-home", claude, "--sidecar", dir); code != exitFailed || !strings.Contains(errs, "read sidecar") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "not json" {
		t.Errorf("a file that is no sidecar was changed: %q, %v", text, err)
	}
}
