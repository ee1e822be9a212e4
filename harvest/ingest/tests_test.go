package ingest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/work"
)

// A case of a request about tests is graded by the command that passed in the end as long as
// its owner has confirmed it; until then, and for another project's, it waits.
func TestGradedByTests(t *testing.T) {
	g := person(t)
	shop := filepath.Join(t.TempDir(), "shop")
	zero, one := 0, 1
	s := &harvest.Session{ID: "s1", Agent: "codex", Path: "s1.jsonl", CWD: shop, Commit: "0123456789abcdef0123456789abcdef01234567",
		Started: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), Turns: []harvest.Turn{
			{ID: "t0", Prompt: "Chart the revenue and fix the failing tests of it", Answer: "Done.", Work: []work.Act{{Kind: work.Ran, Line: "go test ./...", Exit: &one, Tests: "go test"}}},
			{ID: "t1", Prompt: "no, use a log scale", Answer: "Done, and all tests pass.", Work: []work.Act{{Kind: work.Ran, Line: "go test ./...", Exit: &zero, Tests: "go test"}}},
			{ID: "t2", Prompt: "thanks, perfect", Answer: "Welcome."},
		}, Invocations: []harvest.Invocation{{ID: "i", Skill: "dataviz", Turn: 0, Signal: harvest.SkillToolUse, Explicit: true}}}
	harvest.Assess(s)
	if err := g.Store.SaveSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	missing := ""
	mine := func() (types, waiting string) {
		t.Helper()
		_, stats, err := g.Mine(t.Context(), "dataviz", Mining{})
		if err != nil {
			t.Fatal(err)
		}
		cases, err := g.Store.Cases(t.Context(), "dataviz")
		if err != nil || len(cases) != 1 {
			t.Fatalf("%d cases, %v", len(cases), err)
		}
		for _, k := range cases[0].Checks {
			types += k.Type + " " + strings.Join(k.Command, " ") + ";"
		}
		for _, u := range stats.Unconfirmed {
			waiting += fmt.Sprintf("%s %s %d", u.Project, u.Command, u.Cases)
		}
		missing = ""
		for _, u := range stats.NoProgram {
			missing += fmt.Sprintf("%s %s %d %s", u.Project, u.Command, u.Cases, u.Why)
		}
		return types, waiting
	}
	expect := func(types, waiting string) {
		t.Helper()
		if a, b := mine(); a != types || b != waiting {
			t.Errorf("%q, %q; want %q, %q", a, b, types, waiting)
		}
	}
	change := func(f func(*consent.Decisions)) {
		t.Helper()
		if err := consent.Update(g.Dir.Projects(), func(d *consent.Decisions) error { f(d); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	expect("judge ;", shop+" go test ./... 1")
	change(func(d *consent.Decisions) { d.Confirm(filepath.Dir(shop), "go test ./...") })
	expect("judge ;", shop+" go test ./... 1")
	change(func(d *consent.Decisions) { d.Confirm(shop, "go test ./...") })
	g.Find = func(dir, name string) error { return fmt.Errorf("no %s in %s", name, filepath.Base(dir)) }
	expect("judge ;", "")
	if want := shop + " go test ./... 1 no go in shop"; missing != want {
		t.Errorf("missing: %q, want %q", missing, want)
	}
	g.Find = func(string, string) error { return nil }
	expect("judge ;tests go test ./...;", "")
	cases, err := g.Store.Cases(t.Context(), "dataviz")
	if err != nil || !Quoted(cases[0]) {
		t.Fatalf("a model may not write the other checks any more: %+v, %v", cases, err)
	}

	// Its owner may edit it as it is, and not to another command.
	c := &cases[0]
	for command, ok := range map[string]bool{`["go","test","./..."]`: true, `["rm","-rf","/"]`: false} {
		text := fmt.Sprintf(`{"id":%q,"skill":"dataviz","prompt":%q,"split":%q,"workspace":{"repo":%q,"commit":%q},"source":{"agent":"codex","session":"s1","turn":"t0","origin":"mined","outcome":"corrected","stratum":"corrected"},"checks":[{"type":"tests","value":"go test ./...","command":%s}]}`,
			c.ID, c.Prompt, c.Split, shop, s.Commit, command)
		if _, err := g.Replace(t.Context(), c, []byte(text), false, "again"); (err == nil) != ok {
			t.Errorf("%s: %v", command, err)
		}
	}
	change(func(d *consent.Decisions) { d.Drop(shop, "go test ./...") })
	expect("judge ;", shop+" go test ./... 1")
}

// The program of a command line is its first word, behind the variables that `env` sets.
func TestProgramOfTests(t *testing.T) {
	g := &Ingester{Find: func(dir, name string) error { return fmt.Errorf("%s %s", dir, name) }}
	for line, want := range map[string]string{"go test ./...": "/src go", "env CGO_ENABLED=0 go test -run=A": "/src go", "./run A=b": "/src ./run"} {
		if err := g.lacks("/src", strings.Fields(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	if err := g.lacks("/src", []string{"env", "A=b"}); err != nil {
		t.Error(err)
	}
}
