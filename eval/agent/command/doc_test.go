package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// documented is the program of docs/adding-an-agent.md, as it is printed there,
// on its way to a scripted server.
func documented(t *testing.T) func(s *agenttest.Server, key string) *Agent {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the documented program needs python3: ", err)
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "adding-an-agent.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(doc), "```python\n")
	text, _, closed := strings.Cut(text, "```")
	if !ok || !closed {
		t.Fatal("docs/adding-an-agent.md prints no program")
	}
	file := filepath.Join(t.TempDir(), "agent.py")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(s *agenttest.Server, key string) *Agent {
		a, err := New(t.Context(), Config{Args: []string{file}, Config: replay.Config{Path: python,
			Env: []string{"BASE_URL=" + s.URL, "MODEL=scripted"}, Credentials: []string{"API_KEY=" + key}}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// The suite as a whole is TestConformance's: an interpreter takes its time to
// start. Here it is what the documented program itself has to tell apart.
func TestDocumentedAgent(t *testing.T) {
	open := documented(t)
	left := agenttest.WithoutServer("TestConformance shows it")
	for _, s := range []agenttest.Scenario{agenttest.Answer, agenttest.Conversation, agenttest.CutOff, agenttest.WrongKey,
		agenttest.UsageLimit, agenttest.ServerError, agenttest.Unreachable} {
		delete(left, s)
	}
	for _, s := range []agenttest.Scenario{agenttest.Success, agenttest.Concurrent, agenttest.Cancelled} {
		left[s] = "TestConformance shows it"
	}
	agenttest.Run(t, agenttest.Harness{Unsupported: left,
		New: func(t *testing.T, s *agenttest.Server, key string) eval.Agent { return open(s, key) }})
}

func TestDocumentedModel(t *testing.T) {
	open := documented(t)
	s := agenttest.NewServer(t, nil, agenttest.Reply{Text: "better", Finish: "length", Input: 30, Cached: 10, Output: 4})
	c, err := open(s, agenttest.Key).Complete(t.Context(), eval.Prompt{System: "be brief", User: "improve"})
	want := eval.Usage{Input: 20, CacheRead: 10, Output: 4}
	if err != nil || c.Text != "better" || c.Finish != "length" || c.Usage == nil || *c.Usage != want || c.CostUSD != nil {
		t.Errorf("completion = %+v (%v)", c, err)
	}
	if body := string(s.Bodies()[0]); !strings.Contains(body, "be brief") || !strings.Contains(body, "improve") {
		t.Errorf("the model was asked %s", body)
	}
}
