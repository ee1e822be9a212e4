package harvest

import (
	"fmt"
	"strings"
	"testing"
)

func TestInvoke(t *testing.T) {
	typed := Invocation{ID: "typed", Skill: "a", Signal: PromptSlashCommand}
	native := Invocation{ID: "native", Skill: "a", Signal: DollarMention, Dir: "/x/a", BodyHash: "h"}
	look := Invocation{ID: "look", Skill: "a", Signal: SkillFileRead, Dir: "/x/a", BodyHash: "r"}
	other := Invocation{ID: "other", Skill: "a", Signal: SkillFileRead, Dir: "/y/a"}
	for name, c := range map[string]struct {
		want string // id, explicit, folder, hash, failed
		uses []Invocation
	}{
		"one":                   {"native true /x/a h false", []Invocation{native}},
		"inferred":              {"look false /x/a r false", []Invocation{look}},
		"mention, then read":    {"native true /x/a h false", []Invocation{native, look}},
		"read, then mention":    {"native true /x/a h false", []Invocation{look, native}},
		"command, then read":    {"typed true /x/a r false", []Invocation{typed, look}},
		"command, then native":  {"native true /x/a h false", []Invocation{typed, native}},
		"read twice":            {"look false /x/a r false", []Invocation{look, {ID: "again", Skill: "a", Signal: SkillFileRead, Dir: "/x/a"}}},
		"two folders, one name": {"look false /x/a r false, other false /y/a  false", []Invocation{look, other}},
		"one folder, two names": {"native true /x/a h false", []Invocation{native, {Skill: "renamed", Signal: SkillFileRead, Dir: "/x/a"}}},
		"refused, then read":    {"typed true /x/a r false", []Invocation{{ID: "typed", Skill: "a", Signal: PromptSlashCommand, Failed: true}, look}},
		"refused":               {"typed true   true", []Invocation{{ID: "typed", Skill: "a", Signal: PromptSlashCommand, Failed: true}}},
		"no name":               {"", []Invocation{{Signal: DollarMention}, {Skill: strings.Repeat("x", 257)}, {Skill: "a\nb"}}},
	} {
		s := &Session{Turns: make([]Turn, 1)}
		for _, v := range c.uses {
			s.Invoke(v)
		}
		var got []string
		for _, v := range s.Invocations {
			got = append(got, fmt.Sprintf("%s %v %s %s %v", v.ID, v.Explicit, v.Dir, v.BodyHash, v.Failed))
		}
		if g := strings.Join(got, ", "); g != c.want {
			t.Errorf("%s: %q, want %q", name, g, c.want)
		}
	}
}

// A use in the turn before is another use.
func TestInvokeTurns(t *testing.T) {
	s := &Session{}
	if s.Invoke(Invocation{Skill: "a", Signal: DollarMention}) {
		t.Error("a use without a turn")
	}
	for range 2 {
		s.Turns = append(s.Turns, Turn{})
		s.Invoke(Invocation{Skill: "a", Signal: SkillFileRead})
	}
	if len(s.Invocations) != 2 || s.Invocations[0].Turn != 0 || s.Invocations[1].Turn != 1 {
		t.Errorf("%+v", s.Invocations)
	}
}

func TestInvokeMany(t *testing.T) {
	s := &Session{Turns: make([]Turn, 1)}
	for i := range 2000 {
		s.Invoke(Invocation{Skill: fmt.Sprint("s", i), Signal: DollarMention})
	}
	if len(s.Invocations) != 1000 {
		t.Errorf("%d uses", len(s.Invocations))
	}
}

func TestSkillFile(t *testing.T) {
	for file, want := range map[string]string{
		"/home/dev/.agents/skills/dataviz/SKILL.md": "dataviz in /home/dev/.agents/skills/dataviz",
		".codex/skills/a/SKILL.md":                  "a in .codex/skills/a",
		`C:\Users\dev\skills\a\SKILL.md`:            `a in C:\Users\dev\skills\a`,
		"SKILL.md":                                  "",
		"./SKILL.md":                                "",
		"/SKILL.md":                                 "",
		"../SKILL.md":                               "",
		"a/SKILL.md.bak":                            "",
		"a/MY-SKILL.md":                             "",
		"":                                          "",
	} {
		got := ""
		if name, dir, ok := SkillFile(file); ok {
			got = name + " in " + dir
		}
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
