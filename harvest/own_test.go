package harvest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/workspace"
)

func TestOwnReplay(t *testing.T) {
	// The workspaces that rollouts really get.
	f, err := (&workspace.Recorded{Parent: t.TempDir()}).Open(t.Context(), &eval.Case{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	home, err := os.MkdirTemp(t.TempDir(), "evolve-replay-")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cwd, path string
		want      bool
	}{
		{f.Dir, "/home/dev/.claude/projects/x/s.jsonl", true},
		{filepath.Join(f.Dir, "sub"), "", true},
		{"/work", filepath.Join(home, "projects", "x", "s.jsonl"), true},
		{`C:\Temp\evolve-case-123`, "", true},
		{"/home/dev/evolve-case-study", "", false},
		{"/home/dev/evolve-case-1a", "", false},
		{"/home/dev/evolve", "/tmp/evolve-demo-123/.claude/projects/x/s.jsonl", false},
		{"", "", false},
	} {
		if got := OwnReplay(&Session{CWD: c.cwd, Path: c.path}); got != c.want {
			t.Errorf("%q, %q: %v", c.cwd, c.path, got)
		}
	}
}

// A source that reads no files asks the filter alone.
func TestFilterExcludesReplays(t *testing.T) {
	if !(Options{}).Excludes("/tmp/evolve-replay-7/work") || (Options{}).Excludes("/home/dev/evolve-replays") {
		t.Error("the filter does not know evolve's own folders")
	}
}

// A replay makes no case.
func TestReplaysMakeNoCase(t *testing.T) {
	s := corrected("s1")
	s.CWD = "/tmp/evolve-case-42"
	if cases, stats := mine(t, Miner{}, s); len(cases) != 0 || stats.Replays != 1 {
		t.Errorf("%d cases, %+v", len(cases), stats)
	}
}

// TestCopiedCorrections: a correction that repeats what the agent wrote is marked; one with
// words of the person's own is not.
func TestCopiedCorrections(t *testing.T) {
	for said, copied := range map[string]bool{
		"no, wrong. Load the palette from colours.example first":                              true,
		"no, wrong. Load the palette from colours.example first. Label each axis with a unit": false,
		"no, use a log scale": false,
		"wrong":               false,
	} {
		cases, _ := mine(t, Miner{}, at(session("!Make a chart of data/revenue.csv => Done. The README says:\nLoad the palette from colours.example first.",
			said+" => Redrawn.", "thanks, perfect => You're welcome."), "s", 0))
		if len(cases) != 1 || cases[0].Source.Outcome != "corrected" || cases[0].Source.Copied != copied {
			t.Errorf("%q: %+v", said, cases[0].Source)
		}
	}
}
