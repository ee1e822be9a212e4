package replay

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A site is a workspace as it was, and what was put there besides.
func site(t *testing.T, was, more map[string]string) eval.Task {
	t.Helper()
	all := map[string]string{}
	for _, files := range []map[string]string{was, more} {
		for name, text := range files {
			all[name] = text
		}
	}
	return eval.Task{Variant: eval.Variant{Name: "stones"}, Case: &eval.Case{}, Workspace: tree(t, all),
		Before: func(name string) ([]byte, error) {
			text, ok := was[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}}
}

// worked is the work of an attempt that ran a script and made some calls.
func worked(t *testing.T, task eval.Task, script string, calls ...Access) *check.Work {
	t.Helper()
	s := open(t, task, Layout{})
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = s.Workspace
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	changed, err := s.Changed()
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Work(t.Context(), changed, calls, true, Secrets{Mark: "[key]", Values: []string{"sk-1234"}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func equalWork(t *testing.T, got, want *check.Work) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("work %+v\nwant %+v", got, want)
	}
}

func TestWorkspaceDiff(t *testing.T) {
	task := site(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "bin": "a\x00b", "gone.txt": "x\n", "run.sh": "echo\n", "same.txt": "x\n", "big": strings.Repeat("x\n", maxFile/2+1)},
		map[string]string{"node_modules/x.js": "1\n"})
	if err := os.Symlink("a.txt", filepath.Join(task.Workspace, "l")); err != nil {
		t.Fatal(err)
	}
	got := worked(t, task, `printf 'one\n2\nthree\nkey sk-1234' > a.txt; printf 'a\0c' > bin; rm gone.txt; chmod +x run.sh; echo x > same.txt
		rm l; ln -s bin l; echo y >> node_modules/x.js; mkdir -p new/dir .git; printf '\377\n' > new/dir/b.txt; echo x > .git/config; : > empty`)
	equalWork(t, got, &check.Work{Steps: []check.Step{}, Files: []check.Change{
		{Path: "a.txt", Added: "2\nkey [key]\n", Removed: "two\n"}, {Path: "bin"}, {Path: "empty"}, {Path: "gone.txt", Removed: "x\n"},
		{Path: "l"}, {Path: "new/dir/b.txt", Added: "\ufffd\n"}, {Path: "run.sh"}}})

	got = worked(t, site(t, map[string]string{"big": strings.Repeat("x\n", maxFile/2+1)}, nil), "echo y >> big")
	equalWork(t, got, &check.Work{Steps: []check.Step{}, Files: []check.Change{{Path: "big"}}, Cut: true})
	got = worked(t, site(t, nil, nil), `for i in $(seq 300); do echo x > $i; done; yes | head -c 200000 > 0`)
	if len(got.Files) != maxFiles || !got.Cut || len(got.Files[0].Added) != maxDiff || got.Files[1].Added != "" {
		t.Errorf("%d files, cut %v, %d bytes of the first, %q", len(got.Files), got.Cut, len(got.Files[0].Added), got.Files[1].Added)
	}
}

// The case's own files are what it was, if nobody has opened a folder.
func TestDiffOfTheCasesFiles(t *testing.T) {
	task := eval.Task{Variant: stones(t, ""), Case: &eval.Case{Files: map[string]string{"a.csv": "1\n"}}}
	equalWork(t, worked(t, task, "echo 2 >> a.csv"), &check.Work{Steps: []check.Step{}, Files: []check.Change{{Path: "a.csv", Added: "2\n"}}})
}

// Instructions that are tried are no change of the agent's; what it does to them is.
func TestDiffOfTheInstructions(t *testing.T) {
	doc, err := skill.Parse([]byte("Be new.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string][]check.Change{
		"true":                        {},
		"echo 'Be odd.' >> AGENTS.md": {{Path: "AGENTS.md", Added: "Be odd.\n"}},
	} {
		task := site(t, map[string]string{"AGENTS.md": "Be old.\n"}, nil)
		task.Variant = eval.Variant{Name: "AGENTS.md", Path: "AGENTS.md", Doc: doc}
		equalWork(t, worked(t, task, script), &check.Work{Steps: []check.Step{}, Files: want})
	}
}

// repositorySite is a site that is a repository with the files of was committed.
func repositorySite(t *testing.T, was map[string]string, exclude string) eval.Task {
	t.Helper()
	task := site(t, was, nil)
	if err := git.Plant(t.Context(), task.Workspace, exclude); err != nil {
		t.Fatal(err)
	}
	before := task.Before
	task.Before = func(name string) ([]byte, error) {
		if name == ".git/info/exclude" {
			return []byte(exclude + "\n"), nil
		}
		return before(name)
	}
	return task
}

func TestIgnoredIsNoWork(t *testing.T) {
	task := repositorySite(t, map[string]string{".gitignore": "dist/\n*.log\n", "sub/.gitignore": "x\n"}, "/made")
	got := worked(t, task, "mkdir dist src; touch dist/a.js run.log src/a.js sub/x made",
		Access{Tool: "Write", Path: "src/a.js"}, Access{Tool: "Write", Path: "dist/a.js"}, Access{Tool: "Bash", Command: "make"})
	equalWork(t, got, &check.Work{Steps: []check.Step{{File: "src/a.js"}, {Line: "make"}}, Files: []check.Change{{Path: "src/a.js"}}})

	// Its own repository does not matter.
	got = worked(t, task, "rm -r .git; echo 'gitdir: /no/such/place' > .git; touch new.log new")
	equalWork(t, got, &check.Work{Steps: []check.Step{}, Files: []check.Change{{Path: "new"}}})
}

// What an agent ignores, and what the owner ignores everywhere, is work; so is what was
// committed, whatever the rules say.
func TestRulesOfTheRequest(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := os.MkdirAll(filepath.Join(home, ".config/git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config/git/ignore"), []byte("*.swp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	was := map[string]string{"a.go": "one\n", "kept.log": "one\n", ".gitignore": "*.log\n"}
	want := &check.Work{Steps: []check.Step{{File: "a.go"}}, Files: []check.Change{
		{Path: ".gitignore", Added: "*\n", Removed: "*.log\n"}, {Path: "a.go", Removed: "one\n"}, {Path: "kept.log", Added: "two\n"}, {Path: "new.swp"}}}
	task := repositorySite(t, was, "")
	const hide = "echo '*' > .gitignore; echo '*' > .git/info/exclude"
	first := worked(t, task, hide+"; : > a.go; echo two >> kept.log; touch new.log new.swp", Access{Tool: "Edit", Path: "a.go"})
	equalWork(t, first, want)

	// Nor does what an attempt before this one ignored.
	task.Prior = &eval.Prior{Work: first}
	got := worked(t, task, "rm .gitignore; touch b.go new2.log")
	equalWork(t, got, &check.Work{Steps: []check.Step{{File: ".gitignore"}, {File: "a.go"}, {File: "kept.log"}, {File: "new.swp"}}, Files: []check.Change{
		{Path: ".gitignore", Removed: "*.log\n"}, {Path: "a.go", Removed: "one\n"}, {Path: "b.go"}, {Path: "kept.log", Added: "two\n"}, {Path: "new.swp"}}})

	// A folder that was no repository ignores none, whatever the agent makes of it.
	got = worked(t, site(t, was, nil), "git init -q .; "+hide+"; touch new.log")
	equalWork(t, got, &check.Work{Steps: []check.Step{}, Files: []check.Change{{Path: ".gitignore", Added: "*\n", Removed: "*.log\n"}, {Path: "new.log"}}})
}

// What an earlier attempt left is of the work, compared with the request, and edited before all
// that the later one ran.
func TestWorkOfASecondAttempt(t *testing.T) {
	task := site(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"}, nil)
	first := worked(t, task, "echo two >> a.txt; echo x > new.txt; echo x > tried.txt; rm b.txt", Access{Tool: "bash", Command: "make"})
	task.Prior = &eval.Prior{Work: first}
	got := worked(t, task, "echo three >> a.txt; echo two >> c.txt; rm tried.txt", Access{Tool: "bash", Command: "go vet ./..."})
	equalWork(t, got, &check.Work{
		Steps: []check.Step{{File: "a.txt"}, {File: "b.txt"}, {File: "new.txt"}, {File: "tried.txt"}, {Line: "go vet ./..."}},
		Files: []check.Change{{Path: "a.txt", Added: "two\nthree\n"}, {Path: "b.txt", Removed: "one\n"}, {Path: "c.txt", Added: "two\n"}, {Path: "new.txt", Added: "x\n"}}})
}

// A second attempt goes on with what the first one made of the instructions.
func TestInstructionsOfASecondAttempt(t *testing.T) {
	doc, err := skill.Parse([]byte("Be new.\n"), skill.Options{Instructions: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		doc           *skill.Document
		first, second string
		left          string
		want          []check.Change
	}{
		{doc, "true", "true", "Be new.\n", []check.Change{}},
		{doc, "echo 'Be odd.' >> AGENTS.md", "true", "Be new.\nBe odd.\n", []check.Change{{Path: "AGENTS.md", Added: "Be odd.\n"}}},
		{doc, "rm AGENTS.md", "true", "", []check.Change{{Path: "AGENTS.md", Removed: "Be new.\n"}}},
		{nil, "true", "true", "", []check.Change{}},
		{nil, "echo 'Be old.' > AGENTS.md", "true", "Be old.\n", []check.Change{{Path: "AGENTS.md", Added: "Be old.\n"}}},
		{nil, "echo 'Be odd.' > AGENTS.md", "rm AGENTS.md", "", []check.Change{}},
	} {
		task := site(t, map[string]string{"AGENTS.md": "Be old.\n"}, nil)
		task.Variant = eval.Variant{Name: "AGENTS.md", Path: "AGENTS.md", Doc: k.doc}
		task.Prior = &eval.Prior{Work: worked(t, task, k.first)}
		got := worked(t, task, k.second)
		if !slices.Equal(got.Files, k.want) {
			t.Errorf("%q, %q: changed %+v, want %+v", k.first, k.second, got.Files, k.want)
		}
		text, err := os.ReadFile(filepath.Join(task.Workspace, "AGENTS.md"))
		if string(text) != k.left || err != nil && k.left != "" {
			t.Errorf("%q, %q: left %q (%v), want %q", k.first, k.second, text, err, k.left)
		}
	}
}

func TestSteps(t *testing.T) {
	task := site(t, nil, map[string]string{"a.go": "x"})
	dir := task.Workspace
	got := worked(t, task, "true",
		Access{Tool: "Read", Path: "a.go"},
		Access{Tool: "Bash", Command: "go test ./... && echo sk-1234"},
		Access{Tool: "exec_command", Command: "make", Dir: "sub dir", Failed: true},
		Access{Tool: "exec_command", Command: "ls " + dir + "/sub", Dir: dir},
		Access{Tool: "exec_command", Command: "cd " + dir + " && ls"},
		Access{Tool: "Edit", Path: dir + "/a.go"},
		Access{Tool: "apply_patch", Path: "b/../a.go", Open: true},
		Access{Tool: "edit", Path: "x.go", Dir: "sub"},
		Access{Tool: "write", Path: "/etc/passwd"}, Access{Tool: "write", Path: "../x"}, Access{Tool: "write", Path: dir},
		Access{Tool: "WebFetch", URL: "https://example.com"},
		Access{Tool: "Bash", Command: "sleep 1", Open: true})
	equalWork(t, got, &check.Work{Files: []check.Change{}, Steps: []check.Step{
		{Line: "go test ./... && echo [key]"}, {Line: "cd 'sub dir' && make", Failed: true}, {Line: "ls sub"}, {Line: "cd . && ls"},
		{File: "a.go"}, {File: "a.go", Failed: true}, {File: "sub/x.go"}, {Line: "sleep 1", Failed: true}}})

	for name, calls := range map[string][]Access{
		"a long line": {{Command: strings.Repeat("x", maxLine+1)}},
		"many lines":  slices.Repeat([]Access{Access{Command: "x"}}, maxSteps+1),
		"long lines":  slices.Repeat([]Access{Access{Command: strings.Repeat("x", maxLine)}}, 9),
	} {
		if got := worked(t, task, "true", calls...); !got.Cut || len(got.Steps) == 0 || len(got.Steps) > maxSteps {
			t.Errorf("%s: %d steps, cut %v", name, len(got.Steps), got.Cut)
		}
	}
}
