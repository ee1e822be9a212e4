package check

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	w := &Work{Files: []Change{{Path: "docs/a/b.md", Added: "# One\ntwo  \n"}, {Path: "main_test.go", Added: "func TestX(t *testing.T) {\r\n"}, {Path: "old.go", Removed: "x\n"}}}
	for _, c := range []struct {
		k     Check // changed or added
		found bool
	}{
		{Check{Type: Changed, Path: "docs/**"}, true},
		{Check{Type: Changed, Path: "*.go"}, true},
		{Check{Type: Changed, Path: "b.md"}, true},
		{Check{Type: Changed, Path: "docs/*.md"}, false},
		{Check{Type: Changed, Path: "go.sum"}, false},
		{Check{Type: Added, Value: "^two$"}, false},
		{Check{Type: Added, Value: "^two +$"}, true},
		{Check{Type: Added, Value: "^$"}, false},
		{Check{Type: Added, Value: `\{$`, Path: "*_test.go"}, true},
		{Check{Type: Added, Value: "One", Path: "*_test.go"}, false},
		{Check{Type: Added, Value: "x", Path: "old.go"}, false}, // removed
	} {
		not := c.k
		not.Type = "not_" + not.Type
		for _, cut := range []bool{false, true} {
			w.Cut = cut
			is, isNot := grade(t, c.k, w), grade(t, not, w)
			if is.Missing != (cut && !c.found) || is.Passed() != c.found || isNot.Missing != is.Missing || !is.Missing && isNot.Passed() == is.Passed() {
				t.Errorf("%+v, cut %v: %+v and %+v", c.k, cut, is, isNot)
			}
		}
		if !grade(t, c.k, nil).Missing || !grade(t, not, nil).Missing {
			t.Errorf("%+v is decided without work", c.k)
		}
	}
	w.Cut = false
	for want, k := range map[string]Check{
		"No file *.rs was changed.":                                                {Type: Changed, Path: "*.rs"},
		"The file docs/** was changed, and must not be.":                           {Type: NotChanged, Path: "docs/**"},
		"No line that matches the pattern y was added to *.md.":                    {Type: Added, Value: "y", Path: "*.md"},
		"A line that matches the pattern (?i)ONE was added, and must not be.":      {Type: NotAdded, Value: "(?i)ONE"},
		"A line that matches the pattern O was added to docs/**, and must not be.": {Type: NotAdded, Value: "O", Path: "docs/**"},
	} {
		if r := grade(t, k, w); r.Feedback != want {
			t.Errorf("%+v: %q, want %q", k, r.Feedback, want)
		}
	}
	for _, bad := range []Check{{Type: Changed}, {Type: Changed, Path: "docs/"}, {Type: Changed, Path: "/docs"}, {Type: Changed, Path: "../x"},
		{Type: Changed, Path: "[x"}, {Type: Changed, Path: "a**b"}, {Type: Changed, Path: "x", Value: "y"}, {Type: Added, Path: "x"},
		{Type: Added, Value: "("}, {Type: NotAdded, Value: "x", Path: "[-]"}} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// TestGlob compares with a matcher that tries every way to fill in a **.
func TestGlob(t *testing.T) {
	var slow func(pattern, name []string) bool
	slow = func(p, n []string) bool {
		switch {
		case len(p) == 0:
			return len(n) == 0
		case p[0] == "**":
			return slow(p[1:], n) || len(n) > 0 && slow(p, n[1:])
		case len(n) == 0:
			return false
		}
		ok, _ := path.Match(p[0], n[0])
		return ok && slow(p[1:], n[1:])
	}
	pattern := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "**", "?", "a*"}), 2, 5)
	name := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "c"}), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		p, n := pattern.Draw(t, "pattern"), name.Draw(t, "name")
		if got, want := glob(strings.Join(p, "/"), strings.Join(n, "/")), slow(p, n); got != want {
			t.Fatalf("%v on %v: %v, want %v", p, n, got, want)
		}
	})
}

func FuzzGlob(f *testing.F) {
	f.Add("**/*.go", "a/b.go")
	f.Add("[a-", "a")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if validGlob(pattern) != nil {
			return
		}
		_ = glob(pattern, name)
		if !strings.ContainsAny(pattern, "*?[") && !glob(pattern, pattern) {
			t.Fatalf("%q does not match itself", pattern)
		}
	})
}

// A runner that notes what it ran.
type runner struct {
	ProgramRunner
	exit int
	ran  []string
}

func (r *runner) RunProgram(_ context.Context, dir string, argv []string, _ []byte, _ time.Duration) (stdout, stderr []byte, exit int, err error) {
	r.ran = append(r.ran, dir+": "+strings.Join(argv, " "))
	return []byte("FAIL x"), nil, r.exit, nil
}

func TestTests(t *testing.T) {
	k := Check{Type: Tests, Value: "unit", Command: []string{"go", "test", "./..."}}
	for _, bad := range []Check{{Type: Tests, Value: "unit"}, {Type: Tests, Command: k.Command}, {Type: Tests, Value: "unit", Command: []string{""}}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	if err := k.Validate(); err != nil || !k.Executing() {
		t.Errorf("%v; runs a program: %v", err, k.Executing())
	}
	for exit, want := range map[int]Result{0: {Score: 1}, 1: {Feedback: "`go test ./...` fails on the work that was left.", Evidence: "exit status 1\nFAIL x"}} {
		r := &runner{exit: exit}
		got, err := k.Grade(t.Context(), &Subject{Workspace: "dir", Programs: r})
		if err != nil || got != want || !slices.Equal(r.ran, []string{"dir: go test ./..."}) {
			t.Errorf("exit %d: %+v, %v, ran %q", exit, got, err, r.ran)
		}
	}
}
