package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// realAgent is one of the real program against s.
func realAgent(t *testing.T, s *agenttest.Server, c replay.Config) *Agent {
	t.Helper()
	if os.Getenv("EVOLVE_REAL_AGENTS") != "1" {
		t.Skip("only the real program can show this: EVOLVE_REAL_AGENTS=1")
	}
	if c.Path = os.Getenv("EVOLVE_REAL_CLAUDE"); c.Path == "" {
		t.Fatal("EVOLVE_REAL_AGENTS=1 needs EVOLVE_REAL_CLAUDE")
	}
	t.Setenv("TMPDIR", t.TempDir())
	c.BaseURL, c.Credentials = s.Root, []string{"ANTHROPIC_API_KEY=" + agenttest.Key}
	if c.Model == "" {
		c.Model = "claude-sonnet-4-5"
	}
	a, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var hello = agenttest.Reply{Text: "hello", Input: 20, Output: 3}

// What the server gets in a text-only call: our system text unchanged, our limit, no
// tool, and the user's text even if it looks like a command of the program.
func TestRealText(t *testing.T) {
	s := agenttest.NewServer(t, nil, hello)
	a := realAgent(t, s, replay.Config{})
	system := "You name stones.\n\n\"Quoted\" ünïcode\t" + strings.Repeat("long ", 60_000)
	for _, user := range []string{"/help me", "@/etc/hostname", "# remember", "!ls", "plain"} {
		c, err := a.Complete(t.Context(), eval.Prompt{System: system, User: user, MaxTokens: 321})
		if err != nil || c.Text != "hello" || c.Finish != "stop" || c.Usage == nil || *c.Usage != (eval.Usage{Input: 20, Output: 3}) {
			t.Fatalf("%q: completion = %+v, %v", user, c, err)
		}
		asked := s.Requests()
		q := asked[len(asked)-1]
		var body struct {
			MaxTokens int `json:"max_tokens"`
			System    []struct{ Text string }
		}
		if err := json.Unmarshal(q.Body, &body); err != nil {
			t.Fatal(err)
		}
		if n := len(body.System); n == 0 || body.System[n-1].Text != system || body.MaxTokens != 321 || len(q.Tools) > 0 {
			t.Errorf("%q: %d system texts, limit %d, tools %q", user, n, body.MaxTokens, q.Tools)
		}
		if !strings.HasSuffix(strings.TrimSpace(q.Prompt), user) {
			t.Errorf("prompt = %q, want %q", q.Prompt, user)
		}
		if host, err := os.ReadFile("/etc/hostname"); err == nil && len(bytes.TrimSpace(host)) > 3 && bytes.Contains(q.Body, bytes.TrimSpace(host)) {
			t.Errorf("%q: a file of this machine was sent", user)
		}
	}
}

func TestRealTextCutOff(t *testing.T) {
	s := agenttest.NewServer(t, nil, agenttest.Reply{Text: "part ", Finish: "length", Input: 20, Output: 3})
	c, err := realAgent(t, s, replay.Config{}).Complete(t.Context(), eval.Prompt{User: "u", MaxTokens: 3})
	if err != nil || c.Finish != "length" || !strings.HasPrefix(c.Text, "part") || c.Usage == nil {
		t.Errorf("completion = %+v, %v", c, err)
	}
}

// The text of a called skill is in the first request; of a skill that only the model
// may load, the description is.
func TestRealForcedSkill(t *testing.T) {
	for front, called := range map[string]bool{"": true, "user-invocable: false\n": false, "disable-model-invocation: true\n": true} {
		s := agenttest.NewServer(t, nil, hello)
		doc, err := skill.Parse([]byte("---\nname: stones\ndescription: Names stones.\n"+front+"---\nSay zirconium.\n"), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := realAgent(t, s, replay.Config{}).Run(t.Context(), eval.Task{Variant: eval.Variant{Name: "stones", Doc: doc},
			Case: &eval.Case{ID: "c", Prompt: "which?"}})
		if err != nil || got.Answer != "hello" {
			t.Fatalf("%q: attempt = %+v, %v", front, got, err)
		}
		if asked := s.Requests()[0].Model; got.Model == "" || got.Model != asked {
			t.Errorf("%q: model %q answered, %q was asked", front, got.Model, asked)
		}
		text := s.Requests()[0].Text
		if strings.Contains(text, "Say zirconium.") != called || got.SkillInvoked == nil || *got.SkillInvoked != called {
			t.Errorf("%q: invoked %v; want %v as in %s", front, got.SkillInvoked, called, text)
		}
		if !called && !strings.Contains(text, "Use the stones skill: which?") {
			t.Errorf("%q: the model is not told to use it: %s", front, text)
		}
		if strings.Contains(text, "plugin-authoring") {
			t.Errorf("%q: another skill is offered: %s", front, text)
		}
	}
}

// A run that does not come to an end is the candidate's failure, and its trace
// is kept.
func TestRealTurns(t *testing.T) {
	s := agenttest.NewServer(t, nil, agenttest.Reply{Tools: []agenttest.Op{agenttest.Bash("echo on")}, Input: 20, Output: 3})
	got, err := realAgent(t, s, replay.Config{MaxTurns: 3}).Run(t.Context(), eval.Task{Variant: eval.Variant{Name: "stones"},
		Case: &eval.Case{ID: "c", Prompt: "which?"}})
	if err != nil || !strings.Contains(got.Failure, "turns") || len(got.Trace) != 3 || got.Turns != 3 || got.Usage == nil {
		t.Errorf("attempt = %+v, %v", got, err)
	}
}
