package codex

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/replay"
)

func TestReplayArgs(t *testing.T) {
	s := &replay.Stage{Workspace: "/w", Temp: "/s/tmp"}
	for _, c := range []struct {
		agent *Agent
		with  []string
		not   []string
		hosts []string
	}{
		{&Agent{c: replay.Config{Model: "m", BaseURL: "http://127.0.0.1:8080/v1/"}, login: login{variable: "OPENAI_API_KEY", key: "sk-1"}},
			[]string{"-s workspace-write", "exclude_slash_tmp=true", "-m m", `base_url="http://127.0.0.1:8080/v1"`, `env_key="OPENAI_API_KEY"`,
				`shell_environment_policy.exclude=["OPENAI_API_KEY"]`, "unbounded_connection_retries=false", `web_search="disabled"`},
			[]string{"sk-1", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox", "requires_openai_auth"}, []string{"127.0.0.1:8080"}},
		{&Agent{c: replay.Config{Sandbox: true}, login: login{variable: "CODEX_API_KEY", key: "sk-1"}},
			[]string{"--dangerously-bypass-approvals-and-sandbox", `base_url="https://api.openai.com/v1"`, `env_key="CODEX_API_KEY"`},
			[]string{"workspace-write", "-m"}, []string{"api.openai.com:443"}},
		{&Agent{c: replay.Config{Sandbox: true}, login: login{file: "/x/auth.json"}},
			[]string{`name="OpenAI",requires_openai_auth=true`}, []string{"base_url", "env_key", "/x/auth.json"},
			[]string{"chatgpt.com:443", "api.openai.com:443"}},
		{&Agent{c: replay.Config{BaseURL: "http://model.local/v1"}},
			[]string{`base_url="http://model.local/v1"`}, []string{"env_key", "shell_environment_policy"}, []string{"model.local:80"}},
	} {
		args := c.agent.replayArgs(s)
		text := strings.Join(args, " ")
		for _, want := range append(c.with, "exec --json", "-C /w", "skills.bundled.enabled=false", "request_max_retries=0") {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in %s", want, text)
			}
		}
		for _, not := range c.not {
			if slices.Contains(args, not) || len(not) > 2 && strings.Contains(text, not) {
				t.Errorf("%q stands in %s", not, text)
			}
		}
		if args[len(args)-1] != "-" || strings.Count(text, "model_provider=") != 1 {
			t.Errorf("args = %s", text)
		}
		if got := c.agent.hosts(); !slices.Equal(got, c.hosts) {
			t.Errorf("hosts = %q, want %q", got, c.hosts)
		}
	}
	a := &Agent{c: replay.Config{Model: "m"}}
	text := strings.Join(a.textArgs(s, `/s/tmp/a "b".md`, ""), " ")
	for _, want := range []string{"--ephemeral", "-s read-only", `model_instructions_file="/s/tmp/a \"b\".md"`, "features.shell_tool=false"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	if strings.Contains(text, "model_catalog_json") || strings.Count(text, "model_provider=") != 1 {
		t.Errorf("args = %s", text)
	}
}

func TestParams(t *testing.T) {
	for want, a := range map[string]*Agent{
		"base=api.openai.com/v1 web_search=disabled sandbox=workspace-write": {login: login{variable: "X", key: "sk-1"}},
		"base=login web_search=disabled sandbox=evolve":                      {c: replay.Config{Sandbox: true}, login: login{file: "/x"}},
		"base=h:1/v1 web_search=disabled sandbox=evolve env:A=b":             {c: replay.Config{Sandbox: true, BaseURL: "http://h:1/v1/", Env: []string{"A=b"}}},
	} {
		if got := a.params(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCatalogueWithoutTools(t *testing.T) {
	list := []byte(`{"models":[{"slug":"a","apply_patch_tool_type":"freeform","tool_mode":"code_mode_only","context_window":7,"experimental_supported_tools":["clock"]},{"slug":"b"}]}`)
	for model, want := range map[string]int{"a": 1, "b": 1, "": 2, "c": 0} {
		text, err := catalogueWithoutTools(list, model)
		if err != nil {
			t.Fatal(err)
		}
		if want == 0 {
			if text != nil {
				t.Errorf("%q: %s", model, text)
			}
			continue
		}
		var got struct{ Models []map[string]any }
		if err := json.Unmarshal(text, &got); err != nil || len(got.Models) != want {
			t.Fatalf("%q: %s %v", model, text, err)
		}
		for _, m := range got.Models {
			tools, _ := m["experimental_supported_tools"].([]any)
			if m["apply_patch_tool_type"] != nil || m["tool_mode"] != nil || tools == nil || len(tools) != 0 {
				t.Errorf("model %v", m)
			}
			if m["slug"] == "a" && m["context_window"] != 7.0 {
				t.Errorf("the model lost more than its tools: %v", m)
			}
		}
	}
	if _, err := catalogueWithoutTools([]byte("x"), ""); err == nil {
		t.Error("what is no list was taken for one")
	}
}
