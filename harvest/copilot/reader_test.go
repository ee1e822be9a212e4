package copilot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/work"
)

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// event is one line; at is its second within the minute.
func event(kind, id string, at int, data string) string {
	return fmt.Sprintf(`{"type":"%s","data":{%s},"id":"%s","timestamp":"2026-11-20T18:10:%02d.000Z","parentId":null}`, kind, data, id, at)
}

func said(id, text string) string {
	return event("user.message", id, 0, `"content":`+quote(text)+`,"transformedContent":`+quote("<current_datetime>x</current_datetime>\n\n"+text)+`,"messageId":"m-`+id+`"`)
}

func answered(id, text string) string {
	return event("assistant.message", id, 5, `"messageId":"`+id+`","model":"gpt","content":`+quote(text)+`,"toolRequests":[],"reasoningText":"private thoughts"`)
}

func called(id, tool, call, args string) string {
	return event("assistant.message", id, 1, `"messageId":"`+id+`","model":"gpt","content":"","toolRequests":[{"toolCallId":"`+call+`","name":"`+tool+`","arguments":`+args+`}]`)
}

func started(tool, call, args string) string {
	return event("tool.execution_start", "s-"+call, 2, `"toolCallId":"`+call+`","toolName":"`+tool+`","arguments":`+args)
}

func ended(call, rest string) string {
	return event("tool.execution_complete", "e-"+call, 3, `"toolCallId":"`+call+`",`+rest)
}

func invoked(id, name, trigger string) string {
	return event("skill.invoked", id, 4, `"name":"`+name+`","path":"/home/dev/.copilot/skills/dataviz/SKILL.md","content":"# dataviz\n","trigger":"`+trigger+`"`)
}

func of(agent, line string) string {
	return strings.Replace(line, `},"id":`, `},"agentId":"`+agent+`","id":`, 1)
}

const ok = `"success":true,"result":{"content":"fine"}`

// every is a registry in which all skills are.
func every(string) bool { return true }

func read(t *testing.T, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	return readWith(t, harvest.Options{Exists: every}, lines...)
}

func readWith(t *testing.T, o harvest.Options, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	s, problems, err := copilot.Kind.Read(context.Background(), strings.NewReader(strings.Join(lines, "\n")), "s1/events.jsonl", o)
	if err != nil {
		t.Fatal(err)
	}
	return s, problems
}

// prompts are what the user typed, one turn a line.
func prompts(s *harvest.Session) string {
	var out []string
	if s != nil {
		for _, turn := range s.Turns {
			out = append(out, turn.Prompt)
		}
	}
	return strings.Join(out, "|")
}

func TestHumanTurns(t *testing.T) {
	from := func(source string) string {
		return strings.Replace(said("v", "not a person"), `"messageId"`, `"source":"`+source+`","messageId"`, 1)
	}
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"typed":             {"a", []string{said("u", "a")}},
		"from the user":     {"a|not a person", []string{said("u", "a"), from("user")}},
		"of the system":     {"a", []string{said("u", "a"), from("system")}},
		"to a subagent":     {"a", []string{said("u", "a"), from("agent-1")}},
		"in a subagent":     {"a", []string{said("u", "a"), of("x", said("v", "b"))}},
		"in a tool call":    {"a", []string{said("u", "a"), strings.Replace(said("v", "b"), `"messageId"`, `"parentToolCallId":"c","messageId"`, 1)}},
		"a skill's context": {"a", []string{said("u", "a"), from("skill-dataviz")}},
		"twice in a file":   {"a", []string{said("u", "a"), said("u", "a")}},
		"nothing":           {"a", []string{said("u", "a"), said("v", " \n")}},
		"on the stream":     {"a", []string{said("u", "a"), strings.Replace(said("v", "b"), `"id":`, `"ephemeral":true,"id":`, 1)}},
		"type comes last":   {"a", []string{`{"data":{"content":"a","type":"x"},"id":"u","type":"user.message"}`}},
		"spaces":            {"a", []string{`{ "type" : "user.message", "data" : {"content" : "a"}, "id" : "u" }`}},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, c.lines...)
			if got := prompts(s); got != c.want || len(problems) > 0 {
				t.Errorf("prompts %q, want %q; problems %v", got, c.want, problems)
			}
		})
	}
}

func TestInvocations(t *testing.T) {
	chart := said("u", "chart")
	use := called("a1", "skill", "t1", `{"skill":" dataviz "}`)
	view := called("a1", "view", "t1", `{"path":"/home/dev/.copilot/skills/dataviz/SKILL.md"}`)
	typedID := "prompt-skill-copilot-cli-dataviz-2026-11-20T18:10:00Z dataviz prompt_slash_command"
	for name, c := range map[string]struct {
		want  string // id, skill, signal, turn, line, failed, has a body
		lines []string
	}{
		"request, execution and text are one use": {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 false true",
			[]string{chart, use, started("skill", "t1", `{"skill":"dataviz"}`), ended("t1", ok), invoked("i", "dataviz", "agent-invoked")}},
		"the request is lost": {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 false true",
			[]string{chart, started("skill", "t1", `{"skill":"dataviz"}`), ended("t1", ok), invoked("i", "dataviz", "agent-invoked")}},
		"all but the text is lost": {"copilot-cli-skill-i dataviz skill_tool_use 0 1 false true",
			[]string{chart, invoked("i", "dataviz", "agent-invoked")}},
		"twice": {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 false true, copilot-cli-skill-t2 dataviz skill_tool_use 0 3 false true",
			[]string{chart, use, invoked("i", "dataviz", "agent-invoked"), called("a2", "skill", "t2", `{"skill":"dataviz"}`), invoked("j", "dataviz", "agent-invoked")}},
		"two at once": {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 false false, copilot-cli-skill-t2 planner skill_tool_use 0 2 false true",
			[]string{chart, use, called("a2", "skill", "t2", `{"skill":"planner"}`), invoked("i", "planner", "agent-invoked")}},
		"arguments as text": {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 false false",
			[]string{chart, called("a1", "skill", "t1", `"{\"skill\":\"dataviz\"}"`)}},
		"of a plugin": {"copilot-cli-skill-t1 pm:dataviz skill_tool_use 0 1 false true",
			[]string{chart, use, invoked("i", "pm:dataviz", "agent-invoked")}},
		"unknown": {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 true false",
			[]string{chart, use, ended("t1", `"success":false,"error":{"message":"no such skill"}`)}},
		"not found": {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 true false",
			[]string{chart, use, ended("t1", ok+`,"toolTelemetry":{"properties":{"found":"false"}}`)}},
		"typed":             {typedID + " 0 0 false false", []string{said("u", "/dataviz bars"), answered("a", "ok")}},
		"typed and loaded":  {typedID + " 0 0 false true", []string{said("u", "/dataviz bars"), invoked("i", "dataviz", "user-invoked")}},
		"loaded, then said": {typedID + " 0 1 false true", []string{invoked("i", "dataviz", "user-invoked"), said("u", "/dataviz bars"), answered("a", "ok")}},
		"loaded for the next prompt": {"copilot-cli-skill-i dataviz prompt_slash_command 1 2 false true",
			[]string{chart, answered("a", "ok"), invoked("i", "dataviz", "user-invoked"), said("v", "bars"), answered("b", "ok")}},
		"loaded at the end": {"copilot-cli-skill-i dataviz prompt_slash_command 0 1 false true",
			[]string{chart, invoked("i", "dataviz", "user-invoked")}},
		"typed by another name": {"prompt-skill-copilot-cli-viz-2026-11-20T18:10:00Z dataviz prompt_slash_command 0 0 false true",
			[]string{said("u", "/viz bars"), invoked("i", "dataviz", "user-invoked")}},
		"typed, then called: one use": {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 false true",
			[]string{said("u", "/dataviz bars"), use, ended("t1", ok), invoked("i", "dataviz", "agent-invoked")}},
		"built-in": {"", []string{said("u", "/plan it"), answered("a", "ok")}},
		"a skill by the name of a built-in": {"copilot-cli-skill-i plan prompt_slash_command 0 1 false true",
			[]string{said("u", "/plan it"), invoked("i", "plan", "user-invoked")}},
		"read": {"copilot-cli-skill-t1 dataviz skill_file_read 0 1 false false",
			[]string{chart, view, ended("t1", ok)}},
		"read in vain":       {"", []string{chart, view, ended("t1", `"success":false`)}},
		"read, then called":  {"copilot-cli-skill-t2 dataviz skill_tool_use 0 3 false false", []string{chart, view, ended("t1", ok), called("a2", "skill", "t2", `{"skill":"dataviz"}`)}},
		"called, then read":  {"copilot-cli-skill-t2 dataviz skill_tool_use 0 1 false false", []string{chart, called("a2", "skill", "t2", `{"skill":"dataviz"}`), view, ended("t1", ok)}},
		"another file":       {"", []string{chart, called("a1", "view", "t1", `{"path":"/home/dev/README.md"}`), ended("t1", ok)}},
		"blank":              {"", []string{chart, called("a1", "skill", "t1", `{"skill":"  "}`)}},
		"another tool":       {"", []string{chart, called("a1", "Skill", "t1", `{"skill":"dataviz"}`)}},
		"in a result":        {"", []string{chart, ended("t9", `"success":true,"result":{"content":`+quote(use)+`}`)}},
		"by a subagent":      {"copilot-cli-skill-t1 dataviz skill_tool_use 0 1 false true", []string{chart, of("x", use), of("x", invoked("i", "dataviz", "agent-invoked"))}},
		"before a turn":      {"copilot-cli-skill-t1 dataviz skill_tool_use 0 0 false false", []string{use}},
		"a path is no skill": {"", []string{said("u", "/etc/hosts is odd"), answered("a", "ok")}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := read(t, c.lines...)
			var got []string
			if s != nil {
				for _, v := range s.Invocations {
					got = append(got, fmt.Sprintf("%s %s %s %d %d %v %v", v.ID, v.Skill, v.Signal, v.Turn, v.Line, v.Failed, v.BodyHash != ""))
					if v.Explicit != (v.Signal != harvest.SkillFileRead) {
						t.Errorf("explicit %v for %s", v.Explicit, v.Signal)
					}
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

// The hash is of the very text, as other agents' readers make it.
func TestBodyHash(t *testing.T) {
	s, _ := read(t, said("u", "chart"), called("a1", "skill", "t1", `{"skill":"dataviz"}`), invoked("i", "dataviz", "agent-invoked"))
	// printf '# dataviz\n' | sha256sum
	const want = "63dd1a66bd04072b7be772fe21c791c731f3f6b4dadc7173c9e58001dbabc3b5"
	if v := s.Invocations[0]; v.BodyHash != want || v.Dir != "/home/dev/.copilot/skills/dataviz" {
		t.Errorf("%+v", v)
	}
}

func usage(call, more string) string {
	return event("session.usage_record", "r-"+call, 2, `"usage":{"inputTokens":100,"outputTokens":9,"cacheReadTokens":60,"cacheWriteTokens":30,"reasoningTokens":4,"apiCallId":"`+call+`"`+more+`}`)
}

func TestTurn(t *testing.T) {
	s, _ := read(t,
		event("session.start", "0", 0, `"sessionId":"abc","selectedModel":"auto","context":{"cwd":"/p","branch":"main","headCommit":"9c1f"}`),
		said("u", "chart"),
		usage("c1", ""), usage("c1", ""), called("a1", "bash", "t1", `{}`),
		event("permission.requested", "p", 10, `"requestId":"q"`), event("permission.completed", "p2", 15, `"requestId":"q","result":{"kind":"approved"}`),
		ended("t1", `"shellExecution":{"exitCode":2},`+ok),
		of("x", usage("c2", "")), of("x", answered("sub", "a subagent's words")), of("x", called("b", "grep", "t2", `{}`)),
		called("a2", "edit", "t3", `{}`), ended("t3", `"success":false,"error":{"message":"x"}`),
		called("a3", "bash", "t4", `{}`), ended("t4", `"shellExecution":{"exitCode":0},`+ok),
		answered("a4", "Done."),
		event("assistant.turn_end", "z", 20, `"turnId":"0"`), of("x", event("assistant.turn_end", "zz", 40, `"turnId":"0"`)),
		event("session.error", "e", 41, `"errorType":"query","message":"Failed; retried 5 times (total 3 s)","statusCode":500`),
		event("abort", "ab", 42, `"reason":"user_initiated"`))
	turn := s.Turns[0]
	if turn.Answer != "Done." || !turn.Interrupted || turn.APIErrors != 6 || *turn.DurationMS != 15000 || s.Model != "gpt" {
		t.Errorf("%+v, %d ms, model %s", turn, *turn.DurationMS, s.Model)
	}
	if s.ID != "abc" || s.CWD != "/p" || s.Branch != "main" || s.Commit != "9c1f" || s.Headless {
		t.Errorf("%+v", s)
	}
	if fmt.Sprint(turn.Tools) != "[{bash true} {edit true} {bash false}]" {
		t.Errorf("tools %v", turn.Tools)
	}
	// Two calls: input without what was cached.
	if u := *turn.Usage; u.Input != 20 || u.CacheRead != 120 || u.CacheWrite != 60 || u.Output != 18 || u.Reasoning != 8 {
		t.Errorf("usage %+v", u)
	}
	if data, _ := json.Marshal(s); strings.Contains(string(data), "private thoughts") || strings.Contains(string(data), "subagent's words") {
		t.Errorf("thinking, or what a subagent said, is kept: %s", data)
	}
}

// A version that records no usage of single calls still reports the total at the end:
// it is the turn's if there is only one.
func TestShutdownUsage(t *testing.T) {
	end := func(n int) string {
		return event("session.shutdown", "z", 30, fmt.Sprintf(`"modelMetrics":{"a":{"usage":{"inputTokens":%d,"outputTokens":2,"cacheReadTokens":5}},"b":{"usage":{"inputTokens":1}}}`, n))
	}
	s, _ := read(t, said("u", "chart"), end(10), end(30))
	if u := s.Turns[0].Usage; u == nil || u.Input != 26 || u.CacheRead != 5 || u.Output != 2 {
		t.Errorf("usage %+v", u)
	}
	if s, _ := read(t, said("u", "chart"), said("v", "bars"), end(10)); s.Turns[0].Usage != nil || s.Turns[1].Usage != nil {
		t.Error("a total was given to one of two turns")
	}
	if s, _ := read(t, said("u", "chart"), usage("c", ""), end(10)); s.Turns[0].Usage.Output != 9 {
		t.Errorf("usage %+v", s.Turns[0].Usage)
	}
}

// A file without a message is no session, and an error or an abort before the first
// message makes no turn.
func TestNobody(t *testing.T) {
	for _, lines := range [][]string{{}, {answered("m", "hello")}, {event("session.start", "0", 0, `"sessionId":"abc"`)}, {event("system.message", "0", 0, `"content":"x"`)}} {
		if s, problems := read(t, lines...); s != nil || len(problems) > 0 {
			t.Errorf("%q: %+v, %v", lines, s, problems)
		}
	}
	if s, _ := read(t, event("session.error", "e", 1, `"message":"x"`), event("abort", "f", 1, ``), said("u", "chart")); prompts(s) != "chart" {
		t.Errorf("prompts %q", prompts(s))
	}
}

// The only sure sign of a program is that a question was closed because no person was
// there.
func TestHeadless(t *testing.T) {
	s, _ := read(t, said("u", "chart"), event("permission.completed", "p", 1, `"requestId":"q","decisionSource":"unattended_fallback"`))
	if !s.Headless {
		t.Error("not headless")
	}
	s, _ = read(t, said("u", "chart"), event("permission.completed", "p", 1, `"requestId":"q","decisionSource":"user"`))
	if s.Headless {
		t.Error("headless")
	}
}

func TestHostileLines(t *testing.T) {
	good := said("u", "chart")
	for name, c := range map[string]struct {
		reasons string
		turns   int
		text    string
	}{
		"malformed":          {"2: not JSON", 1, good + "\n" + `{"type":"user.message","data":{"content":"x}` + `}` + "\n"},
		"no object":          {"2: not a JSON object,3: not a JSON object,4: not a JSON object", 1, good + "\n[1]\n\"x\"\nnull\n"},
		"utf-8":              {"2: not UTF-8", 1, good + "\n" + strings.Replace(said("v", "X"), "X", "a\xff", 1) + "\n"},
		"nul":                {"1: holds a NUL byte", 1, strings.Replace(good, "chart", "ch\x00rt", 1) + "\n" + good},
		"escaped nul":        {"", 1, strings.Replace(good, "chart", `ch\u0000rt`, 1)},
		"lone surrogate":     {"", 1, strings.Replace(good, "chart", `ch\ud800rt`, 1)},
		"cut":                {"", 1, good + "\n" + said("v", "no")[:60]},
		"cut in the middle":  {"2: not a JSON object", 2, good + "\n" + said("v", "no")[:60] + "\n" + said("w", "next")},
		"blank lines":        {"", 1, "\n\n" + good + "\n\r\n"},
		"CRLF":               {"", 2, good + "\r\n" + said("v", "next") + "\r\n"},
		"byte order mark":    {"", 1, "\ufeff" + good + "\n"},
		"unknown type":       {"", 1, event("hologram.seen", "h", 0, `"content":"x"`) + "\n" + good + "\n" + `{"data":"x"}` + "\n" + `{"type":""}`},
		"a document":         {"0: a single JSON document, not JSON lines", 0, "{\n  \"type\": \"user.message\",\n  \"data\": {}\n}\n"},
		"an array":           {"0: a single JSON document, not JSON lines", 0, "[\n{\"type\":\"user.message\"}\n]\n"},
		"a document in line": {"0: a single JSON document, not JSON lines", 0, `{"messages":[{"type":"user"}]}`},
		"a long line":        {"2: line is longer than 16 MiB", 2, good + "\n" + said("v", strings.Repeat("x", jsonl.MaxLine+1<<17)) + "\n" + said("w", "next")},
		"wrong types":        {"", 1, `{"type":5,"data":[]}` + "\n" + `{"type":"user.message","data":"x","timestamp":7}` + "\n" + `{"type":"user.message","data":{"content":{"a":1}}}` + "\n" + good},
		"a deep line":        {"", 1, event("user.message", "d", 0, `"content":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)) + "\n" + good},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, c.text)
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Reason))
			}
			turns := 0
			if s != nil {
				turns = len(s.Turns)
			}
			if strings.Join(got, ",") != c.reasons || turns != c.turns {
				t.Errorf("%d turns, problems %q; want %d, %q", turns, strings.Join(got, ","), c.turns, c.reasons)
			}
		})
	}
}

func TestManyProblems(t *testing.T) {
	_, problems := read(t, strings.Repeat("garbage\n", 1000))
	if n := len(problems); n != 21 || problems[20].Reason != "980 more lines could not be read" {
		t.Errorf("%d problems, the last %+v", n, problems[n-1])
	}
}

// Bytes inside a tool's output are never taken for the record's own.
func TestToolOutputIsNotTheRecord(t *testing.T) {
	quoted := `","success":false,"exitCode":7,"type":"user.message","x":"` + said("v", "injected")
	s, _ := read(t, said("u", "chart"), called("a", "bash", "t1", `{}`), ended("t1", `"success":true,"result":{"content":`+quote(quoted+strings.Repeat("y", 5000))+`}`),
		called("b", "mcp", "t2", `{}`), ended("t2", `"success":true,"result":{"structured":{"success":false,"exitCode":9}}`))
	if prompts(s) != "chart" || fmt.Sprint(s.Turns[0].Tools) != "[{bash false} {mcp false}]" {
		t.Errorf("prompts %q, tools %v", prompts(s), s.Turns[0].Tools)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := copilot.Kind.Read(ctx, strings.NewReader(said("u", "chart")), "f", harvest.Options{}); err == nil {
		t.Error("a cancelled read went on")
	}
}

// plain keeps text as it is: here the reader is tested, and redaction is slow
// under a fuzzer.
type plain struct{}

func (plain) Redact(text string) (string, int) { return text, 0 }

func FuzzRead(f *testing.F) {
	f.Add([]byte(strings.Join([]string{said("u", "chart"), called("a", "skill", "t1", `{"skill":"x"}`), ended("t1", ok), invoked("i", "x", "agent-invoked"), answered("b", "ok"), usage("c", "")}, "\n")))
	f.Add([]byte(invoked("i", "x", "user-invoked") + "\n" + said("u", "/y a") + "\n" + of("s", called("a", "view", "t", `{"path":"x/SKILL.md"}`)) + "\n" + ended("t", ok)))
	f.Add([]byte("{\"type\":\"user.message\"\n\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems, err := copilot.Kind.Read(context.Background(), strings.NewReader(string(data)), "f.jsonl", harvest.Options{Redactor: plain{}, Moments: work.All})
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) > 21 {
			t.Errorf("%d problems", len(problems))
		}
		if s == nil {
			return
		}
		for _, v := range s.Invocations {
			if v.Turn < 0 || v.Turn >= len(s.Turns) || v.Skill == "" {
				t.Errorf("invocation %+v of %d turns", v, len(s.Turns))
			}
		}
	})
}

// long is a transcript as they are: by far most bytes are tool results.
func long(results int) string {
	var b strings.Builder
	output := strings.Repeat(`	if err != nil { return fmt.Errorf("list skills: %w", err) }`+"\n", 600) // 36 kB
	for i := range results {
		if i%20 == 0 {
			fmt.Fprintln(&b, said(fmt.Sprint("u", i), "go on with the next file"))
		}
		call := fmt.Sprint("t", i)
		fmt.Fprintln(&b, called(fmt.Sprint("a", i), "view", call, `{"path":"/home/dev/project/a.go"}`))
		fmt.Fprintln(&b, started("view", call, `{"path":"/home/dev/project/a.go"}`))
		fmt.Fprintln(&b, ended(call, `"success":true,"result":{"content":`+quote(output)+`,"detailedContent":`+quote(output)+`}`))
		fmt.Fprintln(&b, usage(call, ""))
		fmt.Fprintln(&b, answered(fmt.Sprint("n", i), "I read the file."))
	}
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	text := long(400)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := copilot.Kind.Read(context.Background(), strings.NewReader(text), "s/events.jsonl", harvest.Options{Moments: work.All}); err != nil {
			b.Fatal(err)
		}
	}
}

// Memory does not grow with the file, only with what is kept of it.
func TestMemoryIsFlat(t *testing.T) {
	text := long(400)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read(t, text)
	runtime.ReadMemStats(&after)
	// 29 MB of tool results, of which nothing is kept.
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("reading %d MB allocated %d MB", len(text)>>20, n>>20)
	}
}

// A typed command is a use if its skill was loaded, or if there is such a skill.
func TestTypedCommands(t *testing.T) {
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"unfinished": {"", []string{said("u", "/the"), answered("a", "What?")}},
		"it exists":  {"dataviz prompt_slash_command", []string{said("u", "/dataviz x")}},
		"invoked":    {"other prompt_slash_command", []string{said("u", "/other x"), event("skill.invoked", "i", 4, `"name":"other","trigger":"user-invoked"`)}},
		"its file is read": {"other prompt_slash_command", []string{said("u", "/other x"),
			called("a1", "view", "t1", `{"path":"/home/dev/.copilot/skills/other/SKILL.md"}`), ended("t1", ok)}},
	} {
		s, _ := readWith(t, harvest.Options{Exists: func(name string) bool { return name == "dataviz" }}, c.lines...)
		var got []string
		for _, v := range s.Invocations {
			got = append(got, v.Skill+" "+string(v.Signal))
		}
		if strings.Join(got, ", ") != c.want || len(s.Turns) != 1 {
			t.Errorf("%s: %d turns, uses %q, want %q", name, len(s.Turns), got, c.want)
		}
	}
}
