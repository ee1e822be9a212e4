package copilot

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// fakeVar makes this test binary a program that speaks the protocol; its value selects
// what it does.
const fakeVar = "EVOLVE_COPILOT_FAKE"

func init() {
	how, is := os.LookupEnv(fakeVar)
	if !is {
		return
	}
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "EVOLVE_PROCESS_") {
			return // it stands between us and the program
		}
	}
	if slices.Contains(os.Args, "--version") {
		fmt.Println("GitHub Copilot CLI 9.8.7.\nRun 'copilot update' to check for updates.")
		os.Exit(0)
	}
	fake(how)
	os.Exit(0)
}

// fake answers as the program does. how is "", or what goes wrong: "METHOD:die",
// "METHOD:hang", "METHOD:garbage", "METHOD:refuse".
func fake(how string) {
	where, what, _ := strings.Cut(how, ":")
	in := bufio.NewReader(os.Stdin)
	say := func(v any) {
		body, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		if writeFrame(os.Stdout, body) != nil {
			os.Exit(1)
		}
	}
	for {
		frame, err := readFrame(in, 1<<20)
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(frame, &m); err != nil {
			panic(err)
		}
		if m.Method == where {
			switch what {
			case "die":
				fmt.Fprintln(os.Stderr, "it is too hot here")
				os.Exit(3)
			case "hang":
				signal.Ignore(syscall.SIGTERM)
				time.Sleep(time.Hour)
			case "garbage":
				fmt.Println("this is no frame")
				time.Sleep(time.Hour)
			case "refuse":
				say(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": rpcError{Code: -32603, Message: "no such model"}})
				continue
			}
		}
		var p struct {
			SessionID string `json:"sessionId"`
		}
		_ = json.Unmarshal(m.Params, &p)
		var result any = struct{}{}
		switch m.Method {
		case "connect":
			result = map[string]any{"ok": true, "protocolVersion": 3}
		case "session.create":
			result = p
		case "session.skills.list":
			result = json.RawMessage(`{"skills":[{"name":"dataviz","enabled":true,"description":"","source":"custom","userInvocable":true},
				{"name":"theirs","enabled":true,"description":"","source":"builtin","userInvocable":true}]}`)
		case "session.commands.invoke":
			result = map[string]any{"kind": "agent-prompt", "displayPrompt": "/dataviz", "prompt": "Use dataviz."}
		case "session.send":
			result = map[string]any{"messageId": "m"}
		}
		say(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		if m.Method != "session.send" {
			continue
		}
		for line := range strings.Lines(event("user.message", `{"content":"x"}`) +
			event("assistant.usage", `{"model":"m","inputTokens":10,"outputTokens":2,"finishReason":"stop"}`) +
			event("assistant.message", `{"content":"the diamond","messageId":"m"}`) + event("session.idle", `{}`)) {
			say(map[string]any{"jsonrpc": "2.0", "method": "session.event",
				"params": map[string]any{"sessionId": p.SessionID, "event": json.RawMessage(line)}})
		}
	}
}

func faked(t testing.TB, how string, sandbox bool) *Agent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), replay.Config{Path: self, Model: "m", BaseURL: "http://127.0.0.1:1/v1", Sandbox: sandbox,
		Credentials: []string{"COPILOT_PROVIDER_API_KEY=a-long-key-of-nobody"},
		Env:         []string{fakeVar + "=" + how, cacheVar + "=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func plotTask(t testing.TB) eval.Task {
	t.Helper()
	doc, err := skill.Parse([]byte("---\nname: dataviz\ndescription: Makes charts.\n---\nLabel the axes.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eval.Task{Variant: eval.Variant{Name: "dataviz", Doc: doc}, Case: &eval.Case{ID: "c", Prompt: "Plot it."}}
}

// settled waits for the goroutines of attempts to be gone.
func settled(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("goroutines are left over:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
	}
}

func TestRunHoldsASession(t *testing.T) {
	a := faked(t, "", false)
	before := runtime.NumGoroutine()
	if id := a.Identity(); id.Version != "9.8.7" || strings.Contains(id.Params, "nobody") {
		t.Errorf("identity = %+v", id)
	}
	got, err := a.Run(t.Context(), plotTask(t))
	if err != nil || got.Answer != "the diamond" || got.Usage == nil || *got.Usage != (eval.Usage{Input: 10, Output: 2}) {
		t.Errorf("attempt = %+v, %v", got, err)
	}
	said, err := a.Complete(t.Context(), eval.Prompt{System: "s", User: "u"})
	if err != nil || said.Text != "the diamond" || said.Finish != "stop" {
		t.Errorf("completion = %+v, %v", said, err)
	}
	settled(t, before)
}

func TestProgramsThatFail(t *testing.T) {
	for how, c := range map[string]struct {
		kind eval.FailureKind
		text string
	}{
		"connect:die":                 {eval.ServerError, "too hot"},
		"session.create:die":          {eval.ServerError, "too hot"},
		"session.skills.list:die":     {eval.ServerError, "too hot"},
		"session.send:die":            {eval.ServerError, "too hot"},
		"session.create:refuse":       {eval.BadRequest, "no such model"},
		"session.create:garbage":      {eval.ServerError, "not a JSON-RPC frame"},
		"session.send:garbage":        {eval.ServerError, "not a JSON-RPC frame"},
		"session.commands.invoke:die": {eval.ServerError, "too hot"},
	} {
		t.Run(how, func(t *testing.T) {
			a := faked(t, how, false)
			before := runtime.NumGoroutine()
			got, err := a.Run(t.Context(), plotTask(t))
			var infra *eval.InfraError
			if !errors.As(err, &infra) || infra.Kind != c.kind || !strings.Contains(err.Error(), c.text) {
				t.Errorf("err = %v, want %s: …%s…", err, c.kind, c.text)
			}
			if got.Answer != "" {
				t.Errorf("a failed run answers %q", got.Answer)
			}
			settled(t, before)
		})
	}
}

func TestProgramsThatHang(t *testing.T) {
	for _, at := range []string{"connect", "session.create", "session.skills.list", "session.send"} {
		t.Run(at, func(t *testing.T) {
			a := faked(t, at+":hang", false)
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			begun := time.Now()
			_, err := a.Run(ctx, plotTask(t))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("err = %v, want ctx's", err)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("it took %v to give up", took)
			}
			cancel()
			settled(t, before)
		})
	}
}

// BenchmarkOverhead is a whole replay with a program that answers at once. The
// second figure is that program alone.
func BenchmarkOverhead(b *testing.B) {
	for _, sandbox := range []bool{false, true} {
		b.Run(fmt.Sprintf("sandbox=%v", sandbox), func(b *testing.B) {
			if err := process.Available(); sandbox && err != nil {
				b.Skip(err)
			}
			a, task := faked(b, "", sandbox), plotTask(b)
			var whole, alone []time.Duration
			for b.Loop() {
				begun := time.Now()
				if got, err := a.Run(b.Context(), task); err != nil || got.Answer == "" {
					b.Fatalf("attempt = %+v, %v", got, err)
				}
				whole = append(whole, time.Since(begun))
				begun = time.Now()
				res, err := process.Run(b.Context(), process.Command{Path: a.prog.Path, Env: []string{fakeVar + "="}})
				if err != nil || res.Exit != 0 {
					b.Fatalf("%+v, %v", res, err)
				}
				alone = append(alone, time.Since(begun))
			}
			slices.Sort(whole)
			slices.Sort(alone)
			b.ReportMetric(float64((whole[len(whole)/2]-alone[len(alone)/2]).Microseconds())/1000, "ours-ms/op")
			b.ReportMetric(float64(alone[len(alone)/2].Microseconds())/1000, "child-ms/op")
		})
	}
}
