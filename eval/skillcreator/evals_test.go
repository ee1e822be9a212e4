package skillcreator

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/ondisk"
)

var evalFiles = fstest.MapFS{
	"files/revenue.csv": {Data: []byte("week,usd\n1,10\n")},
	"photo.png":         {Data: []byte("\x89PNG\x00")},
	"big.txt":           {Data: make([]byte, ondisk.MaxFile+1)},
}

// The two dialects of skill-creator, one file each.
func TestReadEvals(t *testing.T) {
	from := &eval.Source{Agent: "skill-creator", Origin: "imported"}
	csv := map[string]string{"files/revenue.csv": "week,usd\n1,10\n"}
	for _, c := range []struct {
		name, text string
		want       []eval.Case
		ignored    []string
	}{
		{"expectations", `{"skill_name":"dataviz","evals":[{"id":1,"prompt":"Plot it","expected_output":"A chart","files":["files/revenue.csv"],
			"expectations":["has a log scale","labels the axes"]}]}`,
			[]eval.Case{{ID: "eval-1", Skill: "dataviz", Prompt: "Plot it", Files: csv, Source: from,
				Checks: []eval.Check{{Type: eval.Judge, Rubric: "has a log scale"}, {Type: eval.Judge, Rubric: "labels the axes"}}}}, []string{"expected_output beside expectations"}},
		{"assertions", "\ufeff" + `{"skill_name":"dataviz","version":2,"evals":[{"id":"plain","eval_name":"x","prompt":"Plot it","assertions":[{"text":"has a title"},"is SVG"]}]}`,
			[]eval.Case{{ID: "plain", Skill: "dataviz", Prompt: "Plot it", Source: from,
				Checks: []eval.Check{{Type: eval.Judge, Rubric: "has a title"}, {Type: eval.Judge, Rubric: "is SVG"}}}}, []string{"eval_name"}},
		{"expected output alone", `{"skill_name":"dataviz","evals":[{"id":0,"prompt":"Plot it","expected_output":"A chart"}]}`,
			[]eval.Case{{ID: "eval-0", Skill: "dataviz", Prompt: "Plot it", Source: from,
				Checks: []eval.Check{{Type: eval.Judge, Rubric: "The result is what was expected: A chart"}}}}, nil},
		{"paths from the skill's root", `{"skill_name":"dataviz","evals":[{"id":1,"prompt":"Plot it","files":["evals/files/revenue.csv"],"expectations":["x"]}]}`,
			[]eval.Case{{ID: "eval-1", Skill: "dataviz", Prompt: "Plot it", Files: map[string]string{"evals/files/revenue.csv": "week,usd\n1,10\n"}, Source: from,
				Checks: []eval.Check{{Type: eval.Judge, Rubric: "x"}}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !IsEvals([]byte(c.text)) {
				t.Fatal("not recognised")
			}
			got, ignored, err := ReadEvals([]byte(c.text), "evals.json", evalFiles, "evals")
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) || !reflect.DeepEqual(ignored, c.ignored) {
				t.Errorf("got %+v, ignored %q", got, ignored)
			}
		})
	}
}

func TestReadEvalsRefuses(t *testing.T) {
	one := func(fields string) string {
		return `{"skill_name":"s","evals":[{"id":1,"prompt":"p","expectations":["x"]` + fields + `}]}`
	}
	for _, c := range []struct{ text, want string }{
		{`{"evals":[]}`, "no skill_name"},
		{`{"skill_name":"s","evals":[{"id":1,"prompt":"p"}]}`, "no checks"},
		{`{"skill_name":"s","evals":[{"id":1,"prompt":"","expectations":["x"]}]}`, "no prompt"},
		{`{"skill_name":"s","evals":[{"prompt":"p","expectations":["x"]}]}`, "id missing"},
		{`{"skill_name":"s","evals":[{"id":1.5,"prompt":"p","expectations":["x"]}]}`, "id 1.5"},
		{`{"skill_name":"s","evals":[{"id":1,"prompt":"p","expectations":["x"]},{"id":1,"prompt":"q","expectations":["x"]}]}`, "evals[1]: id eval-1 stands twice"},
		{`{"skill_name":"s","evals":[{"id":1,"prompt":"p","expectations":[" "]}]}`, "expectation 1: empty"},
		{`{"skill_name":"s","evals":[{"id":1,"prompt":"p","expectations":[7]}]}`, "neither a text"},
		{one(`,"files":["../secret.txt"]`), "does not stay inside"},
		{one(`,"files":["/etc/passwd"]`), "does not stay inside"},
		{one(`,"files":["files/../../x"]`), "does not stay inside"},
		{one(`,"files":["none.csv"]`), "none beside"},
		{one(`,"files":["photo.png"]`), "is not text"},
		{one(`,"files":["big.txt"]`), "bytes, want"},
		{one(`,"files":["files"]`), "no plain file"},
		{one(`}]`), "it is no JSON, from character 72 on"},
	} {
		if cases, _, err := ReadEvals([]byte(c.text), "evals.json", evalFiles, "evals"); err == nil || !strings.Contains(err.Error(), c.want) || cases != nil {
			t.Errorf("%s: %v, %v; want %q", c.text, cases, err, c.want)
		}
	}
	if _, _, err := ReadEvals([]byte(one(`,"files":["a"]`)), "stdin", nil, ""); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("a file was read from nowhere: %v", err)
	}
	for _, text := range []string{`[{"query":"plot this","should_trigger":true}]`, `{"skill_name":"s","evals":[{"query":"plot this","should_trigger":false}]}`} {
		if _, _, err := ReadEvals([]byte(text), "x", nil, ""); !errors.Is(err, ErrTriggerSet) || !IsEvals([]byte(text)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "{", `[{"id":"ok"}]`, `{"id":"a","skill":"s","prompt":"evals","checks":[]}` + "\n" + `{"evals":[]}`, `"evals"`} {
		if IsEvals([]byte(text)) {
			t.Errorf("%q is taken for an eval file", text)
		}
	}
}

// A link that leads out of the folder is not followed.
func TestReadEvalsStaysInside(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "evals"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", filepath.Join(dir, "evals", "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "evals"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	text := `{"skill_name":"s","evals":[{"id":1,"prompt":"p","expectations":["x"],"files":["link"]}]}`
	if cases, _, err := ReadEvals([]byte(text), "evals.json", root.FS(), "evals"); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("%+v, %v", cases, err)
	}
}

func FuzzReadEvals(f *testing.F) {
	f.Add([]byte(`{"skill_name":"s","evals":[{"id":1,"prompt":"p","expectations":["x"],"files":["files/revenue.csv"]}]}`))
	f.Add([]byte(`{"skill_name":"s","evals":[{"id":1,"prompt":"p","expectations":["x"],"evolve":{"case":{"checks":[{"type":"judge","rubric":"x","weight":2}]}}}]}`))
	f.Add([]byte(`[{"query":"q","should_trigger":true}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		cases, _, err := ReadEvals(text, "f", evalFiles, "evals")
		if err != nil && cases != nil {
			t.Errorf("cases with an error: %v", err)
		}
		for _, c := range cases {
			if c.Validate() != nil || runsPrograms(c) && !bytes.Contains(text, []byte(`"evolve"`)) {
				t.Errorf("an eval became %+v", c)
			}
		}
	})
}

func runsPrograms(c eval.Case) bool {
	for _, k := range c.Checks {
		if k.Executing() {
			return true
		}
	}
	return false
}
