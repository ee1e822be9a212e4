package work

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/check"
	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	zero, one := 0, 1
	ran := func(line string, exit *int) Act { return Act{Kind: Ran, Line: line, Exit: exit} }
	edit := func(file, added, removed string) Act {
		return Act{Kind: Changed, File: file, Added: added, Removed: removed}
	}
	for _, c := range []struct {
		name  string
		level Level
		acts  []Act
		want  string
		edits bool
	}{
		{"nothing", All, nil, `{}`, true},
		{"commands", All, []Act{ran("go test ./...", &one), ran("go vet ./...", &zero), ran("ls", nil)},
			`{"steps":[{"line":"go test ./...","failed":true},{"line":"go vet ./..."},{"line":"ls"}]}`, true},
		{"an edit", All, []Act{edit("a/b.go", "x", "y"), ran("go vet ./...", &zero)},
			`{"steps":[{"file":"a/b.go"},{"line":"go vet ./..."}],"files":[{"path":"a/b.go","added":"x","removed":"y"}]}`, true},
		{"edits of one file", All, []Act{edit("a", "x\ny", ""), edit("a", "z", "x"), edit("b", "1", "")},
			`{"steps":[{"file":"a"},{"file":"a"},{"file":"b"}],"files":[{"path":"a","added":"y\nz"},{"path":"b","added":"1"}]}`, true},
		{"one undone", All, []Act{edit("a", "x", "y"), edit("a", "y", "x")}, `{"steps":[{"file":"a"},{"file":"a"}]}`, false},
		{"without lines", All, []Act{edit("a", "", "")}, `{"steps":[{"file":"a"}],"files":[{"path":"a"}]}`, true},
		{"memory", All, []Act{edit(Memory+"rules.md", "x", "")}, `{}`, true},
		{"outside of the workspace", All, []Act{edit("../other/a", "x", "")}, `{}`, false},
		{"refused", All, []Act{{Kind: Refused, Line: "git push"}}, `{}`, true},
		{"commands alone are kept", Commands, []Act{ran("go vet", &zero)}, `{"steps":[{"line":"go vet"}]}`, false},
		{"a command that edits", All, []Act{ran("sed -i s/a/b/ x.go", &zero)}, `{"steps":[{"line":"sed -i s/a/b/ x.go"}]}`, false},
		{"output to nowhere", All, []Act{ran("go vet ./... 2>&1 >/dev/null", &zero)}, `{"steps":[{"line":"go vet ./... 2\u003e\u00261 \u003e/dev/null"}]}`, true},
		{"names of programs", All, []Act{{Kind: Ran, Line: "env; go", Cut: true}}, `{"steps":[{"line":"env; go"}],"cut":true}`, false},
		{"lines that were cut", All, []Act{{Kind: Changed, File: "a", Added: "x", Cut: true}}, `{"steps":[{"file":"a"}],"files":[{"path":"a","added":"x"}]}`, false},
	} {
		d := Of(c.level, c.acts)
		got, err := json.Marshal(d.Work)
		if err != nil || string(got) != c.want || d.Edits != c.edits {
			t.Errorf("%s: %s, edits %v", c.name, got, d.Edits)
		}
	}
}

// A check that looks at commands alone is decided although edits are not known; any other
// that finds nothing is not.
func TestFor(t *testing.T) {
	d := Of(Commands, []Act{{Kind: Ran, Line: "go vet ./..."}})
	for _, c := range []struct {
		k    check.Check
		want string
	}{
		{check.Check{Type: check.Ran, Value: "go vet"}, "passed"},
		{check.Check{Type: check.Ran, Value: "go test"}, "failed"},
		{check.Check{Type: check.NotRan, Value: "go test"}, "passed"},
		{check.Check{Type: check.Ran, Value: "go vet", After: check.LastEdit}, "unknown"},
		{check.Check{Type: check.Changed, Path: "a"}, "unknown"},
		{check.Check{Type: check.NotAdded, Value: "x"}, "unknown"},
	} {
		r, err := c.k.Grade(t.Context(), &check.Subject{Work: d.For(&c.k)})
		got := "failed"
		if r.Missing {
			got = "unknown"
		} else if r.Passed() {
			got = "passed"
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: %s, %v", c.k, got, err)
		}
	}
}

// However often a file is edited, its change is what its last text has more and less than
// its first.
func TestOfSums(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "{", "}"}), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(lines, 2, 6).Draw(t, "texts")
		var acts []Act
		for i, now := range texts[1:] {
			added, removed := differ(strings.Join(now, "\n"), strings.Join(texts[i], "\n"))
			acts = append(acts, Act{Kind: Changed, File: "f", Added: added, Removed: removed})
		}
		count := map[string]int{}
		for _, l := range texts[len(texts)-1] {
			count[l]++
		}
		for _, l := range texts[0] {
			count[l]--
		}
		got := map[string]int{}
		for _, f := range Of(All, acts).Work.Files {
			for _, l := range split(f.Added) {
				got[l]++
			}
			for _, l := range split(f.Removed) {
				got[l]--
			}
		}
		for l, n := range count {
			if got[l] != n {
				t.Fatalf("%q: %d, want %d, of %+v", l, got[l], n, acts)
			}
		}
	})
}

func TestLevelOf(t *testing.T) {
	ran, changed := Act{Kind: Ran, Line: "ls"}, Act{Kind: Changed, File: "a"}
	for _, c := range []struct {
		turns [][]Act
		want  Level
	}{
		{nil, Off},
		{[][]Act{nil, {}}, Off},
		{[][]Act{{ran}, nil}, Commands},
		{[][]Act{{ran}, {changed}, {ran}}, All},
		{[][]Act{{{Kind: Refused, Line: "git push"}}}, Commands},
		{[][]Act{{{Kind: Refused, Tool: "WebFetch"}}}, All},
	} {
		if got := LevelOf(slices.Values(c.turns)); got != c.want {
			t.Errorf("%v: %v, want %v", c.turns, got, c.want)
		}
	}
}

// A brief is no longer than it may be, and says if it is not all of the work.
func TestBrief(t *testing.T) {
	text := rapid.StringMatching(`[a-z]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		d := Done{Edits: true}
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			d.Work.Steps = append(d.Work.Steps, check.Step{Line: "l" + text.Draw(t, "line")})
		}
		for range rapid.IntRange(0, 5).Draw(t, "files") {
			d.Work.Files = append(d.Work.Files, check.Change{Path: "p" + text.Draw(t, "path"), Added: text.Draw(t, "added"), Removed: text.Draw(t, "removed")})
		}
		most := rapid.IntRange(0, 400).Draw(t, "most")
		w := d.Brief(most)
		n := 0
		for _, s := range w.Steps {
			n += len(s.Line)
		}
		for _, c := range w.Files {
			n += len(c.Path) + len(c.Added) + len(c.Removed)
		}
		if n > most {
			t.Fatalf("%d characters of at most %d", n, most)
		}
		if whole := slices.Equal(w.Steps, d.Work.Steps) && slices.Equal(w.Files, d.Work.Files); whole == w.Cut {
			t.Fatalf("cut %v: %+v of %+v", w.Cut, w, d.Work)
		}
		if k := len(d.Work.Steps) - len(w.Steps); !slices.Equal(w.Steps, d.Work.Steps[k:]) {
			t.Fatalf("%+v are not the last of %+v", w.Steps, d.Work.Steps)
		}
	})
}
