package work_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest/work"
)

// TestRecordAndReplayAgree: what a session's record of commands and edits decides, a replay of
// the same decides in the same way.
func TestRecordAndReplayAgree(t *testing.T) {
	checks := []check.Check{
		{Type: check.Ran, Value: "go test ./..."}, {Type: check.Ran, Value: "go vet", After: check.LastEdit}, {Type: check.Ran, Value: "sed -i"},
		{Type: check.Changed, Path: "*.go"}, {Type: check.Changed, Path: "docs/**"}, {Type: check.Changed, Path: "new.txt"},
		{Type: check.Added, Value: "^line [0-4]$"}, {Type: check.Added, Value: "[5-9]$", Path: "docs/*.md"}, {Type: check.Added, Value: "old"},
	}
	for _, k := range slices.Clone(checks) {
		k.Type = "not_" + k.Type
		checks = append(checks, k)
	}
	before := map[string]string{"a.go": "old 1\nold 2\nold 3\n", "docs/b.md": "old 4\n", "docs/c.md": ""}
	lines := []string{"go test ./...", "cd docs && go vet .", "make", "echo 'go test ./...'", "go vet ./... && go test ./... 2>&1 | tail", "sed -i s/old/older/ a.go"}
	decided := 0
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		for name, text := range before {
			put(t, dir, name, text)
		}
		s, err := replay.Open(eval.Task{Variant: eval.Variant{Name: "s"}, Case: &eval.Case{}, Workspace: dir, Before: func(name string) ([]byte, error) {
			text, ok := before[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}}, replay.Layout{Config: ".claude"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r := work.New(work.All, plain, plain)
		var accesses []replay.Access
		fresh := 0
		for i := range rapid.IntRange(0, 8).Draw(rt, "steps") {
			id, failed := fmt.Sprint(i), rapid.IntRange(0, 4).Draw(rt, "fails") == 0
			if rapid.Bool().Draw(rt, "edit") {
				name := rapid.SampledFrom([]string{"a.go", "docs/b.md", "docs/c.md", "new.txt"}).Draw(rt, "file")
				was := get(dir, name)
				now := slices.Collect(strings.Lines(was))
				if len(now) > 0 && rapid.Bool().Draw(rt, "remove") {
					at := rapid.IntRange(0, len(now)-1).Draw(rt, "at")
					now = slices.Delete(now, at, at+1)
				} else {
					now = slices.Insert(now, rapid.IntRange(0, len(now)).Draw(rt, "at"), fmt.Sprintf("line %d\n", fresh))
					fresh++
				}
				r.Changed(0, id, name, strings.Join(now, ""), was)
				accesses = append(accesses, replay.Access{Tool: "Write", Path: filepath.Join(dir, name), Failed: failed})
				if !failed {
					put(t, dir, name, strings.Join(now, ""))
				}
			} else {
				line, exit := rapid.SampledFrom(lines).Draw(rt, "line"), 0
				if strings.HasPrefix(line, "sed ") && !failed {
					put(t, dir, "a.go", strings.ReplaceAll(get(dir, "a.go"), "old ", "older "))
				}
				if failed {
					exit = 1
				}
				r.Ran(0, id, line, "")
				r.Ended(id, &exit, failed)
				accesses = append(accesses, replay.Access{Tool: "Bash", Command: line, Failed: failed})
			}
			r.Ended(id, nil, failed)
		}
		names, err := s.Changed()
		if err != nil {
			t.Fatal(err)
		}
		replayed, err := s.Work(t.Context(), names, accesses, true, replay.Secrets{})
		if err != nil {
			t.Fatal(err)
		}
		recorded := work.Of(work.All, r.Finish(dir)[0])
		for _, k := range checks {
			was, errA := k.Grade(t.Context(), &check.Subject{Work: recorded.For(&k)})
			is, errB := k.Grade(t.Context(), &check.Subject{Work: replayed})
			switch {
			case errA != nil || errB != nil:
				t.Fatal(errA, errB)
			case !was.Missing && is.Missing, !was.Missing && was.Passed() != is.Passed():
				rt.Fatalf("%+v: recorded %+v of %+v\nreplayed %+v of %+v", k, was, recorded, is, replayed)
			case !was.Missing:
				decided++
			}
		}
	})
	if decided == 0 {
		t.Error("nothing was decided")
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// get is a file's text, "" if there is none.
func get(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	return string(text)
}
