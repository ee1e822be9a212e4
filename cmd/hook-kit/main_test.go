package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skill-evolve/evolve/harvest/hook/kit"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hook-kit": main, "hook-kit-forever": forever})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EVOLVE_HOME", filepath.Join(e.WorkDir, "data"))
			e.Setenv("HOOK_NAME", "guard")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": func(ts *testscript.TestScript, _ bool, args []string) {
			err := ts.Exec(args[1], args[2:]...)
			var exit *exec.ExitError
			code := 0
			if errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			if fmt.Sprint(code) != args[0] {
				ts.Fatalf("exit %d, want %s (%v)", code, args[0], err)
			}
		}},
	})
}

// run plays one call in this process.
func run(t testing.TB, home, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	k := &program{strings.NewReader(stdin), &o, &e, func(name string) string {
		return map[string]string{"EVOLVE_HOME": home, "HOOK_NAME": "guard"}[name]
	}, time.Now}
	code = k.run(args)
	return code, o.String(), e.String()
}

// TestOpenPipe: an agent that leaves stdin open is not waited for, and one that never
// completes its value for a second. Bad input is exit 0 and one line in the log.
func TestOpenPipe(t *testing.T) {
	for name, c := range map[string]struct {
		text, stdout string
		waits        time.Duration
	}{
		"complete":   {`{"b":1,"a":2}`, `{"a":2,"b":1}` + "\n", 0},
		"cut":        {`{"b":1,`, "", kit.MaxWait},
		"invalid":    {`{b}`, "", 0},
		"nothing":    {"", "", kit.MaxWait},
		"an overrun": {`{"a":"` + strings.Repeat("x", kit.MaxInput), "", 0},
	} {
		home := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			defer r.Close()
			go func() { _, _ = w.Write([]byte(c.text)) }()
			var o, e bytes.Buffer
			k := &program{r, &o, &e, func(name string) string { return map[string]string{"EVOLVE_HOME": home, "HOOK_NAME": "guard"}[name] }, time.Now}
			from := time.Now()
			if code := k.run([]string{"input"}); code != 0 || o.String() != c.stdout || e.Len() > 0 || time.Since(from) != c.waits {
				t.Errorf("%s: exit %d, %q, %q, after %v", name, code, o.String(), e.String(), time.Since(from))
			}
			r.Close() // ends the reader
		})
		log, _ := os.ReadFile(filepath.Join(home, "logs", "guard.log"))
		if lines := bytes.Count(log, []byte("\n")); (lines == 1) != (c.stdout == "") || lines > 1 {
			t.Errorf("%s: the log is %q", name, log)
		}
	}
}

// TestNeverBlocksByMistake: no failure ends with the code that stops an agent.
func TestNeverBlocksByMistake(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"nothing"}, {"emit"}, {"emit", "deny", "x"}, {"emit", "ask", "x"}, {"bus"}, {"bus", "add"}, {"bus", "add", "x"}, {"bus", "add", "a=b"}, {"bus", "read"},
		{"guard"}, {"guard", file}, {"state", "get"}, {"state", "get", "../x"}, {"state", "set", "k", "v"}, {"cooldown", "x", "-1"}, {"cooldown", "x", "NaN"}, {"cooldown", "x", "60"}, {"log", "x"}, {"commands", "a", "b"}} {
		if code, _, stderr := run(t, file, `{"hook_event_name":"Stop"}`, args...); code != kit.Failed || !strings.HasPrefix(stderr, "hook-kit: ") {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
	k := &program{stdin: strings.NewReader("{}"), stdout: nil, stderr: io.Discard, getenv: os.Getenv, now: time.Now}
	if code := k.run([]string{"input"}); code != kit.Failed {
		t.Errorf("a panic is exit %d", code)
	}
	// What the hook wants stopped is stopped, also if nobody can read why.
	broken, err := os.Open(file) // not for writing
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	k = &program{strings.NewReader(`{"hook_event_name":"SessionEnd"}`), broken, broken, os.Getenv, time.Now}
	if code := k.run([]string{"emit", "block", "x"}); code != kit.Stop {
		t.Errorf("a block is exit %d", code)
	}
}

// TestOrder: a session has to run what an order asks for after its last edit. Each event is
// delivered twice, and the second delivery decides the same and changes nothing.
func TestOrder(t *testing.T) {
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "lint-first.json")
	rules := `{"version":1,"rules":[
{"tool":"Bash","program":"git","words":["commit"],"unless_ran":["mise run lint","golangci-lint run"],"since_edit":"*.go","say":"Lint first."},
{"event":"Stop","unless_ran":["mise run lint","golangci-lint run"],"since_edit":"*.go","say":"Lint before you end."},
{"tool":"Bash","program":"git","words":["reset"],"say":"No reset."}]}`
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	play := func(home, session, what, text string) int {
		t.Helper()
		n++
		event := map[string]any{"hook_event_name": "PreToolUse", "session_id": session, "cwd": "/p", "tool_name": "Bash", "tool_use_id": fmt.Sprint(n), "tool_input": map[string]any{"command": text}}
		switch what {
		case "edit":
			event["tool_name"], event["tool_input"] = "Edit", map[string]any{"file_path": text}
		case "stop":
			event = map[string]any{"hook_event_name": "Stop", "session_id": session, "cwd": "/p", "stop_hook_active": text == "again", "last_assistant_message": fmt.Sprint(n)}
		}
		in, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		code, _, said := run(t, home, string(in), "guard", file)
		kept := files(t, home)
		if again, _, saidAgain := run(t, home, string(in), "guard", file); again != code || saidAgain != said || files(t, home) != kept {
			t.Errorf("%s %s: the second delivery: exit %d, %q, and the first time %d, %q", what, text, again, saidAgain, code, said)
		}
		return code
	}
	for i, c := range []struct {
		session, what, text string
		code                int
	}{
		{"a", "run", "git commit", kit.Go},
		{"a", "edit", "/p/README.md", kit.Go},
		{"a", "stop", "", kit.Go},
		{"a", "edit", "/p/x/a.go", kit.Go},
		{"b", "run", "git commit", kit.Go}, // it has edited nothing
		{"a", "run", "git commit -m x && mise run lint", kit.Stop},
		{"a", "run", "git -C x commit", kit.Stop},
		{"a", "stop", "again", kit.Go},
		{"a", "stop", "", kit.Stop},
		{"a", "stop", "", kit.Go}, // once for an edit
		{"a", "edit", "/p/x/a.go", kit.Go},
		{"a", "stop", "", kit.Stop},
		{"a", "run", "timeout 60 mise run lint --fix && git commit", kit.Go},
		{"a", "run", "git commit", kit.Go},
		{"a", "stop", "", kit.Go},
		{"a", "run", "git reset", kit.Stop},
	} {
		if code := play(home, c.session, c.what, c.text); code != c.code {
			t.Errorf("%d: %s %q: exit %d", i, c.what, c.text, code)
		}
	}
	// Where nothing can be kept, only what needs no state is stopped.
	if code := play(file, "a", "run", "git reset"); code != kit.Stop {
		t.Errorf("without a state: exit %d", code)
	}
	if code := play(file, "a", "edit", "/p/a.go"); code != kit.Failed {
		t.Errorf("an edit without a state: exit %d", code)
	}
}

// files is all that a folder has.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %s\n", path, text)
		}
		return nil
	})
	return b.String()
}

// forever sets a value again and again, and says so on stdout.
func forever() {
	h, err := kit.Open(os.Getenv, nil, time.Now)
	for i := 0; err == nil; i++ {
		if err = h.Set("k", strings.Repeat(fmt.Sprint(i%10), 60_000)); err == nil {
			_, err = fmt.Println(i)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// program starts one of the programs of TestMain, with a data folder.
func start(t testing.TB, home, name string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, args...)
	c.Env = append(os.Environ(), "EVOLVE_HOME="+home, "HOOK_NAME=guard")
	return c
}

// given is a file to read text from: this process need not be awake to write it to a pipe
// while the program waits, which a busy machine does not grant within its second.
func given(t testing.TB, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestKilled: a process that is killed while it writes leaves the old value or the new
// one, and no lock.
func TestKilled(t *testing.T) {
	home := t.TempDir()
	for round := range 30 {
		c := start(t, home, "hook-kit-forever")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 1)
		for n := 0; n <= round; { // it is somewhere behind that
			if _, err := out.Read(line); err != nil {
				t.Fatal(err)
			}
			if line[0] == '\n' {
				n++
			}
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // killed
		code, value, stderr := run(t, home, "", "state", "get", "k")
		value = strings.TrimSuffix(value, "\n")
		if code != 0 || len(value) != 60_000 || strings.Trim(value, value[:1]) != "" {
			t.Fatalf("exit %d, %d bytes of %.1q, %s", code, len(value), value, stderr)
		}
		if code, _, stderr := run(t, home, "", "state", "set", "after", fmt.Sprint(round)); code != 0 {
			t.Fatalf("exit %d, %s", code, stderr)
		}
	}
}

// TestFiftyProcesses: fifty at a time, of which two are of each event, write one line for
// each event, and one of them has the cooldown.
func TestFiftyProcesses(t *testing.T) {
	home := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	passed := map[int]bool{}
	for i := range 50 {
		input := fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","tool_use_id":"t%d"}`, i/2)
		add, cool := start(t, home, "hook-kit", "bus", "add", fmt.Sprintf("n=%d", i/2)), start(t, home, "hook-kit", "cooldown", "once", "3600")
		add.Stdin, cool.Stdin = given(t, input), given(t, input)
		wg.Go(func() {
			if out, err := add.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			out, err := cool.CombinedOutput()
			var exit *exec.ExitError
			if len(out) > 0 || err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
				t.Errorf("%v: %s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			passed[i/2] = passed[i/2] || err == nil
		})
	}
	wg.Wait()
	code, out, stderr := run(t, home, "", "bus", "read")
	if code != 0 || strings.Count(out, "\n") != 25 {
		t.Errorf("exit %d, %d records, %s", code, strings.Count(out, "\n"), stderr)
	}
	for i := range 25 {
		if n := strings.Count(out, fmt.Sprintf(`"note":{"n":"%d"}`, i)); n != 1 {
			t.Errorf("event %d has %d records", i, n)
		}
	}
	n := 0
	for _, ok := range passed {
		if ok {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the cooldown was over for %d events", n)
	}
}

// BenchmarkKit is one call as a hook waits for it: from the start of the process to its
// end, and its processor time, which does not depend on what else the machine does. Metrics
// are milliseconds.
func BenchmarkKit(b *testing.B) {
	exe := filepath.Join(b.TempDir(), "hook-kit")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	rules := filepath.Join(b.TempDir(), "rules.json")
	if err := os.WriteFile(rules, []byte(`{"version":1,"rules":[{"tool":"Bash","program":"git","words":["reset","--hard"],"say":"No."},{"tool":"Edit|Write","path":"generated/**","say":"No."}]}`), 0o600); err != nil {
		b.Fatal(err)
	}
	n := 0
	for _, args := range [][]string{{"input"}, {"input", "tool_name", "tool_input.command"}, {"commands"}, {"guard", rules}, {"emit", "block", "no"}, {"bus", "add", "a=b"}, {"state", "get", "k"}, {"state", "set", "k", "v"}, {"cooldown", "x", "0"}, {"log", "a line"}} {
		b.Run(strings.ReplaceAll(strings.Join(args, "_"), rules, "FILE"), func(b *testing.B) {
			home := b.TempDir()
			var took, cpu []float64
			for b.Loop() {
				n++
				c := start(b, home, exe, args...)
				c.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t%d","tool_input":{"command":"cd web && git push --force > log 2>&1"}}`, n))
				from := time.Now()
				if err := c.Run(); err != nil {
					b.Fatal(err)
				}
				took = append(took, float64(time.Since(from).Microseconds())/1000)
				cpu = append(cpu, float64((c.ProcessState.UserTime()+c.ProcessState.SystemTime()).Microseconds())/1000)
			}
			slices.Sort(took)
			slices.Sort(cpu)
			b.ReportMetric(took[len(took)/2], "p50-ms")
			b.ReportMetric(took[len(took)*95/100], "p95-ms")
			b.ReportMetric(cpu[len(cpu)*95/100], "cpu-p95-ms")
		})
	}
}
