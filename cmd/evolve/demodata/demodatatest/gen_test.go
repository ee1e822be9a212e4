package demodatatest

import (
	"bufio"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

var update = flag.Bool("update", false, "write the committed data")

func TestCommittedData(t *testing.T) {
	want := generate()
	if *update {
		for name, text := range want {
			path := filepath.Join("..", "home", ".claude", filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	root := os.DirFS(filepath.Join("..", "home", ".claude"))
	size := 0
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		size += len(b)
		if text, ok := want[path]; !ok || text != string(b) {
			t.Errorf("%s differs from what is generated: run go generate ./cmd/evolve/demodata/demodatatest", path)
		}
		delete(want, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range want {
		t.Errorf("%s is not committed", path)
	}
	if size > 600_000 {
		t.Errorf("%d bytes, want less than 600,000: they are linked into the program", size)
	}
}

func TestEveryLineIsARecordOfItsSession(t *testing.T) {
	for path, text := range generate() {
		if !strings.HasSuffix(path, ".jsonl") {
			continue
		}
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		parent := ""
		sc := bufio.NewScanner(strings.NewReader(text))
		for sc.Scan() {
			var r struct {
				Type      string
				UUID      string
				Parent    *string `json:"parentUuid"`
				SessionID string
			}
			if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if r.SessionID != id {
				t.Errorf("%s: a record of session %q", path, r.SessionID)
			}
			if r.UUID != "" {
				if (r.Parent == nil) != (parent == "") || r.Parent != nil && *r.Parent != parent {
					t.Errorf("%s: %s does not hang on the record before", path, r.UUID)
				}
				parent = r.UUID
			}
		}
	}
}

// The harvest clusters near-duplicates; if it did so here, too few clusters
// would be held out for a verdict.
func TestPromptsAreNotNearDuplicates(t *testing.T) {
	var prompts []map[string]bool
	for _, s := range newPlan().sessions() {
		for _, u := range s {
			prompts = append(prompts, words(u.prompt))
		}
	}
	for i, a := range prompts {
		for j, b := range prompts[:i] {
			if s := similarity(a, b); s >= 0.8 {
				t.Errorf("prompts %d and %d have similarity %.2f", i, j, s)
			}
		}
	}
}

// The demo is to promote: what was found must be mediocre, and what can be
// learnt from the corrections good.
func TestSeedSkillLeavesRoom(t *testing.T) {
	p := newPlan()
	var cases []eval.Case
	for _, s := range p.sessions() {
		for _, u := range s {
			c := eval.Case{Prompt: u.prompt}
			ls := u.missed
			if len(ls) == 0 && u.ending == "thanks" {
				ls = u.lessons
			}
			for _, l := range ls {
				c.Checks = append(c.Checks, eval.Check{Type: "contains", Value: l.Outcome, Feedback: l.Says})
			}
			if len(ls) > 0 {
				cases = append(cases, c)
			}
		}
	}
	if len(cases) < 60 {
		t.Errorf("%d cases, want 60", len(cases))
	}
	seed := p.world.Oracle(p.world.Seed(), cases)
	if seed < 0.25 || seed > 0.45 {
		t.Errorf("seed quality %.3f, want it in [0.25, 0.45]", seed)
	}
	best := p.world.Seed()
	for _, l := range p.world.Lessons {
		best += "- " + l.Phrase + "\n"
	}
	if q := p.world.Oracle(best, cases); q < 0.9 {
		t.Errorf("quality with every lesson %.3f, want at least 0.9", q)
	} else {
		t.Logf("%d cases, seed %.3f, best %.3f", len(cases), seed, q)
	}
}

func TestHistoryHoldsBothKindsOfOutcome(t *testing.T) {
	corrected, accepted := map[string]int{}, 0
	clusters := 0
	for _, s := range newPlan().sessions() {
		clusters++
		for _, u := range s {
			for _, l := range u.missed {
				corrected[l.ID]++
			}
			if len(u.missed) == 0 && u.ending == "thanks" {
				accepted++
			}
		}
	}
	if clusters < 75 {
		t.Errorf("%d sessions, want 75 for two dozen held-out clusters", clusters)
	}
	if accepted < 20 {
		t.Errorf("%d accepted uses, want 20", accepted)
	}
	for _, id := range []string{"log", "palette", "title", "sort", "source", "slices", "direct", "gaps", "events"} {
		if corrected[id] < 5 {
			t.Errorf("lesson %s is corrected %d times, want 5", id, corrected[id])
		}
	}
}
