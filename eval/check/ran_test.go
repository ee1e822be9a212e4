package check

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval/shell/sought"
)

// grade grades a check of work, and fails the test if the check is no valid one.
func grade(t *testing.T, k Check, w *Work) Result {
	t.Helper()
	if err := k.Validate(); err != nil {
		t.Fatalf("%+v: %v", k, err)
	}
	r, err := k.Grade(t.Context(), &Subject{Work: w})
	if err != nil {
		t.Fatalf("%+v: %v", k, err)
	}
	return r
}

func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		want, line string
		is         answer
	}{
		{"go test ./...", "cd x && env A=1 go test -race ./...", yes},
		{"go test ./...", "go test -run X -count=1 ./... | tail -3", yes},
		{"go test ./...", "go vet ./... && go test ./... -race", yes},
		{"go test ./...", "go test ./pkg ./...", no},
		{"go test ./...", `echo "go test ./..."`, no},
		{"go test ./...", "echo go test ./...", no},
		{"go test ./...", "# go test ./...", no},
		{"go test ./...", "cat <<'E'\ngo test ./...\nE", no},
		{"go test ./...", "go test $PKGS", maybe},
		{"go test ./...", "$GO test ./...", no}, // the line does not name it
		{"go test ./...", "GO=go; $GO test ./...", maybe},
		{"go test", "bash -lc 'go test ./...'", yes},
		{"go test", `bash -lc "$CMD go test"`, maybe},
		{"go test", "/usr/local/bin/go -C sub test ./...", yes},
		{"go test", "gotest", no},
		{"go test", "go build", no},
		{"go test", "if true; then (go test .) fi", yes},
		{"go test", "go test 'x", maybe},
		{"go test", "time nice -n 5 timeout -s KILL 60 go test ./...", yes},
		{"go test", "sudo grep go test", no},
		{"gofmt -l", "git ls-files | xargs -n 1 gofmt -l", yes},
		{"git push --force", "git push origin main --force", yes},
		{"git push --force", "git push origin main", no},
		{"git push --force", "git push $FLAGS", maybe},
		{"git commit --author=*", "git commit --author=me -m x", yes},
		{"npm run test:…", "npm run test:unit", yes},
		{"npm run test:*", "npm run lint", no},
		{"npm test", "npm --prefix web test", yes},
		{"./gradlew check", "cd app; ../gradlew --offline check", yes},
		{"rm -rf", "rm -rf /tmp/x", yes},
		{"git checkout", "git -- checkout", yes},
		{"pytest", "uv run pytest", yes},
		{"pytest", "uv run --with rich --frozen pytest -q", yes},
		{"pytest", "cd api && poetry -C . run pytest", yes},
		{"pytest", "python -m pytest -x", yes},
		{"pytest", "uv run python3.12 -W ignore -m pytest", yes},
		{"pytest", "timeout 60 .venv/bin/python -m pytest", yes},
		{"pytest", "python run.py -m pytest", no},
		{"pytest", "python -c 'import pytest'", no},
		{"pytest", "uv pip install pytest", no},
		{"pytest", "uv add run pytest", no},
		{"uv run pytest", "uv run pytest -q", yes},
		{"uv run pytest", "pytest -q", no}, // who names it means it
		{"jest", "npx --yes jest web", yes},
		{"jest", "npm exec -- jest", yes},
		{"jest", "pnpm --filter web exec jest --ci", yes},
		{"jest", "pnpm add jest", no},
		{"jest", "npx create-jest", no},
		{"rubocop -a", "bundle exec rubocop -a lib", yes},
		{"rubocop -a", "bundle exec rubocop lib", no},
		{"pytest", "uv run $TOOL", no}, // the line does not name it
		{"pytest", "TOOL=pytest; uv run $TOOL", maybe},
		{"rm -rf", "rm -fr /tmp/x", yes},
		{"rm -rf", "rm -r -f /tmp/x", yes},
		{"rm -rf", "rm -vrf /tmp/x", yes},
		{"rm -rf", "rm -f /tmp/x", no},
		{"rm -rf", "rm -f -- -r", no},
		{"git commit -a", "git commit -am x", yes},
		{"git commit -a", "git commit -mall", no},
		{"go test -v", "go test -cover ./...", no},
		{"pytest", "command -v pytest", no},
		{"pytest", "command -V pytest && echo there", no},
		{"pytest", "command pytest -q", yes},
		{"pytest", "command -p pytest -q", yes},
		{"git push", "bash <<'E'\ngit push\nE", maybe},
		{"git push", "echo git push | sh", maybe},
		{"git push", "echo git push | sudo bash -ex -o pipefail -s", maybe},
		{"git push", "git status; bash deploy.sh", no}, // what a script runs is not seen
		{"git push", "git status; bash --version", no},
		{"git push", "env -S 'git push'", maybe},
		{"git push", "env --split-string='git push'", maybe},
		{"git push", "trap 'git push' EXIT", maybe},
		{"git push", "git fetch; trap 'rm -f x' EXIT", no},
		{"git push", "find . -name .git -execdir git push \\;", maybe},
		{"git push", "find . -name .git", no},
		{"git push", "grep -r bash .git", no},
		{`grep "a b"`, "grep -n 'a b' x", yes},
	} {
		w, err := sought.Parse(c.want)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
		} else if is := w.In(c.line); is != c.is {
			t.Errorf("%s in %q: %d, want %d", c.want, c.line, is, c.is)
		}
	}
	for _, bad := range []string{"", " ", "go test && go vet", "go test > x", "A=1 go test", "$X test", "go $X", "go `x`", "*", "'", "# x", "bash -c 'go test'"} {
		if err := (&Check{Type: Ran, Value: bad}).Validate(); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if err := (&Check{Type: NotRan, Value: "x", After: "lunch"}).Validate(); err == nil {
		t.Error("after lunch")
	}
	if err := (&Check{Type: Contains, Value: "x", After: LastEdit}).Validate(); err == nil {
		t.Error("a text has no last edit")
	}
}

func TestRan(t *testing.T) {
	line := func(s string) Step { return Step{Line: s} }
	edit := func(s string) Step { return Step{File: s} }
	a := []Change{{Path: "pkg/a.go", Added: "x\n"}}
	for _, c := range []struct {
		name       string
		work       *Work
		ran, after answer
	}{
		{"nothing", &Work{}, no, no},
		{"not recorded", nil, maybe, maybe},
		{"cut", &Work{Cut: true}, maybe, maybe},
		{"cut, but there", &Work{Steps: []Step{line("go vet ./...")}, Cut: true}, yes, maybe},
		{"failed", &Work{Steps: []Step{{Line: "go vet ./...", Failed: true}}}, yes, yes},
		{"before an edit", &Work{Steps: []Step{line("go vet ./..."), edit("pkg/a.go")}, Files: a}, yes, no},
		{"after an edit", &Work{Steps: []Step{edit("pkg/a.go"), line("go vet ./...")}, Files: a}, yes, yes},
		{"before an edit that failed", &Work{Steps: []Step{line("go vet ./..."), {File: "pkg/a.go", Failed: true}}}, yes, yes},
		{"before a command that edits", &Work{Steps: []Step{edit("pkg/a.go"), line("go vet ./..."), line("sed -i s/a/b/ pkg/a.go")}, Files: a}, yes, no},
		{"before one that edits a folder", &Work{Steps: []Step{line("go vet ./..."), line("gofmt -w ./pkg/...")}, Files: a}, yes, no},
		{"before one that edits what no longer differs", &Work{Steps: []Step{edit("pkg/a.go"), line("go vet ./..."), line("rm -f /tmp/log")}, Files: a}, yes, yes},
		{"before a redirection", &Work{Steps: []Step{line("go vet ./..."), line("cat <<E > pkg/a.go\nx\nE")}, Files: a}, yes, no},
		{"with its output elsewhere", &Work{Steps: []Step{edit("pkg/a.go"), line("go vet ./... > /tmp/out 2>&1"), line("cat /tmp/out")}, Files: a}, yes, yes},
		{"in the line that edits", &Work{Steps: []Step{line("sed -i s/a/b/ pkg/a.go && go vet ./...")}, Files: a}, yes, yes},
		{"before a command that may have edited", &Work{Steps: []Step{line("go vet ./..."), line("make")}, Files: a}, yes, maybe},
		{"as the last of what may have edited", &Work{Steps: []Step{line("make"), line("go vet ./...")}, Files: a}, yes, yes},
		{"what tests leave", &Work{Steps: []Step{edit("pkg/a.go"), line("go vet ./..."), line("pytest")}, Files: append(a, Change{Path: "pkg/.cache/x"})}, yes, yes},
		{"before git restores", &Work{Steps: []Step{line("go vet ./..."), line("git stash pop")}, Files: a}, yes, no},
		{"before git shows", &Work{Steps: []Step{edit("pkg/a.go"), line("go vet ./..."), line("git diff")}, Files: a}, yes, yes},
	} {
		for _, not := range []bool{false, true} {
			for after, want := range map[string]answer{"": c.ran, LastEdit: c.after} {
				k := Check{Type: Ran, Value: "go vet ./...", After: after}
				if not {
					k.Type = NotRan
				}
				r := grade(t, k, c.work)
				if r.Missing != (want == maybe) || want != maybe && r.Passed() != (not != (want == yes)) {
					t.Errorf("%s: %s %s: %+v, want %d", c.name, k.Type, after, r, want)
				}
			}
		}
	}
	k := Check{Type: Ran, Value: "go vet ./...", After: LastEdit}
	if got := grade(t, k, &Work{}).Feedback; got != "`go vet ./...` was not run after the last edit." {
		t.Error(got)
	}
	k = Check{Type: NotRan, Value: "git push"}
	if r := grade(t, k, &Work{Steps: []Step{line("git push -v \x1b")}}); r.Feedback != "`git push` was run, and must not be." || strings.Contains(r.Evidence, "\x1b") {
		t.Errorf("%+v", r)
	}
}

// TestRanAndNotRan: the two types contradict each other on all work, and more work after what
// was found changes nothing.
func TestRanAndNotRan(t *testing.T) {
	word := rapid.SampledFrom([]string{"go", "test", "./...", "-race", "--", "env", "A=1", "$X", "timeout", "5", "'", "&&", "|", "echo", "-n", "sudo"})
	line := rapid.Map(rapid.SliceOfN(word, 1, 7), func(w []string) string { return strings.Join(w, " ") })
	rapid.Check(t, func(t *rapid.T) {
		w := &Work{Cut: rapid.Bool().Draw(t, "cut")}
		for _, l := range rapid.SliceOfN(line, 0, 4).Draw(t, "lines") {
			w.Steps = append(w.Steps, Step{Line: l})
		}
		ran, not := Check{Type: Ran, Value: "go test ./..."}, Check{Type: NotRan, Value: "go test ./..."}
		a, errA := ran.Grade(t.Context(), &Subject{Work: w})
		b, errB := not.Grade(t.Context(), &Subject{Work: w})
		if errA != nil || errB != nil || a.Missing != b.Missing || !a.Missing && a.Passed() == b.Passed() {
			t.Fatalf("%+v: %+v and %+v", w, a, b)
		}
		w.Steps = append(w.Steps, Step{Line: line.Draw(t, "one more")})
		if c, err := ran.Grade(t.Context(), &Subject{Work: w}); err != nil || a.Passed() && !c.Passed() {
			t.Fatalf("%+v: %+v, and with one more %+v", w, a, c)
		}
	})
}

func FuzzCommandLine(f *testing.F) {
	f.Add("go test ./...", "cd x && env A=1 go test -race ./...")
	f.Add("a *", "a"+strings.Repeat(" env -a", 500))
	f.Fuzz(func(t *testing.T, value, line string) {
		w, err := sought.Parse(value)
		if err != nil {
			return
		}
		_ = w.In(line)
		plain := strings.Trim(value, "abcdefghijklmnopqrstuvwxyz ") == ""
		if plain && w.In(value) != yes {
			t.Fatalf("%q is not in itself", value)
		}
		if plain && w.In("true; "+value+" more") != yes {
			t.Fatalf("%q is not in a line with it", value)
		}
	})
}

func TestMayEdit(t *testing.T) {
	for line, want := range map[string]bool{
		"go vet ./...":                   false,
		"go test ./... 2>&1 | tail":      false,
		"go test > /dev/null 2>&1":       false,
		"go test > /tmp/out":             false,
		"rm -f /tmp/out":                 false,
		"sed -n 1,20p a.go":              false,
		"git commit -am x && git push":   false,
		"echo 'a > b'":                   false,
		"go test > out":                  true,
		"cd /tmp && rm -f out":           true, // the folder does not count
		"sed -i s/a/b/ a.go":             true,
		"cat <<'E' > a.go\nx\nE":         true,
		"go vet && gofmt -w .":           true,
		"bash -c 'git checkout -- a.go'": true,
		"rm $X":                          true,
		"go 'vet":                        true,
	} {
		if got := MayEdit(line); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
