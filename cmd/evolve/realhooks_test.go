package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestRealHooks has the real Claude Code call the hooks that `evolve hooks
// install` has installed: what it loads is noted, what is in quarantine it does
// not load, and a "$name" puts the skill into the request that the server gets.
func TestRealHooks(t *testing.T) {
	claude := agenttest.RealClaude(t)
	program := build(t)
	for name, install := range map[string]func(p *hookedPerson) []string{
		"settings": func(p *hookedPerson) []string { p.evolve("hooks", "install"); return nil },
		"plugin": func(p *hookedPerson) []string {
			dir := filepath.Join(p.claude, "its-plugin")
			p.evolve("hooks", "install", "--plugin", dir)
			return []string{"--plugin-dir", dir}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHooked(t, program)
			realHooks(t, p, claude, install(p))
		})
	}
}

// evolve runs a command of the built program.
func (p *hookedPerson) evolve(args ...string) string {
	p.Helper()
	c := p.command("")
	c.Args = append([]string{c.Path}, args...)
	out, err := c.CombinedOutput()
	if err != nil {
		p.Fatalf("evolve %q: %v: %s", args, err, out)
	}
	return string(out)
}

func realHooks(t *testing.T, p *hookedPerson, claude string, more []string) {
	long := strings.Repeat("Every word of this counts, to the last one.\n", 205) + "The very last line.\n"
	dir := filepath.Join(p.claude, "skills", "thorough")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: thorough\ndescription: Long\n---\n"+long), 0o600); err != nil {
		t.Fatal(err)
	}
	server := agenttest.Start(t, agenttest.Config{Side: "A title", Answer: func(q agenttest.Request) agenttest.Reply {
		switch {
		case strings.Contains(q.User, "call the skill") && q.Step == 0:
			return agenttest.Reply{Tools: []agenttest.Op{agenttest.Skill("dataviz")}}
		case strings.Contains(q.User, "call the skill") && q.Step == 1:
			return agenttest.Reply{Tools: []agenttest.Op{agenttest.Skill("nosuch")}}
		}
		return agenttest.Reply{Text: "Done."}
	}})
	work := t.TempDir()
	say := func(prompt string) (printed, requests string) {
		t.Helper()
		before := len(server.Requests())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, claude, append(more, "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions")...)
		c.Dir, c.Stdin = work, strings.NewReader(prompt)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.claude, "CLAUDE_CONFIG_DIR=" + p.claude, "TMPDIR=" + t.TempDir(), "EVOLVE_HOME=" + p.home, "ANTHROPIC_API_KEY=" + agenttest.Key,
			"ANTHROPIC_BASE_URL=" + server.Root, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1"}
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil {
			t.Fatalf("%q: %v: %s%s", prompt, err, errs.String(), out.String())
		}
		var text strings.Builder
		for _, q := range server.Requests()[before:] {
			text.WriteString(q.Text)
		}
		return out.String(), text.String()
	}
	const body = "Use a log scale."
	say("call the skill")
	if _, got := say("/dataviz the weeks"); !strings.Contains(got, body) {
		t.Error("a typed skill is not in the request: the test shows nothing")
	}
	printed, got := say("$dataviz the months and $nosuch")
	if want := "Using skill: dataviz\n\nBase directory for this skill: " + filepath.Join(p.claude, "skills", "dataviz") + "\n\n" + body; !strings.Contains(got, want) {
		t.Errorf("a mention does not put the skill into the request: it has no %q", want)
	}
	if !strings.Contains(printed, "No skill named 'nosuch'") {
		t.Error("nobody is told of an unknown skill")
	}
	if _, got := say("the months, for $5"); strings.Contains(got, body) {
		t.Error("a prompt without a mention has the skill in its request")
	}
	if _, got := say("$thorough now"); !strings.Contains(got, "The very last line.") {
		t.Error("a long skill is not whole in the request")
	}

	var noted []string
	for _, r := range p.records() {
		success := "?"
		if r.Success != nil {
			success = fmt.Sprint(*r.Success)
		}
		hash := r.TextHash
		if hash == skill.HashText([]byte(drawSkill)) {
			hash = "its text"
		} else if hash != "" {
			hash = "text"
		}
		noted = append(noted, fmt.Sprintf("%s %s %s %s %s", r.Phase, r.Event.Source.Signal, r.Event.Skill.Name, success, hash))
	}
	want := []string{"start skill_tool_use dataviz ? its text", "end skill_tool_use dataviz true its text", "end skill_tool_use nosuch false ",
		"prompt prompt_slash_command dataviz ? its text", "prompt dollar_mention dataviz ? its text", "prompt dollar_mention thorough ? text"}
	if !slices.Equal(noted, want) {
		t.Errorf("noted\n%s\nwant\n%s", strings.Join(noted, "\n"), strings.Join(want, "\n"))
	}
	// What the end of a session starts outlives the agent, and reads each of the five.
	q, err := hook.Queue(p.home)
	for range 200 {
		if q, err = hook.Queue(p.home); err != nil || len(q) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil || len(q) != 0 {
		t.Errorf("%d sessions are queued, %v: %+v", len(q), err, q)
	}
	if listed := p.evolve("sessions", "list"); strings.Count(listed, "Claude Code") != 5 {
		t.Errorf("sessions that were read at their end:\n%s", listed)
	}

	// The harvest finds the same uses in the transcripts, and counts none twice.
	var all int
	for line := range strings.Lines(p.evolve("harvest", "--include-headless", "--events", "--quiet")) {
		var s ingest.SessionEvents
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all += len(s.Events)
	}
	if all != 5 {
		t.Errorf("the harvest has %d uses, want 5", all)
	}

	if err := hook.Quarantine(p.home, hook.Guarded{Skill: "dataviz", SHA: skill.HashText([]byte(drawSkill)), Reason: "new-host"}); err != nil {
		t.Fatal(err)
	}
	for _, prompt := range []string{"call the skill", "/dataviz now", "$dataviz now"} {
		if _, got := say(prompt); strings.Contains(got, body) {
			t.Errorf("%q: a text in quarantine is in the request", prompt)
		}
	}
	logs, err := os.ReadDir(filepath.Join(p.home, "logs"))
	for _, log := range logs { // the harvest at a session's end makes one, empty unless something is wrong
		if text, _ := os.ReadFile(filepath.Join(p.home, "logs", log.Name())); len(text) > 0 || err != nil {
			t.Errorf("%s: %s, %v", log.Name(), text, err)
		}
	}
}
