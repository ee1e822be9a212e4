package corrected

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest"
)

var start = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

// said is a session whose first turn was corrected, and a case of it with one check.
func said(t *testing.T, words, rule string, k check.Check) (*harvest.Session, []eval.Case) {
	t.Helper()
	s := &harvest.Session{ID: "s", Agent: "claude-code", Path: "/s", CWD: "/w", Started: start, Turns: []harvest.Turn{
		{ID: "t1", Time: at(0), Prompt: "add the field", Answer: "Done.", Reading: &harvest.Reading{Label: harvest.Corrected, Words: words, Reply: 1, Rule: rule, By: "model"}},
		{ID: "t2", Time: at(10), Prompt: words + ", please", Answer: "I see."},
		{ID: "t3", Time: at(20), Prompt: "thanks, perfect", Answer: "Gladly."}}}
	id, why := harvest.CaseOf(s, harvest.Invocation{Skill: "file:w:AGENTS.md", Turn: 0})
	if id == "" {
		t.Fatal(why)
	}
	if err := k.Validate(); err != nil {
		t.Fatal(err)
	}
	return s, []eval.Case{{ID: id, Skill: "file:w:AGENTS.md", Checks: []eval.Check{k},
		Source: &eval.Source{Agent: s.Agent, Session: s.ID, Turn: "t1", Origin: "mined", Outcome: "corrected"}}}
}

var calls = []Call{
	{ID: "before", Time: at(-1), Command: "npm install"},
	{ID: "npm", Time: at(1), Command: "cd web && npm install left-pad"},
	{ID: "pnpm", Time: at(2), Command: "pnpm install left-pad"},
	{ID: "echo", Time: at(3), Command: "echo npm install"},
	{ID: "edit", Time: at(4), File: "/w/generated/a.go"},
	{ID: "other", Time: at(5), File: "/w/src/generated.go"},
	{ID: "outside", Time: at(6), File: "/v/generated/a.go"},
	{ID: "after", Time: at(10), Command: "npm install"},
	{ID: "push", Time: at(7), Command: "git push -f origin main"},
}

// A call is found if it is of the corrected turn, a check of that forbids it, and both the rule
// and its user's words name what is forbidden.
func TestOf(t *testing.T) {
	npm, generated := check.Check{Type: check.NotRan, Value: "npm"}, check.Check{Type: check.NotChanged, Path: "generated/**"}
	for name, c := range map[string]struct {
		words, rule string
		check       check.Check
		want        []string
	}{
		"a command":     {"use pnpm, not npm", "Use pnpm instead of npm", npm, []string{"npm"}},
		"a file":        {"never edit what is in generated/", "Do not edit files below generated/", generated, []string{"edit"}},
		"a subcommand":  {"I push myself", "Do not push", check.Check{Type: check.NotRan, Value: "git push"}, []string{"push"}},
		"a flag":        {"no -f, ever", "Never pass -f", check.Check{Type: check.NotRan, Value: "git push -f"}, []string{"push"}},
		"not said":      {"not like that", "Use pnpm instead of npm", npm, nil},
		"another rule":  {"use pnpm, not npm", "Answer in one sentence", npm, nil},
		"part of words": {"use pnpm", "Use pnpm", npm, nil},
		"the program":   {"what a git", "Leave git alone", check.Check{Type: check.NotRan, Value: "git push"}, nil},
		"must run":      {"run npm install", "Run npm install", check.Check{Type: check.Ran, Value: "npm install"}, nil},
		"after edits":   {"no npm after edits", "No npm after edits", check.Check{Type: check.NotRan, Value: "npm install", After: check.LastEdit}, nil},
		"an answer":     {"no npm", "No npm", check.Check{Type: check.NotContains, Value: "npm"}, nil},
	} {
		s, cases := said(t, c.words, c.rule, c.check)
		got := Of(s, cases, calls)
		if ids := slices.Sorted(maps.Keys(got)); !slices.Equal(ids, c.want) {
			t.Errorf("%s: %q, want %q", name, ids, c.want)
		}
		for _, b := range got {
			if b.Rule != c.rule || b.Words != c.words || b.Case != cases[0].ID {
				t.Errorf("%s: %+v", name, b)
			}
		}
	}
}

// Without a reading whose words its user typed, or a case that was mined of the turn, nothing is
// known of any call.
func TestNotRead(t *testing.T) {
	for name, spoil := range map[string]func(*harvest.Session, *eval.Case){
		"unread":    func(s *harvest.Session, _ *eval.Case) { s.Turns[0].Reading = nil },
		"accepted":  func(s *harvest.Session, _ *eval.Case) { s.Turns[0].Reading.Label = harvest.Accepted },
		"no rule":   func(s *harvest.Session, _ *eval.Case) { s.Turns[0].Reading.Rule = "" },
		"not typed": func(s *harvest.Session, _ *eval.Case) { s.Turns[0].Reading.Words = "npm is not what I use" },
		"copied":    func(s *harvest.Session, _ *eval.Case) { s.Turns[0].Answer = "You said: use pnpm, not npm." },
		"undated":   func(s *harvest.Session, _ *eval.Case) { s.Turns[0].Time = time.Time{} },
		"imported":  func(_ *harvest.Session, c *eval.Case) { c.Source.Origin = "imported" },
		"of others": func(_ *harvest.Session, c *eval.Case) { c.Source.Session = "other" },
		"none":      func(_ *harvest.Session, c *eval.Case) { c.ID = "mined-0" },
		"":          func(*harvest.Session, *eval.Case) {},
	} {
		s, cases := said(t, "use pnpm, not npm", "Use pnpm instead of npm", check.Check{Type: check.NotRan, Value: "npm"})
		spoil(s, &cases[0])
		if got := Of(s, cases, calls); (len(got) > 0) != (name == "") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
