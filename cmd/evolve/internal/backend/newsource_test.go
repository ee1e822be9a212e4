package backend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/parrottest"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A source is one file and one line: with its Kind among kinds, --source takes its name,
// its variable names its home, and auto finds it.
func TestNewSource(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(home)
	log := filepath.Join(home, "bird", "log")
	if err := os.MkdirAll(log, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(log, "s1.jsonl"), []byte(`{"who":"user","text":"hello"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := kinds
	t.Cleanup(func() { kinds = before })
	kinds = append(kinds[:len(kinds):len(kinds)], parrottest.Kind)
	layout := &skill.Layout{Getenv: func(k string) string {
		return map[string]string{"PARROT_HOME": filepath.Dir(log)}[k]
	}}
	for _, name := range []string{"parrot", "auto"} {
		sources, err := Sources(t.Context(), SourceOptions{Name: name, Layout: layout})
		if err != nil || len(sources) == 0 {
			t.Fatal(sources, err)
		}
		n := 0
		problems, err := sources[len(sources)-1].Source.Sessions(t.Context(), nil, func(s *harvest.Session) error {
			if n++; s.Agent != "parrot" || s.Turns[0].Prompt != "hello" {
				t.Errorf("%+v", s)
			}
			return nil
		})
		if n != 1 || len(problems) > 0 || err != nil {
			t.Errorf("%s: %d sessions, %v, %v", name, n, problems, err)
		}
	}
}
