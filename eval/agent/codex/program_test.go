package codex

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// acted is an agent whose program is a shell script that imitates codex.
func acted(t *testing.T, c replay.Config, script string) *Agent {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	c.Path = filepath.Join(t.TempDir(), "codex")
	text := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo codex-cli 1.2.3; exit; fi\n" +
		"say() { printf '%s\\n' \"$1\"; }\nsay '{\"type\":\"thread.started\",\"thread_id\":\"t\"}'\nsay '{\"type\":\"turn.started\"}'\n" +
		"answer() { say '{\"type\":\"item.completed\",\"item\":{\"id\":\"item_9\",\"type\":\"agent_message\",\"text\":\"'\"$1\"'\"}}'\n" +
		"say '{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}'; }\n" + script
	if err := os.WriteFile(c.Path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestVersion(t *testing.T) {
	a := acted(t, replay.Config{Model: "m"}, "")
	want := eval.Identity{Backend: "codex", Version: "1.2.3", Model: "m",
		Params: "base=api.openai.com/v1 web_search=disabled sandbox=workspace-write"}
	if got := a.Identity(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The child has a home of its own, a folder for temporary files that does not
// hold it, and of the owner's environment nothing.
func TestPrivateHome(t *testing.T) {
	t.Setenv("EVOLVE_OF_THE_OWNER", "x")
	a := acted(t, replay.Config{Credentials: []string{"OPENAI_API_KEY=sk-0123456789", "CODEX_API_KEY=sk-other-0123"}},
		`case $CODEX_HOME in "$TMPDIR"/*) answer inside; exit;; esac
test "$CODEX_HOME" = "$HOME/.codex" && test -z "$EVOLVE_OF_THE_OWNER$CODEX_API_KEY" && test -f "$CODEX_HOME/skills/stones/SKILL.md" &&
answer "$(cat) key=$OPENAI_API_KEY"`)
	got, err := a.Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
	if err != nil {
		t.Fatal(err)
	}
	if want := "$stones Which stone is the hardest? key=[credential]"; got.Answer != want {
		t.Errorf("answer = %q, want %q", got.Answer, want)
	}
}

func TestLoginIsCopiedForOneCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth.json")
	access := token(time.Now().Add(time.Hour))
	if err := os.WriteFile(file, []byte(`{"tokens":{"access_token":"`+access+`","refresh_token":"refresh-0123"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(t.TempDir(), "home")
	a := acted(t, replay.Config{Credentials: []string{"CODEX_AUTH_JSON=" + file}, Env: []string{"SEEN=" + seen}},
		`printf %s "$CODEX_HOME" > "$SEEN"; grep -q refresh-0123 "$CODEX_HOME/auth.json" && exit 3
answer "$(sed 's/.*access_token":"//; s/".*//' "$CODEX_HOME/auth.json")"`)
	got, err := a.Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
	if err != nil {
		t.Fatal(err)
	}
	if got.Answer != "[credential]" {
		t.Errorf("answer = %q, want the token taken out", got.Answer)
	}
	home, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(home)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", home, err)
	}
}

// A time-out while the program waits for a retry is no evidence about the agent; a
// time-out while the model answers is.
func TestTimeThatRunsOut(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		kind eval.FailureKind
	}{
		"busy":     {`say '{"type":"error","message":"Reconnecting... 1/2 (exceeded retry limit, last status: 429 Too Many Requests)"}'`, eval.RateLimited},
		"thinking": {`say '{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"hm"}}'`, ""},
	} {
		ready := filepath.Join(t.TempDir(), "ready")
		a := acted(t, replay.Config{Env: []string{"READY=" + ready}}, c.says+"\n: > \"$READY\"\nexec sleep 60")
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(2*time.Second))
		defer cancel()
		_, err := a.Run(ctx, eval.Task{Variant: agenttest.Stones(t), Case: question()})
		if _, missing := os.Stat(ready); missing != nil {
			t.Skip("this machine is too slow for the scenario")
		}
		var infra *eval.InfraError
		if c.kind == "" && !errors.Is(err, context.DeadlineExceeded) || c.kind != "" && (!errors.As(err, &infra) || infra.Kind != c.kind) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestProgramThatDies(t *testing.T) {
	a := acted(t, replay.Config{Credentials: []string{"OPENAI_API_KEY=sk-0123456789"}}, `echo "panicked with $OPENAI_API_KEY" >&2; exit 101`)
	_, err := a.Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
	var infra *eval.InfraError
	if !errors.As(err, &infra) || infra.Kind != eval.Unreachable || !strings.Contains(err.Error(), "panicked with [credential]") {
		t.Errorf("err = %v, want what the program said last, without the key", err)
	}
}
