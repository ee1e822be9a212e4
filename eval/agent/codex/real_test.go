package codex

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// installed is the real program; tests against it run only on request.
func installed(t testing.TB) string {
	t.Helper()
	if os.Getenv("EVOLVE_REAL_AGENTS") != "1" {
		t.Skip("EVOLVE_REAL_AGENTS is not 1: the real program is not run")
	}
	path := os.Getenv("EVOLVE_REAL_CODEX")
	if path == "" {
		t.Fatal("EVOLVE_REAL_AGENTS=1 needs EVOLVE_REAL_CODEX, the path of codex")
	}
	return path
}

// speaking is the real program in front of a scripted model.
func speaking(t testing.TB, s *agenttest.Server, set func(*replay.Config)) *Agent {
	t.Helper()
	c := replay.Config{Path: installed(t), Model: "gpt-5.5", BaseURL: s.URL,
		Credentials: []string{"OPENAI_API_KEY=" + agenttest.Key}}
	if set != nil {
		set(&c)
	}
	a, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func question() *eval.Case {
	return &eval.Case{ID: "stone-1", Skill: "stones", Prompt: "Which stone is the hardest?"}
}

// places runs f without a sandbox and, if there is one, in it.
func places(t *testing.T, f func(t *testing.T, sandbox bool)) {
	installed(t)
	t.Run("open", func(t *testing.T) { f(t, false) })
	t.Run("sandboxed", func(t *testing.T) {
		if err := process.Available(); err != nil {
			t.Skip(err)
		}
		f(t, true)
	})
}

// work writes a file through the patch tool and one through the shell, looks
// for the key, fails, is denied, and answers.
func work(q agenttest.Request) agenttest.Reply {
	r := agenttest.Reply{Input: 120, Cached: 100, Output: 7, Reasoning: 2}
	switch q.Step {
	case 0:
		r.Tools = []agenttest.Op{agenttest.Write("out/stone.txt", "diamond\n")}
	case 1:
		r.Tools = []agenttest.Op{agenttest.Bash("echo ruby > ruby.txt; echo key=$OPENAI_API_KEY")}
	case 2:
		r.Tools = []agenttest.Op{agenttest.Bash("cat no-such-file; exit 3")}
	case 3:
		r.Tools = []agenttest.Op{agenttest.Bash("echo x > /usr/evolve-was-here")}
	default:
		r.Text = "zirconium: the diamond"
	}
	return r
}

func TestRealRun(t *testing.T) {
	places(t, func(t *testing.T, sandbox bool) {
		s := agenttest.Start(t, agenttest.Config{Answer: work})
		a := speaking(t, s, func(c *replay.Config) {
			c.Sandbox, c.Prices = sandbox, &eval.Price{Input: 1, Output: 10, CacheRead: 0.5}
		})
		workspace := t.TempDir()
		got, err := a.Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question(), Workspace: workspace})
		if err != nil {
			t.Fatal(err)
		}
		if got.Answer != "zirconium: the diamond" || got.Failure != "" || got.Turns != 5 || got.Duration <= 0 || got.InfraRetries != 0 {
			t.Errorf("attempt = %+v", got)
		}
		if got.Model != "gpt-5.5" {
			t.Errorf("the record names the model %q", got.Model)
		}
		if want := (eval.Usage{Input: 100, CacheRead: 500, Output: 35, Reasoning: 10}); got.Usage == nil || *got.Usage != want {
			t.Errorf("usage = %+v, want %+v", got.Usage, want)
		}
		if want := 700e-6; got.CostUSD == nil || *got.CostUSD-want > 1e-12 || want-*got.CostUSD > 1e-12 {
			t.Errorf("cost = %v, want %v", got.CostUSD, want)
		}
		if got.SkillInvoked == nil || !*got.SkillInvoked || !slices.Equal(got.Skills, []string{"stones"}) {
			t.Errorf("the skill was mentioned, but: %v %q", got.SkillInvoked, got.Skills)
		}
		if !slices.Equal(got.Files, []string{"out/stone.txt", "ruby.txt"}) {
			t.Errorf("files = %q", got.Files)
		}
		if text, err := os.ReadFile(filepath.Join(workspace, "out/stone.txt")); string(text) != "diamond\n" {
			t.Errorf("out/stone.txt holds %q: %v", text, err)
		}
		var calls []string
		for _, c := range got.Trace {
			calls = append(calls, c.Name+" "+map[bool]string{true: "failed", false: "ok"}[c.Failed])
		}
		if want := []string{"apply_patch ok", "exec_command ok", "exec_command failed", "exec_command failed"}; !slices.Equal(calls, want) {
			t.Errorf("trace = %q, want %q", calls, want)
		}
		if sandbox && got.Audit != eval.Clean {
			t.Errorf("audit = %q: %s", got.Audit, got.Tainted)
		}
		if _, err := os.Stat("/usr/evolve-was-here"); err == nil {
			t.Error("a file was written outside of the workspace")
		}
		requests := s.Requests()
		if first := string(requests[0].Body); !strings.Contains(first, agenttest.Marker) {
			t.Errorf("the skill's text did not reach the model: %s", first)
		}
		// The key occurs only in the request's header.
		for _, q := range requests {
			if strings.Contains(string(q.Body), agenttest.Key) {
				t.Errorf("the key reached the model's context: %s", q.Body)
			}
		}
		if whole, _ := json.Marshal(got); strings.Contains(string(whole), agenttest.Key) {
			t.Errorf("the attempt holds the key: %s", whole)
		}
	})
}

// tools are the tools that the model was offered.
func offeredTools(q agenttest.Request) []string {
	tools := slices.Clone(q.Tools)
	slices.Sort(tools)
	return tools
}

func TestRealOffer(t *testing.T) {
	installed(t)
	s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Text: "the diamond", Input: 9, Output: 1}}})
	got, err := speaking(t, s, nil).Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
	if err != nil {
		t.Fatal(err)
	}
	q := s.Requests()[0]
	if want := []string{"apply_patch", "exec_command", "request_user_input", "tool_search", "view_image", "write_stdin"}; !slices.Equal(offeredTools(q), want) {
		t.Errorf("tools = %q, want %q", offeredTools(q), want)
	}
	if n := strings.Count(string(q.Body), "/SKILL.md)"); n != 1 {
		t.Errorf("%d skills are offered, want the candidate alone: %s", n, q.Body)
	}
	if got.Answer != "the diamond" {
		t.Errorf("attempt = %+v", got)
	}
	// Without the skill nothing of it is there, and its call is no error.
	bare := question()
	bare.Prompt = "$stones Which stone is the hardest?"
	got, err = speaking(t, s, nil).Run(t.Context(), eval.Task{Variant: eval.Variant{Name: "stones"}, Case: bare})
	if err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[1].Body); strings.Contains(body, agenttest.Marker) || strings.Contains(body, "SKILL.md)") {
		t.Errorf("without a skill something of one reached the model: %s", body)
	}
	if got.SkillInvoked == nil || *got.SkillInvoked || got.Skills != nil {
		t.Errorf("skills = %v %q, want none", got.SkillInvoked, got.Skills)
	}
}

// In a trigger case the skill and its neighbours are offered, and nothing calls
// one of them but the model.
func TestRealTrigger(t *testing.T) {
	installed(t)
	gems := filepath.Join(t.TempDir(), "gems")
	if err := os.Mkdir(gems, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(gems, "SKILL.md"), []byte("---\nname: gems\ndescription: Names gems.\n---\nCut them.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, fires := range []string{"stones", "gems", ""} {
		t.Run("fires "+fires, func(t *testing.T) {
			s := agenttest.Start(t, agenttest.Config{Answer: func(q agenttest.Request) agenttest.Reply {
				if q.Step == 0 && fires != "" {
					return agenttest.Reply{Tools: []agenttest.Op{agenttest.Skill(fires)}}
				}
				return agenttest.Reply{Text: "the diamond"}
			}})
			c := question()
			yes := true
			c.ShouldTrigger = &yes
			got, err := speaking(t, s, nil).Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: c, Others: []eval.Offer{{Name: "gems", Dir: gems}}})
			if err != nil {
				t.Fatal(err)
			}
			if got.SkillInvoked == nil || *got.SkillInvoked != (fires == "stones") {
				t.Errorf("invoked = %v", got.SkillInvoked)
			}
			if want := strings.Fields(fires); !slices.Equal(got.Skills, want) {
				t.Errorf("skills = %q, want %q", got.Skills, want)
			}
			first := string(s.Requests()[0].Body)
			if strings.Contains(first, agenttest.Marker) {
				t.Error("the skill's text was there before the model asked for it")
			}
			if !strings.Contains(first, "- stones: Names stones.") || !strings.Contains(first, "- gems: Names gems.") {
				t.Errorf("not both skills are offered: %s", first)
			}
		})
	}
}

func TestRealFailures(t *testing.T) {
	installed(t)
	at := time.Now().Add(50 * time.Hour).Truncate(time.Second)
	for name, c := range map[string]struct {
		reply agenttest.Reply
		key   string
		kind  eval.FailureKind // "" is the agent's own failure
		calls int              // 0: any
	}{
		"wrong key":     {agenttest.Reply{Text: "x"}, "sk-wrong-fedcba9876543210", eval.Auth, 1},
		"bad request":   {agenttest.Reply{Status: 400, Code: "invalid_request_error", Message: "no such model"}, "", eval.BadRequest, 1},
		"no model":      {agenttest.Reply{Status: 404, Code: "model_not_found", Message: "The model `x` does not exist"}, "", eval.BadRequest, 1},
		"no route":      {agenttest.Reply{Status: 404, Code: "not_found", Message: "no such route"}, "", eval.BadRequest, 1},
		"limit":         {agenttest.Reply{Limit: &agenttest.Limit{Resets: at}}, "", eval.UsageLimit, 1},
		"quota":         {agenttest.Reply{Status: 429, Code: "insufficient_quota", Message: "you exceeded your current quota"}, "", eval.UsageLimit, 1},
		"busy":          {agenttest.Reply{Status: 429, Code: "rate_limit_exceeded", Message: "slow down"}, "", eval.RateLimited, 0},
		"broken":        {agenttest.Reply{Status: 500, Code: "server_error", Message: "broken"}, "", eval.ServerError, 0},
		"dropped":       {agenttest.Reply{Drop: true}, "", eval.Unreachable, 1 + streamRetries},
		"malformed":     {agenttest.Reply{Raw: `{"output": [}`}, "", eval.Unreachable, 1 + streamRetries},
		"too long":      {agenttest.Reply{Status: 400, Code: "context_length_exceeded", Message: "Your input exceeds the context window of this model."}, "", "", 1},
		"cut off":       {agenttest.Reply{Text: "zirconium: the dia", Finish: "length", Input: 9, Output: 7}, "", "", 1},
		"empty answer":  {agenttest.Reply{Input: 9, Output: 7}, "", "", 1},
		"unauthorised":  {agenttest.Reply{Status: 403, Code: "forbidden", Message: "not in your country"}, "", eval.Auth, 1},
		"never a model": {agenttest.Reply{Status: 503, Code: "server_is_overloaded", Message: "later"}, "", eval.ServerError, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{c.reply}})
			key := agenttest.Key
			if c.key != "" {
				key = c.key
			}
			a := speaking(t, s, func(r *replay.Config) { r.Credentials = []string{"OPENAI_API_KEY=" + key} })
			got, err := a.Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
			var infra *eval.InfraError
			switch {
			case c.kind == "":
				if err != nil || got.Failure == "" {
					t.Errorf("attempt = %+v, %v, want a failure as data", got, err)
				}
			case !errors.As(err, &infra) || infra.Kind != c.kind:
				t.Errorf("err = %v, want %s", err, c.kind)
			case strings.Contains(err.Error(), key):
				t.Errorf("the error holds the key: %v", err)
			}
			if n := len(s.Bodies()); c.calls != 0 && n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
			if c.kind == eval.UsageLimit && c.reply.Limit != nil && (infra.ResetAt.Before(at) || infra.ResetAt.After(at.Add(time.Minute))) {
				t.Errorf("resets at %v, want within the minute after %v", infra.ResetAt, at)
			}
			if c.reply.Finish == "length" && (got.Usage == nil || got.Usage.Output != 7 || got.Answer == "") {
				t.Errorf("attempt = %+v, want what there is of it", got)
			}
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Text: "x"}}})
		s.URL = "http://127.0.0.1:1/v1" // nothing listens on port 1
		_, err := speaking(t, s, nil).Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
		var infra *eval.InfraError
		if !errors.As(err, &infra) || infra.Kind != eval.Unreachable {
			t.Errorf("err = %v, want unreachable", err)
		}
	})
	t.Run("retried", func(t *testing.T) {
		s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Status: 500, Code: "server_error", Message: "broken"},
			{Text: "the diamond", Input: 9, Output: 1}}})
		got, err := speaking(t, s, nil).Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
		if err != nil || got.Answer != "the diamond" || got.InfraRetries != 1 {
			t.Errorf("attempt = %+v, %v", got, err)
		}
	})
	t.Run("hangs", func(t *testing.T) {
		s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Hang: true}}})
		a := speaking(t, s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-s.Arrived()
			cancel()
		}()
		if _, err := a.Run(ctx, eval.Task{Variant: agenttest.Stones(t), Case: question()}); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v, want context canceled", err)
		}
	})
}

func TestRealComplete(t *testing.T) {
	for _, model := range []string{"gpt-5.5", "gpt-5.6-sol", "gpt-6-sol", "scripted"} {
		t.Run(model, func(t *testing.T) {
			installed(t)
			s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Text: "a reply", Input: 120, Cached: 100, Output: 7}}})
			a := speaking(t, s, func(c *replay.Config) { c.Model = model })
			got, err := a.Complete(t.Context(), eval.Prompt{System: "You judge.", User: "Judge $stones this."})
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != "a reply" || got.Finish != "stop" || got.Usage == nil || *got.Usage != (eval.Usage{Input: 20, CacheRead: 100, Output: 7}) {
				t.Errorf("completion = %+v", got)
			}
			var body struct {
				Tools []json.RawMessage
				Input []struct {
					Type, Role string
					Tools      []json.RawMessage
					Content    []struct{ Text string }
				}
			}
			q := s.Requests()[0]
			if err := json.Unmarshal(q.Body, &body); err != nil {
				t.Fatal(err)
			}
			var said []string
			tools := len(body.Tools)
			for _, m := range body.Input {
				tools += len(m.Tools)
				for _, c := range m.Content {
					// Some models get the system prompt twice if they have no tools.
					// The program does that, and it is harmless.
					said = add(said, m.Role+": "+c.Text)
				}
			}
			if tools != 0 {
				t.Errorf("%d tools are offered: %s", tools, q.Body)
			}
			if want := []string{"developer: You judge.", "user: Judge $stones this."}; !slices.Equal(said, want) {
				t.Errorf("the model read %q, want %q", said, want)
			}
		})
	}
}

func TestRealPing(t *testing.T) {
	installed(t)
	s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Text: "x"}}})
	a := speaking(t, s, nil)
	if err := a.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := a.CheckSandbox(t.Context()); err != nil {
		t.Error(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	broken := speaking(t, s, func(c *replay.Config) { c.Env = []string{"TMPDIR=" + temp} })
	if err := broken.CheckSandbox(t.Context()); err == nil || !strings.Contains(err.Error(), "sandbox") {
		t.Errorf("err = %v, want one that tells of the sandbox", err)
	}
	if id := a.Identity(); id.Backend != "codex" || id.Version == "" || id.Version == "codex-cli" || id.Model != "gpt-5.5" || id != a.Identity() {
		t.Errorf("identity = %+v", id)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("a ping asked for %d answers", n)
	}
}
