package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
)

var update = flag.Bool("update", false, "write the golden files")

// sessions reads a whole home.
func sessions(t *testing.T, home string, c harvest.Cursor) ([]*harvest.Session, []harvest.Problem) {
	t.Helper()
	var all []*harvest.Session
	problems, err := claude.New(home, claude.Options{}).Sessions(context.Background(), c, func(s *harvest.Session) error {
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, problems
}

func golden(t *testing.T, name string, got any) {
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
}

// One person's folder, recorded from the real program: an uncorrected use, two
// corrected ones, typed commands, tool errors.
func TestInteractive(t *testing.T) {
	all, problems := sessions(t, "testdata/interactive/.claude", nil)
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	golden(t, "interactive.json", all)
}
