package skillcreator

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"pgregory.net/rapid"
)

func words() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"x", "\"q\"", " space ", "a\r\nb", "\u2028"}), rapid.String()).
		Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
}

func checks() *rapid.Generator[eval.Check] {
	return rapid.Custom(func(t *rapid.T) eval.Check {
		k := rapid.SampledFrom([]eval.Check{{Type: eval.Regex, Value: "a|b"}, {Type: eval.NotRegex, Value: "c"}, {Type: eval.MaxChars, Max: 9},
			{Type: eval.JSONSchema, Schema: []byte(`{"type":"object"}`)}, {Type: eval.FileExists, Path: "a.md"}, {Type: eval.FileContains, Path: "a.md", Value: "x"},
			{Type: eval.Ran, Value: "make test", After: "last_edit"}, {Type: eval.NotRan, Value: "git push"}, {Type: eval.Changed, Path: "*.md"}, {Type: eval.NotChanged, Path: "go.sum"},
			{Type: eval.Added, Value: "x", Path: "*.go"}, {Type: eval.NotAdded, Value: "TODO"}, {Type: eval.Command, Command: []string{"true"}},
			{Type: eval.Judge}, {Type: eval.Contains}, {Type: eval.NotContains}, {Type: eval.Equals}, {Type: eval.ToolCalled}, {Type: eval.SkillInvoked}, {Type: eval.SkillNotInvoked},
		}).Draw(t, "check")
		switch {
		case k.Type == eval.Judge:
			k.Rubric = words().Draw(t, "rubric")
		case reflect.DeepEqual(k, eval.Check{Type: k.Type}):
			k.Value = words().Draw(t, "value")
		}
		k.Weight = rapid.SampledFrom([]float64{0, 3}).Draw(t, "weight")
		k.Feedback = rapid.SampledFrom([]string{"", "two\nlines"}).Draw(t, "feedback")
		return k
	})
}

func readBack(t interface{ Fatal(...any) }, dir string) ([]eval.Case, []string) {
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	if !IsEvals(text) {
		t.Fatal("what was written is not recognised")
	}
	cases, ignored, err := ReadEvals(text, File, os.DirFS(filepath.Join(dir, "evals")), "evals")
	if err != nil {
		t.Fatal(err)
	}
	return cases, ignored
}

// What was written comes back equal, whatever the texts hold, unless it was left out.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "evals")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		var cases, want []eval.Case
		for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"Case", "case", "../up", "1", "é", "null"}), 1, 5, rapid.ID).Draw(t, "ids") {
			c := eval.Case{ID: id, Skill: "stones", Prompt: words().Draw(t, "prompt"), Checks: rapid.SliceOfN(checks(), 1, 4).Draw(t, "checks"),
				Reference: rapid.SampledFrom([]string{"", "an answer\n"}).Draw(t, "reference"), Split: rapid.SampledFrom([]eval.Split{"", eval.Test}).Draw(t, "split")}
			if rapid.Bool().Draw(t, "more") {
				c.Files = map[string]string{"data.csv": rapid.SampledFrom([]string{"", "a\r\n"}).Draw(t, "file"), "evals/x.md": "y"}
				c.Source = &eval.Source{Agent: "hand", Origin: "imported"}
			}
			if err := c.Validate(); err != nil {
				t.Fatal("the generator makes an invalid case: ", err)
			}
			cases = append(cases, c)
			if slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Type != eval.Command }) {
				want = append(want, c)
			}
		}
		n, _, err := Write(dir, cases)
		if err != nil || n != len(want) {
			t.Fatalf("%d written, want %d: %v", n, len(want), err)
		}
		if n == 0 {
			return
		}
		if got, ignored := readBack(t, dir); !reflect.DeepEqual(got, want) || len(ignored) > 0 {
			t.Fatalf("wrote %+v\nread  %+v, ignored %q", want, got, ignored)
		}
	})
}

// What a person edits in evals.json counts.
func TestEdited(t *testing.T) {
	dir := t.TempDir()
	yes := true
	n, notes, err := Write(dir, []eval.Case{
		{ID: "a", Skill: "s", Prompt: "p", Files: map[string]string{"x.csv": "1"}, Checks: []eval.Check{{Type: eval.Contains, Value: "log", Weight: 2}, {Type: eval.Judge, Rubric: "is short"}, {Type: eval.Command, Command: []string{"true"}}}},
		{ID: "b", Skill: "s", Prompt: "p", ShouldTrigger: &yes, Checks: []eval.Check{{Type: eval.Trigger}}}})
	want := []string{"1 command check of 1 case: skill-creator has no expectation for them, only evolve reads them",
		"1 case: skill-creator counts their expectations alike, whatever their weight", "1 case: left out: trigger cases are no evals there, but a set of their own"}
	if n != 1 || err != nil || !slices.Equal(notes, want) {
		t.Fatalf("wrote %d, %q, %v", n, notes, err)
	}
	at := filepath.Join(dir, File)
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), `"prompt": "p"`, `"prompt": "q"`, 1)
	edited = strings.Replace(edited, `"is short"`, `"is long"`, 1) // the expectation comes first
	if err := os.WriteFile(at, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	got, _ := readBack(t, dir)
	c := eval.Case{ID: "a", Skill: "s", Prompt: "q", Files: map[string]string{"x.csv": "1"}, Checks: []eval.Check{{Type: eval.Contains, Value: "log", Weight: 2}, {Type: eval.Command, Command: []string{"true"}}, {Type: eval.Judge, Rubric: "is long"}}}
	if !reflect.DeepEqual(got, []eval.Case{c}) {
		t.Errorf("read %+v\n%s", got, edited)
	}
	if _, _, err := Write(dir, []eval.Case{c}); err == nil || !errors.Is(err, os.ErrExist) {
		t.Errorf("overwrote evals.json: %v", err)
	}
}
