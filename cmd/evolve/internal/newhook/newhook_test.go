package newhook

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/mutate/script"
)

// built is a folder with hook-kit.
func built(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "../../../hook-kit").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

// TestCasesPass: the cases of each skeleton pass, with the real interpreters; and they fail
// as soon as its rule is another one, or it does not run.
func TestCasesPass(t *testing.T) {
	bin := built(t)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	run := func(w *Written) (string, error) {
		out, err := exec.Command("sh", filepath.Join(w.Folder, "test.sh")).CombinedOutput()
		return string(out), err
	}
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			if _, err := exec.LookPath("node"); l.name == "node" && err != nil {
				t.Skip("no node")
			}
			// Not at once with others: a program that was just written cannot be started while
			// another goroutine's child, which is not its program yet, has it open.
			for i, e := range examples {
				if testing.Short() && i > 0 && l.name != "sh" {
					break // starting an interpreter takes long
				}
				w, err := Write(t.TempDir(), "my-hook", e.event, l.name)
				if err != nil {
					t.Fatal(err)
				}
				if out, err := run(w); err != nil || out != "every case is decided as it says\n" {
					t.Errorf("%s: %v: %s", e.event, err, out)
				}
			}
			w, err := Write(t.TempDir(), "my-hook", "PreToolUse", l.name)
			if err != nil {
				t.Fatal(err)
			}
			script := filepath.Join(w.Folder, w.Files[0])
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range [][3]string{{`"push"`, `"pull"`, "cases/block.json, first delivery: go, and not block\n"}, {l.comment + " /kernel", "no-such-program()\n", "exit 1, and not go\n"}} {
				if err := os.WriteFile(script, bytes.Replace(text, []byte(c[0]), []byte(c[1]), 1), 0o700); err != nil {
					t.Fatal(err)
				}
				if l.name == "sh" && strings.HasSuffix(c[1], "\n") {
					continue // it goes on behind a command that fails
				}
				if out, err := run(w); err == nil || !strings.Contains(out, c[2]) {
					t.Errorf("with %s: %v: %s", c[1], err, out)
				}
			}
		})
	}
}

// TestOrderCases: the cases of a rule file about an order pass, each with what came first; and the
// settings call it for all that it has to see.
func TestOrderCases(t *testing.T) {
	t.Setenv("PATH", built(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	run, stop := []string{"make lint"}, rulefile.Rule{Event: rulefile.Stop, UnlessRan: []string{"make lint"}, SinceEdit: "cmd/**/*.go", Say: "Lint."}
	commit := rulefile.Rule{Tool: "Bash", Program: "git", Words: []string{"commit"}, UnlessRan: run, SinceEdit: "*.go", Say: "Lint."}
	for name, rules := range map[string][]rulefile.Rule{"commit": {commit}, "both": {commit, stop}, "stop": {stop}, "any": {{Event: rulefile.Stop, UnlessRan: run, Say: "x"}}} {
		w, err := WriteOrder(t.TempDir(), name, rules)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("sh", filepath.Join(w.Folder, "test.sh")).CombinedOutput(); err != nil || string(out) != "every case is decided as it says\n" {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		readme, err := os.ReadFile(filepath.Join(w.Folder, "README.md"))
		if err != nil || bytes.Contains(readme, []byte(`"Stop":[`)) != (name != "commit") || !bytes.Contains(readme, []byte(`"matcher":"Bash|Edit|`)) {
			t.Errorf("%s: %v: %s", name, err, readme)
		}
	}
	if _, err := WriteOrder(t.TempDir(), "../x", []rulefile.Rule{commit}); err == nil {
		t.Error("a name that leaves the folder")
	}
}

// TestNoted: a skeleton notes on the bus what it decided of a call, once, and nothing of one that
// goes on.
func TestNoted(t *testing.T) {
	bin := built(t)
	for _, l := range languages {
		if _, err := exec.LookPath("node"); l.name == "node" && err != nil {
			continue
		}
		w, err := Write(t.TempDir(), "my-hook", "PreToolUse", l.name)
		if err != nil {
			t.Fatal(err)
		}
		home := t.TempDir()
		for _, command := range []string{"git push --force", "git push --force", "git push"} {
			c := exec.Command(filepath.Join(w.Folder, w.Files[0]))
			c.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "EVOLVE_HOME="+home)
			c.Stdin = strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"` + command + `","tool_name":"Bash","tool_input":{"command":"` + command + `"}}`)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", l.name, err, out)
			}
		}
		bus, err := os.ReadFile(filepath.Join(home, "bus.jsonl"))
		if err != nil || bytes.Count(bus, []byte("\n")) != 1 || !bytes.Contains(bus, []byte(`"note":{"decision":"block"}`)) || !bytes.Contains(bus, []byte(`"hook":"my-hook"`)) {
			t.Errorf("%s: %v: %s", l.name, err, bus)
		}
	}
}

// TestMistakesInSh: what sh, [ and grep end with after a mistake is the code that blocks. The
// skeleton fails instead, for which the agent goes on.
func TestMistakesInSh(t *testing.T) {
	bin := built(t)
	w, err := Write(t.TempDir(), "my-hook", "PreToolUse", "sh")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(w.Folder, w.Files[0])
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	kernel, _, ok := strings.Cut(string(text), "# /kernel\n")
	if !ok {
		t.Fatal("no kernel")
	}
	for _, mistake := range []string{"if kit commands (", `[ "" -gt 3 ] && kit emit block "no"`, `kit commands | grep -q '[' && kit emit block "no"`, ". ./nothing", "exit 2"} {
		c := exec.Command("sh", "-c", kernel+mistake+"\n")
		c.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "EVOLVE_HOME="+t.TempDir())
		c.Stdin = strings.NewReader(`{"hook_event_name":"PreToolUse","tool_input":{"command":"ls"}}`)
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: exit %d: %s", mistake, c.ProcessState.ExitCode(), out)
		}
	}
}

// TestEntry: what the README says to put into the settings starts the hook, wherever its
// folder is.
func TestEntry(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's <here>")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := Write(dir, "my-hook", "PreToolUse", "sh")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(w.Folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(readme, []byte("\n")); n > 10 {
		t.Errorf("the README has %d lines", n)
	}
	var entry map[string][]struct {
		Matcher string
		Hooks   []struct{ Type, Command string }
	}
	at := bytes.Index(readme, []byte("\n    {"))
	if err := json.Unmarshal(readme[at:], &entry); err != nil {
		t.Fatal(err)
	}
	e := entry["PreToolUse"][0]
	if e.Matcher != "Bash" || e.Hooks[0].Type != "command" {
		t.Errorf("%+v", e)
	}
	// Without hook-kit it fails, and does not stop the agent.
	c := exec.Command("sh", "-c", e.Hooks[0].Command)
	c.Env = []string{"PATH=" + t.TempDir()}
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "hook-kit") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRefuses: what exists is not overwritten, and what cannot be meant makes no folder.
func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][4]string{
		{"there", "PreToolUse", "sh", "there exists already"},
		{"../x", "PreToolUse", "sh", `"../x" is no name`},
		{"x", "SessionEnd", "sh", `unknown event "SessionEnd"`},
		{"test", "PreToolUse", "sh", "test.sh is the script that tries the cases"},
		{"Test", "PreToolUse", "sh", "test.sh is the script that tries the cases"},
		{"x", "PreToolUse", "perl", `unknown language "perl"`},
	} {
		if _, err := Write(dir, c[0], c[1], c[2]); err == nil || !strings.HasPrefix(err.Error(), c[3]) {
			t.Errorf("%v: %v", c, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "there")); string(text) != "mine" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// A learned rule file stops what it was learned from, and says why in words that no shell reads.
func TestWriteRule(t *testing.T) {
	t.Setenv("PATH", built(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	dir := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const said = "You said: don't $(touch x) `touch x` <b>"
	w, err := WriteRule(dir, "no-force", rulefile.Rule{Tool: "Bash", Program: "git", Words: []string{"push", "--f.x"}, Say: said}, "cd a && git push origin --f.x")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sh", filepath.Join(w.Folder, "test.sh")).CombinedOutput(); err != nil || string(out) != "every case is decided as it says\n" {
		t.Errorf("%v: %s", err, out)
	}
	file := filepath.Join(w.Folder, "no-force.json")
	text, err := os.ReadFile(file)
	if err != nil || bytes.Count(text, []byte("\n")) != 3 || !bytes.Contains(text, []byte(said)) || script.Of(text, file) != script.Rules {
		t.Errorf("%v: %s", err, text)
	}
	// The entry of the README runs it, as a shell reads that.
	settings := filepath.Join(dir, "settings.json")
	install(t, w, settings)
	var s struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct{ Command string }
		}
	}
	if text, err := os.ReadFile(settings); err != nil || json.Unmarshal(text, &s) != nil || s.Hooks["PreToolUse"][0].Matcher != "Bash" {
		t.Fatalf("%v: %s", err, text)
	}
	for command, blocks := range map[string]bool{"git push --f.x": true, `sh -c "git push --f.x"`: true, `git push -m 'a","--f.x","b'`: false, "git push --fax": false, "git push; git x --f.x": false} {
		event, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "t", "tool_name": "Bash", "tool_input": map[string]string{"command": command}})
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command("sh", "-c", s.Hooks["PreToolUse"][0].Hooks[0].Command)
		c.Dir, c.Stdin, c.Env = dir, bytes.NewReader(event), append(os.Environ(), "EVOLVE_HOME="+dir)
		out, err := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); (code == 2) != blocks || (code == 0) == blocks || blocks != (string(out) == said+"\n") {
			t.Errorf("%s: %v, %s", command, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("the text was run")
	}
	if _, err := WriteRule(dir, "../x", rulefile.Rule{}, ""); err == nil {
		t.Error("a name leads elsewhere")
	}
}
