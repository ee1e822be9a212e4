package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestHook tries the program as it is installed: its start is what agents wait
// for.
func TestHook(t *testing.T) {
	program := build(t)
	for name, test := range map[string]func(*testing.T, *hookedPerson){"events": hookEvents, "together": hooksTogether, "killed": hooksKilled,
		"trace": hookTrace, "start": hookStart, "init": hookInit} {
		t.Run(name, func(t *testing.T) { test(t, newHooked(t, program)) })
	}
}

// build builds the program, once for all tests.
func build(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program")
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// builds is the folder of the built program, "" before it is built. TestMain removes it.
var builds string

var built = sync.OnceValues(func() (string, error) {
	var err error
	if builds, err = os.MkdirTemp("", "evolve-built-"); err != nil {
		return "", err
	}
	program := filepath.Join(builds, "evolve")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

// A hooked person is one whose agent calls the built program.
type hookedPerson struct {
	testing.TB
	program, home, claude string
}

func newHooked(t testing.TB, program string) *hookedPerson {
	t.Helper()
	p := &hookedPerson{t, program, filepath.Join(t.TempDir(), "data"), t.TempDir()}
	allowEverything(t, p.home)
	dir := filepath.Join(p.claude, "skills", "dataviz")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(drawSkill), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

const drawSkill = "---\nname: dataviz\ndescription: Draws charts\n---\nUse a log scale.\n"

func (p *hookedPerson) command(event string) *exec.Cmd {
	c := exec.Command(p.program, "hook", event)
	c.Env = []string{"EVOLVE_HOME=" + p.home, "CLAUDE_CONFIG_DIR=" + p.claude, "HOME=" + p.claude, "PATH=" + os.Getenv("PATH")}
	c.Dir = p.claude
	return c
}

// fire runs a hook. Its stdin stays open until it has ended.
func (p *hookedPerson) fire(event, input string) (code int, stdout, stderr string) {
	p.Helper()
	c := p.command(event)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	in, err := c.StdinPipe()
	if err != nil {
		p.Fatal(err)
	}
	if err := c.Start(); err != nil {
		p.Fatal(err)
	}
	_, _ = io.WriteString(in, input) // it may have gone without reading
	err = c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func (p *hookedPerson) records() []hook.Record {
	p.Helper()
	rs, _, err := hook.Read(p.home)
	if err != nil {
		p.Fatal(err)
	}
	return rs
}

func called(id int) string {
	return fmt.Sprintf(`{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Skill","tool_input":{"skill":"dataviz"},"tool_use_id":"t%d"}`, id)
}

// hookEvents fires the hooks of the built program as an agent does.
func hookEvents(t *testing.T, p *hookedPerson) {
	silent := func(want int, event, input string) {
		t.Helper()
		if code, out, errs := p.fire(event, input); code != want || out+errs != "" {
			t.Errorf("%s: exit %d, %q, %q", event, code, out, errs)
		}
	}
	for range 2 {
		silent(0, hook.PreToolUse, called(1))
	}
	silent(0, hook.UserPromptExpansion, `{"session_id":"s","prompt_id":"q","command_name":"dataviz","prompt":"/dataviz secret"}`)
	silent(0, hook.PostToolBatch, `{"session_id":"s","prompt_id":"q","tool_calls":[{"tool_name":"Skill","tool_input":{"skill":"nosuch"},"tool_use_id":"t2","tool_response":"<tool_use_error>Unknown skill: nosuch</tool_use_error>"}]}`)
	silent(0, hook.SessionEnd, `{"session_id":"s","transcript_path":"/t.jsonl","reason":"other"}`)
	silent(0, hook.Stop, `{"session_id`) // cut, and the pipe stays open: one second
	silent(0, hook.Stop, `[]`)
	silent(0, "Nonsense", `{}`)
	if log, err := os.ReadFile(filepath.Join(p.home, "logs", "Stop.log")); err != nil || bytes.Count(log, []byte("\n")) != 2 {
		t.Errorf("log %q, %v", log, err)
	}
	code, out, _ := p.fire(hook.UserPromptSubmit, `{"session_id":"s","prompt_id":"r","prompt":"$dataviz the weeks and $nosuch"}`)
	want := `{"systemMessage":"No skill named 'nosuch'. Run /skill list to see available skills.","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"Using skill: dataviz\n\nBase directory for this skill: ` +
		filepath.Join(p.claude, "skills", "dataviz") + `\n\nUse a log scale.\n"}}` + "\n"
	if code != 0 || out != want {
		t.Errorf("exit %d, %s, want %s", code, out, want)
	}
	var phases []string
	for _, r := range p.records() {
		phases = append(phases, r.Key)
		if r.Event.Skill.Name == "dataviz" && r.TextHash != skill.HashText([]byte(drawSkill)) {
			t.Errorf("%s loaded %s", r.Key, r.TextHash)
		}
	}
	if want := []string{"s|t1|start", "s|q|/dataviz", "s|t2|end", "s|r|$dataviz"}; !slices.Equal(phases, want) {
		t.Errorf("records %q, want %q", phases, want)
	}
	if q, err := hook.Queue(p.home); err != nil || len(q) != 1 || q[0].Transcript != "/t.jsonl" {
		t.Errorf("queue %+v, %v", q, err)
	}
	if err := hook.Leave(p.home, hook.Note{Skill: "dataviz", Kind: hook.Installed, Text: "v2 was installed"}); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := p.fire(hook.SessionStart, `{"session_id":"u","source":"startup"}`); code != 0 || out != `{"systemMessage":"evolve: dataviz: v2 was installed"}`+"\n" {
		t.Errorf("exit %d, %q", code, out)
	}
	silent(0, hook.SessionStart, `{"session_id":"u","source":"startup"}`)
	if err := hook.Quarantine(p.home, hook.Guarded{Skill: "dataviz", SHA: skill.HashText([]byte(drawSkill)), Reason: "new-host"}); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := p.fire(hook.PreToolUse, called(3)); code != hook.Block || !strings.Contains(errs, "in quarantine (new-host)") {
		t.Errorf("exit %d, %q", code, errs)
	}
	for _, args := range [][]string{{}, {"--nonsense"}, {"--claude-home"}, {"Stop", "--x=1", "more"}} {
		c := p.command("")
		c.Args = append([]string{c.Path, "hook"}, args...)
		if err := c.Run(); err != nil {
			t.Errorf("evolve hook %q: %v", args, err)
		}
	}
}

// hooksTogether starts fifty hooks at once: none of their records is lost.
func hooksTogether(t *testing.T, p *hookedPerson) {
	const many = 50
	var running []*exec.Cmd
	for i := range many {
		c := p.command(hook.PreToolUse)
		c.Stdin = strings.NewReader(called(i))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, c)
	}
	for _, c := range running {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(p.home, hook.BusFile))
	if err != nil {
		t.Fatal(err)
	}
	if rs, lines := p.records(), bytes.Count(text, []byte("\n")); len(rs) != many || lines != many {
		t.Errorf("%d records on %d lines, want %d", len(rs), lines, many)
	}
}

// hooksKilled kills hooks at random moments. What they leave is what was
// there or what should be, and the next hook is not troubled by it.
func hooksKilled(t *testing.T, p *hookedPerson) {
	kills := 40
	if n, err := strconv.Atoi(os.Getenv("EVOLVE_KILLS")); err == nil {
		kills = n
	}
	rng := rand.New(rand.NewPCG(7, 8))
	hit := 0
	for i := range kills {
		event, input := hook.SessionEnd, fmt.Sprintf(`{"session_id":"s%d","transcript_path":"/t.jsonl"}`, i)
		if i%2 == 0 {
			event, input = hook.PreToolUse, called(i)
		}
		c := p.command(event)
		c.Stdin = strings.NewReader(input)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(10_000)) * time.Microsecond)
		_ = c.Process.Kill() // it may have ended
		if c.Wait() != nil {
			hit++
		}
		for _, r := range p.records() {
			if r.Session != "s" || r.Event.Skill.Name != "dataviz" {
				t.Fatalf("kill %d: record %+v", i, r)
			}
		}
		entries, _ := os.ReadDir(filepath.Join(p.home, "queue"))
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(p.home, "queue", e.Name()))
			if err != nil || strings.HasSuffix(e.Name(), ".json") && !json.Valid(text) {
				t.Fatalf("kill %d: %s holds %q, %v", i, e.Name(), text, err)
			}
		}
	}
	if code, _, errs := p.fire(hook.PreToolUse, called(1000)); code != 0 {
		t.Errorf("exit %d, %s", code, errs)
	}
	rs := p.records()
	if len(rs) == 0 || rs[len(rs)-1].Key != "s|t1000|start" {
		t.Errorf("%d records, and the last is not the last one", len(rs))
	}
	t.Logf("%d of %d kills came in time; %d records", hit, kills, len(rs))
}

// hookTrace looks at the system calls of hooks: no socket, no database, no
// wait for a disk.
func hookTrace(t *testing.T, p *hookedPerson) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	for event, input := range map[string]string{hook.PreToolUse: called(1), hook.SessionEnd: `{"session_id":"s","transcript_path":"/t.jsonl"}`,
		hook.UserPromptSubmit: `{"session_id":"s","prompt_id":"r","prompt":"$dataviz go"}`, hook.SessionStart: `{"session_id":"s"}`} {
		trace := filepath.Join(t.TempDir(), "trace")
		c := p.command(event)
		c.Args = append([]string{strace, "-f", "-e", "trace=network,desc,file,process", "-o", trace}, c.Args...)
		c.Path = strace
		c.Stdin = strings.NewReader(input)
		if out, err := c.CombinedOutput(); err != nil {
			if bytes.Contains(out, []byte("ptrace")) {
				t.Skipf("nobody may be traced here: %s", out)
			}
			t.Fatalf("%s: %v: %s", event, err, out)
		}
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("execve(")) || !bytes.Contains(text, []byte(p.home)) {
			t.Fatalf("%s: the trace shows nothing:\n%.2000s", event, text)
		}
		for _, bad := range []string{"socket(", "connect(", "evolve.db", "fsync(", "fdatasync(", "fork("} {
			if bytes.Contains(text, []byte(bad)) {
				t.Errorf("%s: %s", event, bad)
			}
		}
		if n := bytes.Count(text, []byte("execve(")); n != 1 {
			t.Errorf("%s starts %d programs", event, n-1)
		}
	}
}

// hookStart bounds the processor time of a whole hook: unlike its duration,
// it does not depend on what else the machine does.
func hookStart(t *testing.T, p *hookedPerson) {
	var took []time.Duration
	for i := range 20 {
		c := p.command(hook.PreToolUse)
		c.Stdin = strings.NewReader(called(i))
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		took = append(took, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
	}
	slices.Sort(took)
	t.Logf("processor time: least %v, median %v", took[0], took[len(took)/2])
	if took[len(took)/4] > 20*time.Millisecond {
		t.Errorf("a quarter of the hooks take more than %v of a processor", took[len(took)/4])
	}
}

// hookInit bounds what the packages of the program make before main begins, in
// bytes of the heap: unlike its time that is the same at every start. Patterns,
// templates and tables belong behind their first use.
func hookInit(t *testing.T, p *hookedPerson) {
	const (
		each = 48 << 10 // of a package of ours
		all  = 3 << 20  // of all packages: the garbage collector first runs at 4 MiB
	)
	c := p.command(hook.Stop)
	c.Env = append(c.Env, "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// init github.com/yuin/goldmark/util @4.3 ms, 0.22 ms clock, 139464 bytes, 11 allocs
	sum, ours := 0, 0
	for line := range strings.Lines(string(out)) {
		var name string
		var at, took float64
		var bytes int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &at, &took, &bytes); n != 4 {
			continue
		}
		sum += bytes
		if name == "main" || strings.HasPrefix(name, "github.com/skill-evolve/evolve/") {
			if ours++; bytes > each {
				t.Errorf("package %s makes %d bytes before main begins, more than %d", name, bytes, each)
			}
		}
	}
	if ours < 5 {
		t.Skipf("this Go does not tell what it initialises: %.300s", out)
	}
	t.Logf("%d bytes in all", sum)
	if sum > all {
		t.Errorf("%d bytes are made before main begins, more than %d", sum, all)
	}
}

// BenchmarkHook is a hook as an agent waits for it: from the start of the process
// to its end. Metrics are milliseconds.
func BenchmarkHook(b *testing.B) {
	p := newHooked(b, build(b))
	for event, input := range map[string]string{hook.PreToolUse: called(1), hook.UserPromptSubmit: `{"session_id":"s","prompt_id":"r","prompt":"$dataviz go"}`,
		hook.Stop: `{"session_id":"s","transcript_path":"/t.jsonl"}`} {
		b.Run(event, func(b *testing.B) {
			var took []float64
			for b.Loop() {
				c := p.command(event)
				c.Stdin = strings.NewReader(input)
				from := time.Now()
				if err := c.Run(); err != nil {
					b.Fatal(err)
				}
				took = append(took, float64(time.Since(from).Microseconds())/1000)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "p50-ms")
			b.ReportMetric(took[len(took)*95/100], "p95-ms")
		})
	}
}

// TestHookHarvestFolders: the harvest that a hook starts has the folders of the hook.
func TestHookHarvestFolders(t *testing.T) {
	t.Setenv("EVOLVE_HOME", t.TempDir())
	a := newGlobal(strings.NewReader(""), io.Discard, io.Discard)
	a.claudeHome, a.skillDir = t.TempDir(), "/skills"
	var got []string
	a.machine.detach = func(_ string, args ...string) error { got = args; return nil }
	h, err := hookHost(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Harvest(); err != nil || strings.Join(got, " ") != "harvest --ended --claude-home "+a.claudeHome+" --skills-dir /skills" {
		t.Errorf("%q, %v", got, err)
	}
}
