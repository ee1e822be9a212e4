//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/spf13/cobra"
)

// everyCommand are those that people may type, topics included.
func everyCommand() (list []*cobra.Command) {
	help.Each(newRoot(&global{Terminal: term.Terminal{Getenv: func(string) string { return "" }}}), func(c *cobra.Command) {
		if !c.Hidden {
			list = append(list, c)
		}
	})
	return list
}

// TestHelp holds every command to what a person needs: a place in the list, an
// example, and lines that fit.
func TestHelp(t *testing.T) {
	all := everyCommand()
	if len(all) < 40 {
		t.Fatalf("%d commands", len(all))
	}
	for _, c := range all {
		name := c.CommandPath()
		for line := range strings.SplitSeq(help.Text(c), "\n") {
			if plain.Width(line) > 80 {
				t.Errorf("%s: %d columns: %q", name, plain.Width(line), line)
			}
		}
		if c.IsAdditionalHelpTopicCommand() {
			continue
		}
		if c.Example == "" {
			t.Errorf("%s has no example: give it one", name)
		}
		for line := range strings.SplitSeq(c.Example, "\n") {
			if !strings.Contains(line, "evolve") {
				t.Errorf("%s: %q is no example of it", name, line)
			}
		}
		if c.Parent() == c.Root() && c.GroupID == "" {
			t.Errorf("%s stands nowhere in `evolve help`: put it into groups", name)
		}
		if c != c.Root() && (c.Short == "" || strings.HasSuffix(c.Short, ".")) {
			t.Errorf("%s: its short help is %q", name, c.Short)
		}
	}
}

// TestExamples: the examples of help are commands and flags that there are.
func TestExamples(t *testing.T) {
	for _, c := range everyCommand() {
		for line := range strings.SplitSeq(c.Example, "\n") {
			_, line, ok := strings.Cut(line, "evolve ")
			if !ok {
				continue
			}
			line, _, _ = strings.Cut(line, " #")
			line, _, _ = strings.Cut(line, "   ") // an explanation
			line, _, _ = strings.Cut(line, " -- ")
			args := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" )>|", r) })
			root := newRoot(&global{Terminal: term.Terminal{Getenv: func(string) string { return "" }}})
			at, rest, err := root.Find(args)
			if err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), line, err)
				continue
			}
			for _, w := range rest {
				name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
				if strings.HasPrefix(w, "--") && name != "" && at.Flag(name) == nil {
					t.Errorf("%s: %q: no flag --%s", c.CommandPath(), line, name)
				}
			}
		}
	}
}

// TestEnvironmentTopic: the topic lists every variable that is read from the
// environment.
func TestEnvironmentTopic(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(&global{Terminal: term.Terminal{Getenv: func(string) string { return "" }}})
	topic, _, err := root.Find([]string{"environment"})
	if err != nil {
		t.Fatal(err)
	}
	told := topic.Long
	read := regexp.MustCompile(`(?:[gG]etenv|agentHome)\("([A-Z_]+)"`)
	found := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		// CLAUDE_CODE_SESSION_ATTENDED is between Claude Code and its hooks.
		for _, m := range read.FindAllStringSubmatch(string(text), -1) {
			if found++; !strings.Contains(told, m[1]) && m[1] != "CLAUDE_CODE_SESSION_ATTENDED" {
				t.Errorf("%s reads %s, and `evolve help environment` does not tell", f, m[1])
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d variables found", found)
	}
}

// markdown is the help of every command and topic on one page.
func markdown() string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThe output of `evolve help COMMAND` for each command, on one page. Written by\n`go generate ./cmd/evolve`; edit the commands, not this file.\n")
	for _, c := range everyCommand() {
		level, title := "##", c.CommandPath()
		switch {
		case c.IsAdditionalHelpTopicCommand():
			title = c.Short
		case c.HasParent() && c.Parent().HasParent():
			level = "###"
		}
		fmt.Fprintf(&b, "\n%s %s\n\n```text\n%s```\n", level, title, help.Text(c))
	}
	return b.String()
}

const cliDoc = "../../docs/cli.md"

// TestDocs holds docs/cli.md to the commands. -update writes it.
func TestDocs(t *testing.T) {
	want := markdown()
	if *update {
		if err := os.WriteFile(cliDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(cliDoc)
	if err != nil || string(got) != want {
		t.Errorf("docs/cli.md is not what the commands are (%v): go test ./cmd/evolve -run TestDocs -update", err)
	}
	home, err := os.UserHomeDir()
	if err == nil && home != "/" && strings.Contains(want, home) {
		t.Errorf("docs/cli.md knows this machine: %s", home)
	}
}

// completions are what a shell would be offered behind words.
func completions(t *testing.T, env []string, args ...string) (list []string, directive string) {
	t.Helper()
	c := exec.Command(os.Args[0], append([]string{"__complete"}, args...)...)
	c.Env = append([]string{"EVOLVE_TEST_AS_MAIN=1", "PATH=" + os.Getenv("PATH")}, env...)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, l := range lines[:len(lines)-1] {
		name, _, _ := strings.Cut(l, "\t")
		list = append(list, name)
	}
	return list, lines[len(lines)-1]
}

// furnish puts a skill and a store into a home: two versions, a run with a
// candidate in its pool and one that was refused, two cases.
func furnish(t *testing.T, home string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(home, ".claude", "skills", "dataviz")
	must(os.MkdirAll(dir, 0o700))
	must(os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: dataviz\ndescription: charts\n---\n\nDraw.\n"), 0o600))
	must(os.MkdirAll(filepath.Join(home, "evolve"), 0o700))
	db, err := store.Open(t.Context(), filepath.Join(home, "evolve", "evolve.db"))
	must(err)
	for _, sha := range []string{"aa", "bb"} {
		_, err := db.SaveVersion(t.Context(), record.Version{Skill: "dataviz", SHA: sha, Author: "you", Text: []byte(sha)})
		must(err)
	}
	j := db.Journal("20260921-031702-5e1f0a")
	must(j.SaveRun(t.Context(), &record.Run{ID: "20260921-031702-5e1f0a", Skill: "dataviz", Status: record.Finished, Started: time.Unix(1, 0)}))
	for i, state := range []record.CandidateState{record.Seed, record.Pooled, record.Refused} {
		must(j.SaveCandidate(t.Context(), &record.Candidate{SHA: strings.Repeat(fmt.Sprint(i), 64), Run: "20260921-031702-5e1f0a", Seq: i, Operator: "reflect", State: state, Text: []byte("x")}))
	}
	_, _, err = db.SaveCases(t.Context(), []eval.Case{
		{ID: "rev-01", Skill: "dataviz", Prompt: "Plot", Checks: []eval.Check{{Type: eval.Contains, Value: "log"}}},
		{ID: "rev 02; rm", Skill: "dataviz", Prompt: "Plot", Checks: []eval.Check{{Type: eval.Contains, Value: "log"}}}})
	must(err)
	must(db.Close())
}

// TestCompletion completes names from the disk and the store.
func TestCompletion(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	furnish(t, home)
	env := []string{"EVOLVE_HOME=" + filepath.Join(home, "evolve"), "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"), "HOME=" + home}
	before := tree(t, home)
	for _, k := range []struct {
		args []string
		has  []string
		not  string
	}{
		{[]string{""}, []string{"run", "sleep", "help", "completion"}, "hook"},
		{[]string{"log", ""}, []string{"dataviz"}, ""},
		{[]string{"log", "x"}, nil, "dataviz"},
		{[]string{"--skill", "da"}, []string{"dataviz"}, ""},
		{[]string{"show", "dataviz@"}, []string{"dataviz@v0", "dataviz@v1"}, "v0"},
		{[]string{"show", "dataviz@v"}, []string{"dataviz@v0", "dataviz@v1"}, ""},
		{[]string{"diff", "dataviz", ""}, []string{"v0", "v1", "live", "none"}, "dataviz"},
		{[]string{"report", ""}, []string{"last"}, ""},
		{[]string{"log", "--run", ""}, []string{"last"}, ""},
		{[]string{"--agent", ""}, agent.Names(), ""},
		{[]string{"compare", "--format", "j"}, []string{"json", "junit"}, "text"},
		{[]string{"compare", "dataviz", "--split", ""}, []string{"test", "all"}, ""},
		{[]string{"run", "--objectives", "quality,l"}, []string{"quality,latency"}, ""},
		{[]string{"harvest", "--source", "co"}, []string{"codex", "copilot"}, "claude"},
		{[]string{"kernel", ""}, []string{"show", "check", "confirm"}, ""},
		{[]string{"help", "sl"}, []string{"sleep"}, "status"},
		{[]string{"help", "ex"}, []string{"exit-codes"}, "files"},
		{[]string{"help", "sleep", ""}, []string{"run", "install"}, "status "},
		{[]string{"completion", ""}, shells, ""},
		{[]string{"doctor", ""}, nil, "dataviz"},
	} {
		got, directive := completions(t, env, k.args...)
		for _, want := range k.has {
			if !slices.Contains(got, want) {
				t.Errorf("%q: %q lacks %q", k.args, got, want)
			}
		}
		if k.not != "" && slices.Contains(got, k.not) {
			t.Errorf("%q: %q has %q", k.args, got, k.not)
		}
		if k.has == nil && len(got) > 0 {
			t.Errorf("%q: %q", k.args, got)
		}
		if directive == ":0" {
			t.Errorf("%q completes files", k.args)
		}
	}
	for _, k := range [][2]string{
		{"cases show dataviz ", "rev-01"}, // what the other is called is nobody's command
		{"log --run 2", "20260921-031702-5e1f0a"},
		{"show dataviz@1", "dataviz@111111111111"}, // the seed and what was refused are nobody's choice
		{"show dataviz@2", ""},
	} {
		if got, _ := completions(t, env, strings.Split(k[0], " ")...); strings.Join(got, " ") != k[1] {
			t.Errorf("%s: %q, want %q", k[0], got, k[1])
		}
	}
	if got, directive := completions(t, env, "cases", "import", ""); len(got) > 0 || directive != ":0" {
		t.Errorf("cases import takes files: %q %s", got, directive)
	}
	if after := tree(t, home); after != before {
		t.Errorf("completion has changed something:\n%s\nthen\n%s", before, after)
	}
}

// TestCompletionOfNothing: a person without a store gets no error and no store.
func TestCompletionOfNothing(t *testing.T) {
	home := t.TempDir()
	for _, data := range []string{filepath.Join(home, "none"), "/dev/null/none"} {
		for _, args := range [][]string{{"log", ""}, {"show", "x@"}, {"report", ""}, {"--resume", ""}, {"cases", "show", "x", ""}, {"sessions", "purge", ""}} {
			completions(t, []string{"EVOLVE_HOME=" + data, "HOME=" + home}, args...)
		}
	}
	if left := tree(t, home); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// tree tells of every file below dir when it was changed, and how long it is.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != dir {
			fmt.Fprintf(&b, "%s %d %v\n", strings.TrimPrefix(path, dir), info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCompletionBash presses the key in a real shell that has nothing else, not
// even the bash-completion package.
func TestCompletionBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	home, dir := t.TempDir(), t.TempDir()
	furnish(t, home)
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "evolve")); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(bash, "--norc", "--noprofile", "-i")
	c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "HOME=" + home, "EVOLVE_HOME=" + filepath.Join(home, "evolve"), "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		"PATH=" + dir + ":" + os.Getenv("PATH"), "TERM=xterm", "PS1=ready>", "INPUTRC=/dev/null", "HISTFILE="}
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	defer c.Process.Kill() // it may have ended
	var mu sync.Mutex
	var seen bytes.Buffer
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			mu.Lock()
			seen.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	press := func(keys, pattern string) {
		t.Helper()
		re := regexp.MustCompile(pattern)
		mu.Lock()
		seen.Reset()
		mu.Unlock()
		if _, err := tty.WriteString(keys); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			mu.Lock()
			text := seen.String()
			mu.Unlock()
			if re.MatchString(text) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%q: no %q in %q", keys, pattern, text)
			}
		}
	}
	const kill = "\x15" // the line typed so far
	press("source <(evolve completion bash); echo so''urced\n", `sourced\r\n(?s).*ready>`)
	press("evolve log da\t", `evolve log dataviz $`)
	press(kill+"evolve sta\t", `evolve status $`)
	press(kill+"evolve show dataviz@v\t\t", `@v0 (?s).*@v1 `)
	press(kill+"evolve show dataviz@v0\t", `evolve show dataviz@v0 $`)
	press(kill+"evolve compare dataviz --split te\t", `--split test $`)
	press(kill+"evolve show nobody\t\t; echo si''lent\n", `silent\r\n`)
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(seen.String(), "command not found") || strings.Contains(seen.String(), "rror") {
		t.Errorf("an error shows through: %q", seen.String())
	}
}
