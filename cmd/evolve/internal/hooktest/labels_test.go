package hooktest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/store/hookcases"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ranAt(id string, minute int) events.Event {
	input, _ := json.Marshal(map[string]any{"tool_use_id": id, "tool_input": map[string]string{"command": id}})
	return events.Event{Name: events.PreToolUse, Tool: "Bash", Input: input, Time: noon.Add(time.Duration(minute) * time.Minute), Outcome: events.Ran}
}

func kept(id, tool string, minute int, label guard.Label, source hookcases.Source) hookcases.Case {
	e := ranAt(id, minute)
	return hookcases.Case{Call: id, Event: e.Name, Tool: tool, Time: e.Time, Input: e.Input, Label: label, Rule: "rule of " + id, Words: "never", Source: source}
}

// What is stored of a call is known of it in a transcript, too, and in a fork's; a call that is
// in none is an event of its session, if it is wanted and can be used.
func TestJoin(t *testing.T) {
	wants := func(e *events.Event) bool { return e.Tool == "Bash" }
	fork := &Session{Agent: "a", ID: "fork", Events: []events.Event{ranAt("t1", 1), ranAt("t2", 5)}, Calls: []events.Event{ranAt("t1", 1), ranAt("t2", 5)}}
	fork.Tell("t2", Told{Label: guard.Stop, Rule: "as read now"})
	l := new(Labelled)
	all := l.join([]*Session{fork}, []hookcases.Session{
		{Agent: "a", ID: "gone", Project: "/w", First: noon, Cases: []hookcases.Case{
			kept("t1", "Bash", 1, guard.Stop, hookcases.Refusal), kept("t2", "Bash", 5, guard.Go, ""), kept("t3", "Bash", 2, guard.Stop, hookcases.Correction), kept("t4", "Edit", 3, guard.Go, ""), kept("t5", "Bash", 4, guard.Go, "")},
			Unusable: []hookcases.Case{kept("t6", "Bash", 6, guard.Stop, hookcases.Refusal), kept("t7", "Edit", 7, guard.Go, "")}},
		{Agent: "a", ID: "fork", Cases: []hookcases.Case{kept("t8", "Bash", 3, guard.Stop, hookcases.Refusal)}},
		{Agent: "b", ID: "fork", Cases: []hookcases.Case{kept("t1", "Bash", 9, guard.Stop, hookcases.Refusal)}},
	}, wants)
	if l.Stored != 4 || l.Unusable != 1 || len(all) != 3 {
		t.Fatalf("%+v, %d sessions", l, len(all))
	}
	type row struct {
		session, call string
		label         guard.Label
		outcome       events.Outcome
	}
	var got []row
	for _, s := range all {
		for i := range s.Events {
			e := &s.Events[i]
			got = append(got, row{s.Agent + " " + s.ID, refusals.ID(e), s.Told(e).Label, e.Outcome})
		}
	}
	want := []row{
		{"a fork", "t1", guard.Stop, events.Ran}, {"a fork", "t8", guard.Stop, events.Refused}, {"a fork", "t2", guard.Stop, events.Ran},
		{"a gone", "t3", guard.Stop, events.Ran}, {"a gone", "t5", guard.Go, events.Permitted},
		{"b fork", "t1", guard.Stop, events.Refused},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if id := (&Hook{of: &found{}}).session(fork, false).ID; id != "a/gone" {
		t.Errorf("the copied calls count as those of %s: they are evidence twice", id)
	}
	if id := (&Hook{of: &found{}}).session(all[2], false).ID; id != "b/fork" {
		t.Errorf("%s", id)
	}
	if rule := fork.Told(&fork.Events[2]).Rule; rule != "as read now" {
		t.Errorf("%q", rule)
	}
}

// An event that two transcripts of an agent have is one of the older session's; events without
// an id or a time are all of them.
func TestOnce(t *testing.T) {
	prompt := func(text string, at time.Time) events.Event {
		input, _ := json.Marshal(map[string]string{"prompt": text})
		return events.Event{Name: events.UserPromptSubmit, Input: input, Time: at}
	}
	old := &Session{ID: "z", First: noon, Events: []events.Event{prompt("a", noon), ranAt("t1", 1), prompt("", time.Time{})}}
	fork := &Session{ID: "b", First: noon.Add(time.Second), Events: []events.Event{ranAt("t2", 3), prompt("a", noon), prompt("b", noon), ranAt("t1", 1), prompt("", time.Time{}), ranAt("t1", 2)}}
	for _, s := range []*Session{old, fork} {
		s.Refused = []*refusals.Call{{ID: "t1", Time: noon}}
	}
	once([]*Session{fork, old})
	if len(old.Events) != 3 || len(old.Refused) != 1 || len(fork.Refused) != 0 {
		t.Errorf("%d events, %d and %d refused", len(old.Events), len(old.Refused), len(fork.Refused))
	}
	var left []string
	for i := range fork.Events {
		left = append(left, what(&fork.Events[i]))
	}
	if want := []string{"", "b", "t1", "t2"}; !slices.Equal(left, want) {
		t.Errorf("%q, want %q", left, want)
	}
}
