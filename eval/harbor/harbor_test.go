package harbor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"pgregory.net/rapid"
)

func words() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"---\nx: y\n---", " space ", "a\r\nb", "\ufeffmark", "a\n\n", "(a+b)*", "\"q\"", "\u2028"}),
		rapid.StringMatching(`[a-c .]{1,12}`), rapid.String(),
	).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
}

func checks() *rapid.Generator[eval.Check] {
	return rapid.Custom(func(t *rapid.T) eval.Check {
		k := eval.Check{Type: rapid.SampledFrom([]string{eval.Contains, eval.NotContains, eval.Equals, eval.Regex, eval.NotRegex, eval.Judge,
			eval.MaxChars, eval.FileExists, eval.FileContains, eval.JSONSchema, eval.Ran, eval.Command}).Draw(t, "type")}
		switch k.Type {
		case eval.Judge:
			k.Rubric = words().Draw(t, "rubric")
		case eval.MaxChars:
			k.Max = rapid.IntRange(1, 20).Draw(t, "max")
		case eval.JSONSchema:
			k.Schema = []byte(`{"type":"object"}`)
		case eval.Command:
			k.Command = rapid.SampledFrom([][]string{{"true"}, {"false"}, {"test", "-f", "out.md"}, {"./none"}}).Draw(t, "command")
		case eval.Regex, eval.NotRegex:
			k.Value = rapid.SampledFrom([]string{"(?i)B", "(?is)a.b", "a|b", `\d+`, `\Aa`, "(?P<n>x)", "[[:alpha:]]", "(?:ab)+", "a{,2}", "^b", "c$", `\w\b`, "é"}).Draw(t, "pattern")
		case eval.Ran:
			k.Value = "make test"
		case eval.FileExists:
			k.Path = rapid.SampledFrom([]string{"out.md", "a/b.txt", "a", "link"}).Draw(t, "path")
		case eval.FileContains:
			k.Path, k.Value = rapid.SampledFrom([]string{"out.md", "a/b.txt", "link"}).Draw(t, "path"), words().Draw(t, "value")
		default:
			k.Value = words().Draw(t, "value")
		}
		k.Weight = rapid.SampledFrom([]float64{0, 1, 0.25, 3}).Draw(t, "weight")
		k.Feedback = rapid.SampledFrom([]string{"", "two\nlines"}).Draw(t, "feedback")
		return k
	})
}

// What was written comes back equal, whatever the texts hold, unless it was left out.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "harbor")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		ids := rapid.SliceOfNDistinct(rapid.OneOf(rapid.SampledFrom([]string{"Case", "case", "../up", "a/b", "é"}), rapid.StringMatching(`[a-z0-9-]{1,90}`)), 1, 5, rapid.ID).Draw(t, "ids")
		want := map[string]eval.Case{}
		var cases []eval.Case
		for _, id := range ids {
			c := eval.Case{ID: id, Skill: "stones", Prompt: words().Draw(t, "prompt"), Checks: rapid.SliceOfN(checks(), 1, 4).Draw(t, "checks"),
				Reference: rapid.SampledFrom([]string{"", "an answer\n"}).Draw(t, "reference"), Split: rapid.SampledFrom([]eval.Split{"", eval.Test}).Draw(t, "split")}
			if rapid.Bool().Draw(t, "more") {
				c.Files = map[string]string{"data.csv": rapid.SampledFrom([]string{"", "a\r\n\ufeff"}).Draw(t, "file"), "a/.dockerignore": "*"}
				c.Context = []eval.Message{{Role: "user", Text: words().Draw(t, "said")}}
			}
			if err := c.Validate(); err != nil {
				t.Fatal("the generator makes an invalid case: ", err)
			}
			cases = append(cases, c)
			if slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return decides(&k) }) {
				want[id] = c
			}
		}
		n, _, err := Write(dir, cases)
		if err != nil || n != len(want) {
			t.Fatalf("%d written, want %d: %v", n, len(want), err)
		}
		got, ignored, err := Read(dir)
		if err != nil || len(got) != n || len(ignored) > 0 {
			t.Fatalf("%d read, ignored %v, %v", len(got), ignored, err)
		}
		for _, c := range got {
			if !reflect.DeepEqual(c, want[c.ID]) {
				t.Fatalf("wrote %+v\nread  %+v", want[c.ID], c)
			}
		}
	})
}

// programs runs the program of a check as it is.
type programs struct{}

func (programs) Identity() string { return "" }

func (programs) RunProgram(ctx context.Context, dir string, argv []string, _ []byte, _ time.Duration) (stdout, stderr []byte, exit int, err error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	err = c.Run()
	if wrong, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, nil, wrong.ExitCode(), nil
	}
	return nil, nil, 0, err
}

// check.py decides a check as evolve does.
func TestDecides(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "app")
	put(t, dir, "app/out.md", "a b\n")
	put(t, dir, "app/a/b.txt", "c")
	put(t, dir, "outside", "abc")
	if err := os.Symlink("../outside", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "check.py", grader)
	write := func(t *rapid.T, name string, v any) string {
		text, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		k := checks().Filter(func(k eval.Check) bool { return decides(&k) }).Draw(t, "check")
		said := rapid.OneOf(rapid.Just(k.Value), rapid.Just("\n"+k.Value+" "), words()).Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "answer")
		r, err := k.Grade(t.Context(), &check.Subject{Answer: said, Workspace: folder, Programs: programs{}})
		want := "0.0\n"
		if err == nil && r.Score == 1 {
			want = "1.0\n"
		}
		type step struct {
			Source  string `json:"source"`
			Message string `json:"message"`
		}
		trajectory := write(t, "trajectory.json", map[string]any{"steps": []step{{"user", "x"}, {"agent", "earlier"}, {"agent", said}, {"agent", ""}}})
		out, err := exec.Command(python, filepath.Join(dir, "check.py"), write(t, "checks.json", []eval.Check{k}), folder, trajectory).Output()
		if err != nil || string(out) != want {
			t.Fatalf("%+v of %q: check.py says %q, evolve %q; %v", k, said, out, want, err)
		}
	})
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var stone = eval.Case{ID: "one", Skill: "stones", Prompt: "which stone?", Files: map[string]string{"a.txt": "x"},
	Checks: []eval.Check{{Type: eval.Contains, Value: "granite", Feedback: "name it"}, {Type: eval.Judge, Rubric: "is short"}}}

// Requests and files that a person edited count; tasks whose tests were edited, and those of
// others, are left out by their number.
func TestEdited(t *testing.T) {
	dir := t.TempDir()
	two := stone
	two.ID = "two"
	n, notes, err := Write(dir, []eval.Case{stone, two, {ID: "three", Skill: "stones", Prompt: "p", Checks: stone.Checks[1:]}})
	want := []string{"2 judge checks of 2 cases: tests of Harbor do not decide them, only evolve reads them", "1 case: left out: tests of Harbor decide none of their checks"}
	if n != 2 || err != nil || !slices.Equal(notes, want) {
		t.Fatalf("wrote %d, %q, %v", n, notes, err)
	}
	put(t, dir, "one/instruction.md", "which rock?\n")
	put(t, dir, "one/environment/files/b.txt", "y")
	put(t, dir, "two/tests/test.sh", "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n")
	put(t, dir, "hello/task.toml", "version = \"1.0\"\n")
	got, ignored, err := Read(dir)
	c := stone
	c.Prompt, c.Files = "which rock?", map[string]string{"a.txt": "x", "b.txt": "y"}
	if err != nil || !reflect.DeepEqual(got, []eval.Case{c}) || len(ignored) != 2 {
		t.Errorf("read %+v, ignored %q, %v", got, ignored, err)
	}
	if got, _, err := Read(filepath.Join(dir, "one")); err != nil || len(got) != 1 {
		t.Errorf("of one task: %+v, %v", got, err)
	}
}

// What is refused names its file, and every fault is told.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		c := stone
		c.ID = id
		if _, _, err := Write(dir, []eval.Case{c}); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, "secret", "x")
	if err := os.Symlink("../../../secret", filepath.Join(dir, "a/environment/files/link")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "b/environment/files/big", strings.Repeat("x", 1<<20+1))
	put(t, dir, "c/instruction.md", "\xff")
	put(t, dir, "d/evolve.json", `{"case":{"id":"d","skill":"s","promt":"p"}}`)
	put(t, dir, "e/evolve.json", `{"case":{"id":"d"},"tests":7}`)
	put(t, dir, "f/instruction.md", "\n")
	text, err := os.ReadFile(filepath.Join(dir, "g/evolve.json"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "h/task.toml", "")
	put(t, dir, "h/instruction.md", "x")
	put(t, dir, "h/evolve.json", string(text))
	if err := os.CopyFS(filepath.Join(dir, "h/tests"), os.DirFS(filepath.Join(dir, "g/tests"))); err != nil {
		t.Fatal(err)
	}
	got, _, err := Read(dir)
	faults, _ := errors.AsType[eval.Faults](err)
	want := []string{"a/environment/files/link is no plain file", "b/environment/files/big: 1048577 bytes", "c/instruction.md is not text", `d/evolve.json: unknown field "case.promt"`,
		"e/evolve.json: tests takes a text in quotes", `f: validate case "f": no prompt`, `h: case "g" is in g already`}
	if got != nil || len(faults) != len(want) {
		t.Fatalf("read %+v, %d faults: %q", got, len(faults), []error(faults))
	}
	for i, w := range want {
		if !strings.Contains(faults[i].Error(), w) {
			t.Errorf("%v, want %s", faults[i], w)
		}
	}
}

// Nothing is overwritten, and nothing is written through a link.
func TestWriteRefuses(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "one")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Write(dir, []eval.Case{stone}); err == nil || !strings.Contains(err.Error(), "one: file exists") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside holds %v, %v", left, err)
	}
}
