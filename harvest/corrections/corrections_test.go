package corrections

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

var day = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// said is a session in which the user's second message is about the first turn.
func said(id, answer, words string, r *harvest.Reading) *harvest.Session {
	s := &harvest.Session{ID: id, Agent: "claude-code", Path: id, Started: day, Turns: []harvest.Turn{
		{ID: id + "1", Time: day, Prompt: "plot the revenue", Answer: answer, Reading: r}, {ID: id + "2", Time: day.Add(time.Minute), Prompt: words, Answer: "so"}},
		Invocations: []harvest.Invocation{{Skill: "plot", Signal: harvest.SkillToolUse}}}
	if r != nil && r.Label == harvest.Corrected {
		r.Words, r.Reply = words, 1
	}
	return s
}

func rule(text, concerns string) *harvest.Reading {
	return &harvest.Reading{Label: harvest.Corrected, Rule: text, Concerns: concerns, Replayable: "yes", By: "model"}
}

func TestOf(t *testing.T) {
	lint := "Run the linter on the final state before reporting done"
	copied := said("s5", "It has no parameter named value.", "no parameter named value", rule(lint, "standing"))
	headless := said("s7", "done", "that is wrong", rule(lint, "standing"))
	headless.Headless = true
	resumed := said("s1", "done", "lint fails", rule(lint, "standing")) // a copy of s1 under another id
	resumed.ID = "s8"
	all := []*harvest.Session{
		said("s1", "done", "lint fails", rule(lint, "standing")),
		said("s2", "done", "the linter complains", rule("Run the linter on the final state before pushing.", "standing")),
		said("s3", "done", "you copied that", rule("Extract shared logic into a helper", "standing")),
		said("s4", "done", "I meant the log scale of the cost", rule("", "")),
		said("s6", "done", "a log scale please", rule("", "")),
		said("s9", "done", "great, commit it", &harvest.Reading{Label: harvest.Accepted, Words: "great", Reply: 1, By: "model"}),
		copied, headless, resumed, said("s10", "done", "what time is it?", nil),
	}
	r := Of(all, []eval.Case{{Skill: "plot", Source: &eval.Source{Origin: "mined"}}, {Skill: "plot"}}, "", nil)
	want := Funnel{Sessions: 9, Turns: 16, Replied: 8, Read: 7, Corrected: 6, Preventable: 4, Replayable: 4, Cases: 1, Accepted: 1}
	if r.Funnel != want {
		t.Errorf("%+v, want %+v", r.Funnel, want)
	}
	var got []string
	for _, x := range r.Rules {
		got = append(got, strings.Join([]string{x.Rule + x.Said, x.Concerns, string(rune('0' + x.Sessions)), string(rune('0' + len(x.Quotes)))}, "|"))
	}
	if !slices.Equal(got, []string{lint + "|standing|2|3", "Extract shared logic into a helper|standing|1|1", "log scale|skill:plot|2|2"}) {
		t.Errorf("%q", got)
	}
	if q := r.Rules[0].Quotes[slices.IndexFunc(r.Rules[0].Quotes, func(q Quote) bool { return q.Session == "s5" })]; !q.Copied {
		t.Errorf("the agent's words are the user's: %+v", q)
	}
	one := Of(all, nil, "plot", nil)
	if len(one.Rules) != 1 || one.Rules[0].Said != "log scale" {
		t.Errorf("of one skill: %+v", one.Rules)
	}
	if r := Of(nil, nil, "", nil); r.Rules == nil || len(r.Rules) != 0 {
		t.Errorf("%#v", r)
	}
}

// Rules that a model has put into groups are not grouped by their words, and do not attract
// others.
func TestGrouped(t *testing.T) {
	all := []*harvest.Session{
		said("s1", "done", "lint fails", rule("Run the linter on the final state", "standing")),
		said("s2", "done", "tests fail", rule("Run all tests after a rebase", "standing")),
		said("s3", "done", "what does the linter say?", rule("Run the linter on the final state, too", "standing")),
		said("s4", "done", "the linter has rules", rule("Run the linter with the rules of the repository", "standing")),
		said("s5", "done", "does the linter run?", rule("Run the linter on each final state", "standing")),
	}
	const wording = "Run linter and tests on the final state"
	r := Of(all, nil, "", map[string]string{"Run the linter on the final state": wording, "Run all tests after a rebase": wording,
		"Run the linter with the rules of the repository": "Run the linter with the rules of the repository", "A rule of no session": wording})
	var got []string
	for _, x := range r.Rules {
		got = append(got, fmt.Sprint(x.Rule, "|", x.Sessions, "|", x.Concerns))
	}
	want := []string{wording + "|2|standing", "Run the linter on the final state, too|2|standing", "Run the linter with the rules of the repository|1|standing"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// One message that corrects two turns is one correction.
func TestSameMessage(t *testing.T) {
	s := said("s1", "done", "and the docs?", rule("Run the linter", "standing"))
	s.Turns[0].Reading.Words, s.Turns[0].Reading.Reply = "lint fails", 2
	s.Turns[1].Reading = rule("Run the linter", "standing")
	s.Turns[1].Reading.Words, s.Turns[1].Reading.Reply = "lint fails", 2
	s.Turns = append(s.Turns, harvest.Turn{Prompt: "lint fails", Time: day.Add(time.Hour)})
	r := Of([]*harvest.Session{s}, nil, "", nil)
	if r.Funnel.Corrected != 2 || len(r.Rules) != 1 || len(r.Rules[0].Quotes) != 1 || r.Rules[0].Quotes[0].Turn != 1 {
		t.Errorf("%+v", r)
	}
}

func TestStanding(t *testing.T) {
	r := Of([]*harvest.Session{said("s1", "done", "lint fails", rule("Run the linter on the final state before reporting done", "standing")),
		said("s2", "done", "no pies", rule("Draw no pie charts", "skill:plot"))}, nil, "", nil)
	path := filepath.Join(t.TempDir(), "AGENTS.md")
	if err := os.WriteFile(path, []byte("# Rules\n\n- Run the linter before you report that you are done.\n- no pie charts are drawn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for age, want := range map[time.Duration]int{-time.Hour: 1, time.Hour: 0} {
		if err := os.Chtimes(path, day.Add(age), day.Add(age)); err != nil {
			t.Fatal(err)
		}
		r.Standing([]Text{*ReadText("standing", path)})
		if w := r.Rules[slices.IndexFunc(r.Rules, func(x Rule) bool { return x.Concerns == "standing" })].Written; w.Path != path || w.Since != want || !strings.Contains(w.Line, "linter") {
			t.Errorf("%+v, want %d sessions since", w, want)
		}
	}
	const wording = "Run formatter, linter and all tests on the final state, also after merges and rebases"
	lint := "Run the linter on the final state before reporting done"
	r = Of([]*harvest.Session{said("s1", "done", "lint fails", rule(lint, "standing"))}, nil, "", map[string]string{lint: wording})
	if r.Standing([]Text{*ReadText("standing", path)}); r.Rules[0].Rule != wording || !strings.Contains(r.Rules[0].Written.Line, "linter") {
		t.Errorf("a rule in a group: %+v", r.Rules[0])
	}
	for session, want := range map[string]string{"s1": path, "s2": ""} { // of another project
		r = Of([]*harvest.Session{said("s1", "done", "lint fails", rule(lint, "standing"))}, nil, "", nil)
		text := *ReadText("standing", path)
		text.Sessions = map[string]bool{session: true}
		if r.Standing([]Text{text}); r.Rules[0].Written.Path != want {
			t.Errorf("loaded by %s: written in %q, want %q", session, r.Rules[0].Written.Path, want)
		}
	}
	if ReadText("standing", path+".missing") != nil {
		t.Error("a file that is not there was read")
	}
}

// A rule is no longer needed if the newest model passed all its rollouts without the skill.
func TestUnneeded(t *testing.T) {
	run := func(id, model string, at int, score float64) eval.Rollout {
		return eval.Rollout{CaseID: id, Status: eval.Done, Model: model, Agent: eval.Identity{Backend: "claude"}, Started: day.Add(time.Duration(at) * time.Hour),
			Checks: []eval.CheckResult{{Type: "contains", Score: score, Weight: 1}}}
	}
	failed, void, simulated, other := run("c1", "new", 5, 1), run("c1", "new", 5, 0), run("c1", "new", 5, 0), run("c1", "new", 5, 0)
	failed.Failure, void.Status, simulated.Agent.Simulated = "no answer", eval.Void, true
	other.Checks = append(other.Checks, eval.CheckResult{Type: "regex"})
	for name, c := range map[string]struct {
		rollouts []eval.Rollout
		want     *Unaided
	}{
		"none":            {nil, nil},
		"passed":          {[]eval.Rollout{run("c1", "new", 2, 1), run("c2", "new", 1, 1), run("c2", "new", 0, 1)}, &Unaided{"claude/new", 2, 3, day.Add(2 * time.Hour)}},
		"one failed":      {[]eval.Rollout{run("c1", "new", 2, 1), run("c2", "new", 1, .4)}, nil},
		"no answer":       {[]eval.Rollout{run("c1", "new", 2, 1), failed}, nil},
		"the old failed":  {[]eval.Rollout{run("c1", "new", 2, 1), run("c1", "old", 1, 0)}, &Unaided{"claude/new", 1, 1, day.Add(2 * time.Hour)}},
		"the old passed":  {[]eval.Rollout{run("c1", "new", 2, 0), run("c1", "old", 1, 1)}, nil},
		"says nothing":    {[]eval.Rollout{run("c1", "new", 2, 1), void, simulated, other}, &Unaided{"claude/new", 1, 1, day.Add(2 * time.Hour)}},
		"another's case":  {[]eval.Rollout{run("c3", "new", 2, 1)}, nil},
		"an accepted use": {[]eval.Rollout{run("c4", "new", 2, 1)}, nil},
		"another skill's": {[]eval.Rollout{run("c5", "new", 2, 1)}, nil},
	} {
		r := Of([]*harvest.Session{said("s1", "done", "no pies", rule("Draw no pie charts", "skill:plot")), said("s2", "done", "again a pie", rule("Draw no pie charts", "skill:plot")),
			said("s3", "done", "lint fails", rule("Run the linter", "standing"))}, nil, "", nil)
		var cases []eval.Case
		for i, of := range []string{"s1", "s2", "s3", "s1", "s1"} {
			cases = append(cases, eval.Case{ID: fmt.Sprint("c", i+1), Skill: "plot", Checks: []eval.Check{{Type: "contains"}},
				Source: &eval.Source{Agent: "claude-code", Session: of, Turn: of + "1", Origin: "mined", Outcome: "corrected"}})
		}
		cases[3].Source.Outcome, cases[4].Skill = "accepted", "other"
		err := r.Unneeded(cases, func(k *eval.Case) (out []eval.Rollout, err error) {
			for _, x := range c.rollouts {
				if x.CaseID == k.ID {
					out = append(out, x)
				}
			}
			return out, nil
		})
		for _, x := range r.Rules {
			want := c.want
			if x.Concerns == "standing" {
				want = nil
			}
			if err != nil || (x.Unaided == nil) != (want == nil) || want != nil && *x.Unaided != *want {
				t.Errorf("%s: %s: %+v, %v; want %+v", name, x.Rule, x.Unaided, err, want)
			}
		}
	}
}
