package codex_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/codex"
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

// record is a line of a rollout.
func record(kind, payload string) string {
	return `{"timestamp":"2026-11-20T17:54:09.254Z","ordinal":1,"type":"` + kind + `","payload":` + payload + `}`
}

func event(kind, rest string) string { return record("event_msg", `{"type":"`+kind+`"`+rest+`}`) }

func opened(source string) string {
	return record("session_meta", `{"id":"s1","cwd":"/home/dev/project","originator":"codex_cli_rs","source":`+source+`,"git":{"commit_hash":"49b6","branch":"main"}}`)
}

func started(task string) string { return event("task_started", `,"turn_id":"`+task+`"`) }

func completed(task string, ms int) string {
	return event("task_complete", fmt.Sprintf(`,"turn_id":"%s","last_agent_message":null,"duration_ms":%d`, task, ms))
}

// message is a user message with its parts, each a kind and a text.
func message(task, id string, parts ...string) string {
	var texts, kinds []string
	for i := 0; i < len(parts); i += 2 {
		kinds, texts = append(kinds, quote(parts[i])), append(texts, `{"type":"input_text","text":`+quote(parts[i+1])+`}`)
	}
	return record("response_item", `{"type":"message","id":"`+id+`","role":"user","content":[`+strings.Join(texts, ",")+
		`],"internal_chat_message_metadata_passthrough":{"turn_id":"`+task+`","content_item_kinds":[`+strings.Join(kinds, ",")+`]}}`)
}

func typed(task, id, text string) string { return message(task, id, "user.text", text) }

// old is a user message as older versions write it: without its kind.
func old(text string) string {
	return record("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+quote(text)+`}]}`)
}

func oldTyped(text string) string {
	return old(text) + "\n" + event("user_message", `,"message":`+quote(text)+`,"kind":"plain"`)
}

func said(id, text string) string {
	return record("response_item", `{"type":"message","status":"completed","id":"`+id+`","role":"assistant","content":[{"type":"output_text","text":`+quote(text)+`}]}`)
}

func called(id, command string) string {
	return record("response_item", `{"type":"function_call","id":"fc_`+id+`","name":"exec_command","arguments":`+quote(`{"cmd":`+quote(command)+`}`)+`,"call_id":"`+id+`"}`)
}

func resulted(id, output string) string {
	return record("response_item", `{"type":"function_call_output","id":"fco_`+id+`","call_id":"`+id+`","output":`+quote(output)+`}`)
}

func exited(id string, code int, output string) string {
	return resulted(id, fmt.Sprintf("Chunk ID: 840ca9\nWall time: 0.0000 seconds\nProcess exited with code %d\nOriginal token count: 99\nOutput:\n%s", code, output))
}

// ran is the record of a command; parsed is its parsed_cmd.
func ran(id, status, parsed, output string) string {
	return event("item_completed", `,"item":{"type":"CommandExecution","id":"`+id+`","parsed_cmd":[`+parsed+`],"status":"`+status+`","aggregated_output":`+quote(output)+`,"exit_code":0}`)
}

func parsed(cmd, file string) string {
	return `{"type":"read","cmd":` + quote(cmd) + `,"name":"SKILL.md","path":"` + file + `"}`
}

const (
	file = "/home/dev/.agents/skills/dataviz/SKILL.md"
	text = "---\nname: dataviz\n---\n\n# dataviz\n"
)

func block(name, file, text string) string {
	return "<skill>\n<name>" + name + "</name>\n<path>" + file + "</path>\n" + text + "\n</skill>"
}

func mentioned(id, name, file, text string) string {
	return message("t1", id, "skills.selected_skill_instructions", block(name, file, text))
}

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
	s, problems, err := codex.Kind.Read(context.Background(), strings.NewReader(strings.Join(lines, "\n")+"\n"), "rollout-x.jsonl", o)
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

func TestHumanTurns(t *testing.T) {
	const env = "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>"
	userItem := func(text string) string {
		return event("item_completed", `,"turn_id":"t1","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":`+quote(text)+`}]}`)
	}
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"typed":                {"draw it", []string{typed("t1", "m1", "draw it")}},
		"and its event":        {"draw it", []string{typed("t1", "m1", "draw it"), userItem("draw it"), event("user_message", `,"message":"draw it"`)}},
		"environment":          {"", []string{message("t1", "m0", "environments.environment_context", env)}},
		"instructions":         {"a", []string{message("t1", "m0", "agents_md.instructions", "# AGENTS.md", "user.text", "a")}},
		"skill":                {"$dataviz x", []string{typed("t1", "m1", "$dataviz x"), mentioned("m2", "dataviz", file, text)}},
		"talk about a skill":   {"<skill>\n<name>x</name> is odd", []string{typed("t1", "m1", "<skill>\n<name>x</name> is odd")}},
		"aborted":              {"a", []string{typed("t1", "m1", "a"), message("t1", "m2", "generic.turn_aborted", "<turn_aborted>\nThe user interrupted…")}},
		"developer":            {"", []string{strings.Replace(typed("t1", "m1", "be brief"), `"role":"user"`, `"role":"developer"`, 1)}},
		"mid-turn":             {"a|no, bars", []string{typed("t1", "m1", "a"), said("m2", "…"), typed("t1", "m3", "no, bars")}},
		"twice in a file":      {"a", []string{typed("t1", "m1", "a"), typed("t1", "m1", "a")}},
		"two parts":            {"a\nb", []string{message("t1", "m1", "user.text", "a", "user.image", "", "user.text", "b")}},
		"from an editor":       {"fix it", []string{typed("t1", "m1", "# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nfix it\n")}},
		"older":                {"draw it", []string{old(env), oldTyped("draw it")}},
		"older instructions":   {"", []string{old("# AGENTS.md instructions for /p"), event("user_message", `,"message":"<user_instructions>x</user_instructions>"`)}},
		"older, of a kind":     {"", []string{event("user_message", `,"message":"x","kind":"environment_context"`)}},
		"older, item":          {"draw it", []string{old("draw it"), userItem("draw it")}},
		"older, both":          {"draw it", []string{oldTyped("draw it"), userItem("draw it")}},
		"older, resumed newer": {"a|b", []string{oldTyped("a"), said("", "x"), message("t1", "m0", "environments.environment_context", env), typed("t1", "m1", "b"), userItem("b")}},
		"a subagent's result":  {"a", []string{typed("t1", "m1", "a"), message("t1", "m2", "multi_agent.subagent_notification", "done")}},
		"compaction":           {"a", []string{typed("t1", "m1", "a"), record("compacted", `{"message":"the user wanted…","replacement_history":[{"role":"user"}]}`)}},
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
	cat := "cat " + file
	asked := typed("t1", "m1", "chart")
	for name, c := range map[string]struct {
		want  string // id, skill, signal, turn, line, hash of the text
		lines []string
	}{
		"mention":         {"codex-skill-m2 dataviz dollar_mention 0 1 true", []string{typed("t1", "m1", "$dataviz x"), mentioned("m2", "dataviz", file, text)}},
		"mention, no id":  {"codex-skill-line-1 dataviz dollar_mention 0 1 true", []string{typed("t1", "m1", "$dataviz x"), mentioned("", "dataviz", file, text)}},
		"mention, older":  {"codex-skill-line-2 dataviz dollar_mention 0 2 true", []string{oldTyped("$dataviz x"), old(block("dataviz", file, text))}},
		"mention, cut":    {"codex-skill-m2 dataviz dollar_mention 0 1 false", []string{asked, message("t1", "m2", "skills.selected_skill_instructions", strings.TrimSuffix(block("dataviz", file, text), "\n</skill>"))}},
		"two mentions":    {"codex-skill-m2 a dollar_mention 0 1 true, codex-skill-m2-1 b dollar_mention 0 1 false", []string{asked, message("t1", "m2", "skills.selected_skill_instructions", block("a", "/s/a/SKILL.md", text), "skills.selected_skill_instructions", block("b", "/s/b/SKILL.md", "B"))}},
		"mention of none": {"", []string{typed("t1", "m1", "$dataviz x"), said("m2", "There is no such skill.")}},
		"command": {"prompt-skill-codex-dataviz-2026-11-20T17:54:09.254Z dataviz prompt_slash_command 0 0 false",
			[]string{typed("t1", "m1", "/dataviz x")}},
		"path":                 {"", []string{typed("t1", "m1", "/etc/hosts is odd")}},
		"read":                 {"codex-skill-c1 dataviz skill_file_read 0 1 true", []string{asked, called("c1", cat), ran("c1", "completed", parsed(cat, file), text), exited("c1", 0, text)}},
		"read, no record":      {"codex-skill-c1 dataviz skill_file_read 0 1 true", []string{asked, called("c1", cat), exited("c1", 0, text)}},
		"read in part":         {"codex-skill-c1 dataviz skill_file_read 0 1 false", []string{asked, called("c1", "sed -n 1,3p "+file), ran("c1", "completed", parsed("sed -n 1,3p "+file, file), "---")}},
		"read with more":       {"codex-skill-c1 dataviz skill_file_read 0 1 false", []string{asked, called("c1", cat+" && ls"), exited("c1", 0, text+"x")}},
		"read, cut":            {"codex-skill-c1 dataviz skill_file_read 0 1 false", []string{asked, called("c1", cat), exited("c1", 0, "---\n…99 tokens truncated…\n")}},
		"read, older":          {"codex-skill-c1 dataviz skill_file_read 0 2 true", []string{oldTyped("chart"), strings.Replace(called("c1", ""), quote(`{"cmd":""}`), quote(`{"command":["bash","-lc","`+cat+`"]}`), 1), resulted("c1", `{"output":`+quote(text)+`,"metadata":{"exit_code":0}}`)}},
		"read, failed":         {"", []string{asked, called("c1", cat), ran("c1", "failed", parsed(cat, file), "cat: no such file"), exited("c1", 1, "cat: no such file")}},
		"read, denied":         {"", []string{asked, called("c1", cat), exited("c1", 1, "cat: permission denied")}},
		"read, declined":       {"", []string{asked, called("c1", cat), ran("c1", "declined", parsed(cat, file), ""), resulted("c1", "exec command rejected by user")}},
		"read of another file": {"", []string{asked, called("c1", "cat a/SKILL.md.txt"), exited("c1", 0, text)}},
		"written":              {"", []string{asked, called("c1", "cat > "+file+" <<EOF\nx\nEOF"), exited("c1", 0, "")}},
		"listed":               {"", []string{asked, called("c1", "ls "+file), ran("c1", "completed", `{"type":"list_files","cmd":"ls","path":"`+file+`"}`, ""), exited("c1", 0, file)}},
		"searched":             {"", []string{asked, called("c1", "rg x "+file), ran("c1", "completed", `{"type":"search","cmd":"rg"}`, ""), exited("c1", 0, file)}},
		"in an output":         {"", []string{asked, called("c1", "ls"), exited("c1", 0, mentioned("m2", "dataviz", file, text))}},
		"mention and read":     {"codex-skill-m2 dataviz dollar_mention 0 1 true", []string{asked, mentioned("m2", "dataviz", file, text), called("c1", cat), ran("c1", "completed", parsed(cat, file), text)}},
		"command and read":     {"prompt-skill-codex-dataviz-2026-11-20T17:54:09.254Z dataviz prompt_slash_command 0 0 true", []string{typed("t1", "m1", "/dataviz x"), called("c1", cat), exited("c1", 0, text)}},
		"read twice":           {"codex-skill-c1 dataviz skill_file_read 0 1 false", []string{asked, called("c1", "head "+file), exited("c1", 0, "-"), called("c2", "tail "+file), exited("c2", 0, "-")}},
		"in two turns": {"codex-skill-m2 dataviz dollar_mention 0 1 true, codex-skill-c1 dataviz skill_file_read 1 3 true",
			[]string{asked, mentioned("m2", "dataviz", file, text), typed("t2", "m3", "again"), called("c1", cat), exited("c1", 0, text)}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := read(t, c.lines...)
			var got []string
			if s != nil {
				for _, v := range s.Invocations {
					got = append(got, fmt.Sprintf("%s %s %s %d %d %v", v.ID, v.Skill, v.Signal, v.Turn, v.Line, v.BodyHash == hash(text)))
					if v.Explicit != (v.Signal != harvest.SkillFileRead) {
						t.Errorf("%s: explicit %v", v.ID, v.Explicit)
					}
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

// A path below the working folder names the same skill as the whole one.
func TestFolder(t *testing.T) {
	s, _ := read(t, opened(`"cli"`), typed("t1", "m1", "chart"), called("c1", "cat .agents/skills/a/SKILL.md"), exited("c1", 0, text),
		called("c2", "cat /home/dev/project/.agents/skills/a/SKILL.md"), exited("c2", 0, text))
	if len(s.Invocations) != 1 || s.Invocations[0].Dir != "/home/dev/project/.agents/skills/a" {
		t.Errorf("%+v", s.Invocations)
	}
}

func TestTools(t *testing.T) {
	call := func(kind, name, id string) string {
		return record("response_item", `{"type":"`+kind+`","name":`+quote(name)+`,"call_id":"`+id+`"}`)
	}
	out := func(kind, id, output string) string {
		return record("response_item", `{"type":"`+kind+`","call_id":"`+id+`","output":`+output+`}`)
	}
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"well":                 {"[{exec_command false}]", []string{called("c", "ls"), ran("c", "completed", `{}`, ""), exited("c", 0, "Process exited with code 1")}},
		"exit code":            {"[{exec_command true}]", []string{called("c", "ls"), exited("c", 1, "x")}},
		"killed":               {"[{exec_command true}]", []string{called("c", "ls"), exited("c", -1, "x")}},
		"record alone":         {"[{exec_command true}]", []string{called("c", "ls"), ran("c", "failed", `{}`, "x")}},
		"other order":          {"[{exec_command true}]", []string{called("c", "ls"), event("item_completed", `,"item":{"type":"CommandExecution","aggregated_output":"x","status":"failed","id":"c"}`)}},
		"still running":        {"[{exec_command false}]", []string{called("c", "ls"), resulted("c", "Chunk ID: 1\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\nx")}},
		"older shell":          {"[{shell true}]", []string{call("function_call", "shell", "c"), resulted("c", `{"output":"`+strings.Repeat("x", 900)+`","metadata":{"exit_code":2,"duration_seconds":0.1}}`)}},
		"older shell, well":    {"[{shell false}]", []string{call("function_call", "shell", "c"), resulted("c", `{"output":"\"exit_code\":2","metadata":{"exit_code":0,"duration_seconds":0.1}}`)}},
		"shell_command":        {"[{shell_command true}]", []string{call("function_call", "shell_command", "c"), resulted("c", "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx")}},
		"rejected":             {"[{exec_command true}]", []string{called("c", "ls"), resulted("c", "exec command rejected by user")}},
		"aborted":              {"[{exec_command true}]", []string{called("c", "ls"), resulted("c", "aborted by user after 3.1s")}},
		"unknown tool":         {"[{x true}]", []string{call("function_call", "x", "c"), resulted("c", "unsupported call: x")}},
		"patch":                {"[{apply_patch true}]", []string{call("custom_tool_call", "apply_patch", "c"), out("custom_tool_call_output", "c", `"apply_patch verification failed: no match"`)}},
		"patch, as an event":   {"[{apply_patch true}]", []string{call("custom_tool_call", "apply_patch", "c"), event("item_completed", `,"item":{"type":"FileChange","id":"c","changes":{},"status":"failed"}`)}},
		"object":               {"[{x true}]", []string{call("function_call", "x", "c"), out("function_call_output", "c", `{"content":"no","success":false}`)}},
		"object, well":         {"[{x false}]", []string{call("function_call", "x", "c"), out("function_call_output", "c", `{"content":"\"success\":false","success":true}`)}},
		"parts":                {"[{x false}]", []string{call("function_call", "x", "c"), out("function_call_output", "c", `[{"type":"input_text","text":"Exit code: 1"}]`)}},
		"without a name":       {"[{web_search false}]", []string{call("web_search_call", "", "c")}},
		"no call":              {"[]", []string{exited("c", 1, "x")}},
		"a file named so":      {"[{exec_command false}]", []string{called("c", "cat a"), exited("c", 0, "rejected\nExit code: 1")}},
		"parallel, one failed": {"[{exec_command false} {exec_command true}]", []string{called("c", "a"), called("d", "b"), exited("d", 1, ""), exited("c", 0, "")}},
	} {
		s, _ := read(t, append([]string{typed("t1", "m1", "go")}, c.lines...)...)
		if got := fmt.Sprint(s.Turns[0].Tools); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTurn(t *testing.T) {
	usage := func(response string) string {
		return record("token_usage_record", `{"turn_id":"t1","response_id":"`+response+`","usage":{"input_tokens":19200,"cached_input_tokens":18000,"cache_write_input_tokens":200,"output_tokens":180,"reasoning_output_tokens":64}}`)
	}
	s, _ := read(t, opened(`"cli"`), record("turn_context", `{"model":"gpt-5.5"}`), started("t1"), typed("t1", "m1", "chart"),
		record("response_item", `{"type":"reasoning","summary":[{"text":"private thoughts"}]}`),
		said("m2", "Let me look."), usage("r1"), usage("r1"), usage("r2"), said("m3", "Done."), completed("t1", 907),
		started("t2"), typed("t2", "m4", "go on"),
		message("t2", "m5", "generic.turn_aborted", "<turn_aborted>\nThe user interrupted the previous turn on purpose."),
		event("turn_aborted", `,"turn_id":"t2","reason":"interrupted","duration_ms":3696`),
		started("t3"), typed("t3", "m6", "and now?"),
		event("task_complete", `,"turn_id":"t3","error":{"message":"429"},"duration_ms":5`),
		started("t4"), typed("t4", "m7", "again"), event("error", `,"message":"stream failed"`), event("task_complete", `,"turn_id":"t4","error":{"message":"x"},"last_agent_message":"Half."`),
		started("t5"), typed("t5", "m8", "stop"), event("turn_aborted", `,"turn_id":"t5","reason":"replaced"`))
	one, two, three, four, five := s.Turns[0], s.Turns[1], s.Turns[2], s.Turns[3], s.Turns[4]
	if s.ID != "s1" || s.CWD != "/home/dev/project" || s.Branch != "main" || s.Commit != "49b6" || s.Model != "gpt-5.5" || s.Headless || s.Agent != "codex" {
		t.Errorf("%+v", s)
	}
	if one.ID != "t1" || one.Answer != "Done." || *one.DurationMS != 907 || one.Interrupted || one.APIErrors != 0 {
		t.Errorf("%+v", one)
	}
	if u := *one.Usage; u.Input != 2000 || u.CacheRead != 36000 || u.CacheWrite != 400 || u.Output != 360 || u.Reasoning != 128 {
		t.Errorf("usage %+v", u)
	}
	if !two.Interrupted || *two.DurationMS != 3696 || two.Usage != nil {
		t.Errorf("%+v", two)
	}
	if three.APIErrors != 1 || three.Interrupted {
		t.Errorf("%+v", three)
	}
	if four.APIErrors != 1 || four.Answer != "Half." || four.DurationMS != nil {
		t.Errorf("%+v", four)
	}
	if five.Interrupted {
		t.Errorf("%+v", five)
	}
	if data, _ := json.Marshal(s); strings.Contains(string(data), "private") {
		t.Error("reasoning is kept")
	}
}

// What was typed while the agent was at work is a turn of its own; the task's
// time belongs to the turn that began it.
func TestMidTurn(t *testing.T) {
	s, _ := read(t, started("t1"), typed("t1", "m1", "a"), said("m2", "…"), typed("t1", "m3", "no, bars"), said("m4", "Bars."), completed("t1", 9))
	if s.Turns[0].ID != "t1" || s.Turns[1].ID != "m3" || *s.Turns[0].DurationMS != 9 || s.Turns[1].DurationMS != nil || s.Turns[0].Answer != "…" || s.Turns[1].Answer != "Bars." {
		t.Errorf("%+v", s.Turns)
	}
}

// Versions without records of usage repeat running totals.
func TestOlder(t *testing.T) {
	count := func(total, last int) string {
		return event("token_count", fmt.Sprintf(`,"info":{"total_token_usage":{"input_tokens":%d},"last_token_usage":{"input_tokens":%d,"cached_input_tokens":4,"output_tokens":2}}`, total, last))
	}
	at := func(line, second string) string {
		return strings.Replace(line, "17:54:09.254Z", "17:54:"+second+"Z", 1)
	}
	s, _ := read(t, opened(`"cli"`), at(event("task_started", ""), "10"), oldTyped("a"), event("token_count", `,"info":null`),
		count(10, 10), count(10, 10), said("", "x"), count(30, 20), at(event("task_complete", `,"last_agent_message":"x"`), "12.5"), oldTyped("b"), count(31, 1))
	if u := *s.Turns[0].Usage; u.Input != 22 || u.CacheRead != 8 || u.Output != 4 {
		t.Errorf("usage %+v", u)
	}
	if d := s.Turns[0].DurationMS; d == nil || *d != 2500 {
		t.Errorf("duration %v", d)
	}
	if u := *s.Turns[1].Usage; u.Input != 0 || u.CacheRead != 4 {
		t.Errorf("usage %+v", u)
	}
}

func TestWhoseSession(t *testing.T) {
	for source, want := range map[string]string{
		`"cli"`:    "false ",
		`"vscode"`: "false ",
		`"exec"`:   "true ",
		`"mcp"`:    "true ",
		`{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}`: "true s1",
	} {
		s, _ := read(t, opened(source), opened(`"cli"`), typed("t1", "m1", "/a x"))
		if got := fmt.Sprint(s.Headless, " ", s.Subagent); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
		if s.Subagent != "" && len(s.Invocations) > 0 {
			t.Error("a command in a subagent's session: its parent wrote it")
		}
	}
}

func TestHostile(t *testing.T) {
	good := typed("t1", "m1", "chart")
	for name, c := range map[string]struct {
		reasons string
		turns   int
		text    string
	}{
		"cut last line":        {"", 1, good + "\n" + typed("t2", "m2", "next")[:90]},
		"cut output":           {"", 1, good + "\n" + called("c", "ls") + "\n" + exited("c", 1, "}")[:150]},
		"whole last line":      {"", 2, good + "\n" + typed("t2", "m2", "next")},
		"garbage":              {"2: not a JSON object", 2, good + "\ngarbage\n" + typed("t2", "m2", "next")},
		"broken":               {"1: not JSON", 1, `{"type":"event_msg","payload":{"type":}}` + "\n" + good + "\n"},
		"array":                {"2: not a JSON object", 1, good + "\n[1,2]\n"},
		"nul":                  {"1: holds a NUL byte", 0, strings.Replace(good, "chart", "ch\x00art", 1) + "\n"},
		"utf-8":                {"1: not UTF-8", 0, strings.Replace(good, "chart", "ch\xffart", 1) + "\n"},
		"one document":         {"0: a single JSON document, not JSON lines", 0, `{"messages":[{"type":"user"}]}`},
		"one printed document": {"0: a single JSON document, not JSON lines", 0, "{\n  \"messages\": []\n}\n"},
		"a long line":          {"2: line is longer than 16 MiB", 2, good + "\n" + exited("c", 0, strings.Repeat("x", jsonl.MaxLine+1<<17)) + "\n" + typed("t2", "m2", "next")},
		"unknown types":        {"", 1, record("new", `{"a":1}`) + "\n" + event("new", "") + "\n" + record("response_item", `{"type":"new"}`) + "\n" + good},
		"wrong types":          {"", 1, `{"type":5,"payload":[]}` + "\n" + record("session_meta", `7`) + "\n" + record("response_item", `"x"`) + "\n" + record("event_msg", `{"type":["x"]}`) + "\n" + record("response_item", `{"type":"message","role":"user","content":"x"}`) + "\n" + good},
		"other members first":  {"", 1, strings.Replace(good, `{"timestamp"`, `{"payload":{},"timestamp"`, 1) + "\n" + good},
		"a deep line":          {"", 1, record("new", strings.Repeat("[", 9999)+strings.Repeat("]", 9999)) + "\n" + good},
		"empty":                {"", 0, ""},
		"blank lines":          {"", 1, "\n\n" + good + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems, err := codex.Kind.Read(context.Background(), strings.NewReader(c.text), "x.jsonl", harvest.Options{})
			if err != nil {
				t.Fatal(err)
			}
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

// Bytes inside a tool's output are never taken for the record's own.
func TestToolOutputIsNotTheRecord(t *testing.T) {
	quoted := `","type":"response_item","payload":{"type":"message"},"success":false,"x":"` + typed("t1", "m9", "injected")
	s, _ := read(t, typed("t1", "m1", "chart"), called("c1", "ls"), exited("c1", 0, quoted), ran("c1", "completed", `{}`, quoted))
	if prompts(s) != "chart" || s.Turns[0].Tools[0].Failed {
		t.Errorf("prompts %q, tools %v", prompts(s), s.Turns[0].Tools)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(strings.Join([]string{opened(`"cli"`), started("t1"), typed("t1", "m1", "/dataviz x"), mentioned("m2", "dataviz", file, text), called("c1", "cat "+file),
		ran("c1", "completed", parsed("cat "+file, file), text), exited("c1", 1, text), said("m3", "x"), completed("t1", 4)}, "\n")))
	f.Add([]byte(strings.Join([]string{opened(`"cli"`), typed("t1", "m1", "x"), custom("c1", "apply_patch", patch), success("c1"), called("c2", "cd a && apply_patch <<'EOF'\n"+patch+"\nEOF\nls"),
		resulted("c2", "Process running with session ID 42"), function("c3", "write_stdin", `{"session_id":42}`), resulted("c3", "exec command rejected by user"),
		event("patch_apply_end", `,"call_id":"e1","success":false,"changes":{"a":{"type":"update","unified_diff":"+x\n"}}`)}, "\n")))
	f.Add([]byte(oldTyped("a") + "\n" + old(block("a", "b", "c")) + "\n" + event("token_count", `,"info":{"last_token_usage":{}}`)))
	f.Add([]byte("{\"type\":\"event_msg\",\"payload\":{\n\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems, err := codex.Kind.Read(context.Background(), strings.NewReader(string(data)), "f.jsonl", harvest.Options{Moments: work.All})
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
			if v.Turn < 0 || v.Turn >= len(s.Turns) || v.Skill == "" || v.ID == "" {
				t.Errorf("invocation %+v of %d turns", v, len(s.Turns))
			}
		}
		if s.Ended.Before(s.Started) {
			t.Errorf("ended %v, started %v", s.Ended, s.Started)
		}
	})
}
