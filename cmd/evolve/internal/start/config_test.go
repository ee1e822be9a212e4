package start

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func TestSpliced(t *testing.T) {
	agent := setting{"agent", "claude", "Who answers."}
	for _, c := range []struct{ text, want, err string }{
		{"", "\n# Who answers.\nagent: claude\n", ""},
		{"# mine\n", "# mine\n\n# Who answers.\nagent: claude\n", ""},
		{"model: x # cheap", "model: x # cheap\n\n# Who answers.\nagent: claude\n", ""},
		{"model: x\r\n", "model: x\r\n\r\n# Who answers.\r\nagent: claude\r\n", ""},
		{"agent: codex   # for now\nmodel: x\n", "agent: claude   # for now\nmodel: x\n", ""},
		{"\"agent\": 'codex'\r\nmodel: x\r\n", "\"agent\": claude\r\nmodel: x\r\n", ""},
		{"agent: claude # mine\n", "agent: claude # mine\n", ""},
		{"setup:\n  agent: make\nagent: pi\n", "setup:\n  agent: make\nagent: claude\n", ""},
		{"prices:\n  note: |\n    agent: x\n", "prices:\n  note: |\n    agent: x\n\n# Who answers.\nagent: claude\n", ""},
		{"note: |\nagent: x\n", "", ""}, // read on below
		{"{agent: codex}\n", "", "cannot be changed safely"},
		{"{model: codex}\n", "", "cannot be set safely"},
		{"agent:\n  - codex\n", "", "cannot be changed safely"},
		{"agent: codex\n---\nmodel: x\n", "", "more than one document"},
		{"agent: [\n", "", "yaml: "},
	} {
		got, err := spliced(c.text, agent)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %q, %v", c.text, got, err)
			}
		case c.want != "" && (err != nil || got != c.want):
			t.Errorf("%q: %q, %v, want %q", c.text, got, err, c.want)
		case c.want == "":
			if err == nil && !strings.Contains(got, "agent: claude") {
				t.Errorf("%q: %q", c.text, got)
			}
		}
	}
}

// TestSplicedKeeps: whatever the file is, a splice that succeeds sets its key, keeps the value
// of each other key, and every line but the one of its own.
func TestSplicedKeeps(t *testing.T) {
	line := rapid.SampledFrom([]string{"# mine", "", "model: x", "model: 'x # y'", "agent: codex", "agent: codex # a", "targets: [a, b]", "targets:\n  - a\n  - agent: b",
		"setup:\n  agent: c", "command: |\n  agent: d\n", "night_max_cost_usd: 3", "  ", "...", "---"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, "lines"), "\n")
		s := rapid.SampledFrom([]setting{{"agent", "claude", "A.\nB."}, {"night_max_cost_usd", "2", "C."}}).Draw(t, "setting")
		got, err := spliced(text, s)
		if err != nil {
			return
		}
		before, after := map[string]any{}, map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &before); err != nil {
			t.Fatalf("%q was read, %v", text, err)
		}
		if err := yaml.Unmarshal([]byte(got), &after); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if before == nil {
			before = map[string]any{}
		}
		_ = yaml.Unmarshal([]byte(s.key+": "+s.value), &before)
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", text, got)
		}
		rest := got
		for _, l := range strings.Split(text, "\n") {
			at := strings.Index(rest, l)
			if at < 0 && !strings.HasPrefix(l, s.key+":") {
				t.Fatalf("%q lost %q: %q", text, l, got)
			}
			rest = rest[max(0, at):]
		}
	})
}

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "mine.yaml"), filepath.Join(dir, "config.yaml")
	f, err := edit(link, []setting{{"agent", "claude", "Who answers."}})
	if err != nil || !f.changed() || !bytes.HasPrefix(f.new, []byte("# evolve's settings")) {
		t.Fatalf("%s, %v", f.new, err)
	}
	if _, err := os.Stat(link); err == nil {
		t.Fatal("it was written before its owner has seen it")
	}
	if err := os.WriteFile(path, []byte("agent: pi\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := f.write(); err != nil { // there is none yet
		t.Fatal(err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if err := f.write(); err == nil {
		t.Error("a file that came meanwhile was overwritten")
	}
	if f, err = edit(link, []setting{{"agent", "claude", "Who answers."}}); err != nil {
		t.Fatal(err)
	}
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	text, e := os.ReadFile(path)
	if err != nil || e != nil || info.Mode()&os.ModeSymlink == 0 || string(text) != "agent: claude\n" {
		t.Errorf("%v %q %v %v", info.Mode(), text, err, e)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"claude": "claude", "claude-sonnet-5": "claude-sonnet-5", "on": "on", "5": "'5'", "a b": "'a b'", "it's": "'it''s'", "": "''", "a: b": "'a: b'", "true": "'true'"} {
		got := quoted(in)
		var back any
		if err := yaml.Unmarshal([]byte(got), &back); got != want || err != nil || back != in {
			t.Errorf("%q: %s, %v", in, got, back)
		}
	}
}
