package hookuse

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// at is n seconds after some moment.
func at(n int) time.Time { return time.Date(2026, 11, 2, 10, 0, n, 0, time.UTC) }

// call is a tool call, n seconds after the others.
func call(n int, tool, field, value string) events.Event {
	in, _ := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_use_id": string(rune('a' + n)), "tool_input": map[string]string{field: value, "description": string(rune('a' + n))}})
	return events.Event{Name: events.PreToolUse, Tool: tool, Input: in, Time: at(n), Outcome: events.Ran}
}

func bash(n int, command string) events.Event { return call(n, "Bash", "command", command) }

func says(n int, prompt string) events.Event {
	in, _ := json.Marshal(map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt})
	return events.Event{Name: events.UserPromptSubmit, Input: in, Time: at(n)}
}

// TestBack: with what an agent comes back after its first call was stopped and it was told so,
// two seconds later.
func TestBack(t *testing.T) {
	noise := bash(3, "ls -l")
	for _, c := range []struct {
		name   string
		events []events.Event
		how    string
		what   string
	}{
		{"nothing", []events.Event{bash(0, "git reset --hard"), noise, bash(4, "git stash")}, "", ""},
		{"the same, described in other words", []events.Event{bash(0, "git reset --hard"), noise, bash(4, " git reset --hard\n")}, same, " git reset --hard\n"},
		{"another flag", []events.Event{bash(0, "cd a && git reset --hard"), noise, bash(4, "git reset --keep && ls")}, rewritten, "git reset --keep && ls"},
		{"in another shell", []events.Event{bash(0, "git reset --hard"), bash(4, `bash -c "git -q reset --hard"`)}, rewritten, `bash -c "git -q reset --hard"`},
		{"in another folder", []events.Event{bash(0, "git reset --hard"), bash(4, "git -C sub reset --hard")}, rewritten, "git -C sub reset --hard"},
		{"the first of two", []events.Event{bash(0, "git reset --hard"), bash(4, "git reset HEAD"), bash(5, "git reset --hard")}, rewritten, "git reset HEAD"},
		{"called beside it", []events.Event{bash(0, "git reset --hard"), bash(1, "git reset --hard")}, "", ""},
		{"a rewrite that the user may have asked for", []events.Event{bash(0, "git reset --hard"), says(3, "then keep"), bash(4, "git reset --keep")}, "", ""},
		{"the same after a word", []events.Event{bash(0, "git reset --hard"), says(3, "do it"), bash(4, "git reset --hard")}, same, "git reset --hard"},
		{"a program's report is no word", []events.Event{bash(0, "git reset --hard"), says(3, "<task-notification>done</task-notification>"), bash(4, "git reset --keep")}, rewritten, "git reset --keep"},
		{"a shell instead of the editor", []events.Event{call(0, "Edit", "file_path", "/w/gen.go"), bash(4, "cat >gen.go <<E\nE")}, rewritten, "cat >gen.go <<E\nE"},
		{"another editor", []events.Event{call(0, "Edit", "file_path", "/w/gen.go"), call(4, "Write", "file_path", "/w/gen.go")}, rewritten, "/w/gen.go"},
		{"reading the file", []events.Event{call(0, "Edit", "file_path", "/w/gen.go"), call(4, "Read", "file_path", "/w/gen.go")}, "", ""},
		{"another file", []events.Event{call(0, "Edit", "file_path", "/w/gen.go"), call(4, "Edit", "file_path", "/w/regen.go")}, "", ""},
		{"nowhere", []events.Event{bash(0, "make a 2>/dev/null"), bash(4, "ls >/dev/null")}, "", ""},
		{"reading another file", []events.Event{call(0, "Read", "file_path", "/w/.env"), call(4, "Read", "file_path", "/w/a")}, "", ""},
		{"a tool with other words", []events.Event{call(0, "mcp__db__run", "sql", "drop a"), call(4, "mcp__db__run", "sql", "delete from a")}, rewritten, `{"description":"e","sql":"delete from a"}`},
		{"a patch of the same file", []events.Event{call(0, "apply_patch", "command", "*** Begin Patch\n*** Update File: a/gen.go\n+x"), call(4, "apply_patch", "command", "*** Begin Patch\n*** Delete File: a/gen.go")}, rewritten, "*** Begin Patch\n*** Delete File: a/gen.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reader{red: redact.Detector{}}
			b := r.back(&hooktest.Session{ID: "s", Events: c.events}, 0, at(2))
			if b == nil && c.how != "" || b != nil && (b.How != c.how || b.What != c.what || b.Outcome != events.Ran) {
				t.Errorf("%+v, want %q %q", b, c.how, c.what)
			}
		})
	}
}

// TestSaid: only the user's own words count, of the next message or refusal.
func TestSaid(t *testing.T) {
	refused := bash(4, "git reset --hard")
	refused.Outcome, refused.Words = events.Refused, "stop that"
	for want, after := range map[string][]events.Event{
		"do it":     {bash(3, "ls"), says(4, "<task-notification>x</task-notification>"), says(5, "do it"), says(6, "and more")},
		"stop that": {refused, says(5, "do it")},
		"":          {says(4, "> quoted from elsewhere"), says(5, "the next turn's")},
	} {
		r := &reader{red: redact.Detector{}}
		if got := r.said(&hooktest.Session{Events: append([]events.Event{bash(0, "git reset --hard")}, after...)}, 0); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
