package cursor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/cursor"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

func line(role, blocks string) string {
	return `{"role":"` + role + `","message":{"content":[` + blocks + `]}}`
}

func said(text string) string {
	return line("user", `{"type":"text","text":`+harvesttest.Quote(text)+`}`)
}

func answered(text string, calls ...string) string {
	return line("assistant", strings.Join(append([]string{`{"type":"text","text":` + harvesttest.Quote(text) + `}`}, calls...), ","))
}

func calling(name, input string) string {
	return `{"type":"tool_use","name":"` + name + `","input":` + input + `}`
}

func query(text string) string { return "<user_query>\n" + text + "\n</user_query>" }

func skills(body string) string {
	return "<manually_attached_skills>\nThe user has attached skills.\n\nSkill Name: dataviz\nPath: /home/dev/.cursor/skills/dataviz/SKILL.md\nSKILL.md content:\n" + body + "\n</manually_attached_skills>\n"
}

func read(t *testing.T, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	return harvesttest.Read(t, cursor.Kind, "agent-transcripts/s1/s1.jsonl", lines...)
}

func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"turns":             {"plot it > Done. | thanks > ", []string{said(query("plot it")), answered("Wait."), answered("Done."), `{"type":"turn_ended","status":"success"}`, said(query("thanks"))}},
		"without marks":     {"plot it > ok [Shell]", []string{said("plot it"), answered("ok", calling("Shell", `{"command":"ls"}`))}},
		"thinking":          {"plot it > Done. [Shell]", []string{said("plot it"), answered("Done.\n\n[REDACTED]"), answered("[REDACTED]", calling("Shell", `{}`))}},
		"a time":            {"plot it > ", []string{said("<timestamp>Monday, Sep 14, 2026, 8:46 AM (UTC+9)</timestamp>\n" + query("plot it"))}},
		"files":             {"plot it > ", []string{said("<attached_files>\nno, wrong\n</attached_files>\n" + query("plot it"))}},
		"files, unmarked":   {"plot it > ", []string{said("<image_files>\nno, wrong\n</image_files>\nplot it")}},
		"context alone":     {"", []string{said("<user_info>\nno, wrong\n</user_info>\n<rules>never</rules>")}},
		"an unknown block":  {"", []string{said("<new_block>\nno, wrong\n</new_block>\nplease")}},
		"a time alone":      {"", []string{said("<timestamp>Monday, Sep 14, 2026, 8:46 AM (UTC+9)</timestamp>")}},
		"a reminder":        {"plot it > ", []string{said(query("plot it") + "<system_reminder>no, wrong</system_reminder>")}},
		"a notification":    {"plot it > ", []string{said("plot it"), said("<system_notification>\nThe task has finished.\n</system_notification>"), said(query("Briefly inform the user about the task result and go on."))}},
		"a skill":           {"as bars > ", []string{said(skills("# dataviz") + query("as bars"))}},
		"a skill with ends": {"as bars > ", []string{said(skills("</manually_attached_skills>\n"+query("no, wrong")) + query("as bars"))}},
		"a skill alone":     {"/dataviz > ", []string{said(skills("# dataviz"))}},
		"a string":          {"plot it > ", []string{`{"role":"user","message":{"content":"plot it"}}`}},
		"results":           {"plot it > ", []string{said("plot it"), line("user", `{"type":"tool_result","content":"no, wrong"}`)}},
		"another's lines":   {"", []string{`{"type":"user","uuid":"u","message":{"role":"user","content":"plot it"}}`, `{"type":"x"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, c.lines...)
			if got := harvesttest.Summary(s); got != c.want || len(problems) > 0 {
				t.Errorf("got %q, want %q, problems %v", got, c.want, problems)
			}
		})
	}
}

func TestUses(t *testing.T) {
	const file = `{"path":"/home/dev/.cursor/skills/dataviz/SKILL.md"}`
	for name, c := range map[string]struct{ line, want string }{
		"a reading":   {answered("", calling("Read", file)), "dataviz skill_file_read /home/dev/.cursor/skills/dataviz cursor-skill-s1-1-1"},
		"a writing":   {answered("", calling("Write", file)), ""},
		"another's":   {answered("", calling("Read", `{"path":"/p/main.go"}`)), ""},
		"attached":    {said(skills("# x") + query("as bars")), "dataviz input_slash_command /home/dev/.cursor/skills/dataviz cursor-skill-s1-1-0"},
		"in its text": {said(query("Skill Name: dataviz\nPath: /p/dataviz/SKILL.md")), ""},
		"typed":       {said(query("/dataviz as bars")), "dataviz prompt_slash_command  cursor-skill-s1-1-0"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := read(t, said("plot it"), c.line)
			got := harvesttest.Uses(s)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	s, problems := read(t, said("<timestamp>Monday, Oct 5, 2026, 9:05 PM (UTC-5:30)</timestamp>\n"+query("plot it")), "garbage", `{"role":"assistant","mess`,
		`{"type":"turn_ended","status":"error","error":"User aborted request"}`, said("thanks"), `{"type":"turn_ended","status":"error","error":"overloaded"}`)
	if len(problems) != 2 || !s.Turns[0].Interrupted || s.Turns[0].APIErrors != 0 || s.Turns[1].APIErrors != 1 || s.Turns[1].Interrupted {
		t.Errorf("%+v, problems %v", s.Turns, problems)
	}
	if want := time.Date(2026, 10, 6, 2, 35, 0, 0, time.UTC); !s.Started.Equal(want) || !s.Turns[0].Time.Equal(want) {
		t.Errorf("began %v, want %v", s.Started, want)
	}
	for zone, want := range map[string]string{"(UTC)": "21:05", "(UTC+9)": "12:05", "(UTC+99)": "00:00", "(UTCx)": "00:00"} {
		s, _ := read(t, said("<timestamp>Monday, Oct 5, 2026, 9:05 PM "+zone+"</timestamp>\n"+query("plot it")))
		if got := s.Turns[0].Time.Format("15:04"); got != want {
			t.Errorf("%s is %s, want %s", zone, got, want)
		}
	}
}

// slug is the name that Cursor makes of a folder.
func slug(dir string) string {
	return strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(strings.TrimPrefix(dir, "/"))
}

// The folder of a project is the one that exists of its name, if there is only one.
func TestFolder(t *testing.T) {
	for name, c := range map[string]struct {
		dirs        []string
		name, extra string
		want        []string
	}{
		"one":           {[]string{"a/b"}, "a-b", "", []string{"a/b"}},
		"with hyphens":  {[]string{"a/my-shop.v2"}, "a-my-shop-v2", "", []string{"a/my-shop.v2"}},
		"hidden":        {[]string{"a/.config/x"}, "a--config-x", "", []string{"a/.config/x"}},
		"none":          {nil, "a-b", "", nil},
		"two":           {[]string{"a/b", "a-b"}, "a-b", "", nil},
		"one and more":  {[]string{"a/b"}, "a-b", answered("", calling("Shell", `{"command":"ls","working_directory":"/work/r"}`)), []string{"a/b", "/work/r"}},
		"none and more": {nil, "a-b", answered("", calling("Shell", `{"command":"ls","working_directory":"/work/r"}`)), []string{"/work/r", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, dir := range c.dirs {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			all := harvesttest.Home(t, cursor.Kind, map[string]string{"projects/" + slug(root) + "-" + c.name + "/agent-transcripts/s1/s1.jsonl": said("plot it") + "\n" + c.extra})
			want := slices.Clone(c.want)
			for i, dir := range want {
				if dir != "" && !filepath.IsAbs(dir) {
					want[i] = filepath.Join(root, dir)
				}
			}
			if len(all) != 1 || !slices.Equal(all[0].Folders, want) || all[0].Ended.IsZero() {
				t.Fatalf("%+v, want one of %q", all[0], want)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	all := harvesttest.Home(t, cursor.Kind, map[string]string{"projects/p/agent-transcripts/s1/s1.jsonl": said("plot it"), "projects/p/agent-transcripts/s1/subagents/a1.jsonl": said("count rows"),
		"projects/p/agent-transcripts/s2.jsonl": said("thanks"), "projects/p/terminals/1.jsonl": said("no"), "projects/p/agent-transcripts/s1/notes.txt": "no"})
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprint(s.ID, " ", s.Subagent, " ", s.Headless))
	}
	if want := []string{"s1  false", "a1 a1 true", "s2  false"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzRead(f *testing.F) {
	harvesttest.Fuzz(f, cursor.Kind, "x.jsonl",
		said(skills("# x")+query("plot it"))+"\n"+answered("ok", calling("Read", `{"path":"/p/x/SKILL.md"}`))+"\n"+`{"type":"turn_ended","status":"error"}`,
		said("<timestamp>Monday, Oct 5, 2026, 9:05 PM (UTC-5:30)</timestamp></manually_attached_skills><user_query>"))
}
