package agenttest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// post sends a body as a client of the wire would.
func post(t *testing.T, s *Server, path, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Root+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if path == "/v1/messages" {
		req.Header.Set("X-Api-Key", Key)
	} else {
		req.Header.Set("Authorization", "Bearer "+Key)
	}
	res, err := s.Client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// events reads the data of a stream of server-sent events.
func events(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if data != "[DONE]" && !json.Valid([]byte(data)) {
				t.Fatalf("no JSON: %s", data)
			}
			out = append(out, data)
		}
	}
	return out
}

var wires = []struct{ path, ask, streamed, tools string }{
	{"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"hi"}]`,
		`content_block_delta`, `[{"name":"Bash"},{"name":"Skill"}]`},
	{"/v1/responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]`,
		`response.output_text.delta`, `[{"type":"namespace","name":"x","tools":[{"type":"function","name":"shell"}]},{"type":"custom","name":"apply_patch"}]`},
	{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]`,
		`"content":"`, `[{"type":"function","function":{"name":"bash"}},{"type":"custom","custom":{"name":"apply_patch"}}]`},
}

// Every wire sends the same text, in one piece and in pieces.
func TestText(t *testing.T) {
	text := strings.Repeat("zirconium is a metal – ", 20)
	s := NewServer(t, nil, Reply{Thinking: "hm", Text: text, Input: 120, Cached: 100, Output: 7})
	plain := []string{"content.1.text", "output.1.content.0.text", "choices.0.message.content"}
	pieces := []string{"delta.text", "delta", "choices.0.delta.content"}
	usage := []string{"usage.cache_read_input_tokens", "usage.input_tokens_details.cached_tokens", "usage.prompt_tokens_details.cached_tokens"}
	for i, w := range wires {
		if _, got := post(t, s, w.path, w.ask+"}"); gjson.Get(got, plain[i]).String() != text ||
			gjson.Get(got, usage[i]).Int() != 100 {
			t.Errorf("%s says %s", w.path, got)
		}
		_, got := post(t, s, w.path, w.ask+`,"stream":true}`)
		var b strings.Builder
		for _, e := range events(t, got) {
			if strings.Contains(e, w.streamed) && gjson.Get(e, pieces[i]).Type == gjson.String {
				b.WriteString(gjson.Get(e, pieces[i]).String())
			}
		}
		if b.String() != text {
			t.Errorf("%s streams %q", w.path, b.String())
		}
	}
	if n := len(s.Requests()); n != 6 {
		t.Errorf("%d requests, want 6", n)
	}
}

// An op becomes a call of the tool that is declared for it.
func TestTools(t *testing.T) {
	s := Start(t, Config{Names: map[string]string{"{mark}": "m-1"}, Answer: func(Request) Reply {
		return Reply{Tools: []Op{Bash("echo {mark}"), Write("{workspace}/a.txt", "one\ntwo\n")}}
	}})
	for i, w := range wires {
		_, got := post(t, s, w.path, w.ask+`,"system":"in /x/evolve-case-7","tools":`+w.tools+`}`)
		var names, inputs []string
		for _, call := range []string{
			"content.#(type==tool_use)#", "output.#(type%\"*_call\")#", "choices.0.message.tool_calls",
		} {
			gjson.Get(got, call).ForEach(func(_, c gjson.Result) bool {
				for _, at := range []string{"name", "function.name", "custom.name"} {
					if v := c.Get(at).String(); v != "" {
						names = append(names, v)
					}
				}
				for _, at := range []string{"input", "arguments", "function.arguments", "custom.input"} {
					if v := c.Get(at); v.Exists() {
						inputs = append(inputs, v.String())
					}
				}
				return true
			})
		}
		all := strings.Join(names, " ") + "\n" + strings.Join(inputs, "\n")
		want := [][]string{
			{"Bash Bash\n", "echo m-1", "'/x/evolve-case-7/a.txt'"},
			{"shell apply_patch\n", `["bash","-lc","echo m-1"]`, "*** Add File: /x/evolve-case-7/a.txt\n+one\n+two\n"},
			{"bash apply_patch\n", "echo m-1", "*** Add File: /x/evolve-case-7/a.txt\n+one\n+two\n"},
		}[i]
		for _, part := range want {
			if !strings.Contains(all, part) {
				t.Errorf("%s calls\n%s\nwithout %q", w.path, all, part)
			}
		}
	}
}

// The parsed conversation is the same on every wire.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		wire Wire
		body string
	}{
		{Messages, `{"messages":[{"role":"user","content":"first"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]},
			{"role":"user","content":[{"type":"tool_result","content":"r1"},{"type":"tool_result","content":[{"type":"text","text":"r2"}]}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"c"}]},
			{"role":"user","content":[{"type":"tool_result","content":"r3"},{"type":"text","text":"last"}]}],"tools":[{"name":"Read"}]}`},
		{Responses, `{"input":[{"role":"user","content":[{"type":"input_text","text":"first"}]},
			{"type":"function_call","call_id":"a"},{"type":"custom_tool_call","call_id":"b"},
			{"type":"function_call_output","output":"r1"},{"type":"custom_tool_call_output","output":[{"type":"input_text","text":"r2"}]},
			{"type":"function_call","call_id":"c"},{"type":"function_call_output","output":"r3"},
			{"role":"user","content":"last"}],"tools":[{"type":"function","name":"Read"}]}`},
		{Chat, `{"messages":[{"role":"user","content":"first"},{"role":"assistant","tool_calls":[{},{}]},
			{"role":"tool","content":"r1"},{"role":"tool","content":[{"type":"text","text":"r2"}]},
			{"role":"assistant","tool_calls":[{}]},{"role":"tool","content":"r3"},
			{"role":"user","content":"last"}],"tools":[{"type":"function","function":{"name":"Read"}}]}`},
	} {
		q := parse(c.wire, []byte(c.body))
		if q.Step != 2 || strings.Join(q.Results, " ") != "r1 r2 r3" || q.Prompt != "last" ||
			q.User != "first\nlast\n" || !q.Offers("Read") || q.Side {
			t.Errorf("%s: %+v", c.wire, q)
		}
	}
}

// Codex names skills below a root that it explains apart.
func TestSkillPath(t *testing.T) {
	for text, want := range map[string]string{
		"`r0` = `/p/.codex/skills`\n- stones (file: r0/stones/SKILL.md)": "/p/.codex/skills/stones/SKILL.md",
		"<location>/q/stones/SKILL.md</location>":                        "/q/stones/SKILL.md",
		"nothing": "skills/stones/SKILL.md",
	} {
		q := Request{Text: text}
		if got := q.skillPath("stones"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A refusal is worded as each vendor does.
func TestRefusals(t *testing.T) {
	at := time.Unix(4102444800, 0)
	s := NewServer(t, nil, Reply{Limit: &Limit{Resets: at}})
	want := []string{"error.type=rate_limit_error", "error.type=usage_limit_reached", "error.code=insufficient_quota"}
	for i, w := range wires {
		res, got := post(t, s, w.path, w.ask+"}")
		path, word, _ := strings.Cut(want[i], "=")
		if res.StatusCode != http.StatusTooManyRequests || gjson.Get(got, path).String() != word {
			t.Errorf("%s: %s %s", w.path, res.Status, got)
		}
		if h := res.Header.Get("Anthropic-Ratelimit-Unified-Reset"); (w.path == "/v1/messages") != (h == "4102444800") {
			t.Errorf("%s: resets %q", w.path, h)
		}
		if w.path == "/v1/responses" && gjson.Get(got, "error.resets_at").Int() != at.Unix() {
			t.Errorf("%s: %s", w.path, got)
		}
	}
	s = NewServer(t, nil, good)
	for _, w := range wires {
		res, err := s.Client.Post(s.Root+w.path, "application/json", strings.NewReader(w.ask+"}"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a key: %s", w.path, res.Status)
		}
	}
	for _, q := range s.Requests() {
		if q.Header.Get("Authorization") != "" || q.Header.Get("X-Api-Key") != "" {
			t.Errorf("a key was kept: %v", q.Header)
		}
	}
}

// A dropped stream has begun, and has no end.
func TestDrop(t *testing.T) {
	s := NewServer(t, nil, Reply{Drop: true})
	for _, w := range wires {
		req, err := http.NewRequest(http.MethodPost, s.Root+w.path, strings.NewReader(w.ask+`,"stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", Key)
		res, err := s.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err == nil || !strings.Contains(string(got), "zirconium") {
			t.Errorf("%s: %q, %v; want a part of the answer and an error", w.path, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, w := range wires {
		f.Add(string(Messages), w.ask+`,"tools":`+w.tools+`}`)
	}
	f.Add(string(Responses), `{"input":"x","tools":[[]]}`)
	f.Fuzz(func(t *testing.T, wire, body string) {
		q := parse(Wire(wire), []byte(body))
		if q.Step > len(q.Results) || q.Side != (len(q.Tools) == 0) {
			t.Errorf("%+v", q)
		}
		q.call(Skill("stones"))
	})
}
