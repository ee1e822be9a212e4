package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// listing names the skills of a session, as newer versions write it.
func listing(names ...string) string {
	return `{"isSidechain":false,"attachment":{"type":"skill_listing","content":"- x: elided","names":["` + strings.Join(names, `","`) + `"]},"type":"attachment","uuid":"l",` + tail
}

// attributed is a line of the agent's with the skill that was in force.
func attributed(line, skill string) string {
	return strings.Replace(line, `"type":"assistant",`, `"attributionSkill":"`+skill+`","type":"assistant",`, 1)
}

func bodyOf(name string) string { return strings.ReplaceAll(body, "dataviz", name) }

// uses lists the invocations: skill, signal, turn, and other fields.
func uses(s *harvest.Session) string {
	var out []string
	if s != nil {
		for _, v := range s.Invocations {
			line := fmt.Sprintf("%s %s %d", v.Skill, v.Signal, v.Turn)
			if !v.Explicit {
				line += " inferred"
			}
			if v.Parent != "" {
				line += " of " + v.Parent
			}
			if v.Command != "" {
				line += " as /" + v.Command
			}
			if v.BodyHash != "" {
				line += " loaded"
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, ", ")
}

func TestLoads(t *testing.T) {
	call := func(message, id, skill string) string {
		return called(message, "Skill", id, `{"skill":"`+skill+`"}`)
	}
	look := func(id, tool, file string) string { return called("m"+id, tool, id, `{"file_path":"`+file+`"}`) }
	const file = "/home/dev/.claude/skills/dataviz/SKILL.md"
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		// A skill that is called by a skill.
		"parent": {"flow skill_tool_use 0 loaded, dataviz skill_tool_use 0 of flow loaded",
			[]string{typed("p", "u", "go"), call("m1", "t1", "flow"), meta("v", "t1", bodyOf("flow")), attributed(call("m2", "t2", "dataviz"), "flow"), meta("w", "t2", body)}},
		"parent in an older version": {"flow skill_tool_use 0 loaded, dataviz skill_tool_use 0 of flow",
			[]string{typed("p", "u", "go"), call("m1", "t1", "flow"), meta("v", "t1", bodyOf("flow")), call("m2", "t2", "dataviz")}},
		"parent that was typed": {"flow prompt_slash_command 0 loaded, dataviz skill_tool_use 0 of flow",
			[]string{slash("p", "u", "flow", ""), meta("v", "", bodyOf("flow")), call("m2", "t2", "dataviz")}},
		"in one message": {"flow skill_tool_use 0, dataviz skill_tool_use 0",
			[]string{typed("p", "u", "go"), call("m1", "t1", "flow"), call("m1", "t2", "dataviz")}},
		"no longer in force": {"flow skill_tool_use 0 loaded, dataviz skill_tool_use 0",
			[]string{typed("p", "u", "go"), call("m1", "t1", "flow"), meta("v", "t1", bodyOf("flow")), attributed(said("m2", "done"), "flow"), call("m3", "t2", "dataviz")}},
		"refused parent": {"flow skill_tool_use 0, dataviz skill_tool_use 0",
			[]string{typed("p", "u", "go"), call("m1", "t1", "flow"), resulted("t1", "Unknown skill: flow", true), call("m2", "t2", "dataviz")}},
		"next turn": {"flow skill_tool_use 0 loaded, dataviz skill_tool_use 1",
			[]string{typed("p", "u", "go"), call("m1", "t1", "flow"), meta("v", "t1", bodyOf("flow")), typed("p2", "u2", "on"), call("m2", "t2", "dataviz")}},
		"itself": {"dataviz skill_tool_use 0 loaded, dataviz skill_tool_use 0",
			[]string{typed("p", "u", "go"), call("m1", "t1", "dataviz"), meta("v", "t1", body), attributed(call("m2", "t2", "dataviz"), "dataviz")}},

		// A command that has another name than the skill that it loads.
		"command calls": {"github-pr-review skill_tool_use 0 as /review-pr loaded",
			[]string{slash("p", "u", "review-pr", "12"), meta("x", "", "Review the pull request."), call("m1", "t1", "github-pr-review"), meta("v", "t1", bodyOf("github-pr-review"))}},
		"command loads": {"github-pr-review prompt_slash_command 0 as /review-pr loaded",
			[]string{slash("p", "u", "review-pr", "12"), meta("v", "", bodyOf("github-pr-review"))}},
		"command loads and calls": {"github-pr-review skill_tool_use 0 as /review-pr loaded",
			[]string{slash("p", "u", "review-pr", "12"), meta("v", "", bodyOf("github-pr-review")), call("m1", "t1", "github-pr-review")}},
		"without its namespace": {"pm:plan skill_tool_use 0 as /plan-it", []string{slash("p", "u", "plan-it", ""), call("m1", "t1", "pm:plan")}},
		"namespace only":        {"pm:idea skill_tool_use 0 as /idea", []string{slash("p", "u", "idea", ""), call("m1", "t1", "pm:idea")}},
		"command is a skill": {"review-pr prompt_slash_command 0, github-pr-review skill_tool_use 0",
			[]string{slash("p", "u", "review-pr", "12"), listing("x:review-pr", "github-pr-review"), call("m1", "t1", "github-pr-review")}},
		"second call": {"a skill_tool_use 0 as /x loaded, b skill_tool_use 0 of a",
			[]string{slash("p", "u", "x", ""), call("m1", "t1", "a"), meta("v", "t1", bodyOf("a")), call("m2", "t2", "b")}},

		// Mentions, and looks into SKILL.md.
		"mention":                 {"dataviz dollar_mention 0", []string{typed("p", "u", "$dataviz revenue"), listing("dataviz")}},
		"mention in a sentence":   {"dataviz dollar_mention 1", []string{typed("p", "u", "hi"), listing("dataviz"), typed("p2", "u2", "plot it (with $dataviz), please")}},
		"older listing":           {"dataviz dollar_mention 0", []string{strings.Replace(strings.Replace(listing(), `"names":[""]`, `"y":1`, 1), "- x: elided", `- dataviz: charts\n- <elided>`, 1), typed("p", "u", "$dataviz revenue")}},
		"unlisted":                {"", []string{typed("p", "u", "$dataviz revenue"), listing("other")}},
		"variable":                {"", []string{typed("p", "u", "echo `$dataviz` and $HOME/x"), listing("dataviz", "home")}},
		"no listing":              {"", []string{typed("p", "u", "$dataviz revenue")}},
		"two mentions":            {"", []string{typed("p", "u", "$a or $b?"), listing("a", "b")}},
		"mention, then call":      {"dataviz skill_tool_use 0 loaded", []string{typed("p", "u", "$dataviz revenue"), listing("dataviz"), call("m1", "t1", "dataviz"), meta("v", "t1", body)}},
		"mention, then look":      {"dataviz dollar_mention 0", []string{typed("p", "u", "$dataviz revenue"), listing("dataviz"), look("t1", "Read", file), resulted("t1", "text", false)}},
		"command, as pi types it": {"dataviz prompt_slash_command 0", []string{typed("p", "u", "/skill:dataviz revenue"), listing("dataviz")}},
		"all in one turn": {"dataviz skill_tool_use 0", []string{slash("p", "u", "dataviz", "$dataviz"), listing("dataviz"), said("m0", "I use $dataviz."),
			look("t1", "Read", file), resulted("t1", "text", false), call("m1", "t2", "dataviz")}},
		"plan":               {"dataviz dollar_mention 0 inferred", []string{typed("p", "u", "plot"), listing("dataviz"), said("m1", "I will use $dataviz."), called("m2", "Bash", "t1", "{}"), said("m3", "Done.")}},
		"plan, then call":    {"dataviz skill_tool_use 0", []string{typed("p", "u", "plot"), listing("dataviz"), said("m1", "I will use $dataviz."), call("m2", "t1", "dataviz")}},
		"answer":             {"", []string{typed("p", "u", "plot"), listing("dataviz"), called("m2", "Bash", "t1", "{}"), said("m3", "You could use $dataviz.")}},
		"look":               {"dataviz skill_file_read 0 inferred", []string{typed("p", "u", "plot"), look("t1", "Read", file), resulted("t1", "text", false)}},
		"failed look":        {"", []string{typed("p", "u", "plot"), look("t1", "Read", file), resulted("t1", "no such file", true)}},
		"look without end":   {"", []string{typed("p", "u", "plot"), look("t1", "Read", file)}},
		"look, then call":    {"dataviz skill_tool_use 0", []string{typed("p", "u", "plot"), look("t1", "Read", file), resulted("t1", "text", false), call("m2", "t2", "dataviz")}},
		"look at the source": {"", []string{typed("p", "u", "plot"), look("t1", "Read", "/home/dev/project/dataviz/SKILL.md"), resulted("t1", "text", false)}},
		"work on the skill":  {"", []string{typed("p", "u", "mend it"), look("t1", "Read", file), resulted("t1", "text", false), look("t2", "Edit", file), resulted("t2", "ok", false)}},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, c.lines...)
			if got := uses(s); got != c.want || len(problems) > 0 {
				t.Errorf("got  %s\nwant %s\n%v", got, c.want, problems)
			}
		})
	}
}

// A command that loads a skill of another name can be recognised in its event.
func TestCommandEvent(t *testing.T) {
	s, _ := read(t, slash("p", "u", "review-pr", "12"), meta("v", "", bodyOf("github-pr-review")))
	e := harvest.Events(s).Events[0]
	if e.Skill.Name != "github-pr-review" || e.Native["command"] != "/review-pr" {
		t.Errorf("%+v", e)
	}
}
