package work

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// runners are the programs that test, by the words that their command lines begin with. A
// last word with a dot behind it, such as "test.", is a part of a target's name: "test:ci",
// "unit-test".
var runners = [][]string{
	{"go", "test"}, {"gotestsum"}, {"pytest"}, {"py.test"}, {"tox"}, {"nox"}, {"hatch", "test"}, {"stestr"},
	{"npm", "test"}, {"npm", "t"}, {"npm", "run", "test."}, {"npm", "run-script", "test."}, {"pnpm", "run", "test."}, {"pnpm", "test."}, {"yarn", "run", "test."}, {"yarn", "test."},
	{"bun", "test"}, {"bun", "run", "test."}, {"deno", "test"}, {"deno", "task", "test."}, {"node", "--test"},
	{"jest"}, {"vitest"}, {"mocha"}, {"ava"}, {"playwright", "test"}, {"cypress", "run"}, {"karma", "start"}, {"ng", "test"}, {"nx", "test"}, {"turbo", "test"}, {"turbo", "run", "test."},
	{"cargo", "test"}, {"cargo", "nextest"}, {"cargo-nextest"},
	{"make", "test."}, {"make", "check"}, {"gmake", "test."}, {"gmake", "check"}, {"mise", "run", "test."}, {"mise", "r", "test."}, {"mise", "test."}, {"just", "test."}, {"task", "test."},
	{"rake", "test."}, {"rake", "spec."}, {"rspec"}, {"rails", "test."}, {"minitest"},
	{"gradle", "test."}, {"gradle", "check"}, {"gradlew", "test."}, {"gradlew", "check"}, {"mvn", "test"}, {"mvn", "verify"}, {"mvnw", "test"}, {"mvnw", "verify"}, {"sbt", "test."}, {"lein", "test"},
	{"ctest"}, {"ninja", "test."}, {"meson", "test"}, {"bazel", "test"}, {"buck2", "test"}, {"phpunit"}, {"pest"}, {"composer", "test."}, {"artisan", "test"},
	{"dotnet", "test"}, {"bats"}, {"shellspec"}, {"prove"}, {"busted"}, {"mix", "test."}, {"swift", "test"}, {"xcodebuild", "test"}, {"zig", "test"}, {"zig", "build", "test."},
	{"dart", "test"}, {"flutter", "test"}, {"stack", "test"}, {"cabal", "test"},
}

// wrappers start the program in the words behind them.
var wrappers = []string{"sudo", "env", "time", "timeout", "nice", "nohup", "command", "exec", "xvfb-run", "npx", "bunx", "pnpx", "cross-env", "uv", "poetry", "pipenv", "pdm", "rye", "bundle",
	"python", "python3", "php", "ruby", "pnpm", "yarn", "npm", "mise", "direnv", "docker", "podman", "docker-compose", "kubectl", "nix", "nix-shell", "conda", "dotenv", "coverage"}

// fetches are words of wrappers behind which the name of a program is only a name.
var fetches = []string{"install", "i", "add", "remove", "uninstall", "update", "upgrade", "build", "pull", "push", "get", "show", "info", "why", "list"}

// valued are options whose value is the next word.
var valued = []string{"-C", "-f", "-w", "-F", "-p", "--prefix", "--filter", "--directory", "--dir", "--cwd", "--project", "--workspace", "--manifest-path"}

// tests is the runner of tests that a command starts: "go test", "pytest"; "" for none.
func tests(words []shell.Word) string {
	for i := range words {
		if found := runner(words[i:]); found != "" {
			return found
		}
		if i == 0 && !slices.Contains(wrappers, base(words[0].Text)) || slices.Contains(fetches, words[i].Text) {
			break
		}
	}
	return ""
}

func runner(words []shell.Word) string {
	if !words[0].Whole {
		return ""
	}
	name := strings.TrimSuffix(strings.TrimSuffix(base(words[0].Text), ".exe"), ".cmd")
	for _, r := range runners {
		if r[0] == name && follows(words[1:], r[1:]) {
			if name = strings.TrimSuffix(strings.Join(r, " "), "."); name == "py.test" {
				return "pytest"
			}
			return name
		}
	}
	return ""
}

// follows reports whether words begin with want, but for options.
func follows(words []shell.Word, want []string) bool {
	for i := 0; i < len(words) && len(want) > 0; i++ {
		text := words[i].Text
		target, named := strings.CutSuffix(want[0], ".")
		switch {
		case text == want[0], named && part(text, target):
			want = want[1:]
		case slices.Contains(valued, text):
			i++
		case strings.HasPrefix(text, "-"), strings.HasPrefix(text, "+"), strings.Contains(text, "="):
		case named && len(want) == 1 && slices.ContainsFunc(words[i+1:], func(w shell.Word) bool { return part(w.Text, target) }):
			return true // another target comes first
		default:
			return false
		}
	}
	return len(want) == 0
}

// part reports whether a target's name has a part such as test: "test:ci", "unit-tests".
func part(name, want string) bool {
	if strings.Contains(name, "=") || path.Ext(name) != "" && !strings.Contains(name, ":") {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(":/-_.", r) }), func(p string) bool {
		return p == want || p == want+"s" || p == "e2e"
	})
}

// A TestRun is one command of a line that tests.
type TestRun struct {
	Command string // as it can be run again, in the session's folder
	// Passed and Failed are what the line's exit status tells of it: nothing if the line goes
	// on to other commands whatever its result was.
	Passed, Failed bool
}

// TestRuns are the commands in a line that test and can be run again in root, the session's
// folder: those there whose words are known.
func (a Act) TestRuns(root string) (runs []TestRun) {
	if a.Kind != Ran || a.Tests == "" || a.Cut {
		return nil
	}
	list, err := shell.Commands(a.Line)
	if err != nil {
		return nil
	}
	// Without these, the commands are joined by && alone. One that has them in quotes is
	// taken for one whose result is not known.
	chain := !strings.ContainsAny(redirected.ReplaceAllString(a.Line, ""), "|;&!\n(){}")
	for i := range list {
		c := &list[i]
		if dir := c.Dir; !dir.Whole || dir.Text != "" && path.Clean(dir.Text) != "." && path.Clean(dir.Text) != slashed(root) {
			continue
		}
		if len(c.Words) == 0 || tests(c.Words) == "" || slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return strings.HasPrefix(r.Op, "<") }) {
			continue
		}
		words := slices.Concat(c.Assigns, c.Words)
		if slices.ContainsFunc(words, func(w shell.Word) bool { return !w.Whole }) {
			continue
		}
		texts := make([]string, len(words))
		for k, w := range words {
			if texts[k] = quote(w.Text); k < len(c.Assigns) {
				name, value, _ := strings.Cut(w.Text, "=")
				texts[k] = name + "=" + quote(value)
			}
		}
		r := TestRun{Command: strings.Join(texts, " ")}
		if known := chain && a.Exit != nil; known {
			r.Passed, r.Failed = *a.Exit == 0, *a.Exit != 0 && i == len(list)-1
		}
		runs = append(runs, r)
	}
	return runs
}

// redirected matches what leads the output of a command elsewhere, and the && between two.
var redirected = lazyregexp.New(`\d?>&\d|&>>?|&&`)
