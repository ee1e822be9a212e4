package harvest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
)

var update = flag.Bool("update", false, "write the golden files")

func recorded(t *testing.T, home string) []*harvest.Session {
	t.Helper()
	var all []*harvest.Session
	_, err := claude.Kind.Source(filepath.Join("claude/testdata", home, ".claude"), harvest.Options{}).Sessions(context.Background(), nil, func(s *harvest.Session) error {
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func golden(t *testing.T, name string, got any) []byte {
	t.Helper()
	data, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", file, data)
	}
	return data
}

// From the real program's transcripts to cases: the two corrected uses.
func TestRecordedCases(t *testing.T) {
	cases, stats, err := harvest.Mine(context.Background(), recorded(t, "interactive"), "dataviz", harvest.Miner{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "mined.json", map[string]any{"cases": cases, "stats": stats})
	found := false
	for _, c := range cases {
		for _, k := range c.Checks {
			found = found || strings.Contains(k.Rubric, "log scale")
		}
	}
	if !found {
		t.Error("no check holds what the user asked for")
	}
}

func TestRecordedEvents(t *testing.T) {
	var all []harvest.Sidecar
	for _, s := range recorded(t, "interactive") {
		all = append(all, harvest.Events(s))
	}
	golden(t, "events.json", all)
}

// No secret of a transcript reaches a case or what is sent to a model, and
// neither does what a tool printed.
func TestRecordedSecrets(t *testing.T) {
	all := recorded(t, "secret")
	for _, s := range all { // as if the user had been there
		s.Headless = false
		s.Turns = append(s.Turns, harvest.Turn{ID: "next", Prompt: "no, use a log scale"})
		harvest.Assess(s)
	}
	cases, _, err := harvest.Mine(context.Background(), all, "dataviz", harvest.Miner{})
	if err != nil || len(cases) != 1 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	data, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"FAKEFAKE", "jane.doe"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%q stands in %s", secret, data)
		}
	}
}
