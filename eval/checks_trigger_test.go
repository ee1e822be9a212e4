package eval

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func trigger(should bool, neighbour string) *Case {
	return &Case{ID: "t", Skill: "stones", Prompt: "which stone is this?", ShouldTrigger: &should, Neighbour: neighbour}
}

func TestTriggerCheck(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name    string
		kase    *Case
		attempt Attempt
		quality float64
		says    string
	}{
		{"loaded", trigger(true, ""), Attempt{Answer: "x", SkillInvoked: &yes, Skills: []string{"stones"}}, 1, ""},
		{"loaded, then no answer", trigger(true, ""), Attempt{Failure: "empty answer", SkillInvoked: &yes}, 1, ""},
		{"not loaded", trigger(true, ""), Attempt{Answer: "x", SkillInvoked: &no}, 0, `for what this skill is for, and the skill was not loaded: "which stone`},
		{"another loaded", trigger(true, ""), Attempt{Answer: "x", SkillInvoked: &no, Skills: []string{"maps"}}, 0, `the skill "maps" was loaded instead`},
		{"left alone", trigger(false, ""), Attempt{Answer: "x", SkillInvoked: &no}, 1, ""},
		{"should have been left alone", trigger(false, ""), Attempt{Answer: "x", SkillInvoked: &yes}, 0, "asks for something else, and this skill was loaded"},
		{"the neighbour's", trigger(false, "maps"), Attempt{Answer: "x", SkillInvoked: &no, Skills: []string{"maps"}}, 1, ""},
		{"the neighbour lost it", trigger(false, "maps"), Attempt{Answer: "x", SkillInvoked: &yes, Skills: []string{"stones"}}, 0, `one for the skill "maps", and this skill was loaded`},
		{"nobody took it", trigger(false, "maps"), Attempt{Answer: "x", SkillInvoked: &no}, 0, `one for the skill "maps", which was not loaded`},
		{"by the trace", trigger(true, ""), Attempt{Answer: "x", Trace: []ToolCall{{Name: "Skill", Input: `{"skill":"stones"}`}}}, 1, ""},
	} {
		g, err := new(Checks).Grade(t.Context(), c.kase, c.attempt, "")
		if err != nil {
			t.Fatal(err)
		}
		if g.Quality != c.quality || len(g.Checks) != 1 || !strings.Contains(g.Checks[0].Feedback, c.says) || (c.says == "") != (g.Checks[0].Feedback == "") {
			t.Errorf("%s: %+v, want %v and %q", c.name, g, c.quality, c.says)
		}
	}
	g, err := new(Checks).Grade(t.Context(), trigger(false, ""), Attempt{Answer: "x"}, "")
	if err != nil || !g.Checks[0].Missing {
		t.Errorf("a backend that tells nothing: %+v (%v), want missing", g, err)
	}
}

func TestSkillNotInvoked(t *testing.T) {
	yes, no := true, false
	c := &Case{ID: "1", Skill: "stones", Prompt: "p", Checks: []Check{{Type: SkillNotInvoked, Value: "stones"}, {Type: SkillNotInvoked, Value: "maps"}, {Type: SkillInvoked, Value: "maps"}}}
	g, err := new(Checks).Grade(t.Context(), c, Attempt{Answer: "x", SkillInvoked: &yes, Skills: []string{"stones", "maps"}}, "")
	if err != nil || g.Checks[0].Score != 0 || g.Checks[1].Score != 0 || g.Checks[2].Score != 1 || !strings.Contains(g.Checks[0].Feedback, "must not") {
		t.Errorf("both were loaded: %+v (%v)", g, err)
	}
	g, err = new(Checks).Grade(t.Context(), c, Attempt{Answer: "x", SkillInvoked: &no}, "")
	if err != nil || g.Checks[0].Score != 1 || g.Checks[1].Score != 1 || g.Checks[2].Score != 0 {
		t.Errorf("none was loaded: %+v (%v)", g, err)
	}
	if g, err = new(Checks).Grade(t.Context(), c, Attempt{Answer: "x"}, ""); err != nil || !g.Checks[0].Missing {
		t.Errorf("nobody knows: %+v (%v)", g, err)
	}
}

// An attempt that loaded the skill and then said nothing has triggered it; one
// that never got through is missing.
func TestTriggerRollout(t *testing.T) {
	yes := true
	e := &Evaluator{Grader: new(Checks), InfraTries: 1, MaxRetries: 1, Agent: agentFunc(func(context.Context, Task) (Attempt, error) {
		return Attempt{SkillInvoked: &yes}, nil
	})}
	out, err := e.Run(t.Context(), jobsOf([]*Case{trigger(true, "")}))
	if err != nil {
		t.Fatal(err)
	}
	if r := out[0]; r.Status != Done || r.Quality != 1 || r.Retries != 0 || r.Attempts != 1 || len(r.Feedback) != 0 {
		t.Errorf("rollout = %+v", r)
	}
	e.Agent = agentFunc(func(context.Context, Task) (Attempt, error) { return Attempt{}, errors.New("no route") })
	if out, err = e.Run(t.Context(), jobsOf([]*Case{trigger(true, "")})); err != nil || out[0].Status != Missing {
		t.Errorf("rollout = %+v (%v)", out[0], err)
	}
}

func TestTriggerCase(t *testing.T) {
	if err := trigger(true, "").Validate(); err != nil {
		t.Error(err)
	}
	with := func(c *Case, checks ...Check) *Case { c.Checks = checks; return c }
	plain := &Case{ID: "1", Skill: "s", Prompt: "p", Neighbour: "maps", Checks: []Check{{Type: Contains, Value: "x"}}}
	for want, c := range map[string]*Case{
		"asks only which skill":       with(trigger(true, ""), Check{Type: Contains, Value: "x"}),
		"does not say should_trigger": plain,
		"says it is this one":         trigger(true, "maps"),
		"is the skill itself":         trigger(false, "stones"),
		"takes nothing but":           with(trigger(true, ""), Check{Type: Trigger, Value: "x"}),
		"trigger: the case does not":  with(&Case{ID: "1", Skill: "s", Prompt: "p"}, Check{Type: Trigger}),
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}

	// Written and read, it is the same measurement.
	c, err := DecodeCase([]byte(`{"id":"t","skill":"stones","prompt":"which stone is this?","should_trigger":true}`))
	if err != nil || len(c.Checks) != 1 || c.Checks[0].Type != Trigger {
		t.Fatalf("%+v, %v", c, err)
	}
	if caseHash(c) != caseHash(trigger(true, "")) {
		t.Error("the check that it means changes the key")
	}
	seen := map[hash]bool{caseHash(trigger(true, "")): true, caseHash(trigger(false, "")): true, caseHash(trigger(false, "maps")): true,
		caseHash(with(&Case{ID: "t", Skill: "stones", Prompt: "which stone is this?"}, Check{Type: SkillInvoked, Value: "stones"})): true}
	if len(seen) != 4 {
		t.Errorf("%d keys for four measurements", len(seen))
	}
}

func TestSeparateTriggers(t *testing.T) {
	var cases []Case
	for i := range 20 {
		c := *trigger(i%2 == 0, "")
		c.ID = string(rune('a' + i))
		if i >= 10 {
			c.ShouldTrigger = nil
		}
		cases = append(cases, c)
	}
	ordinary, triggers := SeparateTriggers(cases)
	if len(ordinary) != 10 || len(triggers) != 10 || triggers[0].ID != "a" || ordinary[0].ID != "k" {
		t.Fatalf("%d ordinary, %d triggers", len(ordinary), len(triggers))
	}
}
