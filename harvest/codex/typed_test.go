package codex_test

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// A typed command is a use if its skill was loaded, or if there is such a skill.
func TestTypedCommands(t *testing.T) {
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"unfinished": {"", []string{typed("t1", "m1", "/the")}},
		"it exists":  {"dataviz prompt_slash_command", []string{typed("t1", "m1", "/dataviz x")}},
		"its file is read": {"other prompt_slash_command",
			[]string{typed("t1", "m1", "/other x"), called("c1", "cat /home/dev/.agents/skills/other/SKILL.md"), exited("c1", 0, text)}},
		"mentioned": {"other dollar_mention", []string{typed("t1", "m1", "/other x"), message("t1", "m2", "skills.selected_skill_instructions", block("other", file, text))}},
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
