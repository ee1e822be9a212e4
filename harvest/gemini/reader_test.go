package gemini_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/gemini"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

const head = `{"sessionId":"s1","projectHash":"HASH","startTime":"2026-11-20T18:00:00.000Z","lastUpdated":"2026-11-20T18:00:00.000Z","kind":"main"}`

func header(root string) string { return strings.Replace(head, "HASH", harvest.Hash(root), 1) }

func message(kind, id, content, rest string) string {
	return `{"id":"` + id + `","timestamp":"2026-11-20T18:01:00.000Z","type":"` + kind + `","content":` + content + rest + `}`
}

func said(id, text string) string {
	return message("user", id, `[{"text":`+harvesttest.Quote(text)+`}]`, "")
}

func answered(id, text, rest string) string {
	return message("gemini", id, harvesttest.Quote(text), `,"thoughts":[{"subject":"private","description":"thoughts"}],"model":"gemini-3-pro"`+rest)
}

func calling(name, args, status string) string {
	return `,"toolCalls":[{"id":"c1","name":"` + name + `","args":` + args + `,"status":"` + status + `","result":[{"functionResponse":{"response":{"output":"seen by nobody"}}}]}]`
}

func read(t *testing.T, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	return harvesttest.Read(t, gemini.Kind, "x/session-1.jsonl", lines...)
}

func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"turns": {"plot it > Done. | thanks > ", []string{said("1", "plot it"), answered("2", "Done.", ""), said("3", "thanks")}},
		"a message that grows": {"plot it > Done. [read_file]", []string{said("1", "plot it"), answered("2", "Wait.", ""),
			answered("2", "Done.", calling("read_file", `{"file_path":"/p/a.go"}`, "success"))}},
		"calls that fail":    {"plot it >  [run_shell_command failed]", []string{said("1", "plot it"), answered("2", "", calling("run_shell_command", `{"command":"false"}`, "error"))}},
		"calls of no effect": {"plot it >  [replace failed]", []string{said("1", "plot it"), answered("2", "", calling("replace", `{}`, "cancelled"))}},
		"taken back":         {"plot it > Done.", []string{said("1", "plot it"), answered("2", "Done.", ""), said("3", "oops"), answered("4", "?", ""), `{"$rewindTo":"3"}`}},
		"all taken back":     {"again > ", []string{said("1", "plot it"), `{"$rewindTo":"unknown"}`, said("2", "again")}},
		"a repeated history": {"plot it > Done.", []string{said("1", "plot it"), answered("2", "Done.", ""), `{"$set":{"messages":[` + said("9", "<state_snapshot>x</state_snapshot>") + `]}}`}},
		"files":              {"see @a.md > ", []string{message("user", "1", `[{"text":"see @a.md"},{"text":"\n--- Content from referenced files ---"},{"text":"\nContent from @a.md:\n"},{"text":"no, wrong"},{"text":"\n--- End of content ---"}]`, "")}},
		"as displayed":       {"see @a.md > ", []string{message("user", "1", `[{"text":"no, wrong"}]`, `,"displayContent":[{"text":"see @a.md"}]`)}},
		"context":            {"plot it > ", []string{said("0", "<session_context>\nno, wrong\n</session_context>"), said("1", "plot it")}},
		"context beside":     {"plot it > ", []string{said("1", "<session_context>\nno</session_context>, wrong\n</session_context>plot it")}},
		"a snapshot":         {"", []string{said("1", "<state_snapshot>no, wrong")}},
		"a shell":            {"", []string{said("1", "I ran the following shell command:\n```sh\nls\n```")}},
		"go on":              {"plot it > ", []string{said("1", "plot it"), said("2", "Please continue."), said("3", "System: Please continue.")}},
		"results":            {"plot it > ", []string{said("1", "plot it"), message("user", "2", `[{"functionResponse":{"id":"c","response":{"output":"no, wrong"}}}]`, "")}},
		"another's lines":    {"", []string{`{"type":"user","uuid":"u","message":{"role":"user","content":"plot it"}}`}},
		"string contents":    {"plot it > ", []string{message("user", "1", `"plot it"`, "")}},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, append([]string{header("/p")}, c.lines...)...)
			if got := harvesttest.Summary(s); got != c.want || len(problems) > 0 {
				t.Errorf("got %q, want %q, problems %v", got, c.want, problems)
			}
			doc := "{\n" + strings.TrimSuffix(header("/p")[1:], "}") + `,"messages":[` + strings.Join(c.lines, ",\n") + "]}"
			if strings.Contains(doc, "$") || strings.Contains(doc, "uuid") {
				return
			}
			d, problems := read(t, doc)
			if got := harvesttest.Summary(d); got != c.want || len(problems) > 0 {
				t.Errorf("document: %q, want %q, problems %v", got, c.want, problems)
			}
		})
	}
}

func TestUsageAndTime(t *testing.T) {
	tokens := `,"tokens":{"input":10,"output":2,"cached":4,"thoughts":1,"tool":0,"total":13}`
	s, _ := read(t, header("/p"), said("1", "plot it"), answered("2", "", tokens), answered("2", "Done.", tokens),
		message("error", "3", `"quota"`, ""), message("info", "4", `"Update available"`, ""), message("info", "5", `"Request cancelled."`, ""))
	turn := s.Turns[0]
	if u := turn.Usage; u == nil || u.Input != 6 || u.CacheRead != 4 || u.Output != 3 || u.Reasoning != 1 {
		t.Errorf("usage %+v", u)
	}
	if !turn.Interrupted || turn.APIErrors != 1 || s.Model != "gemini-3-pro" || s.Vendor != "" || s.Started.IsZero() || s.Ended.Before(s.Started) || s.ID != "s1" {
		t.Errorf("%+v", s)
	}
	s, _ = read(t, header("/p"), said("1", "plot it"), strings.Replace(answered("2", "", ""), "gemini-3-pro", "glm-5", 1))
	if s.Vendor != harvest.UnknownVendor {
		t.Errorf("vendor %q", s.Vendor)
	}
}

func TestUses(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"the tool":        {answered("2", "", calling("activate_skill", `{"name":"dataviz"}`, "success")), "dataviz skill_tool_use  gemini-skill-c1"},
		"the tool failed": {answered("2", "", calling("activate_skill", `{"name":"dataviz"}`, "error")), ""},
		"a reading":       {answered("2", "", calling("read_file", `{"file_path":"/home/dev/.gemini/skills/dataviz/SKILL.md"}`, "success")), "dataviz skill_file_read /home/dev/.gemini/skills/dataviz gemini-skill-c1"},
		"a writing":       {answered("2", "", calling("write_file", `{"file_path":"/home/dev/.gemini/skills/dataviz/SKILL.md"}`, "success")), ""},
		"typed":           {said("2", "/dataviz as bars"), "dataviz prompt_slash_command "},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := read(t, header("/p"), said("1", "plot it"), c.line)
			got := harvesttest.Uses(s)
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestDamaged(t *testing.T) {
	s, problems := read(t, header("/p"), "garbage", said("1", "plot it"), `{"id":"2","type":"gemini","content":"x"`, said("3", "thanks"))
	if got := harvesttest.Summary(s); got != "plot it >  | thanks > " || len(problems) != 2 || problems[0].Line != 2 || problems[1].Line != 4 {
		t.Errorf("got %q, problems %v", got, problems)
	}
	for _, text := range []string{"{\n", "{\n \"messages\": [", "{ ", "{\n}" + strings.Repeat("]", 9)} {
		if s, problems := read(t, text); s != nil || len(problems) != 1 {
			t.Errorf("%q: %v, problems %v", text, s, problems)
		}
	}
}

// A session's folder is known only if its hash is the one that the transcript names.
func TestFolder(t *testing.T) {
	const file = "tmp/proj/chats/session-2026-11-20T18-00-s1.jsonl"
	text := header("/work/p") + "\n" + said("1", "plot it")
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"nothing":       {map[string]string{file: text}, nil},
		"the marker":    {map[string]string{file: text, "tmp/proj/.project_root": "/work/p"}, []string{"/work/p"}},
		"another's":     {map[string]string{file: text, "tmp/proj/.project_root": "/work/q"}, nil},
		"the registry":  {map[string]string{file: text, "projects.json": `{"projects":{"/work/q":"proj","/work/p":"proj-1"}}`}, []string{"/work/p"}},
		"a broken one":  {map[string]string{file: text, "projects.json": `{"projects":{"/work/p"`}, nil},
		"a file of it":  {map[string]string{file: text + "\n" + answered("2", "", calling("read_file", `{"file_path":"/work/p/cmd/a.go"}`, "success"))}, []string{"/work/p"}},
		"the context":   {map[string]string{file: text + "\n" + said("2", "<session_context>\n- **Workspace Directories:**\n  - /work/p\n</session_context>")}, []string{"/work/p"}},
		"added":         {map[string]string{file: text + "\n" + `{"$set":{"directories":["/work/r"]}}`, "tmp/proj/.project_root": "/work/p"}, []string{"/work/p", "/work/r"}},
		"added, alone":  {map[string]string{file: text + "\n" + `{"$set":{"directories":["/work/r"]}}`}, []string{"/work/r", ""}},
		"beside a line": {map[string]string{file: text, "tmp/proj/.project_root": "/work/p", strings.TrimSuffix(file, "l"): "{\n}", "tmp/proj/logs.json": "[]"}, []string{"/work/p"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := harvesttest.Home(t, gemini.Kind, c.files)
			if len(all) != 1 || !slices.Equal(all[0].Folders, c.want) {
				t.Fatalf("%d sessions, of %q, want %q", len(all), all[0].Folders, c.want)
			}
		})
	}
}

func TestSubagent(t *testing.T) {
	all := harvesttest.Home(t, gemini.Kind, map[string]string{"tmp/proj/chats/session-1-s1.jsonl": header("/p") + "\n" + said("1", "plot it"), "tmp/proj/.project_root": "/p",
		"tmp/proj/chats/s1/sub.jsonl": strings.NewReplacer(`"s1"`, `"sub"`, `"main"`, `"subagent"`).Replace(header("/p")) + "\n" + said("1", "count rows")})
	slices.SortFunc(all, func(a, b *harvest.Session) int { return strings.Compare(a.Subagent, b.Subagent) })
	if len(all) != 2 || all[0].Subagent != "" || all[1].Subagent != "sub" || !all[1].Headless || all[1].CWD != "/p" {
		t.Errorf("%+v", all)
	}
	if id, parent := gemini.Kind.Family("/h/tmp/p/chats/s1/sub.jsonl", func() []byte { return []byte(`{"sessionId":"sub"}`) }); id != "sub" || parent != "s1" {
		t.Error(id, parent)
	}
}

// Neither thoughts nor results are kept.
func TestNotKept(t *testing.T) {
	s, _ := read(t, header("/p"), said("1", "plot it"), answered("2", "Done.", calling("run_shell_command", `{"command":"ls"}`, "success")))
	data, err := json.Marshal(s)
	if err != nil || strings.Contains(string(data), "private") || strings.Contains(string(data), "nobody") {
		t.Errorf("%s, %v", data, err)
	}
}

func FuzzRead(f *testing.F) {
	harvesttest.Fuzz(f, gemini.Kind, "/h/tmp/p/chats/session-1.jsonl",
		header("/p")+"\n"+said("1", "plot it")+"\n"+answered("2", "Done.", calling("read_file", `{"path":"/p/SKILL.md"}`, "success"))+"\n"+`{"$rewindTo":"2"}`,
		"{\n\"sessionId\":\"s\",\"messages\":["+said("1", "plot it")+"]}")
}
