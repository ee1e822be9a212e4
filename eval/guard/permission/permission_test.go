package permission

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func bash(line string) Call {
	input, _ := json.Marshal(map[string]string{"command": line})
	return Call{"Bash", input, "/p"}
}

func edit(tool, file string) Call {
	field := "file_path"
	if tool == "NotebookEdit" {
		field = "notebook_path"
	}
	input, _ := json.Marshal(map[string]string{field: file})
	return Call{tool, input, "/p"}
}

// elsewhere is an edit in the project /q.
func elsewhere(file string) Call {
	c := edit("Edit", file)
	c.Project = "/q"
	return c
}

func rule(t testing.TB, text string) Rule {
	t.Helper()
	r, err := Parse(text)
	if err != nil || r.String() != text {
		t.Fatalf("%q: %v, %v", text, r, err)
	}
	return r
}

func TestMatches(t *testing.T) {
	for text, c := range map[string]struct{ yes, no []Call }{
		"Bash": {[]Call{bash("x")}, []Call{edit("Edit", "/p/x")}},
		"Bash(git push)": {[]Call{bash("git push"), bash("cd web && git push")},
			[]Call{bash("git push --force"), bash("git"), bash("echo git push")}},
		"Bash(git reset --hard:*)": {[]Call{bash("git reset --hard"), bash("git reset --hard HEAD~1"), bash("cd a; git reset --hard $REF"), bash("git 'reset' --hard"), bash(" git reset --hard ")},
			[]Call{bash("git reset --harder"), bash("git reset"), bash(`echo "git reset --hard"`), bash(`bash -c "git reset --hard"`), bash("git -C x reset --hard"), bash("git $X --hard")}},
		"Bash(npm *)":         {[]Call{bash("npm"), bash("npm i")}, []Call{bash("npmx")}},
		"Bash(npm*)":          {[]Call{bash("npm"), bash("npmx i")}, []Call{bash("pnpm")}},
		"Bash(git * --force)": {[]Call{bash("git push --force")}, []Call{bash("git push")}},
		"Edit(generated/**)": {[]Call{edit("Edit", "/p/generated/a.go"), edit("Write", "generated/b/c.go"), edit("NotebookEdit", "/p/generated/n.ipynb"), edit("MultiEdit", "/p/x/../generated/a"), edit("Edit", "/p/web/generated/a.go")},
			[]Call{edit("Read", "/p/generated/a.go"), edit("Edit", "/q/generated/a.go"), edit("Edit", "/p/generatedx"), bash("generated/a")}},
		"Edit(go.sum)":          {[]Call{edit("Edit", "/p/go.sum"), edit("Write", "/p/web/go.sum")}, []Call{edit("Edit", "/p/go.summary"), edit("Edit", "/p/xgo.sum")}},
		"Edit(/go.sum)":         {[]Call{edit("Edit", "/p/go.sum")}, []Call{edit("Edit", "/p/web/go.sum")}},
		"Edit(web/**/*.pb.go)":  {[]Call{edit("Edit", "/p/web/a.pb.go"), edit("Edit", "/p/web/x/y/a.pb.go")}, []Call{edit("Edit", "/p/web/a.go")}},
		"Edit(//etc/h?sts)":     {[]Call{edit("Edit", "/etc/hosts")}, []Call{edit("Edit", "/p/etc/hosts"), edit("Edit", "/etc/hoosts")}},
		"Edit(/generated/**)":   {[]Call{edit("Edit", "/p/generated/a")}, []Call{edit("Edit", "/p/web/generated/a.go")}},
		"Edit(docs)":            {[]Call{edit("Edit", "/p/docs/a/b")}, []Call{edit("Edit", "/p/mydocs/a")}},
		"mcp__tracker__create":  {[]Call{{Tool: "mcp__tracker__create"}}, []Call{{Tool: "mcp__tracker__read"}}},
		"Edit":                  {[]Call{edit("Write", "/q/x")}, []Call{bash("x")}},
		"Bash(a.b:*)":           {[]Call{bash("a.b c")}, []Call{bash("axb c")}},
		"Bash(rm -rf * --x:*)":  {[]Call{bash("rm -rf a --x b")}, []Call{bash("rm -rf a --y b")}},
		"Edit(src/a+b/**)":      {[]Call{edit("Edit", "/p/src/a+b/c")}, []Call{edit("Edit", "/p/src/aab/c")}},
		"Bash(git push origin)": {nil, []Call{{Tool: "Bash", Input: json.RawMessage(`{"command":7}`)}, {Tool: "Bash"}}},
	} {
		r := rule(t, text)
		for _, x := range c.yes {
			if !r.Matches(x) {
				t.Errorf("%s is not about %s %s", text, x.Tool, x.Input)
			}
		}
		for _, x := range c.no {
			if r.Matches(x) {
				t.Errorf("%s is about %s %s", text, x.Tool, x.Input)
			}
		}
	}
}

func TestParseFaults(t *testing.T) {
	for _, text := range []string{"", "Bash(", "Bash()", "Bash(x", "Read(x)", "WebFetch(domain:x)", "Edit(~/x)", "a b", "x)"} {
		if r, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, r)
		}
	}
}

// Of all command lines and prefixes: a rule is about a command that begins with the words of its
// prefix, wherever it stands in a line, and about none that begins with others.
func TestPrefixes(t *testing.T) {
	word := rapid.StringMatching(`[a-z][a-z0-9-]{0,5}`).Filter(func(w string) bool {
		switch w { // words of the shell, and commands that run a line
		case "if", "then", "do", "done", "fi", "for", "in", "case", "esac", "while", "until", "else", "elif", "function", "select", "time", "coproc",
			"bash", "sh", "zsh", "dash", "ksh", "eval", "cd", "let", "export", "declare", "local", "readonly", "typeset", "nameref":
			return false
		}
		return true
	})
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SliceOfN(word, 1, 4).Draw(t, "prefix")
		command := rapid.SliceOfN(word, 1, 5).Draw(t, "command")
		if rapid.Bool().Draw(t, "begins") {
			command = append(prefix[:len(prefix):len(prefix)], command...)
		}
		line := strings.Join(command, " ")
		switch rapid.SampledFrom([]string{"", "before", "behind", "pipe"}).Draw(t, "place") {
		case "before":
			line = "0 && " + line
		case "behind":
			line += "; 0"
		case "pipe":
			line = "0 | " + line
		}
		r := Rule{"Bash", strings.Join(prefix, " ") + ":*"}
		if want := common(prefix, command) == len(prefix); r.Matches(bash(line)) != want {
			t.Fatalf("%s about %q: not %v", r, line, want)
		}
	})
}

// What is proposed can be read, and is about each call that it was made of.
func TestProposed(t *testing.T) {
	part := rapid.SampledFrom([]string{"git", "reset", "--hard", "npm", "install", "cd", "&&", ";", "|", `"a b"`, "$X", "*", "x(", "'", "HEAD", "rm", "-rf", "\n"})
	segment := rapid.SampledFrom([]string{"a", "gen", "generated", "x.go", "go.sum", "*", "..", "b c", "(", ""})
	rapid.Check(t, func(t *rapid.T) {
		var calls []Call
		commands := rapid.Bool().Draw(t, "commands")
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			if commands {
				calls = append(calls, bash(strings.Join(rapid.SliceOfN(part, 1, 8).Draw(t, "line"), " ")))
			} else {
				calls = append(calls, edit(rapid.SampledFrom(edits).Draw(t, "tool"), "/p/"+strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "path"), "/")))
			}
		}
		r, ok := Propose(calls, strings.Join(rapid.SliceOfN(rapid.OneOf(part, segment), 0, 6).Draw(t, "words"), " "))
		if !ok {
			return
		}
		if again, err := Parse(r.String()); err != nil || again != r || r.Spec == "" || strings.ContainsAny(r.Spec, "()\n") {
			t.Fatalf("%s: %v", r, err)
		}
		for _, c := range calls {
			if !r.Matches(c) {
				t.Fatalf("%s is not about %s", r, c.Input)
			}
		}
	})
}

func TestPropose(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		calls []Call
		want  string // "": none
	}{
		"named":           {"Do not run `git reset --hard`.", []Call{bash("git reset --hard HEAD~3")}, "Bash(git reset --hard:*)"},
		"not named":       {"Never throw my work away", []Call{bash("git reset --hard HEAD")}, "Bash(git reset --hard:*)"},
		"program named":   {"Use pnpm instead of npm", []Call{bash("npm install left-pad")}, "Bash(npm install:*)"},
		"programs":        {"Use pnpm instead of npm", []Call{bash("npm install x"), bash("cd web && npm run test")}, "Bash(npm:*)"},
		"same line twice": {"Keep my work", []Call{bash("git reset --hard HEAD"), bash("git reset --hard HEAD")}, "Bash(git reset --hard:*)"},
		"shared":          {"Keep my work", []Call{bash("git stash && git reset --hard HEAD"), bash("git reset --hard origin/main")}, "Bash(git reset --hard:*)"},
		"only a program":  {"Keep my work", []Call{bash("git reset --hard"), bash("git checkout .")}, ""},
		"which of two":    {"Keep it", []Call{bash("make clean && make all")}, ""},
		"behind cd":       {"Keep it", []Call{bash("cd web && make clean")}, "Bash(make clean:*)"},
		"named of two":    {"Do not skip hooks with git commit --no-verify", []Call{bash("git add . && git commit --no-verify -m x")}, "Bash(git commit --no-verify:*)"},
		"nested":          {"Do not run git reset", []Call{bash(`sh -c "git reset"`)}, ""},
		"computed":        {"Do not", []Call{bash("$X reset")}, ""},
		"folder":          {"Do not edit files below generated/", []Call{edit("Edit", "/p/api/generated/a.go")}, "Edit(/api/generated/**)"},
		"name":            {"Never edit `package-lock.json` by hand", []Call{edit("Write", "/p/web/package-lock.json")}, "Edit(package-lock.json)"},
		"one file":        {"Leave it alone", []Call{edit("Edit", "/p/src/a.go")}, "Edit(/src/a.go)"},
		"two projects":    {"Do not edit files below generated/", []Call{edit("Edit", "/p/api/generated/a.go"), elsewhere("/q/api/generated/b.go")}, "Edit(api/generated/**)"},
		"in each":         {"Leave it alone", []Call{edit("Edit", "/p/Makefile2"), elsewhere("/q/Makefile2")}, ""},
		"one at the root": {"Leave it alone", []Call{edit("Edit", "/p/Makefile2")}, "Edit(/Makefile2)"},
		"shared folder":   {"Leave it alone", []Call{edit("Edit", "/p/src/gen/a.go"), edit("Write", "/p/src/gen/b/c.go")}, "Edit(/src/gen/**)"},
		"nothing shared":  {"Leave it alone", []Call{edit("Edit", "/p/src/a.go"), edit("Edit", "/p/web/a.go")}, ""},
		"outside":         {"Leave it alone", []Call{edit("Edit", "/etc/hosts")}, ""},
		"tools":           {"Leave it alone", []Call{edit("Edit", "/p/a"), bash("rm a")}, ""},
		"mcp":             {"Do not create tickets", []Call{{Tool: "mcp__tracker__create"}}, "mcp__tracker__create"},
		"a flag behind":   {"Never git push with --force", []Call{bash("git push origin main --force")}, ""},
		"unnamed flag":    {"Never rewrite what is pushed", []Call{bash("git push origin main --force")}, ""},
		"an argument":     {"Do not push to main", []Call{bash("cd web && git push origin main")}, ""},
		"a folder behind": {"Do not delete build/", []Call{bash("rm -rf ./build")}, ""},
		"the verb":        {"Do not run npm run build", []Call{bash("npm install && npm run build")}, "Bash(npm run build:*)"},
		"of another":      {"Do not run npm install", []Call{bash("npm run build && npm install x")}, "Bash(npm install:*)"},
		"the place":       {"Do not make clean in generated/", []Call{bash("cd generated && make clean")}, ""},
		"of one of two":   {"Never push with --force", []Call{bash("git push --force"), bash("git push -f")}, ""},
		"plan":            {"No", []Call{{Tool: "ExitPlanMode"}}, ""},
		"none":            {"No", nil, ""},
	} {
		r, ok := Propose(c.calls, c.words)
		if ok != (c.want != "") || ok && r.String() != c.want {
			t.Errorf("%s: %s, %v", name, r, ok)
		}
	}
}

// A guess is to ask: the rule does not name the command, the folder or the arguments.
func TestTold(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		calls []Call
		want  bool
	}{
		"named":         {"Do not run `git reset --hard`.", []Call{bash("git reset --hard HEAD~3")}, true},
		"a program":     {"Use pnpm, not npm", []Call{bash("npm install x"), bash("npm test")}, false},
		"flag named":    {"Do not commit with --no-verify", []Call{bash("git commit --no-verify")}, true},
		"not named":     {"Never throw my work away", []Call{bash("git checkout .")}, false},
		"two":           {"Never throw my work away", []Call{bash("git reset --hard HEAD"), bash("git reset --hard a")}, true},
		"one twice":     {"Never throw my work away", []Call{bash("git checkout ."), bash("git checkout .")}, false},
		"folder":        {"Do not edit files below generated/", []Call{edit("Edit", "/p/api/generated/a.go")}, true},
		"one file":      {"Leave it alone", []Call{edit("Edit", "/p/src/a.go")}, true},
		"shared folder": {"Leave it alone", []Call{edit("Edit", "/p/src/a.go"), edit("Write", "/p/src/b/c.go")}, false},
		"whole tool":    {"No tickets for other teams", []Call{{Tool: "mcp__tracker__create"}}, false},
	} {
		if r, ok := Propose(c.calls, c.words); !ok || r.Told(c.calls, c.words) != c.want {
			t.Errorf("%s: %v, %v", name, r, ok)
		}
	}
}

func FuzzRule(f *testing.F) {
	f.Add("Bash(git * --force:*)", "git push --force")
	f.Add("Edit(a/**/[b]?.go)", "/p/a/b.go")
	f.Fuzz(func(t *testing.T, text, call string) {
		r, err := Parse(text)
		if err != nil {
			return
		}
		if r.String() != text {
			t.Errorf("%q became %q", text, r)
		}
		if r.Spec == "" {
			return
		}
		_ = r.Matches(edit("Edit", call)) // no pattern may be too much for it
		if r.Tool == "Bash" && !strings.Contains(r.Spec, "*") && strings.TrimSpace(r.Spec) == r.Spec && !r.Matches(bash(r.Spec)) && json.Valid(bash(r.Spec).Input) && strings.ToValidUTF8(r.Spec, "") == r.Spec {
			t.Errorf("%s is not about itself", r)
		}
	})
}

// A rule file looks for words in any order, and into lines for other shells.
func TestProposeFile(t *testing.T) {
	for name, c := range map[string]struct {
		rule    string
		calls   []Call
		want    string // "": none
		yes, no string
	}{
		"named":      {"Never git push with --force", []Call{bash("git push origin main --force")}, "git push --force", `cd x && bash -c "git --no-pager push --force"`, "git push --force-with-lease"},
		"a path":     {"Never git push with --force", []Call{bash("/usr/bin/git push origin main --force")}, "git push --force", "git push --force", "git push"},
		"shared":     {"Keep what is there", []Call{bash("git push -f origin a"), bash("make && git push b -f")}, "git push -f", "git push -uf", "git push origin"},
		"not shared": {"Keep what is there", []Call{bash("git push"), bash("make x")}, "", "", ""},
		"not named":  {"Keep what is there", []Call{bash("git push --force")}, "", "", ""},
		"twice":      {"Keep what is there", []Call{bash("git push --force"), bash("git push --force")}, "", "", ""},
		"one of two": {"Never git push with --force", []Call{bash("git push --force"), bash("git push -f")}, "", "", ""},
		"tools":      {"Never push", []Call{bash("git push"), edit("Edit", "/p/push")}, "", "", ""},
		"computed":   {"Never push", []Call{bash("$X push push")}, "", "", ""},
		"not kept":   {"Do not push to main", []Call{bash("/usr/bin/git push origin main"), bash("git push origin")}, "", "", ""},
	} {
		r, ok := ProposeFile(c.calls, c.rule)
		if got := strings.Join(append([]string{r.Program}, r.Words...), " "); got != c.want && ok || ok != (c.want != "") {
			t.Errorf("%s: %v, %v", name, r, ok)
			continue
		}
		about := func(c Call) bool { return r.Matches(c.ForFile()) }
		if ok && (!about(bash(c.yes)) || about(bash(c.no)) || !all(c.calls, about)) {
			t.Errorf("%s: %v does not tell %q from %q", name, r, c.yes, c.no)
		}
	}
}
