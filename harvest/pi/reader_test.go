package pi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/pi"
	"github.com/skill-evolve/evolve/harvest/work"
)

const usage = `"usage":{"input":1200,"output":180,"cacheRead":18000,"cacheWrite":640,"reasoning":64,"totalTokens":19380,"cost":{"total":0.01}}`

const (
	file = "/home/dev/.pi/agent/skills/dataviz/SKILL.md"
	body = "# dataviz\n\n1. Read."
	text = "---\nname: dataviz\n---\n\n" + body + "\n"
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// every is a registry in which all skills are.
func every(string) bool { return true }

func read(t *testing.T, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	return readWith(t, harvest.Options{Exists: every}, lines...)
}

func readWith(t *testing.T, o harvest.Options, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	s, problems, err := pi.Kind.Read(context.Background(), strings.NewReader(strings.Join(lines, "\n")+"\n"), "t_s1.jsonl", o)
	if err != nil {
		t.Fatal(err)
	}
	return s, problems
}

// prompts are what the user typed, one turn a part.
func prompts(s *harvest.Session) string {
	var out []string
	if s != nil {
		for _, turn := range s.Turns {
			out = append(out, turn.Prompt)
		}
	}
	return strings.Join(out, "|")
}

func reasons(problems []harvest.Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%d: %s", p.Line, p.Reason))
	}
	return strings.Join(out, ",")
}

func TestHumanTurns(t *testing.T) {
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"typed":         {"draw it", chain(typed("u1", "", "draw it"))},
		"a string":      {"draw it", chain(message("u1", "", `"role":"user","content":"draw it"`))},
		"blocks":        {"a\nb", chain(message("u1", "", `"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"xx"},{"type":"text","text":"b"}]`))},
		"an image":      {"", chain(message("u1", "", `"role":"user","content":[{"type":"image","data":"xx"}]`))},
		"system":        {"", chain(message("u1", "", `"role":"system","content":"be brief"`))},
		"shell":         {"a", chain(typed("u1", "", "a"), message("b1", "", `"role":"bashExecution","command":"ls","output":"no, wrong"`))},
		"extension":     {"a", chain(typed("u1", "", "a"), message("b1", "", `"role":"custom","customType":"x","content":"no"`), entry("custom_message", "c1", "", `,"content":"no, wrong"`))},
		"hook, version": {"a", chain(typed("u1", "", "a"), message("b1", "", `"role":"hookMessage","content":"no"`))},
		"compaction":    {"a|b", chain(typed("u1", "", "a"), entry("compaction", "c1", "", `,"summary":"The user wanted…","firstKeptEntryId":"u1"`), typed("u2", "", "b"))},
		"branch":        {"a", chain(typed("u1", "", "a"), entry("branch_summary", "c1", "", `,"summary":"no, wrong"`))},
		"tool result":   {"a", chain(typed("u1", "", "a"), called("a1", "", "c1", "bash", `{}`), resulted("r1", "", "c1", "user: no, wrong", false))},
		"skill":         {"/skill:dataviz as bars", chain(typed("u1", "", block("dataviz", body, "as bars")))},
		"bare skill":    {"/skill:dataviz", chain(typed("u1", "", block("dataviz", body, "")))},
		"unended skill": {"<skill name=\"a\" location=\"b\">\nx", chain(typed("u1", "", "<skill name=\"a\" location=\"b\">\nx"))},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, c.lines...)
			if got := prompts(s); got != c.want || len(problems) > 0 {
				t.Errorf("prompts %q, want %q; problems %v", got, c.want, problems)
			}
		})
	}
}

// What counts is the branch that ends in the last entry.
func TestTree(t *testing.T) {
	v3 := header("3")
	for name, c := range map[string]struct {
		want, problems string
		lines          []string
	}{
		"version 1":           {"a|b", "", []string{header(""), `{"type":"message","timestamp":"2026-11-20T18:00:01Z","message":{"role":"user","content":"a"}}`, `{"type":"message","timestamp":"2026-11-20T18:00:02Z","message":{"role":"assistant","content":[]}}`, `{"type":"compaction","summary":"x"}`, `{"type":"message","message":{"role":"user","content":"b"}}`}},
		"version 1, numbered": {"a", "", []string{header("1"), `{"type":"message","message":{"role":"user","content":"a"}}`}},
		"version 2":           {"a|b", "", []string{header("2"), typed("u1", "", "a"), typed("u2", "u1", "b")}},
		"two branches":        {"a|c", "", []string{v3, typed("u1", "", "a"), typed("u2", "u1", "b"), said("a2", "u2", "x"), typed("u3", "u1", "c")}},
		"back to the first":   {"a|b|d", "", []string{v3, typed("u1", "", "a"), typed("u2", "u1", "b"), typed("u3", "u1", "c"), typed("u4", "u2", "d")}},
		"branch by a label":   {"a", "", []string{v3, typed("u1", "", "a"), typed("u2", "u1", "b"), entry("label", "l1", "u1", `,"targetId":"u2","label":"x"`)}},
		"two roots":           {"b", "", []string{v3, typed("u1", "", "a"), typed("u2", "", "b")}},
		"no parent at all":    {"b", "", []string{v3, typed("u1", "", "a"), strings.Replace(typed("u2", "", "b"), `"parentId":null,`, "", 1)}},
		"parent comes later":  {"b|a", "", []string{v3, typed("u1", "u2", "a"), typed("u2", "", "b"), entry("label", "l1", "u1", "")}},
		"other order":         {"a|b", "", []string{v3, typed("u1", "", "a"), `{"message":{"content":"b","role":"user"},"parentId":"u1","id":"u2","type":"message"}`}},
		"without an id":       {"a|b", "", []string{v3, typed("u1", "", "a"), `{"type":"note"}`, typed("u2", "u1", "b")}},
		"unknown entry":       {"a|b", "", []string{v3, typed("u1", "", "a"), entry("new", "n1", "u1", `,"x":[1]`), typed("u2", "n1", "b")}},
		"header alone":        {"", "", []string{v3}},
		"unknown version":     {"", "0: unknown version 4 of a session", []string{header("4"), typed("u1", "", "a")}},
		"version of no kind":  {"", `0: unknown version "3" of a session`, []string{header(`"3"`), typed("u1", "", "a")}},
		"no header":           {"", "0: does not begin with the header of a session", []string{typed("u1", "", "a"), typed("u2", "u1", "b")}},
		"same id":             {"", `0: two entries with the id "u1"`, []string{v3, typed("u1", "", "a"), typed("u1", "u1", "b")}},
		"same id, unread":     {"", `0: two entries with the id "u1"`, []string{v3, typed("u1", "", "a"), entry("custom", "u1", "u1", "")}},
		"missing parent":      {"", `0: the parent "u9" of an entry is missing`, []string{v3, typed("u1", "", "a"), typed("u2", "u9", "b")}},
		"missing elsewhere":   {"", `0: the parent "u9" of an entry is missing`, []string{v3, typed("u1", "u9", "a"), typed("u2", "", "b")}},
		"cycle":               {"", "0: an entry is its own ancestor", []string{v3, typed("u1", "u2", "a"), typed("u2", "u1", "b")}},
		"cycle elsewhere":     {"", "0: an entry is its own ancestor", []string{v3, typed("u1", "u2", "a"), typed("u2", "u1", "b"), typed("u3", "", "c")}},
		"own parent":          {"", "0: an entry is its own ancestor", []string{v3, typed("u1", "u1", "a")}},
		"unread line between": {"a|c", "3: not JSON", []string{v3, typed("u1", "", "a"), `{"type":"message","id":"u2",}`, typed("u3", "u2", "c")}},
		"long line between": {"a|c", "3: line is longer than 16 MiB", []string{v3, typed("u1", "", "a"), resulted("r1", "u1", "c", strings.Repeat("x", jsonl.MaxLine+1<<17), false),
			typed("u3", "r1", "c")}},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, c.lines...)
			if got := prompts(s); got != c.want || reasons(problems) != c.problems {
				t.Errorf("prompts %q, problems %q; want %q, %q", got, reasons(problems), c.want, c.problems)
			}
		})
	}
}

func TestInvocations(t *testing.T) {
	look := called("a1", "", "c1", "read", `{"path":"`+file+`"}`)
	came := resulted("r1", "", "c1", text, false)
	asked := typed("u1", "", "chart")
	const stamp = "2026-11-20T18:00:01.382Z"
	for name, c := range map[string]struct {
		want  string // id, skill, signal, turn, line, failed, which text
		lines []string
	}{
		"typed": {"pi-skill-dataviz-" + stamp + "-0 dataviz input_slash_command 0 1 false body", chain(typed("u1", "", block("dataviz", body, "as bars")))},
		"typed, text speaks of the mark": {"pi-skill-dataviz-" + stamp + "-0 dataviz input_slash_command 0 1 false other",
			chain(typed("u1", "", block("dataviz", "a\n</skill> b\n\nc", "as bars")))},
		"unknown to pi":    {"pi-skill-nope-" + stamp + "-0 nope input_slash_command 0 1 true ", chain(typed("u1", "", "/skill:nope x"))},
		"command":          {"prompt-skill-pi-dataviz-" + stamp + " dataviz prompt_slash_command 0 1 false ", chain(typed("u1", "", "/dataviz x"))},
		"path":             {"", chain(typed("u1", "", "/etc/hosts is odd"))},
		"read":             {"pi-skill-dataviz-" + stamp + "-0 dataviz skill_file_read 0 2 false text", chain(asked, look, came)},
		"second block":     {"pi-skill-dataviz-" + stamp + "-1 dataviz skill_file_read 0 2 false text", chain(asked, reply("a1", "", "toolUse", `{"type":"text","text":"x"},`+calling("c1", "read", `{"path":"`+file+`"}`)), came)},
		"read in part":     {"pi-skill-dataviz-" + stamp + "-0 dataviz skill_file_read 0 2 false ", chain(asked, called("a1", "", "c1", "read", `{"path":"`+file+`","limit":3}`), came)},
		"read, cut":        {"pi-skill-dataviz-" + stamp + "-0 dataviz skill_file_read 0 2 false ", chain(asked, look, strings.Replace(came, `"isError"`, `"details":{"truncation":{}},"isError"`, 1))},
		"read, failed":     {"", chain(asked, look, resulted("r1", "", "c1", "ENOENT", true))},
		"read, no result":  {"", chain(asked, look)},
		"another file":     {"", chain(asked, called("a1", "", "c1", "read", `{"path":"a/SKILL.md.txt"}`), came)},
		"written":          {"", chain(asked, called("a1", "", "c1", "write", `{"path":"`+file+`"}`), came)},
		"in a result":      {"", chain(asked, called("a1", "", "c1", "bash", `{}`), resulted("r1", "", "c1", block("dataviz", body, ""), false))},
		"attempt failed":   {"", chain(asked, reply("a1", "", "error", calling("c1", "read", `{"path":"`+file+`"}`)))},
		"typed and read":   {"pi-skill-dataviz-" + stamp + "-0 dataviz input_slash_command 0 1 false body", chain(typed("u1", "", block("dataviz", body, "")), look, came)},
		"command and read": {"prompt-skill-pi-dataviz-" + stamp + " dataviz prompt_slash_command 0 1 false text", chain(typed("u1", "", "/dataviz x"), look, came)},
		"read twice":       {"pi-skill-dataviz-" + stamp + "-0 dataviz skill_file_read 0 2 false text", chain(asked, look, came, called("a2", "", "c2", "read", `{"path":"`+file+`"}`), resulted("r2", "", "c2", text, false))},
		"on another branch": {"", []string{header("3"), typed("u1", "", "a"), called("a1", "u1", "c1", "read", `{"path":"`+file+`"}`), resulted("r1", "a1", "c1", text, false),
			typed("u2", "u1", "b")}},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, c.lines...)
			which := map[string]string{hash(body): "body", hash(text): "text", "": ""}
			var got []string
			if s != nil {
				for _, v := range s.Invocations {
					w, ok := which[v.BodyHash]
					if !ok {
						w = "other"
					}
					got = append(got, fmt.Sprintf("%s %s %s %d %d %v %s", v.ID, v.Skill, v.Signal, v.Turn, v.Line, v.Failed, w))
					if v.Explicit != (v.Signal != harvest.SkillFileRead) {
						t.Errorf("%s: explicit %v", v.ID, v.Explicit)
					}
				}
			}
			if strings.Join(got, ", ") != c.want || len(problems) > 0 {
				t.Errorf("got  %s\nwant %s\nproblems %v", strings.Join(got, ", "), c.want, problems)
			}
		})
	}
}

// The vectors of Entire's extension for pi.
func TestInputCommand(t *testing.T) {
	long := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"/skill:trigger-analysis inspect": "trigger-analysis",
		"  /skill:a":                      "a",
		"/skill:Bad-Case x":               "",
		"/skill:ok_name":                  "",
		"please /skill:a":                 "",
		"/skill:" + long:                  long,
		"/skill:" + long + "a":            "",
		"/skill:a\targs":                  "a",
	} {
		s, _ := read(t, chain(typed("u1", "", text))...)
		got := ""
		for _, v := range s.Invocations {
			got += v.Skill
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTurn(t *testing.T) {
	at := func(line, second string) string {
		return strings.Replace(line, "18:00:01.382Z", "18:00:"+second+"Z", 1)
	}
	s, _ := read(t, chain(
		entry("model_change", "m1", "", `,"modelId":"first"`),
		at(typed("u1", "", "chart"), "01"),
		at(reply("a1", "", "error", `{"type":"text","text":"Half an ans"}`), "02"), entry("context_edit", "e1", "", `,"targetId":"a1","replacement":null`),
		at(reply("a2", "", "toolUse", `{"type":"thinking","thinking":"private thoughts"},{"type":"text","text":"Let me look."},`+calling("c1", "bash", `{}`)+","+calling("c2", "read", `{}`)), "03"),
		at(resulted("r1", "", "c1", "exit 1", true), "04"), at(resulted("r2", "", "c2", "fine", false), "04"),
		at(said("a3", "", "Done."), "05.5"),
		at(typed("u2", "", "and now?"), "10"), at(reply("a4", "", "aborted", `{"type":"text","text":"Well"},`+calling("c3", "bash", `{}`)), "11"))...)
	one, two := s.Turns[0], s.Turns[1]
	if s.ID != "s1" || s.CWD != "/home/dev/project" || s.Model != "m" || s.Agent != "pi" || s.Headless || s.Ended.Second() != 11 {
		t.Errorf("%+v", s)
	}
	if one.ID != "u1" || one.Answer != "Done." || one.APIErrors != 1 || *one.DurationMS != 4500 || one.Interrupted {
		t.Errorf("%+v", one)
	}
	if got := fmt.Sprint(one.Tools); got != "[{bash true} {read false}]" {
		t.Error(got)
	}
	if u := *one.Usage; u.Input != 3600 || u.CacheRead != 54000 || u.CacheWrite != 1920 || u.Output != 540 || u.Reasoning != 192 {
		t.Errorf("usage %+v", u)
	}
	if !two.Interrupted || two.Answer != "Well" || len(two.Tools) != 0 {
		t.Errorf("%+v", two)
	}
	if data, _ := json.Marshal(s); strings.Contains(string(data), "private") {
		t.Error("thinking is kept")
	}
}

// Usage recorded beside the messages belongs to the turn, and the selected model is the
// session's if none answered.
func TestBesideMessages(t *testing.T) {
	s, _ := read(t, chain(entry("model_change", "m1", "", `,"modelId":"chosen"`), typed("u1", "", "a"), entry("usage", "x1", "", `,`+usage))...)
	if s.Model != "chosen" || s.Turns[0].Usage == nil || s.Turns[0].Usage.Input != 1200 || s.Turns[0].DurationMS != nil {
		t.Errorf("%+v", s)
	}
}

func TestHostile(t *testing.T) {
	start := header("3") + "\n" + typed("u1", "", "chart")
	for name, c := range map[string]struct {
		reasons string
		turns   int
		text    string
	}{
		"cut last line":        {"", 1, start + "\n" + typed("u2", "u1", "next")[:90]},
		"cut result":           {"", 1, start + "\n" + resulted("r1", "u1", "c", "a}", false)[:110]},
		"whole last line":      {"", 2, start + "\n" + typed("u2", "u1", "next")},
		"garbage":              {"3: not a JSON object", 2, start + "\ngarbage\n" + typed("u2", "u1", "next")},
		"broken header":        {"1: not JSON,0: does not begin with the header of a session", 0, "{\"type\":}\n" + typed("u1", "", "a") + "\n"},
		"array":                {"3: not a JSON object", 1, start + "\n[1,2]\n"},
		"nul":                  {"3: holds a NUL byte", 1, start + "\n" + strings.Replace(typed("u2", "u1", "zzz"), "zzz", "\x00", 1) + "\n"},
		"utf-8":                {"3: not UTF-8", 1, start + "\n" + strings.Replace(typed("u2", "u1", "zzz"), "zzz", "\xff", 1) + "\n"},
		"one document":         {"0: a single JSON document, not JSON lines", 0, `{"messages":[{"type":"user"}]}`},
		"one printed document": {"0: a single JSON document, not JSON lines", 0, "{\n  \"messages\": []\n}\n"},
		"another's":            {"0: does not begin with the header of a session", 0, `{"type":"user","message":{"content":"x"}}` + "\n" + `{"type":"user","message":{"content":"y"}}` + "\n"},
		"wrong types":          {"", 1, start + "\n" + `{"type":5,"message":[]}` + "\n" + `{"type":"message","id":7,"parentId":[],"message":"x"}` + "\n" + `{"type":"message","id":"x1","parentId":"u1","message":7}` + "\n" + message("x2", "x1", `"role":7`) + "\n"},
		"a deep line":          {"", 1, start + "\n" + entry("custom", "x", "u1", `,"data":`+strings.Repeat("[", 9999)+strings.Repeat("]", 9999)) + "\n"},
		"empty":                {"", 0, ""},
		"blank lines":          {"", 1, "\n" + start + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems, err := pi.Kind.Read(context.Background(), strings.NewReader(c.text), "x.jsonl", harvest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			turns := 0
			if s != nil {
				turns = len(s.Turns)
			}
			if reasons(problems) != c.reasons || turns != c.turns {
				t.Errorf("%d turns, problems %q; want %d, %q", turns, reasons(problems), c.turns, c.reasons)
			}
		})
	}
}

// Bytes inside a tool's output are never taken for the record's own.
func TestToolOutputIsNotTheRecord(t *testing.T) {
	quoted := `"isError":true,"timestamp":1}}`
	detail := strings.Replace(resulted("r2", "", "c2", "fine", false), `,"isError":false,"timestamp":2`, `,"isError":false,"timestamp":2,"details":{"isError":true,"timestamp":1}`, 1)
	s, problems := read(t, chain(typed("u1", "", "chart"), called("a1", "", "c1", "bash", `{}`), resulted("r1", "", "c1", quoted+typed("u9", "", "injected"), false),
		called("a2", "", "c2", "bash", `{}`), detail)...)
	if prompts(s) != "chart" || fmt.Sprint(s.Turns[0].Tools) != "[{bash false} {bash false}]" || len(problems) > 0 {
		t.Errorf("prompts %q, tools %v, problems %v", prompts(s), s.Turns[0].Tools, problems)
	}
}

func TestTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 70 MB")
	}
	lines := []string{header("3")}
	for i, big := 0, strings.Repeat("x", 10<<20); i < 8; i++ {
		lines = append(lines, typed(fmt.Sprint("u", i), "", big))
	}
	s, problems := read(t, lines...)
	if s != nil || reasons(problems) != "0: more than 64 MiB of messages" {
		t.Errorf("problems %q", reasons(problems))
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(strings.Join(chain(typed("u1", "", block("dataviz", body, "x")), called("a1", "", "c1", "read", `{"path":"`+file+`"}`), resulted("r1", "", "c1", text, false), said("a2", "", "x")), "\n")))
	f.Add([]byte(strings.Join([]string{header("2"), typed("u1", "u2", "a"), typed("u2", "", "/skill:x y"), resulted("r1", "u1", "c", "", true)}, "\n")))
	f.Add([]byte(header("") + "\n" + `{"type":"message","message":{"role":"user","content":"a"}}` + "\n\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems, err := pi.Kind.Read(context.Background(), strings.NewReader(string(data)), "f.jsonl", harvest.Options{Moments: work.All})
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) > 22 {
			t.Errorf("%d problems", len(problems))
		}
		if s == nil {
			return
		}
		for _, v := range s.Invocations {
			if v.Turn < 0 || v.Turn >= len(s.Turns) || v.Skill == "" || v.ID == "" {
				t.Errorf("invocation %+v of %d turns", v, len(s.Turns))
			}
		}
	})
}

// long is a session as they are: by far most bytes are results of tools.
func long(results int) string {
	lines := make([]string, 0, 3*results)
	out := strings.Repeat(`	if err != nil { return fmt.Errorf("list skills: %w", err) }`+"\n", 600) // 36 kB
	for i := range results {
		if i%20 == 0 {
			lines = append(lines, typed(fmt.Sprint("u", i), "", "go on with the next file"))
		}
		id := fmt.Sprint("c", i)
		lines = append(lines, called(fmt.Sprint("a", i), "", id, "read", `{"path":"/home/dev/project/a.go"}`),
			resulted(fmt.Sprint("r", i), "", id, out, false), said(fmt.Sprint("s", i), "", "I read the file."))
	}
	return strings.Join(chain(lines...), "\n") + "\n"
}

func BenchmarkRead(b *testing.B) {
	text := long(400)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := pi.Kind.Read(context.Background(), strings.NewReader(text), "s.jsonl", harvest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Memory does not grow with the file, only with what is kept of it.
func TestMemoryIsFlat(t *testing.T) {
	text := long(800) // 30 MB of results, of which nothing is kept
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, _, err := pi.Kind.Read(context.Background(), strings.NewReader(text), "s.jsonl", harvest.Options{})
	runtime.ReadMemStats(&after)
	if err != nil || len(s.Turns) != 40 || len(s.Turns[0].Tools) != 20 {
		t.Fatalf("%v: %d turns", err, len(s.Turns))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("reading %d MB allocated %d MB", len(text)>>20, n>>20)
	}
}

// What somebody typed before a menu had finished it is no use of a skill. A command
// is one if pi put the skill's text in its place, or if there is such a skill.
func TestTypedCommands(t *testing.T) {
	look := called("a1", "", "c1", "read", `{"path":"`+file+`"}`)
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"unfinished":       {"", chain(typed("u1", "", "/the"))},
		"another":          {"", chain(typed("u1", "", "/mode"), typed("u2", "", "/dataviz2 x"))},
		"unknown to pi":    {"", chain(typed("u1", "", "/skill:nope x"))},
		"expanded":         {"nope input_slash_command", chain(typed("u1", "", block("nope", body, "x")))},
		"it exists":        {"dataviz prompt_slash_command", chain(typed("u1", "", "/dataviz x"))},
		"its file is read": {"other prompt_slash_command", chain(typed("u1", "", "/other x"), strings.ReplaceAll(look, "dataviz", "other"), resulted("r1", "", "c1", text, false))},
	} {
		s, _ := readWith(t, harvest.Options{Exists: func(name string) bool { return name == "dataviz" }}, c.lines...)
		var got []string
		for _, v := range s.Invocations {
			got = append(got, v.Skill+" "+string(v.Signal))
		}
		if strings.Join(got, ", ") != c.want || len(s.Turns) == 0 {
			t.Errorf("%s: %d turns, uses %q, want %q", name, len(s.Turns), got, c.want)
		}
	}
}
