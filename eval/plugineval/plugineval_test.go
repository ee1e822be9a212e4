package plugineval

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/ondisk"
	"pgregory.net/rapid"
)

// words are texts that a layout of Markdown, YAML and patterns is likely to change.
func words() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"yes", "null", "1e3", "---\nx: y\n---", " space ", "a\r\nb", "\ufeffmark", "a\n\n", "(a+b)*", "\"q\": 'r'", "# not a heading", "tab\tbed", "\u2028"}),
		rapid.StringMatching(`[a-zA-Z0-9 .*(){}\\^$#:é-]{1,30}`),
		rapid.String(),
	).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
}

func checks() *rapid.Generator[eval.Check] {
	return rapid.Custom(func(t *rapid.T) eval.Check {
		k := eval.Check{Type: rapid.SampledFrom([]string{eval.Contains, eval.NotContains, eval.Equals, eval.ToolCalled, eval.SkillInvoked,
			eval.SkillNotInvoked, eval.Regex, eval.NotRegex, eval.Judge, eval.MaxChars, eval.FileExists, eval.FileContains, eval.JSONSchema, eval.Ran, eval.Command}).Draw(t, "type")}
		switch k.Type {
		case eval.Judge:
			k.Rubric = words().Draw(t, "rubric")
		case eval.MaxChars:
			k.Max = rapid.IntRange(1, 5000).Draw(t, "max")
		case eval.JSONSchema:
			k.Schema = []byte(`{"type":"object"}`)
		case eval.Command:
			k.Command = []string{"true", words().Draw(t, "argument")}
		case eval.Ran:
			k.Value = "make test"
		case eval.Regex, eval.NotRegex:
			k.Value = rapid.SampledFrom([]string{"(?i)log", "(?is)a.b", "a|b", `\d+`, `\Ax`, "(?P<n>x)", "[[:alpha:]]", "(?i:x)", "(?ii)x"}).Draw(t, "pattern")
		case eval.FileExists, eval.FileContains:
			k.Path = rapid.SampledFrom([]string{"out.md", "a/b.txt", "x[1].md"}).Draw(t, "path")
		}
		if k.Type != eval.FileExists && reflect.DeepEqual(k, eval.Check{Type: k.Type, Path: k.Path}) {
			k.Value = words().Draw(t, "value")
		}
		k.Weight = rapid.SampledFrom([]float64{0, 1, 0.25, 3}).Draw(t, "weight")
		k.Feedback = rapid.SampledFrom([]string{"", "say it in one line", "two\nlines"}).Draw(t, "feedback")
		return k
	})
}

func caseOf(t *rapid.T, id string) eval.Case {
	c := eval.Case{ID: id, Skill: "stones", Prompt: words().Draw(t, "prompt"), Checks: rapid.SliceOfN(checks(), 1, 5).Draw(t, "checks"),
		Reference: rapid.SampledFrom([]string{"", "an answer\n"}).Draw(t, "reference"), Cluster: rapid.SampledFrom([]string{"", "one"}).Draw(t, "cluster"),
		Split: rapid.SampledFrom([]eval.Split{"", eval.Train, eval.Test}).Draw(t, "split")}
	if rapid.Bool().Draw(t, "trigger") {
		yes := rapid.Bool().Draw(t, "should trigger")
		c.ShouldTrigger, c.Checks = &yes, []eval.Check{{Type: eval.Trigger}}
	}
	if rapid.Bool().Draw(t, "more") {
		c.Files = map[string]string{"data.csv": words().Draw(t, "file")}
		c.Context = []eval.Message{{Role: "user", Text: words().Draw(t, "said")}}
		c.Source = &eval.Source{Agent: "hand", Origin: "imported"}
	}
	return c
}

func read(t interface{ Fatal(...any) }, dir string) ([]eval.Case, []string) {
	cases, ignored, err := Read(dir, "stones")
	if err != nil {
		t.Fatal(err)
	}
	return cases, ignored
}

// What was written comes back equal, whatever the texts hold, unless it was left out.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "plugineval")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		ids := rapid.SliceOfNDistinct(rapid.OneOf(rapid.SampledFrom([]string{"results", "Case", "case", "../up", "a/b", "é", "CON"}), rapid.StringMatching(`[a-z0-9-]{1,90}`)), 1, 6, rapid.ID).Draw(t, "ids")
		want := map[string]eval.Case{}
		var cases []eval.Case
		for _, id := range ids {
			c := caseOf(t, id)
			if err := c.Validate(); err != nil {
				t.Fatal("the generator makes an invalid case: ", err)
			}
			cases, want[id] = append(cases, c), c
		}
		n, _, err := Write(dir, cases)
		if err != nil {
			t.Fatal(err)
		}
		got, ignored := read(t, dir)
		left := 0
		for _, c := range cases {
			if !slices.ContainsFunc(c.Checks, func(k eval.Check) bool { _, ok := graderOf(&c, &k); return ok }) {
				left++
			}
		}
		if len(got) != n || n+left != len(cases) || len(ignored) > 0 {
			t.Fatalf("%d of %d cases written, %d left out, %d read, ignored %v", n, len(cases), left, len(got), ignored)
		}
		for _, c := range got {
			if !reflect.DeepEqual(c, want[c.ID]) {
				t.Fatalf("wrote %+v\nread  %+v", want[c.ID], c)
			}
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

// A grader or a prompt that a person edited counts, not what evolve wrote beside it; the
// feedback stays with an edited grader.
func TestEdited(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Write(dir, []eval.Case{{ID: "one", Skill: "stones", Prompt: "which stone?", Checks: []eval.Check{
		{Type: eval.Contains, Value: "granite", Feedback: "name it"}, {Type: eval.Judge, Rubric: "is short"}, {Type: eval.Ran, Value: "make"}}}}); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "evals/one/prompt.md", "which rock?\n")
	put(t, dir, "evals/one/graders/01-contains.md", "---\ntype: regex\nflags: i\n---\nbasalt\n")
	put(t, dir, "evals/one/graders/more.md", "---\ntype: llm\n---\nIs polite.\n")
	if err := os.Remove(filepath.Join(dir, "evals/one/graders/02-judge.md")); err != nil {
		t.Fatal(err)
	}
	got, _ := read(t, dir)
	want := []eval.Check{{Type: eval.Regex, Value: "(?i)basalt", Feedback: "name it"}, {Type: eval.Ran, Value: "make"}, {Type: eval.Judge, Rubric: "Is polite."}}
	if len(got) != 1 || got[0].Prompt != "which rock?" || !reflect.DeepEqual(got[0].Checks, want) {
		t.Errorf("read %+v", got)
	}
}

// What Claude does not see is one line a kind.
func TestNotes(t *testing.T) {
	judge, ran := eval.Check{Type: eval.Judge, Rubric: "r"}, eval.Check{Type: eval.Ran, Value: "make"}
	n, notes, err := Write(t.TempDir(), []eval.Case{
		{ID: "a", Skill: "s", Prompt: "p", Checks: []eval.Check{judge, ran, ran}, Files: map[string]string{"x": "y"}},
		{ID: "b", Skill: "s", Prompt: "p", Checks: []eval.Check{judge, ran}},
		{ID: "c", Skill: "s", Prompt: "p", Checks: []eval.Check{ran}}})
	want := []string{"3 ran checks of 2 cases: claude plugin eval has no grader for them, only evolve reads them",
		"1 case: claude plugin eval does not place their files", "1 case: left out: none of their checks has a grader there"}
	if n != 2 || err != nil || !slices.Equal(notes, want) {
		t.Errorf("wrote %d, %q, %v", n, notes, err)
	}
}

// Suites that others wrote, in both shapes.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "evals/hello/prompt.md", "---\nmax_turns: 5\nruns: 3\n---\nSay hello to Alex.\n")
	put(t, dir, "evals/hello/graders/a.md", "---\ntype: regex\nmatch: not_contains\n---\nBob\n")
	put(t, dir, "evals/hello/graders/b.md", "---\ntype: tool_order\nbefore: Read\nafter: Write\n---\n")
	put(t, dir, "evals/hello/graders/c.md", "---\ntype: regex\ntarget: {source: file, path: out.md}\n---\ndone\n")
	put(t, dir, "evals/hello/graders/README.md", "no grader\n")
	put(t, dir, "evals/deep/two/case.yaml", "schema_version: \"1.0\"\nname: two\nexecution:\n  prompt: go\ngraders:\n  - {type: tool_used, name: t, tool: Bash}\n")
	put(t, dir, "evals/results/x/case.yaml", "no: case\n")
	got, ignored := read(t, dir)
	source := &eval.Source{Agent: "claude plugin eval", Origin: "imported"}
	want := []eval.Case{
		{ID: "two", Skill: "stones", Prompt: "go", Checks: []eval.Check{{Type: eval.ToolCalled, Value: "Bash"}}, Source: source},
		{ID: "hello", Skill: "stones", Prompt: "Say hello to Alex.", Checks: []eval.Check{{Type: eval.NotRegex, Value: "Bob"}, {Type: eval.FileContains, Path: "out.md", Value: "done"}}, Source: source}}
	if !reflect.DeepEqual(got, want) || len(ignored) != 1 || !strings.Contains(ignored[0], "tool_order") {
		t.Errorf("read %+v\nignored %q", got, ignored)
	}
}

// What is refused names its file.
func TestRefused(t *testing.T) {
	const prompt, grader = "go\n", "---\ntype: llm\n---\nok\n"
	for name, c := range map[string]struct {
		files map[string]string
		link  string // to a file outside
		says  string
	}{
		"linked prompt":   {map[string]string{"evals/a/graders/g.md": grader}, "evals/a/prompt.md", "evals/a/prompt.md is no plain file"},
		"linked grader":   {map[string]string{"evals/a/prompt.md": prompt}, "evals/a/graders/g.md", "evals/a/graders/g.md is no plain file"},
		"linked evals":    {nil, "evals", "evals is no folder"},
		"huge prompt":     {map[string]string{"evals/a/prompt.md": strings.Repeat("x", ondisk.MaxFile+1)}, "", "evals/a/prompt.md: 1048577 bytes"},
		"no text":         {map[string]string{"evals/a/prompt.md": "\xff"}, "", "evals/a/prompt.md is not text"},
		"twice":           {map[string]string{"evals/a/case.yaml": "{\"name\":\"n\"}", "evals/a/prompt.md": prompt, "evals/a/graders/g.md": grader, "evals/b/case.yaml": "name: n\n", "evals/b/prompt.md": prompt, "evals/b/graders/g.md": grader}, "", `evals/b: case "n" is in evals/a already`},
		"no YAML":         {map[string]string{"evals/a/case.yaml": "a: [\n"}, "", "evals/a/case.yaml: no YAML"},
		"another type":    {map[string]string{"evals/a/case.yaml": "name: [1]\n"}, "", "evals/a/case.yaml: name: is a array"},
		"unknown grader":  {map[string]string{"evals/a/prompt.md": prompt, "evals/a/graders/g.md": "---\ntyp: llm\n---\nok\n"}, "", "evals/a/graders/g.md: its frontmatter"},
		"no checks":       {map[string]string{"evals/a/prompt.md": prompt}, "", "evals/a: validate case \"a\": no checks"},
		"path of a check": {map[string]string{"evals/a/prompt.md": prompt, "evals/a/case.yaml": `{"evolve":{"case":{"id":"a","skill":"s","files":{"../x":"y"},"checks":[{"type":"judge","rubric":"r"}]},"graders":[""]}}`}, "", "evals/a: validate case"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "x")
			put(t, filepath.Dir(outside), "x", grader)
			for at, text := range c.files {
				put(t, dir, at, text)
			}
			if c.link != "" {
				at := filepath.Join(dir, c.link)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(outside, at); err != nil {
					t.Fatal(err)
				}
			}
			got, _, err := Read(dir, "stones")
			if err == nil || got != nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("read %+v, %v; want an error with %q", got, err, c.says)
			}
		})
	}
}

// A case of another suite is not overwritten, and nothing is written through a link.
func TestWriteRefuses(t *testing.T) {
	c := []eval.Case{{ID: "a", Skill: "s", Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}}
	dir := t.TempDir()
	put(t, dir, "evals/a/prompt.md", "mine")
	if _, _, err := Write(dir, c); err == nil || !strings.Contains(err.Error(), "evals/a") {
		t.Errorf("overwrote a case: %v", err)
	}
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, Folder)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Write(dir, c); err == nil {
		t.Error("wrote through a link")
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside holds %v, %v", left, err)
	}
}
