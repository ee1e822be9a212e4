package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const tail = `"timestamp":"2026-11-20T18:14:45.571Z","entrypoint":"cli","cwd":"/home/dev/project","sessionId":"s1","gitBranch":"main"}`

func typed(prompt, id, text string) string {
	return `{"parentUuid":null,"isSidechain":false,"promptId":"` + prompt + `","type":"user","message":{"role":"user","content":` + quote(text) +
		`},"uuid":"` + id + `","promptSource":"typed",` + tail
}

func said(id, text string) string {
	return `{"isSidechain":false,"message":{"id":"` + id + `","model":"m","content":[{"type":"text","text":` + quote(text) +
		`}],"usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":3}},"type":"assistant","uuid":"a-` + id + `",` + tail
}

func called(id, tool, use, input string) string {
	return `{"isSidechain":false,"message":{"id":"` + id + `","model":"m","content":[{"type":"tool_use","id":"` + use + `","name":"` + tool + `","input":` + input +
		`}],"usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":3}},"type":"assistant","uuid":"a-` + use + `",` + tail
}

func resulted(use, text string, bad bool) string {
	return fmt.Sprintf(`{"isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":%s,"is_error":%v}]},"uuid":"r-%s","toolUseResult":{},%s`,
		use, quote(text), bad, use, tail)
}

func meta(id, use, text string) string {
	return `{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"text","text":` + quote(text) + `}]},"isMeta":true,"uuid":"` + id +
		`","sourceToolUseID":"` + use + `",` + tail
}

func slash(prompt, id, name, args string) string {
	return strings.Replace(typed(prompt, id, "<command-message>"+name+"</command-message>\n<command-name>/"+name+"</command-name>\n<command-args>"+args+"</command-args>"),
		`"promptSource":"typed",`, "", 1)
}

const body = "Base directory for this skill: /home/dev/.claude/skills/dataviz\n\n# dataviz\n"

// every is a registry in which all skills are.
func every(string) bool { return true }

func read(t *testing.T, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	return readWith(t, harvest.Options{Exists: every}, lines...)
}

func readWith(t *testing.T, o harvest.Options, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	s, problems, err := claude.Kind.Read(context.Background(), strings.NewReader(strings.Join(lines, "\n")), "s1.jsonl", o)
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
	side := strings.Replace(typed("p", "u", "SUBTASK"), `"isSidechain":false`, `"isSidechain":true`, 1)
	system := strings.Replace(typed("p", "u", "<task-notification>done</task-notification>"), "typed", "system", 1)
	blocks := strings.Replace(typed("p", "u", "X"), `"X"`, `[{"type":"text","text":"<system-reminder>be\nnice</system-reminder>"},{"type":"text","text":"draw this"},{"type":"image","source":{}}]`, 1)
	attachment := func(extra string) string {
		return `{"isSidechain":false,"attachment":{"type":"queued_command","prompt":"no, use bars","source_uuid":"q"` + extra + `},"type":"attachment","uuid":"x",` + tail
	}
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"typed":              {"draw it", []string{typed("p", "u", "draw it")}},
		"blocks":             {"draw this", []string{blocks}},
		"meta":               {"", []string{meta("u", "", "do not show this")}},
		"sidechain":          {"", []string{side}},
		"system":             {"", []string{system}},
		"tool result":        {"a", []string{typed("p", "u", "a"), resulted("t", "user: no, wrong", false)}},
		"result with text":   {"a", []string{typed("p", "u", "a"), strings.Replace(resulted("t", "x", true), `}]`, `},{"type":"text","text":"no, wrong"}]`, 1)}},
		"interruption":       {"a", []string{typed("p", "u", "a"), typed("p", "v", "[Request interrupted by user for tool use]")}},
		"compaction":         {"a", []string{typed("p", "u", "a"), typed("p", "v", "This session is being continued from a previous conversation that ran out of context. …")}},
		"local command":      {"a", []string{typed("p", "u", "a"), slash("p", "v", "model", "opus"), typed("p", "w", "<local-command-stdout>Set model</local-command-stdout>")}},
		"bash":               {"a", []string{typed("p", "u", "a"), typed("p", "v", "<bash-input>ls</bash-input>"), typed("p", "w", "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>")}},
		"caveat":             {"", []string{typed("p", "u", "Caveat: The messages below were generated by the user while running local commands. DO NOT respond")}},
		"skill":              {"/dataviz as bars", []string{slash("p", "u", "dataviz", "as bars"), meta("v", "", body)}},
		"plain slash":        {"/dataviz as bars", []string{typed("p", "u", "/dataviz as bars")}},
		"path":               {"/etc/hosts is odd", []string{typed("p", "u", "/etc/hosts is odd")}},
		"twice in a file":    {"a", []string{typed("p", "u", "a"), typed("p", "u", "a")}},
		"mid-turn":           {"a|no, use bars", []string{typed("p", "u", "a"), said("m", "…"), attachment("")}},
		"notification":       {"a", []string{typed("p", "u", "a"), attachment(`,"commandMode":"task-notification"`)}},
		"own command":        {"a", []string{typed("p", "u", "a"), slash("p2", "v", "stickers2", ""), typed("p", "w", "<local-command-stdout>Opening…</local-command-stdout>")}},
		"only a reminder":    {"", []string{typed("p", "u", "<system-reminder>x</system-reminder>")}},
		"text about markers": {"what does <local-command-stdout> mean?", []string{typed("p", "u", "what does <local-command-stdout> mean?")}},
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
	use := called("m1", "Skill", "t1", `{"skill":" dataviz ","args":"x"}`)
	launched := resulted("t1", "Launching skill: dataviz", false)
	for name, c := range map[string]struct {
		want  string // id, skill, signal, turn, line, failed, has a body
		lines []string
	}{
		"tool": {"claude-skill-t1 dataviz skill_tool_use 0 1 false true",
			[]string{typed("p", "u", "chart"), use, launched, meta("v", "t1", body)}},
		"no id": {"claude-skill-line-1 dataviz skill_tool_use 0 1 false false",
			[]string{typed("p", "u", "chart"), called("m1", "Skill", "", `{"skill":"dataviz"}`)}},
		"older version: no sourceToolUseID": {"claude-skill-t1 dataviz skill_tool_use 0 1 false true",
			[]string{typed("p", "u", "chart"), use, launched, meta("v", "", body)}},
		"text beside the result": {"claude-skill-t1 dataviz skill_tool_use 0 1 false true",
			[]string{typed("p", "u", "chart"), use, strings.Replace(launched, `}]`, `},{"type":"text","text":`+quote(body)+`}]`, 1)}},
		"no time": {"claude-skill-line-0 dataviz prompt_slash_command 0 0 false false",
			[]string{strings.Replace(slash("p", "u", "dataviz", "bars"), `"timestamp":"2026-11-20T18:14:45.571Z",`, "", 1), said("m", "ok")}},
		"unknown": {"claude-skill-t1 dataviz skill_tool_use 0 1 true false",
			[]string{typed("p", "u", "chart"), use, resulted("t1", "<tool_use_error>Unknown skill: dataviz</tool_use_error>", true)}},
		"unknown without a flag": {"claude-skill-t1 dataviz skill_tool_use 0 1 true false",
			[]string{typed("p", "u", "chart"), use, resulted("t1", "Unknown skill: dataviz", false)}},
		"typed": {"prompt-skill-claude-code-dataviz-2026-11-20T18:14:45.571Z dataviz prompt_slash_command 0 0 false true",
			[]string{slash("p", "u", "dataviz", "bars"), meta("v", "", body+"\n\nARGUMENTS: bars"), said("m", "ok")}},
		"typed, then called: one use": {"claude-skill-t1 dataviz skill_tool_use 0 2 false true",
			[]string{slash("p", "u", "dataviz", "bars"), meta("v", "", body), use, launched}},
		"called twice": {"claude-skill-t1 dataviz skill_tool_use 0 1 false false, claude-skill-t2 dataviz skill_tool_use 0 2 false false",
			[]string{typed("p", "u", "chart"), use, called("m1", "Skill", "t2", `{"skill":"dataviz"}`)}},
		"plugin":   {"claude-skill-t1 pm:plan skill_tool_use 0 1 false false", []string{typed("p", "u", "x"), called("m1", "Skill", "t1", `{"skill":"pm:plan"}`)}},
		"built-in": {"", []string{slash("p", "u", "compact", ""), meta("v", "", "some text"), said("m", "ok")}},
		"a skill by the name of a built-in": {"prompt-skill-claude-code-plan-2026-11-20T18:14:45.571Z plan prompt_slash_command 0 0 false true",
			[]string{slash("p", "u", "plan", "x"), meta("v", "", strings.ReplaceAll(body, "dataviz", "plan")), said("m", "ok")}},
		"blank":         {"", []string{typed("p", "u", "x"), called("m1", "Skill", "t1", `{"skill":"  "}`)}},
		"another tool":  {"", []string{typed("p", "u", "x"), called("m1", "skill", "t1", `{"skill":"dataviz"}`)}},
		"in a result":   {"", []string{typed("p", "u", "x"), resulted("t9", use, false)}},
		"other skill":   {"prompt-skill-claude-code-planner-2026-11-20T18:14:45.571Z planner prompt_slash_command 0 0 false true, claude-skill-t1 dataviz skill_tool_use 0 2 false false", []string{slash("p", "u", "planner", ""), meta("v", "", strings.ReplaceAll(body, "dataviz", "planner")), use}},
		"before a turn": {"claude-skill-t1 dataviz skill_tool_use 0 0 false false", []string{use}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := read(t, c.lines...)
			var got []string
			if s != nil {
				for _, v := range s.Invocations {
					got = append(got, fmt.Sprintf("%s %s %s %d %d %v %v", v.ID, v.Skill, v.Signal, v.Turn, v.Line, v.Failed, v.BodyHash != ""))
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

// The same text of a skill has one hash, whether it was typed or called. A skill may
// have the name of a command of the program: it was the skill if the agent then calls
// it.
func TestSkillNamedLikeABuiltin(t *testing.T) {
	s, _ := read(t, typed("p0", "u0", "hello"), said("m0", "hi"), slash("p1", "u1", "model", "for phones"), said("m1", "On it."), called("m2", "Skill", "t1", `{"skill":"model"}`))
	if prompts(s) != "hello|/model for phones" || len(s.Invocations) != 1 || s.Invocations[0].Turn != 1 || s.Invocations[0].Signal != harvest.SkillToolUse {
		t.Errorf("%s: %+v", prompts(s), s.Invocations)
	}
	s, _ = read(t, typed("p0", "u0", "hello"), slash("p1", "u1", "model", "opus"), called("m2", "Skill", "t1", `{"skill":"dataviz"}`))
	if prompts(s) != "hello" || len(s.Invocations) != 1 || s.Invocations[0].Turn != 0 {
		t.Errorf("%s: %+v", prompts(s), s.Invocations)
	}
}

func TestBodyHash(t *testing.T) {
	s, _ := read(t, slash("p", "u", "dataviz", "bars"), meta("v", "", body+"\n\nARGUMENTS: bars"), said("m", "ok"),
		typed("p2", "u2", "once more"), called("m2", "Skill", "t1", `{"skill":"dataviz"}`), meta("w", "t1", body))
	// printf '# dataviz\n' | sha256sum
	const want = "63dd1a66bd04072b7be772fe21c791c731f3f6b4dadc7173c9e58001dbabc3b5"
	if a, b := s.Invocations[0], s.Invocations[1]; a.BodyHash != want || b.BodyHash != want || a.Dir != "/home/dev/.claude/skills/dataviz" {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestTurn(t *testing.T) {
	synthetic := `{"isSidechain":false,"type":"assistant","message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error: 429"}],"usage":{"input_tokens":9}},"isApiErrorMessage":true,"uuid":"e",` + tail
	s, _ := read(t, typed("p", "u", "chart"),
		said("m1", "Let me look."), called("m1", "Bash", "t1", `{}`), resulted("t1", "exit 1", true),
		called("m2", "Bash", "t2", `{}`), resulted("t2", "fine", false),
		`{"isSidechain":false,"message":{"id":"m3","model":"m","content":[{"type":"thinking","thinking":"private thoughts"}],"usage":{"input_tokens":10,"output_tokens":1}},"type":"assistant",`+tail,
		said("m3", "Done."), said("m3", "See chart.svg."),
		`{"type":"system","subtype":"api_error","retryAttempt":1,`+tail, synthetic,
		`{"type":"system","subtype":"turn_duration","durationMs":4740,`+tail,
		typed("p", "v", "[Request interrupted by user]"))
	turn := s.Turns[0]
	if turn.Answer != "Done.\n\nSee chart.svg." || !turn.Interrupted || turn.APIErrors != 2 || *turn.DurationMS != 4740 || s.Model != "m" {
		t.Errorf("%+v", turn)
	}
	if fmt.Sprint(turn.Tools) != "[{Bash true} {Bash false}]" {
		t.Errorf("tools %v", turn.Tools)
	}
	// Three messages, however many lines: the last line of each counts.
	if u := *turn.Usage; u.Input != 30 || u.Output != 15 || u.CacheRead != 9 {
		t.Errorf("usage %+v", u)
	}
	if data, _ := json.Marshal(s); strings.Contains(string(data), "private thoughts") || strings.Contains(string(data), "429") {
		t.Errorf("thinking or an API error is kept: %s", data)
	}
}

// A file without a message is no session.
func TestNobody(t *testing.T) {
	for _, lines := range [][]string{{}, {said("m", "hello")}, {`{"type":"mode","mode":"normal"}`}, {typed("p", "u", "[Request interrupted by user]")}} {
		if s, problems := read(t, lines...); s != nil || len(problems) > 0 {
			t.Errorf("%q: %+v, %v", lines, s, problems)
		}
	}
}

// Messages that were sent together share a prompt's id; turns do not.
func TestTurnIDs(t *testing.T) {
	s, _ := read(t, typed("p", "u", "chart"), typed("p", "v", "as bars"), typed("", "w", "in blue"))
	if s.Turns[0].ID != "p" || s.Turns[1].ID != "v" || s.Turns[2].ID != "w" {
		t.Errorf("%+v", s.Turns)
	}
}

// The user refused a tool: the marker is beside the tool's result.
func TestRefusedTool(t *testing.T) {
	refused := strings.Replace(resulted("t1", "The user doesn't want to proceed", true), `}]`, `},{"type":"text","text":"[Request interrupted by user for tool use]"}]`, 1)
	s, _ := read(t, typed("p", "u", "chart"), called("m1", "Bash", "t1", `{}`), refused)
	if turn := s.Turns[0]; len(s.Turns) != 1 || !turn.Interrupted || !turn.Tools[0].Failed {
		t.Errorf("%+v", s.Turns)
	}
}

func TestHostileLines(t *testing.T) {
	good := typed("p", "u", "chart")
	for name, c := range map[string]struct {
		reasons string
		turns   int
		text    string
	}{
		"malformed":          {"2: not JSON", 1, good + "\n" + `{"type":"user","message":{"content":"x}` + `}` + "\n"},
		"no object":          {"2: not a JSON object,3: not a JSON object,4: not a JSON object", 1, good + "\n[1]\n\"x\"\nnull\n"},
		"utf-8":              {"2: not UTF-8", 1, good + "\n" + typed("p", "v", "a") + "\n" + "\n"},
		"nul":                {"1: holds a NUL byte", 1, strings.Replace(good, "chart", "ch\x00rt", 1) + "\n" + good},
		"escaped nul":        {"", 1, strings.Replace(good, "chart", `ch\u0000rt`, 1)},
		"lone surrogate":     {"", 1, strings.Replace(good, "chart", `ch\ud800rt`, 1)},
		"cut":                {"", 1, good + "\n" + typed("p", "v", "no")[:60]},
		"cut in the middle":  {"2: not a JSON object", 2, good + "\n" + typed("p", "v", "no")[:60] + "\n" + typed("p2", "w", "next")},
		"blank lines":        {"", 1, "\n\n" + good + "\n\r\n"},
		"CRLF":               {"", 2, good + "\r\n" + typed("p2", "v", "next") + "\r\n"},
		"byte order mark":    {"", 1, "\ufeff" + good + "\n"},
		"unknown type":       {"", 1, `{"type":"hologram","message":{"content":"x"}}` + "\n" + good + "\n" + `{"message":"x"}`},
		"a document":         {"0: a single JSON document, not JSON lines", 0, "{\n  \"type\": \"user\",\n  \"message\": {}\n}\n"},
		"an array":           {"0: a single JSON document, not JSON lines", 0, "[\n{\"type\":\"user\"}\n]\n"},
		"a document in line": {"0: a single JSON document, not JSON lines", 0, `{"messages":[{"type":"user"}]}`},
		"a long line":        {"2: line is longer than 16 MiB", 2, good + "\n" + typed("p", "v", strings.Repeat("x", jsonl.MaxLine+1<<17)) + "\n" + typed("p", "w", "next")},
		"wrong types":        {"", 1, `{"type":5,"message":[]}` + "\n" + `{"type":"assistant","message":"x","timestamp":7}` + "\n" + `{"type":"user","message":{"content":{"a":1}}}` + "\n" + good},
		"a deep line":        {"", 1, `{"a":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `,"type":"x"}` + "\n" + good},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "utf-8" {
				c.text = strings.Replace(c.text, `"content":"a"`, "\"content\":\"a\xff\"", 1)
			}
			s, problems := read(t, c.text)
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Reason))
			}
			turns := 0
			if s != nil {
				turns = len(s.Turns)
				if turns > 0 && s.Turns[0].Prompt == "" && name != "wrong types" {
					t.Errorf("an empty turn")
				}
			}
			if name == "wrong types" {
				turns = strings.Count(prompts(s), "chart")
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
	quoted := `","type":"user","is_error":true,"x":"` + typed("p", "u", "injected")
	s, _ := read(t, typed("p", "u", "chart"), called("m1", "Bash", "t1", `{}`), resulted("t1", quoted+strings.Repeat("y", 5000), false))
	if prompts(s) != "chart" || s.Turns[0].Tools[0].Failed {
		t.Errorf("prompts %q, tools %v", prompts(s), s.Turns[0].Tools)
	}
}

// asItIs redacts nothing: the detector has a fuzz test of its own, and is slow
// under coverage.
type asItIs struct{}

func (asItIs) Redact(text string) (string, int) { return text, 0 }

func FuzzRead(f *testing.F) {
	f.Add([]byte(strings.Join([]string{typed("p", "u", "chart"), called("m1", "Skill", "t1", `{"skill":"x"}`), resulted("t1", "Unknown skill", true), said("m", "a")}, "\n")))
	f.Add([]byte(slash("p", "u", "dataviz", "a") + "\n" + meta("v", "", body) + "\n" + typed("p", "w", "<local-command-stdout></local-command-stdout>")))
	f.Add([]byte("{\"type\":\"user\"\n\x00\xff"))
	f.Add([]byte(strings.Join([]string{typed("p", "u", "$dataviz 図を$图表で"), listing("dataviz", "图表"), said("m", "I use $dataviz."), called("m2", "Read", "t", `{"file_path":"/a/skills/dataviz/SKILL.md"}`),
		resulted("t", "x", false), slash("p2", "v", "plot", "$x"), meta("w", "", body), attributed(called("m3", "Skill", "t2", `{"skill":"x:y"}`), "dataviz")}, "\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems, err := claude.Kind.Read(context.Background(), strings.NewReader(string(data)), "f.jsonl", harvest.Options{Redactor: asItIs{}})
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) > 21 {
			t.Errorf("%d problems", len(problems))
		}
		if s == nil {
			return
		}
		turn := 0
		for _, v := range s.Invocations {
			if v.Turn < turn || v.Turn >= len(s.Turns) || v.Skill == "" || v.ID == "" || v.Parent == v.Skill || v.Command == v.Skill {
				t.Errorf("invocation %+v of %d turns, behind one of turn %d", v, len(s.Turns), turn)
			}
			turn = v.Turn
		}
	})
}

// long is a transcript as they are: by far most bytes are tool results.
func long(results int) string {
	var b strings.Builder
	output := strings.Repeat(`	if err != nil { return fmt.Errorf("list skills: %w", err) }`+"\n", 600) // 36 kB
	for i := range results {
		if i%20 == 0 {
			fmt.Fprintln(&b, typed(fmt.Sprint("p", i), fmt.Sprint("u", i), "go on with the next file"))
		}
		fmt.Fprintln(&b, called(fmt.Sprint("m", i), "Read", fmt.Sprint("t", i), `{"file_path":"/home/dev/project/a.go"}`))
		fmt.Fprintln(&b, strings.Replace(resulted(fmt.Sprint("t", i), output, false), `"toolUseResult":{}`, `"toolUseResult":{"file":{"content":`+quote(output)+`}}`, 1))
		fmt.Fprintln(&b, said(fmt.Sprint("n", i), "I read the file."))
	}
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	text := long(400)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := claude.Kind.Read(context.Background(), strings.NewReader(text), "s.jsonl", harvest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Memory does not grow with the file, only with what is kept of it.
func TestMemoryIsFlat(t *testing.T) {
	allocated := func(results int) uint64 {
		text := long(results)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(t, text)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	// 36 MB of tool results, of which nothing is kept.
	if n := allocated(400); n > 8<<20 {
		t.Errorf("reading 36 MB allocated %d MB", n>>20)
	}
}

// A typed command is a use if its skill was loaded, if the session lists it, or if
// there is such a skill. A command of the user's own that is no skill is none.
func TestTypedCommands(t *testing.T) {
	attributed := strings.Replace(said("m", "ok"), `"type":"assistant"`, `"attributionSkill":"other","type":"assistant"`, 1)
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"unfinished":              {"", []string{typed("p", "u", "/the"), said("m", "What?")}},
		"a command of a file":     {"", []string{slash("p", "u", "workflows:review", "12"), meta("v", "", "# Review Command"), said("m", "ok")}},
		"it exists":               {"dataviz prompt_slash_command", []string{typed("p", "u", "/dataviz x")}},
		"its text came":           {"other prompt_slash_command", []string{slash("p", "u", "other", ""), meta("v", "", strings.ReplaceAll(body, "dataviz", "other"))}},
		"its text came, unmarked": {"other prompt_slash_command", []string{slash("p", "u", "other", ""), typed("", "v", strings.ReplaceAll(strings.TrimSpace(body), "dataviz", "other"))}},
		"it was in force":         {"other prompt_slash_command", []string{slash("p", "u", "other", ""), attributed}},
		"it is listed":            {"other prompt_slash_command", []string{slash("p", "u", "other", ""), listing("other"), said("m", "ok")}},
		"it was called":           {"other skill_tool_use", []string{slash("p", "u", "other", ""), called("m1", "Skill", "t1", `{"skill":"other"}`)}},
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
