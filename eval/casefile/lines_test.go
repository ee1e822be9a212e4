package casefile

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

const oneCase = `{"id":"rev-01","skill":"dataviz","prompt":"Plot it","context":[{"role":"user","text":"hi"}],` +
	`"files":{"data/revenue.csv":"week,usd\n"},"workspace":{"repo":"../shop","commit":"9c1f"},` +
	`"checks":[{"type":"contains","value":"<log>","weight":2,"feedback":"use a log scale"},{"type":"judge","rubric":"labels axes"}],` +
	`"reference":"fine","cluster":"s1","split":"val","source":{"agent":"claude-code","session":"4f"}}`

func TestReadWriteLines(t *testing.T) {
	// A byte order mark, blank lines, CRLF, a line beyond any scanner's limit,
	// and no newline at the end.
	long := strings.Replace(oneCase, "rev-01", "rev-02", 1)
	long = strings.Replace(long, "Plot it", strings.Repeat("long ", 100_000), 1)
	in := "\ufeff" + oneCase + "\r\n\n  \n" + long
	cases, err := ReadLines(strings.NewReader(in), "cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 2 || cases[0].Checks[0].Value != "<log>" || len(cases[1].Prompt) != 500_000 || cases[0].Split != eval.Val {
		t.Fatalf("read %d cases: %+v", len(cases), cases[0])
	}
	var out bytes.Buffer
	if err := WriteLines(&out, cases); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); first != oneCase {
		t.Errorf("wrote\n%s\nwant\n%s", first, oneCase)
	}
	again, err := ReadLines(&out, "")
	if err != nil || !reflect.DeepEqual(again, cases) {
		t.Errorf("what was written reads differently (%v)", err)
	}
}

func TestReadLinesErrors(t *testing.T) {
	check := func(k string) string {
		return `{"id":"a","skill":"s","prompt":"p","split":"","checks":[` + k + `]}`
	}
	ok := check(`{"type":"contains","value":"x"}`)
	for _, c := range []struct{ name, in, want string }{
		{"unknown field", strings.Replace(ok, "prompt", "promt", 1), `f:1: decode case: unknown field "promt" (did you mean "prompt"?)`},
		{"nested unknown field", ok + "\n" + check(`{"type":"contains","value":"x"},{"type":"contains","value":"x","feedbak":"y"}`),
			`f:2: decode case: unknown field "checks[1].feedbak" (did you mean "feedback"?)`},
		{"hopeless field", strings.Replace(ok, "prompt", "zzzzzzzzzzzz", 1), `unknown field "zzzzzzzzzzzz" (known: id, skill, prompt,`},
		{"check type", check(`{"type":"contain","value":"x"}`), `checks[0]: unknown check type "contain" (did you mean "contains"?)`},
		{"split", strings.Replace(ok, `"split":""`, `"split":"tain"`, 1), `unknown split "tain" (did you mean "train"?)`},
		{"twice", ok + "\n\n" + ok, `f:3: case "a" of skill "s" is on line 1 already`},
		{"two on a line", ok + ok, "text after the object"},
		{"array", "[" + ok + "]", "an array, want JSON Lines"},
		{"not json", "{", "f:1: decode case: it is no JSON: it ends too early"},
		{"wrong kind", `{"id":3}`, "f:1: decode case: id takes a text in quotes, not number"},
		{"no id", strings.Replace(ok, `"a"`, `""`, 1), "no id"},
		{"no skill", strings.Replace(ok, `"s"`, `""`, 1), `case "a": no skill`},
		{"no prompt", strings.Replace(ok, `"p"`, `" "`, 1), "no prompt"},
		{"no checks", check(""), "no checks"},
		{"value missing", check(`{"type":"regex"}`), "regex: no value"},
		{"useless field", check(`{"type":"max_chars","max":3,"rubric":"x"}`), "max_chars: has no use for rubric (it takes max)"},
		{"bad pattern", check(`{"type":"regex","value":"("}`), "missing closing )"},
		{"bad schema", check(`{"type":"json_schema","schema":{"type":"strin"}}`), "compile schema"},
		{"schema that reads files", check(`{"type":"json_schema","schema":{"$ref":"file:///etc/hostname"}}`), "compile schema"},
		{"negative weight", check(`{"type":"equals","value":"x","weight":-1}`), "weight -1"},
		{"negative max", check(`{"type":"max_chars","max":-3}`), "max -3"},
		{"absolute path", check(`{"type":"file_exists","path":"/etc/passwd"}`), "does not stay inside the workspace"},
		{"path upwards", check(`{"type":"file_contains","path":"a/../../b","value":"x"}`), "does not stay inside"},
		{"windows path", check(`{"type":"file_exists","path":"C:\\x"}`), "does not stay inside"},
		{"file upwards", strings.Replace(ok, `"split"`, `"files":{"../x":""},"split"`, 1), "does not stay inside"},
		{"file in .git", strings.Replace(ok, `"split"`, `"files":{"a/.Git/config":""},"split"`, 1), ".git is not for cases"},
		{"role", strings.Replace(ok, `"split"`, `"context":[{"role":"system","text":""}],"split"`, 1), `role "system"`},
		{"workspace", strings.Replace(ok, `"split"`, `"workspace":{"commit":"x"},"split"`, 1), "workspace: no repo"},
		{"empty program", check(`{"type":"exec","command":[""]}`), "the program's name is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases, err := ReadLines(strings.NewReader(c.in), "f")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("err = %v\nwant %s", err, c.want)
			}
			if cases != nil {
				t.Error("cases came with an error")
			}
		})
	}
}
