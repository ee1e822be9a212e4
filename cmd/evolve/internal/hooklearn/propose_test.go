package hooklearn

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/store/hookcases"
)

// proposed is the guard of a rule for which one command was refused, the only one recorded.
func proposed(t *testing.T, rule, command string) *Rule {
	t.Helper()
	input := commandOf(command)
	event, err := json.Marshal(map[string]any{"tool_use_id": "t", "tool_input": input})
	if err != nil {
		t.Fatal(err)
	}
	session := &hooktest.Session{Agent: claudeCode, ID: "s", CWD: "/w",
		Calls: []events.Event{{Name: events.PreToolUse, Tool: "Bash", Input: event, Outcome: events.Refused, Words: rule}}}
	session.Tell("t", hooktest.Told{Label: guard.Stop, Rule: rule, Words: rule, Source: hookcases.Refusal})
	sessions := []*hooktest.Session{session}
	r := &rulesOf(sessions, hooktest.Parts{Redactor: func() redact.Redactor { return redact.Detector{} }}.What, nil)[0]
	r.propose(sessions, redact.Detector{})
	return r
}

// Nothing is denied that the rule does not tell, however little was recorded.
func TestWidth(t *testing.T) {
	for name, c := range map[string]struct{ rule, command, want string }{
		"named":      {"Do not run git reset --hard", "git reset --hard HEAD", `"deny": ["Bash(git reset --hard:*)"]`},
		"a guess":    {"Never throw my work away", "git checkout .", `"ask": ["Bash(git checkout:*)"]`},
		"a flag":     {"Never git push with --force", "git push origin main --force", "a rule file that stops a command of git with push, --force;"},
		"a branch":   {"Do not push to main", "git push origin main", "a rule file that stops a command of git with push, main;"},
		"not in it":  {"Never rewrite what is pushed", "git push origin main --force", "no rule of the settings holds it"},
		"a password": {"Do not run deploy", "deploy --token=ghp_0123456789abcdefghijABCDEFGHIJ012345", "no rule of the settings holds it"},
	} {
		r := proposed(t, c.rule, c.command)
		if text := r.text(); !strings.Contains(text, c.want) || strings.Contains(text, "ghp_") {
			t.Errorf("%s: not %s in\n%s", name, c.want, text)
		}
	}
	if text := proposed(t, "Never throw my work away", "git checkout .").text(); !strings.Contains(text, "a guess: the rule does not say how far it goes") {
		t.Error(text)
	}
}
