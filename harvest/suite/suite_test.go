package suite

import (
	"fmt"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
)

func ran(line string, exit int) work.Act {
	return work.Act{Kind: work.Ran, Line: line, Exit: &exit, Tests: "go test"}
}

var edit = work.Act{Kind: work.Changed, File: "a.go", Added: "x"}

// shop is a session in which each turn is what the user said, with what the agent did.
func shop(said []string, did ...[]work.Act) *harvest.Session {
	s := &harvest.Session{ID: "s", Agent: "codex", Path: "s.jsonl", CWD: "/home/dev/shop"}
	for i, text := range said {
		t := harvest.Turn{Prompt: text, Answer: "Done.", Time: time.Date(2026, 11, 20, 10, i, 0, 0, time.UTC)}
		if i < len(did) {
			t.Work = did[i]
		}
		s.Turns = append(s.Turns, t)
	}
	return s
}

func TestCommand(t *testing.T) {
	all := "go test ./..."
	fixed := []string{"fix the failing tests", "no, they still fail", "thanks"}
	for name, c := range map[string]struct {
		s           *harvest.Session
		corrections []int
		accepted    int
		confirmed   []string
		want        string
	}{
		"passed in the end":         {shop(fixed, []work.Act{edit, ran(all, 1)}, []work.Act{edit, ran(all, 0)}), []int{1}, 1, nil, all},
		"passed before, too":        {shop(fixed, []work.Act{edit, ran(all, 0)}, []work.Act{edit, ran(all, 0)}), []int{1}, 1, nil, ""},
		"edited since":              {shop(fixed, nil, []work.Act{ran(all, 0), edit}), []int{1}, 1, nil, ""},
		"noted since":               {shop(fixed, nil, []work.Act{ran(all, 0), {Kind: work.Changed, File: work.Memory + "a.md"}}), []int{1}, 1, nil, all},
		"failed in the end":         {shop(fixed, nil, []work.Act{ran(all, 0), ran(all, 1)}), []int{1}, 1, nil, ""},
		"not known to have passed":  {shop(fixed, nil, []work.Act{ran(all+" | tail", 0)}), []int{1}, 1, nil, ""},
		"never accepted":            {shop(fixed, nil, []work.Act{ran(all, 0)}), []int{1}, -1, nil, ""},
		"accepted at once":          {shop(fixed[:1], []work.Act{ran(all, 0)}), nil, 0, nil, all},
		"about something else":      {shop([]string{"add a flag", "no, --dry-run"}, nil, []work.Act{ran(all, 0)}), []int{1}, 1, nil, ""},
		"asked for in a correction": {shop([]string{"add a flag", "no, run the tests"}, nil, []work.Act{ran(all, 0)}), []int{1}, 1, nil, all},
		"in another language":       {shop([]string{"bring die Unittests zum Laufen, die Tests schlagen fehl"}, []work.Act{ran(all, 0)}), nil, 0, nil, all},
		"the shortest":              {shop(fixed, nil, []work.Act{ran("go test -run TestShop ./shop", 0), ran(all, 0)}), []int{1}, 1, nil, all},
		"the confirmed":             {shop(fixed, nil, []work.Act{ran("go test -race ./...", 0), ran(all, 0)}), []int{1}, 1, []string{"go test -race ./..."}, "go test -race ./..."},
		"one that was not run":      {shop(fixed, nil, []work.Act{ran(all, 0)}), []int{1}, 1, []string{"make test"}, all},
	} {
		if got := Command(c.s, 0, c.corrections, c.accepted, c.confirmed); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What somebody else may have written into a checkpoint proposes nothing; what its owner
// confirmed grades its cases, too.
func TestCheckpointsProposeNothing(t *testing.T) {
	s := shop([]string{"fix the tests"}, []work.Act{ran("go test ./...", 0)})
	s.Path = "/home/dev/shop" + harvest.CheckpointMark + "/s"
	if got := Command(s, 0, nil, 0, nil); got != "" {
		t.Errorf("%q", got)
	}
	if got := Command(s, 0, nil, 0, []string{"go test ./..."}); got != "go test ./..." {
		t.Errorf("%q", got)
	}
	if got := Propose([]harvest.Session{*s}, func(f string) string { return f }); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPropose(t *testing.T) {
	a := shop([]string{"x", "y"}, []work.Act{ran("go test ./...", 1), ran("make test && go test ./...", 0)}, []work.Act{ran("go test ./... | tail", 0), ran("go test $X", 0)})
	b := shop([]string{"x"}, []work.Act{ran("cd /home/dev/shop && go test ./...", 0), ran("go test ./...; make test", 0)})
	other := shop([]string{"x"}, []work.Act{ran("npm test", 0)})
	other.CWD = "/home/dev/blog"
	got := ""
	for _, p := range Propose([]harvest.Session{*a, *b, *other}, func(f string) string {
		if f == "/home/dev/blog" {
			return ""
		}
		return f
	}) {
		got += fmt.Sprintf("%s: %s: %d sessions, %d of %d passed, %s\n", p.Project, p.Command, p.Sessions, p.Passed, p.Runs, p.Last.Format("15:04"))
	}
	const want = "/home/dev/shop: go test ./...: 2 sessions, 2 of 5 passed, 10:01\n/home/dev/shop: make test: 2 sessions, 1 of 2 passed, 10:00\n"
	if got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
}

func TestConfirmed(t *testing.T) {
	k, err := Check("A=1 go test ./...")
	if err != nil || k.Validate() != nil {
		t.Fatal(err, k.Validate())
	}
	list := []string{"make test", "A=1 go test ./..."}
	if !Confirmed(&k, list) || Confirmed(&k, list[:1]) || Confirmed(&eval.Check{}, nil) {
		t.Error("a confirmed check is told from no other")
	}
	k.Command = []string{"rm", "-rf", "/"}
	if Confirmed(&k, list) {
		t.Error("a command is confirmed by the name of another")
	}
}
