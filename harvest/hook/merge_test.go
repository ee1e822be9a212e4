package hook

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

func invoked(turn int, signal harvest.Signal, name, call, command string) harvest.Invocation {
	return harvest.Invocation{ID: "t-" + name + call, Skill: name, Turn: turn, Signal: signal, ToolUseID: call, Command: command, Explicit: true}
}

func noted(signal harvest.Signal, phase Phase, prompt, name, call, hash string, success *bool) Record {
	e := harvest.Event{ID: "live-" + name + call, EventType: "prompt_invocation", Skill: harvest.EventSkill{Name: name}, TurnID: prompt,
		Source: harvest.EventSource{Agent: agent, Signal: signal, Confidence: "explicit"}, Timestamp: "2026-11-21T12:00:00Z"}
	if call != "" {
		e.Anchor = &harvest.Anchor{ToolUseID: call}
	}
	return Record{Key: key("s", prompt+name+call, string(phase)), Phase: phase, Session: "s", Event: e, TextHash: hash, Success: success}
}

// TestMerge: what was noted live adds to the uses that a transcript shows, and
// none of them is counted twice.
func TestMerge(t *testing.T) {
	yes, no := true, false
	tool, typed, dollar := harvest.SkillToolUse, harvest.PromptSlashCommand, harvest.DollarMention
	live := Join([]Record{
		noted(tool, Started, "p0", "dataviz", "t1", "h1", nil),
		noted(tool, Ended, "p0", "dataviz", "t1", "h2", &yes),
		noted(tool, Started, "p0", "dataviz", "t2", "h1", nil),
		noted(tool, Ended, "p0", "dataviz", "t2", "h1", &no),
		noted(tool, Ended, "p0", "nosuch", "t3", "", &no),
		noted(typed, Prompted, "p1", "review", "", "h3", nil),
		noted(dollar, Prompted, "p2", "dataviz", "", "h4", nil),
		noted(tool, Started, "p2", "dataviz", "t4", "h4", nil),
		noted(dollar, Prompted, "p3", "slides", "", "h5", nil),
		noted(typed, Prompted, "p4", "my-plugin:report", "", "h6", nil),
		noted(typed, Prompted, "later", "dataviz", "", "h7", nil),
		noted(typed, Prompted, "p3", "the", "", "", nil), // no skill's name
	})
	s := &harvest.Session{ID: "s", Agent: agent}
	for i := range 6 {
		s.Turns = append(s.Turns, harvest.Turn{ID: fmt.Sprint("p", i), Prompt: fmt.Sprint("prompt ", i), Answer: "done"})
	}
	s.Turns[4].Prompt = "no, use a log scale"
	s.Invocations = []harvest.Invocation{
		invoked(0, tool, "dataviz", "t1", ""), invoked(0, tool, "dataviz", "t2", ""), invoked(0, tool, "nosuch", "t3", ""),
		invoked(1, typed, "code-review", "", "review"), // the command loaded a skill of another name
		invoked(2, tool, "dataviz", "t4", ""),
		invoked(4, typed, "report", "", ""), invoked(5, typed, "dataviz", "", ""),
	}
	show := func() (out []string) {
		for _, v := range s.Invocations {
			out = append(out, fmt.Sprintf("%d %s %s %s failed=%t %s", v.Turn, v.Signal, v.Skill, v.TextHash, v.Failed, v.Feedback.Label))
		}
		return out
	}
	want := []string{
		"0 skill_tool_use dataviz h1 failed=false unknown", "0 skill_tool_use dataviz h1 failed=true unknown", "0 skill_tool_use nosuch  failed=true unknown",
		"1 prompt_slash_command code-review h3 failed=false unknown",
		"2 skill_tool_use dataviz h4 failed=false unknown",
		"3 dollar_mention slides h5 failed=false corrected", // the transcript does not know it
		"4 prompt_slash_command report h6 failed=false unknown", "5 prompt_slash_command dataviz  failed=false unknown",
	}
	if n := live.Merge(s); n != 1 {
		t.Errorf("%d uses were added, want 1", n)
	}
	got := show()
	for i := range got { // labels of the others are the lexicon's business
		if i < len(want) && !strings.HasPrefix(want[i], "3 ") {
			got[i], want[i] = got[i][:strings.LastIndex(got[i], " ")], want[i][:strings.LastIndex(want[i], " ")]
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("uses\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	before := show()
	if n := live.Merge(s); n != 0 || !slices.Equal(before, show()) {
		t.Errorf("the second time %d uses were added", n)
	}
	other := &harvest.Session{ID: "s", Agent: "codex", Turns: []harvest.Turn{{ID: "p3"}}}
	sub := &harvest.Session{ID: "s/a", Agent: agent, Subagent: "a", Turns: []harvest.Turn{{ID: "p3"}}}
	if n, m := live.Merge(other), live.Merge(sub); n != 0 || m != 0 {
		t.Errorf("%d and %d uses were added to sessions that are others", n, m)
	}
	if ids := live.Sessions(); !slices.Equal(ids, []string{"s"}) {
		t.Errorf("sessions %q", ids)
	}
	if n := len(live.Events("s").Events); n != 9 {
		t.Errorf("%d live events, want one for each of 9 uses", n)
	}
}
