package pi_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/pi"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// installed is the real program; tests against it run only on request.
func installed(t testing.TB) string {
	t.Helper()
	if os.Getenv("EVOLVE_REAL_AGENTS") != "1" {
		t.Skip("EVOLVE_REAL_AGENTS is not 1: the real program is not run")
	}
	path := os.Getenv("EVOLVE_REAL_PI")
	if path == "" {
		t.Fatal("EVOLVE_REAL_AGENTS=1 needs EVOLVE_REAL_PI, the path of pi")
	}
	return path
}

// speaking is the real program in front of a scripted model.
func speaking(t testing.TB, s *agenttest.Server, set func(*replay.Config)) *pi.Agent {
	t.Helper()
	c := replay.Config{Path: installed(t), Model: "scripted", BaseURL: s.URL,
		Credentials: []string{"OPENAI_API_KEY=" + agenttest.Key}}
	if set != nil {
		set(&c)
	}
	a, err := pi.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func question() *eval.Case {
	return &eval.Case{ID: "stone-1", Skill: "stones", Prompt: "Which stone is the hardest?\nSay no more."}
}

// work writes a file, fails, and answers.
func work(q agenttest.Request) agenttest.Reply {
	r := agenttest.Reply{Input: 120, Cached: 100, Output: 7}
	switch q.Step {
	case 0:
		r.Tools = []agenttest.Op{agenttest.Write("out/stone.txt", "diamond\n")}
	case 1:
		r.Tools = []agenttest.Op{agenttest.Bash("cat no-such-file; exit 3")}
	default:
		r.Text = "zirconium: the diamond"
	}
	return r
}

func TestRealRun(t *testing.T) {
	for name, sandbox := range map[string]bool{"open": false, "sandboxed": true} {
		t.Run(name, func(t *testing.T) {
			installed(t)
			if err := process.Available(); sandbox && err != nil {
				t.Skip(err)
			}
			s := agenttest.Start(t, agenttest.Config{Answer: work})
			a := speaking(t, s, func(c *replay.Config) { c.Sandbox = sandbox })
			got, err := a.Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
			if err != nil {
				t.Fatal(err)
			}
			if got.Answer != "zirconium: the diamond" || got.Failure != "" || got.Turns != 3 || got.Duration <= 0 ||
				got.InfraRetries != 0 || got.CostUSD != nil {
				t.Errorf("attempt = %+v", got)
			}
			if want := (eval.Usage{Input: 60, CacheRead: 300, Output: 21}); got.Usage == nil || *got.Usage != want {
				t.Errorf("usage = %+v, want %+v", got.Usage, want)
			}
			if got.SkillInvoked == nil || !*got.SkillInvoked || !slices.Equal(got.Skills, []string{"stones"}) {
				t.Errorf("the skill was called by its command, but: %v %q", got.SkillInvoked, got.Skills)
			}
			if !slices.Equal(got.Files, []string{"out/stone.txt"}) {
				t.Errorf("files = %q", got.Files)
			}
			if len(got.Trace) != 2 || got.Trace[0].Name != "write" || got.Trace[0].Failed || !got.Trace[1].Failed {
				t.Errorf("trace = %+v", got.Trace)
			}
			first := s.Requests()[0]
			if !strings.Contains(first.User, agenttest.Marker) || !strings.Contains(first.User, "Say no more.") || strings.Contains(first.User, "/skill:") {
				t.Errorf("the model read %q, want the skill in the place of its command", first.User)
			}
			slices.Sort(first.Tools)
			if want := []string{"bash", "edit", "read", "write"}; !slices.Equal(first.Tools, want) {
				t.Errorf("tools = %q, want %q", first.Tools, want)
			}
			if sandbox && got.Audit != eval.Clean {
				t.Errorf("audit = %q: %s", got.Audit, got.Tainted)
			}
		})
	}
}

// In a trigger case the skill and its neighbours are offered, and nothing calls
// one of them but the model.
func TestRealTrigger(t *testing.T) {
	gems := filepath.Join(t.TempDir(), "gems")
	if err := os.Mkdir(gems, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(gems, "SKILL.md"), []byte("---\nname: gems\ndescription: Names gems.\n---\nCut them.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, fires := range []string{"stones", "gems", ""} {
		t.Run("fires "+fires, func(t *testing.T) {
			installed(t)
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
			if *got.SkillInvoked != (fires == "stones") {
				t.Errorf("invoked = %v", *got.SkillInvoked)
			}
			if want := strings.Fields(fires); !slices.Equal(got.Skills, want) && len(got.Skills)+len(want) > 0 {
				t.Errorf("skills = %q, want %q", got.Skills, want)
			}
			q := s.Requests()[0]
			if strings.Contains(q.Text, agenttest.Marker) || !strings.Contains(q.Text, "Names stones.") || !strings.Contains(q.Text, "Names gems.") {
				t.Errorf("the model read %q, want both offers and no body", q.Text)
			}
		})
	}
}

func TestRealNoSkill(t *testing.T) {
	s := agenttest.Start(t, agenttest.Config{Answer: work})
	a := speaking(t, s, nil)
	ws := t.TempDir()
	copied := filepath.Join(ws, ".pi", "skills", "stones")
	if err := os.MkdirAll(copied, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, "SKILL.md"), agenttest.Stones(t).Doc.Render(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := a.Run(t.Context(), eval.Task{Variant: eval.Variant{Name: "stones"}, Case: question(), Workspace: ws})
	if err != nil {
		t.Fatal(err)
	}
	if got.SkillInvoked == nil || *got.SkillInvoked || len(got.Skills) > 0 {
		t.Errorf("a skill was loaded where there is none: %v %q", got.SkillInvoked, got.Skills)
	}
	for _, q := range s.Requests() {
		if strings.Contains(q.Text, "zirconium.") || strings.Contains(q.Text, "available_skills") {
			t.Errorf("the model was offered a skill: %s", q.Text)
		}
	}
}

func TestRealComplete(t *testing.T) {
	for name, set := range map[string]func(*replay.Config, *agenttest.Server){
		"chat": func(c *replay.Config, s *agenttest.Server) {},
		"messages": func(c *replay.Config, s *agenttest.Server) {
			c.Credentials, c.Model = []string{"ANTHROPIC_API_KEY=" + agenttest.Key}, "anthropic/scripted"
		},
	} {
		t.Run(name, func(t *testing.T) {
			installed(t)
			s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Text: "four", Input: 120, Cached: 100, Output: 7}}})
			a := speaking(t, s, func(c *replay.Config) { set(c, s) })
			for _, system := range []string{"You add numbers.", ""} {
				got, err := a.Complete(t.Context(), eval.Prompt{System: system, User: "/skill:x What is 2+2?", MaxTokens: 77})
				if err != nil {
					t.Fatal(err)
				}
				if got.Text != "four" || got.Finish != "stop" || got.CostUSD != nil {
					t.Errorf("completion = %+v", got)
				}
				if want := (eval.Usage{Input: 20, CacheRead: 100, Output: 7}); got.Usage == nil || *got.Usage != want {
					t.Errorf("usage = %+v, want %+v", got.Usage, want)
				}
				qs := s.Requests()
				q := qs[len(qs)-1]
				if len(q.Tools) > 0 || q.Model != "scripted" || q.Prompt != "/skill:x What is 2+2?" {
					t.Errorf("request = %+v", q)
				}
				if system != "" != strings.Contains(q.Text, "You add numbers.") || strings.Contains(q.Text, "coding agent") {
					t.Errorf("the model read %q", q.Text)
				}
				if !strings.Contains(string(q.Body), ":77") {
					t.Errorf("no limit of tokens in %s", q.Body)
				}
			}
		})
	}
}

// Each wire words its failures in its own way.
func TestRealFailures(t *testing.T) {
	t.Run("chat", func(t *testing.T) { realFailures(t, nil) })
	t.Run("messages", func(t *testing.T) {
		realFailures(t, func(c *replay.Config) {
			c.Credentials, c.Model = []string{"ANTHROPIC_API_KEY=" + agenttest.Key}, "anthropic/scripted"
		})
	})
}

func realFailures(t *testing.T, wire func(*replay.Config)) {
	say := func(status int, code, message string) agenttest.Reply {
		return agenttest.Reply{Status: status, Code: code, Message: message}
	}
	for name, c := range map[string]struct {
		script  []agenttest.Reply
		kind    eval.FailureKind
		failure string
		retries int
		calls   int
	}{
		"key":      {script: []agenttest.Reply{say(http.StatusUnauthorized, "invalid_api_key", "wrong key "+agenttest.Key)}, kind: eval.Auth, calls: 1},
		"request":  {script: []agenttest.Reply{say(http.StatusBadRequest, "invalid_request_error", "no such model")}, kind: eval.BadRequest, calls: 1},
		"overflow": {script: []agenttest.Reply{say(http.StatusBadRequest, "context_length_exceeded", "prompt is too long: 213462 tokens > 200000 maximum")}, failure: "longer than the model's context", calls: 1},
		"quota":    {script: []agenttest.Reply{say(http.StatusTooManyRequests, "insufficient_quota", "you exceeded your current quota, please check your plan and billing details")}, kind: eval.UsageLimit, calls: 1},
		"busy":     {script: []agenttest.Reply{say(http.StatusTooManyRequests, "rate_limit_exceeded", "slow down")}, kind: eval.RateLimited, calls: 3},
		"broken":   {script: []agenttest.Reply{say(http.StatusInternalServerError, "server_error", "broken")}, kind: eval.ServerError, calls: 3},
		"dropped":  {script: []agenttest.Reply{{Drop: true}}, kind: eval.Unreachable, calls: 3},
		"gibber":   {script: []agenttest.Reply{{Raw: `{"choices": [`}}, kind: eval.ServerError, calls: 3},
		"cut off":  {script: []agenttest.Reply{{Text: "the dia", Finish: "length", Input: 9, Output: 7}}, failure: "cut off", calls: 1},
		"empty":    {script: []agenttest.Reply{{Input: 9, Output: 1}}, failure: "empty answer", calls: 1},
		"hiccup":   {script: []agenttest.Reply{say(http.StatusInternalServerError, "server_error", "broken"), {Text: "the diamond"}}, retries: 1, calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			installed(t)
			s := agenttest.Start(t, agenttest.Config{Script: c.script})
			got, err := speaking(t, s, wire).Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
			var infra *eval.InfraError
			switch {
			case c.kind != "" && (!errors.As(err, &infra) || infra.Kind != c.kind):
				t.Errorf("err = %v, want %s", err, c.kind)
			case c.kind == "" && err != nil:
				t.Error(err)
			case err != nil && strings.Contains(err.Error(), agenttest.Key):
				t.Errorf("the error holds the key: %v", err)
			}
			if c.kind == "" && ((c.failure == "") != (got.Failure == "") || !strings.Contains(got.Failure, c.failure) || got.InfraRetries != c.retries) {
				t.Errorf("attempt = %+v", got)
			}
			if n := len(s.Requests()); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
		})
	}
}

// A server that never answers is waited for up to the end of ctx, and no longer.
func TestRealHang(t *testing.T) {
	installed(t)
	s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Hang: true}}})
	a := speaking(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.Arrived()
		cancel()
	}()
	begun := time.Now()
	_, err := a.Run(ctx, eval.Task{Variant: agenttest.Stones(t), Case: question()})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if d := time.Since(begun); d > 30*time.Second {
		t.Errorf("it took %v to end", d)
	}
}

// An expiring context times out on demand.
type expiring struct {
	context.Context
	done chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.done }

func (e expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Time that runs out while the program tries again is the server's fault.
func TestRealNoTimeToTryAgain(t *testing.T) {
	installed(t)
	s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{
		{Status: http.StatusInternalServerError, Code: "server_error", Message: "broken"}, {Hang: true}}})
	a := speaking(t, s, nil)
	ctx := expiring{t.Context(), make(chan struct{})}
	go func() {
		<-s.Arrived()
		<-s.Arrived()
		close(ctx.done)
	}()
	_, err := a.Run(ctx, eval.Task{Variant: agenttest.Stones(t), Case: question()})
	var infra *eval.InfraError
	if !errors.As(err, &infra) || infra.Kind != eval.ServerError {
		t.Errorf("err = %v, want the server's failure", err)
	}
}

func TestRealTurns(t *testing.T) {
	installed(t)
	s := agenttest.Start(t, agenttest.Config{Script: []agenttest.Reply{{Tools: []agenttest.Op{agenttest.Bash("true")}}}})
	a := speaking(t, s, func(c *replay.Config) { c.MaxTurns = 3 })
	got, err := a.Run(t.Context(), eval.Task{Variant: agenttest.Stones(t), Case: question()})
	if err != nil || got.Turns != 3 || !strings.Contains(got.Failure, "3 turns") {
		t.Errorf("attempt = %+v, %v", got, err)
	}
}
