package hooklearn

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// session has commands that were refused for a rule (with a "!" before them), permitted ("+"), or just ran.
func session(t *testing.T, day int, project, rule string, lines ...string) *hooktest.Session {
	t.Helper()
	s := &hooktest.Session{Agent: claudeCode, ID: fmt.Sprint("s", day), CWD: project}
	for i, line := range lines {
		id, command := fmt.Sprintf("t%d-%d", day, i), strings.TrimLeft(line, "!+")
		input, err := json.Marshal(map[string]any{"tool_use_id": id, "tool_input": commandOf(command)})
		if err != nil {
			t.Fatal(err)
		}
		e := events.Event{Name: events.PreToolUse, Tool: "Bash", Input: input, Time: time.Date(2026, 1, day, 0, i, 0, 0, time.UTC), Outcome: events.Ran}
		switch {
		case strings.HasPrefix(line, "!"):
			e.Outcome = events.Refused
			s.Tell(id, hooktest.Told{Label: guard.Stop, Rule: rule, Words: rule})
		case strings.HasPrefix(line, "+"):
			e.Outcome = events.Permitted
		}
		s.Events, s.Calls = append(s.Events, e), append(s.Calls, e)
	}
	return s
}

// What the newer sessions show is what a guard does that the older ones alone teach.
func TestHoldOut(t *testing.T) {
	const rule = "Do not run git reset --hard"
	for name, c := range map[string]struct {
		sessions []*hooktest.Session
		want     string
	}{
		"all": {[]*hooktest.Session{
			session(t, 4, "/w", rule, "!git reset --hard", "+make"), session(t, 1, "/w", rule, "!git reset --hard HEAD"), session(t, 5, "/w", rule, "+git log", "+git push"),
		}, "learned from older sessions alone, it stops 1 of 1 newer call; wrongly in 0 of 2 sessions: at most 78 %"},
		"some": {[]*hooktest.Session{
			session(t, 1, "/w", rule, "!git reset --hard HEAD"), session(t, 2, "/w", rule, "!git reset --hard a"), session(t, 3, "/w", rule, "!git reset --hard b", "!git -C x reset --hard"),
		}, "older sessions alone teach Bash(git reset --hard:*), which stops 1 of 2 newer calls\n"},
		"wrongly": {[]*hooktest.Session{
			session(t, 1, "/w", rule, "!git reset --hard HEAD"), session(t, 3, "/w", rule, "!git reset --hard b", "+git reset --hard c"), session(t, 4, "/w", rule, "+ls"),
		}, "learned from older sessions alone, it stops 1 of 1 newer call; wrongly in 1 of 2 sessions: at most 97 %"},
		"elsewhere": {[]*hooktest.Session{
			session(t, 1, "/w", rule, "!git reset --hard HEAD"), session(t, 2, "/v", rule, "!git reset --hard HEAD", "+ls"),
		}, "learned from older sessions alone, it stops 0 of 1 newer call\n"},
		"one session": {[]*hooktest.Session{session(t, 1, "/w", rule, "!git reset --hard a", "!git reset --hard b"), session(t, 2, "/w", rule, "+ls")},
			"not tried on newer sessions: all its calls are of one session"},
		"no guard of the older": {[]*hooktest.Session{
			session(t, 1, "/w", "Keep it", "!make clean && make all"), session(t, 2, "/w", "Keep it", "!make clean && make test"),
		}, "not tried on newer sessions: the older ones alone teach no guard"},
		"another guard": {[]*hooktest.Session{
			session(t, 1, "/w", "Use pnpm instead of npm", "!npm install x"), session(t, 2, "/w", "Use pnpm instead of npm", "!npm test", "!npm install y"),
		}, "older sessions alone teach Bash(npm install:*), which stops 1 of 2 newer calls"},
	} {
		rules := rulesOf(c.sessions, hooktest.Parts{Redactor: func() redact.Redactor { return redact.Detector{} }}.What, nil)
		if len(rules) != 1 {
			t.Fatalf("%s: %d rules", name, len(rules))
		}
		rules[0].propose(c.sessions, redact.Detector{})
		if text := rules[0].text(); !strings.Contains(text, c.want) {
			t.Errorf("%s: not %q in\n%s", name, c.want, text)
		}
	}
}
