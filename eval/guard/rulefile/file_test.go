package rulefile

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func bash(line string) *Call { return &Call{Tool: "Bash", Command: line, Root: "/p"} }

func edit(tool, file string) *Call { return &Call{Tool: tool, File: file, Root: "/p"} }

func parse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

func TestMatches(t *testing.T) {
	for rule, c := range map[string]struct{ yes, no []*Call }{
		`"tool":"Bash","program":"git","words":["push","--force"],"not_words":["--dry-run"]`: {
			[]*Call{bash("git push --force"), bash("cd x && /usr/bin/git --no-pager push a --force"), bash(`bash -c "git push --force"`), bash("eval git push --force"), bash("git push --force=yes"), bash("(git push $X --force)"), bash("git push --force $(git rev-parse x)"), bash("git push --force; )")},
			[]*Call{bash("git push --force-with-lease"), bash("git push; echo --force"), bash(`echo "git push --force"`), bash("git push --force --dry-run"), bash("git push $FORCE"), bash("gitx push --force"), bash(""), {Tool: "Write", Command: "git push --force"}}},
		`"tool":"Bash","program":"rm","words":["-r","-f"]`: {
			[]*Call{bash("rm -rf x"), bash("rm -f x -r"), bash("rm -fvr x")},
			[]*Call{bash("rm -r x"), bash("rm --rf"), bash("rm -r x-f")}},
		`"tool":"Bash","program":"git","words":["-rf"]`: {[]*Call{bash("git -rf")}, []*Call{bash("git -fr")}},
		`"tool":"Bash","program":"go","words":["-c"]`:   {[]*Call{bash("go test -c")}, []*Call{bash("go test -race")}},
		`"tool":"Bash","program":"npm"`:                 {[]*Call{bash("npm"), bash("npm i")}, []*Call{bash("pnpm i"), bash("npx x")}},
		`"tool":"Bash|Edit"`:                            {[]*Call{bash("x"), edit("Edit", "/q/x")}, []*Call{edit("Write", "/p/x")}},
		`"tool":"mcp__tracker__create"`:                 {[]*Call{{Tool: "mcp__tracker__create"}}, []*Call{{Tool: "mcp__tracker__read"}}},
		`"tool":"Edit|Write","path":"generated/**"`: {
			[]*Call{edit("Edit", "/p/generated/a.go"), edit("Write", "/p/web/generated/b/c.go"), edit("Write", "generated/x")},
			[]*Call{edit("NotebookEdit", "/p/generated/a"), edit("Edit", "/q/generated/a"), edit("Edit", "/p/generatedx"), bash("generated/a"), edit("Edit", "")}},
		`"tool":"Edit","path":"//etc/h?sts"`: {[]*Call{edit("Edit", "/etc/hosts")}, []*Call{edit("Edit", "/p/etc/hosts")}},
		`"tool":"Edit","path":"app/[id]/*"`:  {[]*Call{edit("Edit", "/p/app/[id]/page.tsx")}, []*Call{edit("Edit", "/p/app/i/page.tsx")}},
	} {
		r := parse(t, `{"version":1,"rules":[{`+rule+`,"say":"No."}]}`).Rules[0]
		for _, x := range c.yes {
			if !r.Matches(x) {
				t.Errorf("%s is not about %+v", rule, x)
			}
		}
		for _, x := range c.no {
			if r.Matches(x) {
				t.Errorf("%s is about %+v", rule, x)
			}
		}
	}
}

// The first rule that is about a call answers.
func TestFind(t *testing.T) {
	f := parse(t, `{"version":1,"rules":[{"tool":"Bash","program":"git","words":["push"],"say":"a"},{"tool":"Bash","program":"git","say":"b"}]}`)
	for line, want := range map[string]string{"git push": "a", "git status": "b", "ls": ""} {
		said := ""
		if r := f.Find(bash(line), nil); r != nil {
			said = r.Say
		}
		if said != want {
			t.Errorf("%s: %q", line, said)
		}
	}
}

func TestAll(t *testing.T) {
	for rule, want := range map[string]bool{`"tool":"Bash"`: true, `"tool":"Edit","path":"**"`: true, `"tool":"Edit","path":"./**/*"`: true, `"tool":"Edit","path":"//**"`: true, `"tool":"Edit","path":"?*"`: true, `"tool":"Edit","path":"**/*?"`: true,
		`"tool":"Bash","program":"git"`: false, `"tool":"Edit","path":"*.go"`: false} {
		if r := parse(t, `{"version":1,"rules":[{`+rule+`,"say":"No."}]}`).Rules[0]; r.All() != want {
			t.Errorf("%s: not %v", rule, want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		``:                                    "ends too early",
		`{"version":1,"rules":[`:              "ends too early",
		`x`:                                   "invalid character",
		`[]`:                                  "cannot be a array",
		`null`:                                "version is 0",
		`{"version":2,"rules":[]}`:            "version is 2",
		`{"version":1}`:                       "no rules",
		`{"version":1,"rules":[]} {}`:         "behind its end",
		`{"version":1,"rules":[],"more":1}`:   `unknown field "more"`,
		`{"Version":1,"rules":[]}`:            `unknown field "Version"`,
		`{"version":1,"rules":[],"rules":[]}`: `"rules" is there twice`,
		`{"version":1,"rules":[{"tool":"Bash","say":"a","say":"b"}]}`:                                          `"say" is there twice`,
		`{"version":1,"rules":[{"tool":"Bash","Say":"a"}]}`:                                                    `unknown field "Say"`,
		`{"version":1,"rules":[{"tool":"Bash","words":"push","say":"a"}]}`:                                     `"rules.words" cannot be a string`,
		`{"version":1,"rules":[{"say":"a"}]}`:                                                                  "rule 1: tool",
		`{"version":1,"rules":[{"tool":"Bash|","say":"a"}]}`:                                                   "rule 1: tool",
		`{"version":1,"rules":[{"tool":"Bash","say":" "}]}`:                                                    "says nothing",
		`{"version":1,"rules":[{"tool":"Bash","words":["x"],"say":"a"}]}`:                                      "no program",
		`{"version":1,"rules":[{"tool":"Bash","program":"git","path":"x","say":"a"}]}`:                         "make two rules",
		`{"version":1,"rules":[{"tool":"Bash","program":"/bin/git","say":"a"}]}`:                               "not a name alone",
		`{"version":1,"rules":[{"tool":"Bash","program":"git","words":[""],"say":"a"}]}`:                       "word is empty",
		`{"version":1,"rules":[{"tool":"Bash","program":"git","words":["x"],"not_words":["x"],"say":"a"}]}`:    "in words and in not_words",
		`{"version":1,"rules":[{"tool":"Edit","path":"!x","say":"a"}]}`:                                        "begins with !",
		`{"version":1,"rules":[],"rules":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`:     "depth",
		`{"version":1,"rules":[{"tool":"Edit","path":"` + strings.Repeat("**/", 400) + `x","say":"a"}]}`:       "more than 1000 bytes",
		"{\"version\":1,\"rules\":[{\"tool\":\"Bash\",\"say\":\"\xff\"}]}":                                     "not UTF-8",
		`{"version":1,"rules":[{"tool":"Bash","say":"` + strings.Repeat("x", MaxBytes) + `"}]}`:                "more than 64 kB",
		`{"version":1,"rules":[{"tool":"Bash","program":"git push","say":"a"}]}`:                               "not a name alone",
		`{"version":1,"rules":[{"tool":"Bash","say":"a"},{"tool":"Edit","path":"~/x","say":"a"}]}`:             "rule 2: path",
		`{"version":1,"rules":[{"tool":"Bash","program":"git","words":["a"],"not_words":[""],"say":"never"}]}`: "word is empty",
		`{"version":1,"rules":[{"event":"SessionEnd","unless_ran":["x"],"say":"a"}]}`:                          "is not Stop",
		`{"version":1,"rules":[{"event":"Stop","say":"a"}]}`:                                                   "no unless_ran",
		`{"version":1,"rules":[{"event":"Stop","unless_ran":["x"]}]}`:                                          "says nothing",
		`{"version":1,"rules":[{"event":"Stop","tool":"Bash","unless_ran":["x"],"say":"a"}]}`:                  "make two rules",
		`{"version":1,"rules":[{"tool":"Bash","since_edit":"*.go","say":"a"}]}`:                                "no unless_ran",
		`{"version":1,"rules":[{"tool":"Bash","unless_ran":["a && b"],"say":"a"}]}`:                            "not one simple command",
		`{"version":1,"rules":[{"event":"Stop","unless_ran":["x"],"since_edit":"!x","say":"a"}]}`:              "since_edit \"!x\" begins",
	} {
		if f, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.90s: %v, %v", text, f, err)
		}
	}
}

// What is written is read as it was.
func TestText(t *testing.T) {
	word := rapid.StringMatching(`[a-z<&"\\é-]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		f := &File{Version: 1, Rules: []Rule{}}
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			f.Rules = append(f.Rules, Rule{Tool: "Bash", Program: rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "program"), Words: rapid.SliceOfN(word, 1, 3).Draw(t, "words"), Say: word.Draw(t, "say")})
		}
		text, err := f.Text()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(text)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Fatalf("%s: %v, %v", text, got, err)
		}
		if n := bytes.Count(text, []byte("\n")); n != 2+len(f.Rules) {
			t.Fatalf("%d lines: %s", n, text)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(`{"version":1,"rules":[{"tool":"Bash","program":"git","words":["push","-f"],"not_words":["x"],"say":"No."}]}`, "git push -uf")
	f.Add(`{"version":1,"rules":[{"tool":"Edit|Write","path":"a/**/[b]?.go","say":"No."}]}`, "/p/a/b.go")
	f.Add(`{"version":1,"rules":[{"tool":"Bash","say":"a","ſay":"b"}]}`, "ls")
	f.Fuzz(func(t *testing.T, text, call string) {
		file, err := Parse([]byte(text))
		if err != nil {
			return
		}
		if !Is([]byte(text)) {
			t.Errorf("%q is no rule file", text)
		}
		again, err := file.Text()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(again); err == nil && !reflect.DeepEqual(got.Rules, file.Rules) && len(again) <= MaxBytes {
			// Empty lists are left out.
			for i := range got.Rules {
				if got.Rules[i].Say != file.Rules[i].Say || len(got.Rules[i].Words) != len(file.Rules[i].Words) {
					t.Errorf("%q became %q", text, again)
				}
			}
		} else if err != nil && len(again) <= MaxBytes {
			t.Errorf("%q became %q: %v", text, again, err)
		}
		// No pattern may be too much for it, and a call decides the same twice.
		for _, c := range []*Call{bash(call), edit("Edit", call)} {
			first := file.Find(c, nil)
			if file.Find(c, &State{}) != first {
				t.Errorf("%q decides %q in two ways", text, call)
			}
		}
	})
}
