package repeated_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/gemini"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
	"github.com/skill-evolve/evolve/harvest/pi"
	"github.com/skill-evolve/evolve/harvest/repeated"
)

const (
	readme = "# Widgets\n\nTo \"release\" a widget, upload the archive to the mirror of the vendor\tand mail the signing key of the team to its operators, who keep it for you.\n"
	repeat = "To release a widget, upload the archive to the mirror of the vendor and mail the signing key of the team to its operators, who keep it for you."
	own    = "Build the archive with the script in tools, look at its contents, and tag the commit once the checks of the main branch have passed."
	asked  = "how do we release a widget here?"
)

// A dialect writes the lines of one agent's transcripts.
type dialect struct {
	kind            harvest.Kind
	file, head      string
	user, say, tool func(n int, text string) string
}

func quote(text string) string { return harvesttest.Quote(text) }

func claudeLine(n int, kind, content string) string {
	return `{"type":"` + kind + `","sessionId":"s","uuid":"u` + strconv.Itoa(n) + `","cwd":"/p","timestamp":"2026-11-20T18:0` + strconv.Itoa(n) + `:00.000Z","message":{"role":"` + kind + `","content":` + content + `}}`
}

func codexLine(n int, kind, payload string) string {
	return `{"timestamp":"2026-11-20T18:0` + strconv.Itoa(n) + `:00.000Z","type":"` + kind + `","payload":{` + payload + `}}`
}

func piLine(n int, body string) string {
	parent := "null"
	if n > 1 {
		parent = `"e` + strconv.Itoa(n-1) + `"`
	}
	return `{"type":"message","id":"e` + strconv.Itoa(n) + `","parentId":` + parent + `,"timestamp":"2026-11-20T18:0` + strconv.Itoa(n) + `:00.000Z","message":{` + body + `}}`
}

func copilotLine(n int, kind, data string) string {
	return `{"type":"` + kind + `","data":{` + data + `},"id":"e` + strconv.Itoa(n) + `","timestamp":"2026-11-20T18:0` + strconv.Itoa(n) + `:00.000Z","parentId":null}`
}

func geminiLine(n int, kind, content, rest string) string {
	return `{"id":"` + strconv.Itoa(n) + `","timestamp":"2026-11-20T18:0` + strconv.Itoa(n) + `:00.000Z","type":"` + kind + `","content":` + content + rest + `}`
}

func dialects() map[string]dialect {
	codexMessage := func(n int, role, kind, text string) string {
		return codexLine(n, "response_item", `"type":"message","role":"`+role+`","content":[{"type":"`+kind+`","text":`+quote(text)+`}]`)
	}
	codexOf := func(result func(n int, text string) string) dialect {
		return dialect{codex.Kind, "rollout-1.jsonl", codexLine(0, "session_meta", `"id":"s","cwd":"/p","originator":"codex_cli_rs","timestamp":"2026-11-20T18:00:00.000Z"`),
			func(n int, text string) string {
				return codexMessage(n, "user", "input_text", text) + "\n" + codexLine(n, "event_msg", `"type":"user_message","message":`+quote(text))
			},
			func(n int, text string) string { return codexMessage(n, "assistant", "output_text", text) },
			result}
	}
	return map[string]dialect{
		"claude": {claude.Kind, "s.jsonl", "",
			func(n int, text string) string { return claudeLine(n, "user", quote(text)) },
			func(n int, text string) string {
				return claudeLine(n, "assistant", `[{"type":"text","text":`+quote(text)+`}]`)
			},
			func(n int, text string) string {
				return claudeLine(n, "user", `[{"type":"tool_result","tool_use_id":"t","content":`+quote(text)+`}]`)
			}},
		"codex": codexOf(func(n int, text string) string {
			return codexLine(n, "response_item", `"type":"function_call_output","call_id":"c","output":`+quote(text))
		}),
		"codex, JSON in JSON": codexOf(func(n int, text string) string {
			return codexLine(n, "response_item", `"type":"function_call_output","call_id":"c","output":`+quote(`{"output":`+quote(text)+`}`))
		}),
		"pi": {pi.Kind, "s.jsonl", `{"type":"session","version":3,"id":"s","timestamp":"2026-11-20T18:00:00.000Z","cwd":"/p"}`,
			func(n int, text string) string {
				return piLine(n, `"role":"user","content":[{"type":"text","text":`+quote(text)+`}]`)
			},
			func(n int, text string) string {
				return piLine(n, `"role":"assistant","content":[{"type":"text","text":`+quote(text)+`}],"model":"m","stopReason":"stop"`)
			},
			func(n int, text string) string {
				return piLine(n, `"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":`+quote(text)+`}],"isError":false`)
			}},
		"copilot": {copilot.Kind, "events.jsonl", copilotLine(0, "session.start", `"sessionId":"s","version":1,"context":{"cwd":"/p"}`),
			func(n int, text string) string { return copilotLine(n, "user.message", `"content":`+quote(text)) },
			func(n int, text string) string {
				return copilotLine(n, "assistant.message", `"messageId":"m`+strconv.Itoa(n)+`","content":`+quote(text)+`,"toolRequests":[]`)
			},
			func(n int, text string) string {
				return copilotLine(n, "tool.execution_complete", `"toolCallId":"t","success":true,"result":{"content":`+quote(text)+`}`)
			}},
		"gemini": {gemini.Kind, "session-1.json", `{"sessionId":"s","projectHash":"h","startTime":"2026-11-20T18:00:00.000Z","kind":"main"}`,
			func(n int, text string) string { return geminiLine(n, "user", `[{"text":`+quote(text)+`}]`, "") },
			func(n int, text string) string { return geminiLine(n, "gemini", quote(text), `,"model":"m"`) },
			func(n int, text string) string {
				return geminiLine(n, "gemini", `"I look."`, `,"toolCalls":[{"id":"c","name":"read_file","args":{"file_path":"a"},"status":"success","result":[{"functionResponse":{"response":{"output":`+quote(text)+`}}}]}]`)
			}},
	}
}

// session reads lines as the agent's reader does, from a file that can be read again.
func session(t testing.TB, d dialect, lines ...string) *harvest.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), d.file)
	if d.head != "" {
		lines = append([]string{d.head}, lines...)
	}
	text := strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, problems, err := d.kind.Read(t.Context(), strings.NewReader(text), path, harvest.Options{Exists: func(string) bool { return true }})
	if err != nil || s == nil || len(problems) > 0 {
		t.Fatalf("%v, %v, %v", s, problems, err)
	}
	return s
}

// TestOf: an answer repeats what a tool showed unless the user or the agent wrote it before, in
// the transcripts of every agent that records what tools return.
func TestOf(t *testing.T) {
	for name, d := range dialects() {
		for what, c := range map[string]struct {
			lines []string
			least float64 // of the last answer
			most  float64
		}{
			"a file's words": {[]string{d.user(1, asked), d.tool(2, readme), d.say(3, repeat)}, .99, 1},
			"with others":    {[]string{d.user(1, asked), d.tool(2, readme), d.say(3, "Here is how: "+repeat+" Shall I do it?")}, .8, .9},
			"of a turn before": {[]string{d.user(1, "look around"), d.tool(2, readme), d.say(3, "I did."), d.user(4, asked), d.say(5, repeat)},
				.99, 1},
			"its own words":        {[]string{d.user(1, asked), d.tool(2, readme), d.say(3, own)}, 0, 0},
			"the user's own words": {[]string{d.user(1, repeat), d.tool(2, readme), d.say(3, repeat)}, 0, 0},
			"it wrote the file":    {[]string{d.user(1, "write it down"), d.say(2, repeat), d.tool(3, readme), d.say(4, repeat)}, 0, 0},
			"without a result":     {[]string{d.user(1, asked), d.say(2, repeat)}, 0, 0},
			"a short answer":       {[]string{d.user(1, asked), d.tool(2, readme), d.say(3, "Upload the archive to the mirror.")}, .99, 1},
			"a few shared words":   {[]string{d.user(1, asked), d.tool(2, readme), d.say(3, "Ask whether the archive goes to the mirror, since nobody here has done that since spring, and I would not guess.")}, 0, 0},
			"three words":          {[]string{d.user(1, asked), d.tool(2, readme), d.say(3, "Upload the archive.")}, 0, 0},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				s := session(t, d, c.lines...)
				last := len(s.Turns) - 1
				if s.Turns[last].Answer == "" {
					t.Fatalf("no answer was read: %s", harvesttest.Summary(s))
				}
				if got := repeated.Of(s, []int{last})[last]; got < c.least || got > c.most {
					t.Errorf("%.2f of the answer, not %.2f to %.2f: %s", got, c.least, c.most, harvesttest.Summary(s))
				}
			})
		}
	}
}

// TestOfDocument: Gemini CLI's older transcripts are one document, on one line or on many.
func TestOfDocument(t *testing.T) {
	d := dialects()["gemini"]
	doc := "{\n" + strings.TrimSuffix(d.head[1:], "}") + `,"messages":[` + strings.Join([]string{d.user(1, asked), d.tool(2, readme), d.say(3, own), d.user(4, "and now?"), d.say(5, repeat)}, ",") + "]}"
	d.head = ""
	for name, text := range map[string]string{"one line": doc, "many lines": strings.ReplaceAll(strings.ReplaceAll(doc, `{"output"`, "{\n  \"output\""), `}}}]`, "\n}}}]")} {
		s := session(t, d, text)
		if got := repeated.Of(s, []int{0, 1}); len(got) != 1 || got[1] < .99 {
			t.Errorf("%s: %v of %s", name, got, harvesttest.Summary(s))
		}
	}
}

func TestOfNoTranscript(t *testing.T) {
	s := session(t, dialects()["claude"], claudeLine(1, "user", quote(asked)), claudeLine(2, "assistant", `[{"type":"text","text":"x"}]`))
	s.Path = filepath.Join(t.TempDir(), "gone.jsonl")
	if got := repeated.Of(s, []int{0}); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestShareOfAnyText: whatever a tool shows is repeated as a whole by an answer of the same words,
// in any case and with any marks between them; an answer of other words repeats nothing.
func TestShareOfAnyText(t *testing.T) {
	d := dialects()["claude"]
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9äöñж]{1,8}|数据|ข้อ`), 8, 40).Draw(r, "words")
		marks := rapid.SampledFrom([]string{" ", "\n", ", ", "\t", " \\ ", "\" \"", " – "})
		with := func(label string) string {
			var b strings.Builder
			for _, w := range words {
				b.WriteString(w + marks.Draw(r, label))
			}
			return b.String()
		}
		shown, said := with("shown"), strings.ToUpper(with("said"))
		other := strings.Repeat("entirely other language fills this answer without any overlap ", 1+len(words)/8)
		s := session(t, d, d.user(1, "x"), d.tool(2, shown), d.say(3, said), d.user(4, "y"), d.say(5, other))
		if s.Turns[0].Answer != strings.TrimSpace(said) && s.Turns[0].Answer != said || s.Redactions > 0 {
			r.Skip("the reader keeps another text")
		}
		if got := repeated.Of(s, []int{0, 1}); got[0] != 1 || got[1] != 0 {
			r.Errorf("%v of %q, shown %q", got, said, shown)
		}
	})
}

// FuzzOf: whatever a transcript holds, each share is one.
func FuzzOf(f *testing.F) {
	for _, d := range dialects() {
		f.Add([]byte(strings.Join([]string{d.user(1, asked), d.tool(2, readme), d.say(3, repeat)}, "\n")))
	}
	f.Add([]byte(`{"functionResponse":` + "\n" + `{"functionResponse":{"output":"\u00` + "\n" + `"output": "\`))
	path := filepath.Join(f.TempDir(), "s.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := &harvest.Session{Path: path, Turns: []harvest.Turn{{Prompt: asked, Answer: repeat}, {Answer: string(text)}, {}}}
		for turn, share := range repeated.Of(s, []int{0, 1, 2}) {
			if share <= 0 || share > 1 || turn > 1 {
				t.Errorf("%v of turn %d", share, turn)
			}
		}
	})
}
