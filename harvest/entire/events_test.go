package entire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/entire"
)

// noted is a skill event as Entire writes it.
func noted(id, name, signal, rest string) string {
	return fmt.Sprintf(`{"id":"%s","event_type":"tool_invocation","skill":{"name":"%s"},"source":{"agent":"claude-code","signal":"%s","confidence":"explicit"}%s}`, id, name, signal, rest)
}

// Skill events that Entire noted are joined with what the transcript shows: one
// use each, named by Entire.
func TestSkillEvents(t *testing.T) {
	transcript := "garbage, by which its lines are shifted\n" + typed("p1", 10, "chart it") + called("t1", 11, "dataviz") + said("m1", 12, "Done.") +
		typed("p2", 20, "/weekly the next week") + said("m2", 21, "Planned.")
	for name, c := range map[string]struct {
		events string
		want   string
	}{
		"none":         {``, "claude-skill-t1 dataviz@0 skill_tool_use | prompt-skill-claude-code-weekly-2026-11-20T18:20:00Z weekly@1 prompt_slash_command"},
		"by the call":  {noted("x1", "dataviz", "skill_tool_use", `,"turn_id":"p2","transcript_anchor":{"unit":"line","start":1,"end":2,"tool_use_id":"t1"}`), "x1 dataviz@0 skill_tool_use | prompt-skill-claude-code-weekly-2026-11-20T18:20:00Z weekly@1 prompt_slash_command"},
		"by the entry": {noted("x1", "dataviz", "skill_tool_use", `,"transcript_anchor":{"start":9,"entry_ids":["a-t1"]}`), "x1 dataviz@0 skill_tool_use | prompt-skill-claude-code-weekly-2026-11-20T18:20:00Z weekly@1 prompt_slash_command"},
		"by the turn":  {noted("x1", "/dataviz", "prompt_slash_command", `,"turn_id":"p1"`), "x1 dataviz@0 skill_tool_use | prompt-skill-claude-code-weekly-2026-11-20T18:20:00Z weekly@1 prompt_slash_command"},
		"by the time":  {noted("x1", "/skill:weekly", "prompt_slash_command", `,"timestamp":"`+at(20)+`"`), "claude-skill-t1 dataviz@0 skill_tool_use | x1 weekly@1 prompt_slash_command"},
		"by its id":    {noted("claude-skill-t1", "dataviz", "skill_tool_use", ``), "claude-skill-t1 dataviz@0 skill_tool_use | prompt-skill-claude-code-weekly-2026-11-20T18:20:00Z weekly@1 prompt_slash_command"},
		"a native signal beats a typed one": {noted("x2", "weekly", "skill_tool_use", `,"turn_id":"p2","native":{"tool_use_id":"t9"}`),
			"claude-skill-t1 dataviz@0 skill_tool_use | x2 weekly@1 skill_tool_use"},
		"another call in the turn": {noted("x3", "dataviz", "skill_tool_use", `,"turn_id":"p1","native":{"tool_use_id":"t3"}`),
			"x3 dataviz@0 skill_tool_use | claude-skill-t1 dataviz@0 skill_tool_use | prompt-skill-claude-code-weekly-2026-11-20T18:20:00Z weekly@1 prompt_slash_command"},
		"of no turn": {noted("x4", "review", "skill_tool_use", ``), "claude-skill-t1 dataviz@0 skill_tool_use | prompt-skill-claude-code-weekly-2026-11-20T18:20:00Z weekly@1 prompt_slash_command"},
		"no event at all": {`7,null,{"skill":5},{"skill":{"name":" "}},` + noted("x", strings.Repeat("n", 300), "s", `,"turn_id":"p1"`),
			"claude-skill-t1 dataviz@0 skill_tool_use | prompt-skill-claude-code-weekly-2026-11-20T18:20:00Z weekly@1 prompt_slash_command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			asRef(r, "aabbccddee11", map[string]string{"0/full.jsonl": transcript,
				"0/metadata.json": metadata("s1", at(30), isClaude+`,"skill_events_version":1,"skill_events":[`+c.events+`]`)})
			all, problems := r.sessionsWith(entire.Options{Options: harvest.Options{Exists: every}, Readers: []harvest.Kind{claude.Kind}}, nil)
			if len(all) != 1 {
				t.Fatalf("%d sessions, problems %v", len(all), problems)
			}
			var got []string
			for _, v := range all[0].Invocations {
				got = append(got, fmt.Sprintf("%s %s@%d %s", v.ID, v.Skill, v.Turn, v.Signal))
			}
			if strings.Join(got, " | ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " | "), c.want)
			}
			if said := strings.Contains(r.reasons(problems), "a skill event of no turn: review"); said != (name == "of no turn") {
				t.Errorf("problems %s", r.reasons(problems))
			}
		})
	}
}

// If the agent's transcript has no reader, only the events are known; those of older
// checkpoints count too.
func TestSkillEventsAlone(t *testing.T) {
	r := newRepository(t)
	put := func(id string, minute int, event string) {
		asRef(r, id, map[string]string{"0/prompt.txt": "chart it", "0/metadata.json": metadata("s1", at(minute), `,"agent":"Cursor","skill_events":[`+event+`]`)})
	}
	put("aabbccddee11", 10, noted("x1", "acme:viz:chart", "prompt_slash_command", ``))
	put("aabbccddee22", 20, noted("x1", "acme:viz:chart", "prompt_slash_command", ``)+","+noted("x2", "plan", "prompt_slash_command", ``))
	all, _ := r.sessionsWith(entire.Options{Options: harvest.Options{Exists: every}}, nil)
	if got, want := summaries(all), "s1 cursor | chart it >  | x1 acme:viz:chart@0 prompt_slash_command | x2 plan@0 prompt_slash_command"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if v := all[0].Invocations[0]; !v.Explicit || v.EntryID != "" || v.Line != 0 {
		t.Errorf("%+v", v)
	}
}

// Entire notes whatever looks like a command. It is a use if its text was loaded, or
// if there is such a skill.
func TestNotedCommands(t *testing.T) {
	loaded := strings.Replace(typed("", 10, "Base directory for this skill: /home/dev/.claude/skills/weekly\\n\\n# Weekly"), `"type":"user"`, `"isMeta":true,"type":"user"`, 1)
	r := newRepository(t)
	asRef(r, "aabbccddee11", map[string]string{"0/full.jsonl": typed("p1", 9, "/the") + typed("p2", 10, "/weekly x") + loaded + typed("p3", 11, "/review"),
		"0/metadata.json": metadata("s1", at(30), isClaude+`,"skill_events":[`+noted("x1", "the", "prompt_slash_command", `,"turn_id":"p1"`)+","+
			noted("x2", "weekly", "prompt_slash_command", `,"turn_id":"p2"`)+","+noted("x3", "review", "prompt_slash_command", `,"turn_id":"p3"`)+`]`)})
	all, problems := r.sessionsWith(entire.Options{Options: harvest.Options{Exists: func(name string) bool { return name == "review" }}, Readers: readers}, nil)
	if got, want := summaries(all), "s1 claude-code | /the >  | /weekly x >  | /review >  | x2 weekly@1 prompt_slash_command | x3 review@2 prompt_slash_command"; got != want || len(problems) > 0 {
		t.Errorf("got  %s\nwant %s\nproblems %s", got, want, r.reasons(problems))
	}
}

// Secrets in prompts and in the names of events are not kept.
func TestSecretsAreNotKept(t *testing.T) {
	const secret = "sk-ant-api03-FAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE-AA"
	r := newRepository(t)
	asRef(r, "aabbccddee11", map[string]string{"0/prompt.txt": "my key is " + secret,
		"0/metadata.json": metadata("s1", at(10), `,"agent":"Cursor","skill_events":[`+noted("x", "viz-"+secret, "prompt_slash_command", ``)+`]`)})
	all, _ := r.sessionsWith(entire.Options{Options: harvest.Options{Exists: every}}, nil)
	if got := fmt.Sprintf("%+v", *all[0]); strings.Contains(got, "FAKEFAKE") || all[0].Redactions != 2 {
		t.Errorf("%d redactions: %s", all[0].Redactions, got)
	}
}
