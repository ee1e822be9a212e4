package hookuse

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A place is a person's home with a project beside it, which is the current folder.
type place struct{ home, project, data string }

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t.TempDir(), t.TempDir(), t.TempDir()}
	t.Chdir(p.project)
	t.Setenv("HOME", p.home)
	return p
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
	return path
}

// settings have commands called before Bash.
func settings(commands ...string) string {
	var hooks []map[string]string
	for _, c := range commands {
		hooks = append(hooks, map[string]string{"type": "command", "command": c})
	}
	text, _ := json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{"matcher": "Bash", "hooks": hooks}}}})
	return string(text)
}

// read is the report on all sessions since some years.
func (p place) read(t *testing.T) *Report {
	t.Helper()
	getenv := func(name string) string { return map[string]string{"HOME": p.home}[name] }
	all := &consent.Decisions{}
	all.AllowAll()
	var said strings.Builder
	r, err := Read(t.Context(), hooktest.Parts{
		Terminal: &term.Terminal{Stdout: &said, Stderr: &said, Getenv: getenv, Now: time.Now},
		Layout:   func() *skill.Layout { return &skill.Layout{Getenv: getenv} },
		Redactor: func() redact.Redactor { return redact.Detector{} },
		Gate:     func() (*consent.Gate, error) { return &consent.Gate{Decisions: []*consent.Decisions{all}}, nil },
	}, p.data, "9000d")
	if err != nil || said.Len() > 0 {
		t.Fatal(err, said.String())
	}
	return r
}

// short is a report as lines: each guard, and its calls in their order.
func (r *Report) short() (out []string) {
	line := func(c Call) string {
		s := fmt.Sprintf("  %s %q known by %s: %s, %q", c.Decision, c.What, c.Known, c.Outcome, c.Reason)
		if c.Back != nil {
			s += fmt.Sprintf("; %s %q: %s", c.Back.How, c.Back.What, c.Back.Outcome)
		}
		if c.Said != "" {
			s += fmt.Sprintf("; %q", c.Said)
		}
		return s
	}
	for _, g := range r.Guards {
		out = append(out, fmt.Sprintf("%s of %s, installed %v: %d in %d, asked %d, same %d, rewritten %d, ran %d, permitted %d, refused %d",
			g.Name, g.Agent, g.Installed, g.Stopped, g.Sessions, g.Asked, g.Same, g.Rewritten, g.Ran, g.Permitted, g.Refused))
		for _, c := range slices.Backward(g.Calls) {
			out = append(out, line(c))
		}
	}
	for _, u := range r.Unnamed {
		out = append(out, "unnamed: "+strings.Join(u.May, ", "))
		for _, c := range slices.Backward(u.Calls) {
			out = append(out, line(c))
		}
	}
	return out
}

// check compares a report with lines.
func check(t *testing.T, r *Report, want ...string) {
	t.Helper()
	if got := r.short(); !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A talk is a transcript of Claude Code, a line a second.
type talk struct {
	id, cwd string
	lines   []string
}

func (k *talk) line(kind, fields string) {
	cwd, _ := json.Marshal(k.cwd)
	k.lines = append(k.lines, fmt.Sprintf(`{"type":%q,"sessionId":%q,"uuid":"%[2]s-%[3]d","cwd":%[4]s,"timestamp":"2026-11-02T10:%02[5]d:%02[6]dZ","entrypoint":"cli",%[7]s}`, kind, k.id, len(k.lines), cwd, len(k.lines)/60, len(k.lines)%60, fields))
}

func (k *talk) says(text string) { k.line("user", fmt.Sprintf(`"message":{"content":%q}`, text)) }

func (k *talk) calls(id, command string) {
	k.line("assistant", fmt.Sprintf(`"message":{"id":%q,"content":[{"type":"tool_use","id":%[1]q,"name":"Bash","input":{"command":%q}}]}`, id, command))
}

func (k *talk) blocked(id, reason string) {
	k.line("user", fmt.Sprintf(`"message":{"content":[{"type":"tool_result","tool_use_id":%q,"is_error":true,"content":%q}]},"toolDenialKind":"permission-rule","permissionDecision":{"decision":"reject","source":"hook"}`, id, "PreToolUse:Bash hook error: "+reason))
}

func (k *talk) ran(id, source string) {
	k.line("user", fmt.Sprintf(`"message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]},"toolUseResult":{},"permissionDecision":{"decision":"accept","source":%q}`, id, source))
}

func (k *talk) put(t *testing.T, p place) {
	t.Helper()
	put(t, filepath.Join(p.home, ".claude", "projects", "-w", k.id+".jsonl"), strings.Join(k.lines, "\n")+"\n")
}

// note writes a hook's decision to the bus, twice, as an agent may deliver an event.
func (p place) note(t *testing.T, hook, session, call, decision string) {
	t.Helper()
	e, err := kit.Parse([]byte(fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":"x"}}`, session, call)))
	if err != nil {
		t.Fatal(err)
	}
	h := &kit.Hook{Home: p.data, Name: hook, Event: e, Now: time.Now}
	for range 2 {
		if _, err := h.Note(map[string]string{"decision": decision}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProjects: a project's guard is called in its sessions only, also where another project's
// has the same command; and what its user permitted by hand counts once.
func TestProjects(t *testing.T) {
	p := newPlace(t)
	put(t, filepath.Join(p.home, ".claude", "settings.json"), settings("sh ~/own.sh"))
	put(t, filepath.Join(p.project, ".claude", "settings.json"), settings(`"$CLAUDE_PROJECT_DIR"/guard.sh`, "sh ~/own.sh"))
	put(t, filepath.Join(p.project, "guard.sh"), "")
	here := &talk{id: "here", cwd: filepath.Join(p.project, "sub")}
	here.says("go")
	here.calls("a", "git push -f")
	here.calls("b", "git push -f origin")
	here.blocked("a", `["$CLAUDE_PROJECT_DIR"/guard.sh]: no`)
	here.blocked("b", `["$CLAUDE_PROJECT_DIR"/guard.sh]: no`)
	here.calls("c", "git push")
	here.ran("c", "user_temporary")
	here.calls("d", "true")
	here.blocked("d", "[sh ~/own.sh]: never")
	here.calls("f", "git tag v1")
	here.blocked("f", "computed")
	here.put(t, p)
	p.note(t, "guard", "here", "f", "block")
	there := &talk{id: "there", cwd: t.TempDir()}
	there.says("go")
	there.calls("e", "git push -f")
	there.blocked("e", `["$CLAUDE_PROJECT_DIR"/guard.sh]: no`)
	there.put(t, p)
	check(t, p.read(t),
		`guard.sh of claude-code, installed true: 3 in 1, asked 0, same 0, rewritten 2, ran 2, permitted 1, refused 0`,
		`  block "git push -f" known by command: stopped, "no"; rewritten "git push": permitted`,
		`  block "git push -f origin" known by command: stopped, "no"; rewritten "git push": permitted`,
		`  block "git tag v1" known by bus: stopped, "computed"`,
		`own.sh of claude-code, installed true: 1 in 1, asked 0, same 0, rewritten 0, ran 0, permitted 0, refused 0`,
		`  block "true" known by command: stopped, "never"`,
		`guard.sh of claude-code, installed false: 1 in 1, asked 0, same 0, rewritten 0, ran 0, permitted 0, refused 0`,
		`  block "git push -f" known by command: stopped, "no"`)
}

// TestBus: what hook-kit notes is of the call that the transcript has, and counts once; of a
// call that ran nothing stopped it.
func TestBus(t *testing.T) {
	p := newPlace(t)
	put(t, filepath.Join(p.home, "a.sh"), "export HOOK_NAME=no-reset\n")
	put(t, filepath.Join(p.home, "b.py"), `os.environ["HOOK_NAME"] = "no-push"`+"\nprint('never push to main')\n")
	put(t, filepath.Join(p.home, ".claude", "settings.json"), settings("sh ~/a.sh", "python3 ~/b.py", "~/third"))
	k := &talk{id: "s", cwd: "/w"}
	k.says("go")
	for _, id := range []string{"both", "json", "reason", "computed", "asked", "no", "ran"} {
		k.calls(id, id)
	}
	k.blocked("both", "[sh ~/a.sh]: no")
	k.blocked("json", "computed by one")
	k.blocked("reason", "never push to main")
	k.blocked("computed", "computed by another")
	k.ran("asked", "user_temporary")
	k.line("user", `"message":{"content":[{"type":"tool_result","tool_use_id":"no","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected"}]},"toolDenialKind":"user-rejected","userFeedback":"not now"`)
	k.ran("ran", "config")
	k.put(t, p)
	note := func(hook, call, decision string) { t.Helper(); p.note(t, hook, "s", call, decision) }
	note("no-reset", "both", "block")
	note("no-push", "both", "block")
	note("no-reset", "json", "block")
	note("no-push", "asked", "ask")
	note("no-push", "no", "ask")
	note("no-push", "ran", "block")
	note("no-push", "later", "block") // not in the transcript yet
	note("no-reset", "reason", "looked")
	note("unknown", "both", "block") // it may be a.sh, under another name
	note("ghost", "ran", "block")    // it stopped nothing
	check(t, p.read(t),
		`b.py of claude-code, installed true: 3 in 1, asked 2, same 0, rewritten 0, ran 0, permitted 1, refused 1`,
		`  block "both" known by bus: stopped, "no"; "not now"`,
		`  block "reason" known by reason: stopped, "never push to main"; "not now"`,
		`  ask "asked" known by bus: permitted, ""`,
		`  ask "no" known by bus: refused, ""; "not now"`,
		`  block "" known by bus: , ""`,
		`a.sh of claude-code, installed true: 2 in 1, asked 0, same 0, rewritten 0, ran 0, permitted 0, refused 0`,
		`  block "both" known by command: stopped, "no"; "not now"`,
		`  block "json" known by bus: stopped, "computed by one"; "not now"`,
		`third of claude-code, installed true: 0 in 0, asked 0, same 0, rewritten 0, ran 0, permitted 0, refused 0`,
		`unnamed: a.sh, b.py, third`,
		`  block "computed" known by : stopped, "computed by another"; "not now"`)
}

// TestInteractive reads a session that was recorded at a terminal with the real Claude Code
// 2.1.329 (its commands began with echo): a call that its user was asked about and permitted, two
// that guards of the person and of the project stopped, and one that a guard asked about and its
// user refused, of which the transcript does not say that a hook asked.
func TestInteractive(t *testing.T) {
	text, err := os.ReadFile("testdata/interactive.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	put(t, filepath.Join(p.home, ".claude", "settings.json"), settings("sh ~/guard.sh"))
	put(t, filepath.Join(p.project, ".claude", "settings.json"), settings(`"$CLAUDE_PROJECT_DIR"/proj.sh --x`))
	put(t, filepath.Join(p.home, ".claude", "projects", "-w", "s.jsonl"), strings.ReplaceAll(string(text), "/home/dev/project", p.project))
	check(t, p.read(t),
		`guard.sh of claude-code, installed true: 1 in 1, asked 1, same 0, rewritten 0, ran 0, permitted 1, refused 0`,
		`  ask "git push" known by command: permitted, "a push: sure?"`,
		`  block "git reset --hard" known by command: stopped, "no reset"; "you may reset it, I said so"`,
		`proj.sh of claude-code, installed true: 1 in 1, asked 0, same 0, rewritten 0, ran 0, permitted 0, refused 0`,
		`  block "git clean" known by command: stopped, "no clean"; "you may reset it, I said so"`)
}

// TestCodex: of Codex's hooks a transcript has the reason alone, and the guards of another agent
// did not give it.
func TestCodex(t *testing.T) {
	p := newPlace(t)
	put(t, filepath.Join(p.home, "no-build.sh"), "echo 'builds run elsewhere' >&2; exit 2\n")
	put(t, filepath.Join(p.home, ".claude", "settings.json"), settings("sh ~/no-build.sh"))
	put(t, filepath.Join(p.home, ".codex", "hooks.json"), settings("sh ~/no-build.sh", "sh ~/other.sh"))
	put(t, filepath.Join(p.home, ".codex", "sessions", "2026", "11", "02", "rollout-2026-11-02T10-00-00-cccc.jsonl"), `{"timestamp":"2026-11-02T10:00:00Z","type":"session_meta","payload":{"id":"cccc","timestamp":"2026-11-02T10:00:00Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.169.0","source":"cli"}}
{"timestamp":"2026-11-02T10:00:01Z","type":"turn_context","payload":{"turn_id":"t","cwd":"/w","approval_policy":"on-request","model":"gpt-5.5"}}
{"timestamp":"2026-11-02T10:00:01Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"build it"}]}}}
{"timestamp":"2026-11-02T10:00:02Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make build\"}","call_id":"c1"}}
{"timestamp":"2026-11-02T10:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Command blocked by PreToolUse hook: builds run elsewhere. Command: make build"}}
{"timestamp":"2026-11-02T10:00:04Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"UserMessage","id":"u2","content":[{"type":"text","text":"it should build here"}]}}}
{"timestamp":"2026-11-02T10:00:05Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make build\"}","call_id":"c2"}}
{"timestamp":"2026-11-02T10:00:06Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"CommandExecution","id":"c2","command":["/bin/bash","-lc","make build"],"status":"completed","aggregated_output":"ok","exit_code":0}}}
`)
	r := p.read(t)
	check(t, r,
		`no-build.sh of codex, installed true: 1 in 1, asked 0, same 1, rewritten 0, ran 1, permitted 0, refused 0`,
		`  block "make build" known by reason: stopped, "builds run elsewhere"; same "make build": ran; "it should build here"`,
		`no-build.sh of claude-code, installed true: 0 in 0, asked 0, same 0, rewritten 0, ran 0, permitted 0, refused 0`,
		`other.sh of codex, installed true: 0 in 0, asked 0, same 0, rewritten 0, ran 0, permitted 0, refused 0`)
	if text := r.Text(); !strings.Contains(text, "  no-build.sh (Codex)  stopped 1 call in 1 session since 2026-11-02; the agent came back with the same call once (1 ran)\n") {
		t.Error(text)
	}
}

// TestTenLines: whatever there is, a person reads ten lines.
func TestTenLines(t *testing.T) {
	for guards := range 12 {
		for _, unnamed := range []int{0, 3} {
			r := &Report{}
			for i := range guards {
				r.Guards = append(r.Guards, &Guard{Name: fmt.Sprint("g", i), Agent: "claude-code", Stopped: 1, Sessions: 1, Calls: []Call{{Session: fmt.Sprint(i), Said: "no\nand\x1b[31m more"}, {Session: fmt.Sprint(i, "b"), Said: "no"}}})
			}
			r.Unnamed = []Unnamed{{Calls: make([]Call, unnamed)}}
			text := r.Text()
			if n := strings.Count(text, "\n"); n > 10 || guards > 0 && guards < 7 && n < min(10, 2+2*guards) || strings.Contains(text, "\x1b") {
				t.Errorf("%d guards: %d lines:\n%s", guards, n, text)
			}
		}
	}
}

// TestNone: without a guard nothing is read, and nothing is said.
func TestNone(t *testing.T) {
	p := newPlace(t)
	put(t, filepath.Join(p.home, ".claude", "settings.json"), settings("/usr/bin/evolve hook PreToolUse"))
	if r := p.read(t); r != nil || r.Text() != "" {
		t.Errorf("%+v", r)
	}
}
