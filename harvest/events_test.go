package harvest

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

func TestSlashCommand(t *testing.T) {
	data, err := os.ReadFile("testdata/slash.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Prompt string  `json:"prompt"`
		Skill  *string `json:"skill"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		got, ok := SlashCommand(v.Prompt)
		if want := v.Skill; ok != (want != nil) || ok && got != *want {
			t.Errorf("%q: %q, %v", v.Prompt, got, ok)
		}
	}
	if len(vectors) < 15 {
		t.Errorf("%d vectors", len(vectors))
	}
}

func TestEvents(t *testing.T) {
	when := time.Date(2026, 11, 20, 18, 15, 2, 345e6, time.UTC)
	s := &Session{ID: "s", Agent: "claude-code", Turns: []Turn{{ID: "p0"}, {ID: "p1"}}, Invocations: []Invocation{
		{ID: "claude-skill-t1", Skill: "dataviz", Turn: 0, Signal: SkillToolUse, Explicit: true, ToolUseID: "t1", EntryID: "e1", Line: 0, Time: when},
		{ID: PromptEventID("claude-code", "dataviz", when), Skill: "dataviz", Turn: 1, Signal: PromptSlashCommand, Explicit: true, Line: 50, Time: when},
		{ID: "x", Skill: "dataviz", Turn: 1, Signal: SkillFileRead, Line: 51},
		{ID: "y", Skill: "dataviz", Turn: 1, Signal: DollarMention, Explicit: true, Line: 52},
	}}
	all := Events(s)
	data, err := json.Marshal(all.ForEntire())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"skill_events_version":1,"skill_events":[` +
		`{"id":"claude-skill-t1","event_type":"tool_invocation","skill":{"name":"dataviz"},"source":{"agent":"claude-code","signal":"skill_tool_use","confidence":"explicit"},` +
		`"turn_id":"p0","timestamp":"2026-11-20T18:15:02.345Z","transcript_anchor":{"unit":"line","end":1,"entry_ids":["e1"],"tool_use_id":"t1"},` +
		`"native":{"tool_name":"Skill","tool_use_id":"t1"},"collapse":{"target":"tool_pair","label":"Skill: dataviz","default_collapsed":true}},` +
		`{"id":"prompt-skill-claude-code-dataviz-2026-11-20T18:15:02.345Z","event_type":"prompt_invocation","skill":{"name":"dataviz"},` +
		`"source":{"agent":"claude-code","signal":"prompt_slash_command","confidence":"explicit"},"turn_id":"p1","timestamp":"2026-11-20T18:15:02.345Z",` +
		`"transcript_anchor":{"unit":"line","start":50,"end":51},"native":{"command":"/dataviz"},"collapse":{"target":"user_message","label":"/skill:dataviz","default_collapsed":true}}]}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	if len(all.Events) != 4 || all.Events[2].Source.Confidence != "inferred" || all.Events[3].Native["command"] != "$dataviz" {
		t.Errorf("%+v", all)
	}
	if none, _ := json.Marshal(Events(&Session{})); string(none) != "{}" {
		t.Errorf("no events: %s", none)
	}
}

func TestAppendEvents(t *testing.T) {
	e := func(id, turn, tool string) Event {
		return Event{ID: id, EventType: "tool_invocation", Skill: EventSkill{"x"}, Source: EventSource{Agent: "a", Signal: SkillToolUse}, TurnID: turn,
			Anchor: &Anchor{ToolUseID: tool}}
	}
	have := AppendEvents(nil, e("1", "t", ""), e("2", "t", ""), e("1", "u", ""), e("", "t", "k"), e("", "v", ""), e("", "v", "k"))
	if len(have) != 3 || have[2].TurnID != "v" {
		t.Errorf("%+v", have)
	}
}
