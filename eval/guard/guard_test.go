package guard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval/agent/process"
)

const asRunner = "serve-guard-events"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asRunner {
		if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func player(t testing.TB) *Player {
	t.Helper()
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Player{Runner: []string{exe, asRunner}, Readable: []string{exe}}
}

// bash is the input of a command's PreToolUse.
func bash(id, command string) Event {
	in, _ := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]string{"command": command}})
	return Event{Name: "PreToolUse", Input: in}
}

func play(t *testing.T, g Guard, sessions ...Session) [][]Answer {
	t.Helper()
	if g.Timeout == 0 {
		g.Timeout = time.Minute // the machine may be busy
	}
	answers, err := player(t).Play(t.Context(), g, sessions, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		if len(answers[i]) != len(sessions[i]) {
			t.Fatalf("session %d has %d answers of %d", i, len(answers[i]), len(sessions[i]))
		}
	}
	return answers
}

// TestDecisions: what each way of answering comes to.
func TestDecisions(t *testing.T) {
	for command, want := range map[string]Answer{
		"exit 0":                {Decision: GoOn},
		"echo no >&2; exit 2":   {Decision: Block, Reason: "no"},
		"echo oops >&2; exit 1": {Decision: GoOn, Failed: true, Reason: "oops"},
		"no-such-program":       {Decision: GoOn, Failed: true},
		"echo 'not JSON'":       {Decision: GoOn},
		`echo '{"decision":"block","reason":"no"}'`:                                                   {Decision: Block, Reason: "no"},
		`echo '{"decision":"approve"}'`:                                                               {Decision: GoOn},
		`echo '{"continue":false,"stopReason":"enough"}'`:                                             {Decision: Block, Reason: "enough"},
		`echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}'`: {Decision: Block, Reason: "no"},
		`echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'`:                                  {Decision: Ask},
		`echo '{"decision":"block","hookSpecificOutput":{"permissionDecision":"allow"}}'`:             {Decision: GoOn},
		`echo '{"decision":"block"}'; exit 1`:                                                         {Decision: GoOn, Failed: true},
		"while :; do :; done":                                                                         {Decision: GoOn, Late: true},
	} {
		g := Guard{Command: command}
		if want.Late {
			g.Timeout = 500 * time.Millisecond
		}
		got := play(t, g, Session{bash("1", "ls")})[0][0]
		if command == "no-such-program" {
			got.Reason = ""
		}
		if got.Millis, got.CPU = [2]float64{}, 0; got != want {
			t.Errorf("%s: %+v, want %+v", command, got, want)
		}
	}
}

// TestCopilotDecisions: what Copilot CLI 1.0.102 was seen to make of each way of answering.
func TestCopilotDecisions(t *testing.T) {
	const nested = `echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}'`
	for _, c := range []struct {
		command string
		events  string // for which want holds; "" for both before a tool
		want    Answer
	}{
		{"exit 0", "", Answer{Decision: GoOn}},
		{"echo oops >&2; exit 1", "", Answer{Decision: Block, Failed: true, Reason: "oops"}},
		{"echo oops >&2; exit 1", "agentStop Stop userPromptSubmitted", Answer{Decision: GoOn, Failed: true, Reason: "oops"}},
		{"echo no >&2; exit 2", "", Answer{Decision: Block, Reason: "no"}},
		{"echo no >&2; exit 2", "agentStop Stop userPromptSubmitted postToolUse", Answer{Decision: GoOn, Reason: "no"}},
		{`echo '{"permissionDecision":"deny","permissionDecisionReason":"no"}'; exit 2`, "", Answer{Decision: Block, Reason: "no"}},
		{`echo '{"permissionDecision":"deny","permissionDecisionReason":"no"}'`, "", Answer{Decision: Block, Reason: "no"}},
		{`echo '{"permissionDecision":"deny"}'`, "agentStop", Answer{Decision: GoOn}},
		{`echo '{"permissionDecision":"ask"}'`, "", Answer{Decision: Ask}},
		{`echo '{"permissionDecision":"Deny"}'`, "", Answer{Decision: GoOn}},
		{`echo '{"permissionDecision":"deny"'`, "", Answer{Decision: GoOn}},
		{nested, "PreToolUse", Answer{Decision: Block, Reason: "no"}},
		{nested, "preToolUse", Answer{Decision: GoOn}},
		{`echo '{"permissionDecision":"allow","hookSpecificOutput":{"permissionDecision":"deny"}}'`, "PreToolUse", Answer{Decision: Block}},
		{`echo '{"decision":"block","reason":"no"}'`, "", Answer{Decision: GoOn}},
		{`echo '{"decision":"block","reason":"no"}'`, "agentStop Stop userPromptSubmitted UserPromptSubmit postToolUse", Answer{Decision: Block, Reason: "no"}},
		{`echo '{"continue":false}'`, "preToolUse PreToolUse Stop UserPromptSubmit", Answer{Decision: GoOn}},
	} {
		var s Session
		for _, name := range strings.Fields(cmp.Or(c.events, "preToolUse PreToolUse")) {
			s = append(s, Event{Name: name, Input: bash("1", "ls").Input})
		}
		for i, got := range play(t, Guard{Command: c.command, Agent: Copilot}, s)[0] {
			if got.Millis, got.CPU = [2]float64{}, 0; got != c.want {
				t.Errorf("%s at %s: %+v, want %+v", c.command, s[i].Name, got, c.want)
			}
		}
	}
}

// TestOwnAnswers: a guard that writes answers into the runner's output has none counted, whether
// it ends the runner before that writes more, or does not.
func TestOwnAnswers(t *testing.T) {
	p := player(t)
	if _, err := os.Stat("/proc/self/fd/1"); err != nil {
		t.Skip(err)
	}
	const write = `p=$PPID; for i in 1 2; do echo '{"decision":"block"}' >/proc/$p/fd/1 || exit 1; done`
	for _, command := range []string{write, write + `; kill -9 $p`, write + `; kill $p`} {
		out, err := p.Play(t.Context(), Guard{Command: command, Timeout: time.Minute}, []Session{{bash("1", "ls"), bash("2", "ls")}}, nil)
		if err == nil {
			t.Errorf("%s: %+v", command, out)
		}
	}
}

// TestState: a guard keeps what it has written through a session and not beyond it, and a
// second delivery that writes or decides anew is named.
func TestState(t *testing.T) {
	two := []Session{{bash("1", "ls"), bash("2", "ls")}, {bash("3", "ls")}}
	for _, c := range []struct {
		command string
		want    [][]string // decision and what the second delivery did
	}{
		{`cat >/dev/null`, [][]string{{"go on", "go on"}, {"go on"}}},
		// By the id of the call: nothing is written twice, and the second call of a session stops.
		{`id=$(grep -o '"tool_use_id":"[0-9]*"'); mkdir -p "$HOME/seen"; touch "$HOME/seen/$id"; [ $(ls "$HOME/seen" | wc -l) -lt 2 ] || exit 2`, [][]string{{"go on", "block"}, {"go on"}}},
		{`echo x >>"$HOME/log"`, [][]string{{"go on: changed home/log", "go on: changed home/log"}, {"go on: changed home/log"}}},
		{`echo x >>/tmp/elsewhere`, [][]string{{"go on: changed ../elsewhere", "go on: changed ../elsewhere"}, {"go on: changed ../elsewhere"}}},
		{`[ -e "$HOME/once" ] && exit 2; touch "$HOME/once"`, [][]string{{`go on: decided "block", and the first time "go on"`, "block"}, {`go on: decided "block", and the first time "go on"`}}},
		{`echo x >"$HOME/.new" && mv "$HOME/.new" "$HOME/same"`, [][]string{{"go on", "go on"}, {"go on"}}},
	} {
		var got [][]string
		for _, answers := range play(t, Guard{Command: c.command}, two...) {
			var one []string
			for _, a := range answers {
				s := string(a.Decision)
				if a.Second != "" {
					s += ": " + a.Second
				}
				one = append(one, s)
			}
			got = append(got, one)
		}
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}

// TestShown: a guard sees its own files and no other, and cannot write to them.
func TestShown(t *testing.T) {
	dir := t.TempDir()
	if strings.HasPrefix(dir, "/tmp") {
		var err error
		if dir, err = os.MkdirTemp(".", "shown-"); err != nil {
			t.Fatal(err)
		}
		dir, _ = filepath.Abs(dir)
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	for _, name := range []string{"own", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(dir, "own", "guard.sh")
	text := `test -e "$0" && ! test -e "` + dir + `/other" && ! touch "$0.log" 2>/dev/null && test "$CLAUDE_PROJECT_DIR" = /p && exit 2` + "\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	got := play(t, Guard{Command: "sh " + script, Project: "/p", Readable: []string{filepath.Dir(script)}}, Session{bash("1", "ls")})[0][0]
	if got.Decision != Block {
		t.Errorf("it saw another file, or not its own, or wrote: %+v", got)
	}
}

// TestOrder: answers stand where their events do, however sessions are dealt out.
func TestOrder(t *testing.T) {
	p := player(t)
	rapid.Check(t, func(rt *rapid.T) {
		p.Workers = rapid.IntRange(1, 3).Draw(rt, "workers")
		var sessions []Session
		var want [][]Decision
		for i := range rapid.IntRange(0, 3).Draw(rt, "sessions") {
			var s Session
			var w []Decision
			for k := range rapid.IntRange(0, 2).Draw(rt, "events") {
				if rapid.Bool().Draw(rt, "bad") {
					s, w = append(s, bash(fmt.Sprint(i, k), "git reset --hard")), append(w, Block)
				} else {
					s, w = append(s, bash(fmt.Sprint(i, k), "git log")), append(w, GoOn)
				}
			}
			sessions, want = append(sessions, s), append(want, w)
		}
		counted := 0
		got, err := p.Play(t.Context(), Guard{Command: `grep -q "reset --hard" && exit 2; exit 0`}, sessions, func() { counted++ })
		if err != nil {
			rt.Fatal(err)
		}
		for i := range want {
			for k := range want[i] {
				if counted--; got[i][k].Decision != want[i][k] {
					rt.Errorf("event %d of session %d: %+v, want %q", k, i, got[i][k], want[i][k])
				}
			}
		}
		if counted != 0 {
			rt.Errorf("%d more events were counted than there are", counted)
		}
	})
}

// TestEnded: a run that is stopped says so.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := player(t)
	_, err := p.Play(ctx, Guard{Command: "exit 0"}, []Session{{bash("1", "ls"), bash("2", "ls")}}, cancel)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// BenchmarkPlay delivers events to a guard in each of three languages, each twice, on all
// processors. Wanted on two: 1,000 events a minute for Python, 600 for Node, 5,000 for sh.
//
//	go test -bench Play -benchtime 500x ./eval/guard
func BenchmarkPlay(b *testing.B) {
	p := player(b)
	for _, k := range []struct{ name, program, command string }{
		{"sh", "sh", `case $(cat) in *"reset --hard"*) echo "no reset" >&2; exit 2;; esac`},
		{"python", "/usr/bin/python3", `/usr/bin/python3 -c 'import json,re,sys
if re.search("reset --hard", json.load(sys.stdin)["tool_input"]["command"]): sys.exit(2)'`},
		{"node", "/usr/bin/node", `/usr/bin/node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>process.exit(/reset --hard/.test(JSON.parse(s).tool_input.command)?2:0))'`},
	} {
		b.Run(k.name, func(b *testing.B) {
			if _, err := exec.LookPath(k.program); err != nil {
				b.Skip(err)
			}
			var sessions []Session
			for i := range b.N {
				if i%10 == 0 {
					sessions = append(sessions, nil)
				}
				s := &sessions[len(sessions)-1]
				*s = append(*s, bash(fmt.Sprint(i), "git log"))
			}
			b.ResetTimer()
			answers, err := p.Play(b.Context(), Guard{Command: k.command}, sessions, nil)
			if err != nil {
				b.Fatal(err)
			}
			for _, a := range slices.Concat(answers...) {
				if a.Failed || a.Late || a.Decision != GoOn {
					b.Fatalf("%+v", a)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Minutes(), "events/min")
		})
	}
}
