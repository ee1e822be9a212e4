package backend

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// TestRecorder: the vendor that recorded a session is the one that its transcript names;
// of a session that another server may have answered, or several, it is not known.
func TestRecorder(t *testing.T) {
	lines := map[string]func(string) string{
		"claude-code": func(reply string) string {
			return `{"type":"assistant","sessionId":"s","cwd":"/p","message":{"role":"assistant",` + reply + `,"content":[{"type":"text","text":"done"}]},"timestamp":"2026-11-20T17:54:09.254Z"}`
		},
		"codex": func(meta string) string {
			return `{"timestamp":"2026-11-20T17:54:09.254Z","type":"session_meta","payload":{"id":"s",` + meta + `"base_instructions":{"text":"x"}}}`
		},
		"pi": func(provider string) string {
			return `{"type":"message","id":"ID","parentId":"PARENT","timestamp":"2026-11-20T17:54:09.254Z","message":{"role":"assistant","provider":"` + provider + `","content":[{"type":"text","text":"done"}],"stopReason":"stop"}}`
		},
		"gemini": func(model string) string {
			return `{"type":"gemini","id":"2","timestamp":"2026-11-20T17:54:09.254Z","content":"done","model":"` + model + `"}`
		},
		"cursor": func(string) string {
			return `{"role":"assistant","message":{"content":[{"type":"text","text":"done"}]}}`
		},
		"copilot-cli": func(usage string) string {
			return `{"type":"session.usage_record","data":{"usage":{"model":"gpt-5.4"` + usage + `}},"id":"e2","timestamp":"2026-11-20T17:54:09.254Z"}`
		},
	}
	typed := map[string]string{
		"claude-code": `{"type":"user","sessionId":"s","cwd":"/p","uuid":"u","message":{"role":"user","content":"draw it"},"timestamp":"2026-11-20T17:54:08.254Z"}`,
		"codex":       `{"timestamp":"2026-11-20T17:54:08.254Z","type":"response_item","payload":{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"draw it"}],"internal_chat_message_metadata_passthrough":{"turn_id":"t","content_item_kinds":["user.text"]}}}`,
		"pi":          `{"type":"session","version":3,"id":"s","cwd":"/p","timestamp":"2026-11-20T17:54:07.254Z"}` + "\n" + `{"type":"message","id":"0","parentId":null,"timestamp":"2026-11-20T17:54:08.254Z","message":{"role":"user","content":"draw it"}}`,
		"gemini":      `{"sessionId":"s","projectHash":"h"}` + "\n" + `{"type":"user","id":"1","timestamp":"2026-11-20T17:54:08.254Z","content":"draw it"}`,
		"cursor":      `{"role":"user","message":{"content":[{"type":"text","text":"draw it"}]}}`,
		"copilot-cli": `{"type":"user.message","data":{"content":"draw it"},"id":"e1","timestamp":"2026-11-20T17:54:08.254Z"}`,
	}
	for _, c := range []struct {
		agent, want string
		replies     []string
	}{
		{"claude-code", "anthropic", nil},
		{"claude-code", "anthropic", []string{`"id":"msg_01XFDUDYJgAACzvnptvVoYEL","model":"claude-opus-5-5"`}},
		{"claude-code", "anthropic", []string{`"id":"msg_01XFDUDYJgAACzvnptvVoYEL","model":"claude-opus-4-8[1m]"`, `"id":"a341d81e-c2a2-4db6-9ebc-04ecefe239af","model":"<synthetic>"`}},
		{"claude-code", "", []string{`"id":"msg_bdrk_01XFDUDYJgAACzvnptvVoYEL","model":"claude-opus-5-5"`}},
		{"claude-code", "", []string{`"id":"msg_vrtx_01XFDUDYJgAACzvnptvVoYEL","model":"claude-opus-5-5"`}},
		{"claude-code", "", []string{`"id":"msg_01XFDUDYJgAACzvnptvVoYEL","model":"claude-opus-5-5@20260101"`}},
		{"claude-code", "", []string{`"id":"msg_01XFDUDYJgAACzvnptvVoYEL","model":"us.anthropic.claude-opus-5-5"`}},
		{"claude-code", "", []string{`"id":"msg_01XFDUDYJgAACzvnptvVoYEL","model":"glm-5"`}},
		{"claude-code", "", []string{`"id":"chatcmpl-b6735d60d23c","model":"claude-opus-5-5"`}},
		{"claude-code", "", []string{`"id":"msg_5f0c8f3e-1b1c-4a53-a5b4-0f6e2f8a61aa","model":"claude-opus-5-5"`}},
		{"claude-code", "", []string{`"id":"msg_01XFDUDYJgAACzvnptvVoYEL","model":"claude-opus-5-5"`, `"id":"msg_01YFDUDYJgAACzvnptvVoYEL","model":"kimi-k3"`}},
		{"codex", "openai", []string{``}}, // older versions name none
		{"codex", "openai", []string{`"cwd":"/p","model_provider":"openai",`}},
		{"codex", "openai", []string{`"model_provider":"openai","cwd":"/p",`}},
		{"codex", "openrouter", []string{`"model_provider":"openrouter",`}},
		{"codex", "", []string{`"model_provider":"azure",`}},
		{"codex", "", []string{`"cwd":"/p","model_provider":"ollama",`}},
		{"codex", "", []string{`"model_provider":"",`}},
		{"codex", "", []string{`"cwd":"/p","model_provider":"openai",`, `"cwd":"/p","model_provider":"work",`}}, // a fork of another's
		{"pi", "", nil},
		{"pi", "anthropic", []string{"anthropic", "anthropic"}},
		{"pi", "openai", []string{"openai-codex"}},
		{"pi", "", []string{"amazon-bedrock"}},
		{"pi", "", []string{"anthropic", "openai"}},
		{"pi", "", []string{"anthropic", "openai", "anthropic"}},
		{"gemini", "google", nil},
		{"gemini", "google", []string{"gemini-3-pro"}},
		{"gemini", "", []string{"gemini-3-pro", "glm-5"}},
		{"cursor", "", []string{""}},
		{"copilot-cli", "github", nil},
		{"copilot-cli", "github", []string{`,"isByok":false`}},
		{"copilot-cli", "", []string{`,"isByok":true,"modelProvider":"anthropic"`}},
		{"copilot-cli", "", []string{``, `,"isByok":true`, ``}},
	} {
		var text []string
		for i, r := range c.replies {
			l := strings.NewReplacer(`"ID"`, fmt.Sprintf(`"%d"`, i+1), `"PARENT"`, fmt.Sprintf(`"%d"`, i)).Replace(lines[c.agent](r))
			text = append(text, l)
		}
		if c.agent == "codex" {
			text = append(text, typed[c.agent])
		} else {
			text = append([]string{typed[c.agent]}, text...)
		}
		for _, k := range kinds {
			if k.Agent != c.agent {
				continue
			}
			s, problems, err := k.Read(t.Context(), strings.NewReader(strings.Join(text, "\n")+"\n"), "s.jsonl", harvest.Options{})
			if err != nil || len(problems) > 0 || s == nil || len(s.Turns) != 1 {
				t.Fatalf("%s %q: %+v, %v, %v", c.agent, c.replies, s, problems, err)
			}
			if got := Recorder(s); got != c.want {
				t.Errorf("%s %q: recorded by %q, want %q", c.agent, c.replies, got, c.want)
			}
		}
	}
	// Of a session that was stored before transcripts were asked, the agent tells.
	if got := Recorder(&harvest.Session{Agent: "codex"}); got != "openai" {
		t.Error(got)
	}
	if got := Recorder(&harvest.Session{Agent: "another"}); got != "" {
		t.Error(got)
	}
}
