package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// IsTrigger reports whether the case asks only which skill an agent loads.
// Quality means something else there: such cases are never mixed with others.
func (c *Case) IsTrigger() bool { return c.ShouldTrigger != nil }

// SeparateTriggers divides cases into ordinary ones and trigger cases, each in
// their order. A tournament over answers takes the former, one over descriptions
// the latter.
func SeparateTriggers(cases []Case) (ordinary, triggers []Case) {
	for _, c := range cases {
		if c.IsTrigger() {
			triggers = append(triggers, c)
		} else {
			ordinary = append(ordinary, c)
		}
	}
	return ordinary, triggers
}

// checks are the checks that the case means: a trigger case needs none written
// down.
func (c *Case) checks() []Check {
	if len(c.Checks) == 0 && c.IsTrigger() {
		return []Check{{Type: Trigger}}
	}
	return c.Checks
}

// validateTrigger holds what makes a trigger case against the rest of it.
func (c *Case) validateTrigger() error {
	for i := range c.Checks {
		k := &c.Checks[i]
		switch {
		case !c.IsTrigger() && k.Type == Trigger:
			return fmt.Errorf("checks[%d]: trigger: the case does not say should_trigger", i)
		case c.IsTrigger() && k.Type != Trigger && k.Type != SkillInvoked && k.Type != SkillNotInvoked && checkFields[k.Type] != nil:
			return fmt.Errorf("checks[%d]: %s: a trigger case asks only which skill is loaded (%s, %s, %s)", i, k.Type, Trigger, SkillInvoked, SkillNotInvoked)
		}
	}
	switch {
	case c.Neighbour == "":
	case !c.IsTrigger():
		return errors.New("neighbour: the case does not say should_trigger")
	case *c.ShouldTrigger:
		return errors.New("neighbour: one skill should be loaded, and should_trigger says it is this one")
	case c.Neighbour == c.Skill:
		return errors.New("neighbour: is the skill itself")
	}
	return nil
}

// loaded says whether the attempt loaded a skill, and whether that can be told:
// by the backend's word, else by a call of the Skill tool in the trace.
func (a *Attempt) loaded(name string, own bool) (is, known bool) {
	if own && a.SkillInvoked != nil {
		return *a.SkillInvoked, true
	}
	is = slices.Contains(a.Skills, name) || slices.ContainsFunc(a.Trace, func(t ToolCall) bool { return t.loads(name) })
	return is, is || a.SkillInvoked != nil || len(a.Skills) > 0
}

// loads reports whether a tool call is one of the Skill tool for this skill.
func (t *ToolCall) loads(name string) bool {
	if !strings.EqualFold(t.Name, "skill") {
		return false
	}
	var input map[string]any
	if json.Unmarshal([]byte(t.Input), &input) != nil {
		return strings.TrimSpace(t.Input) == name
	}
	return slices.ContainsFunc([]string{"skill", "name", "command"}, func(key string) bool { return input[key] == name })
}

// untold is the evidence where a backend does not say which skills it loads.
const untold = "the agent does not report which skills it loads, and its trace shows none"

// skillInvoked grades skill_invoked and skill_not_invoked. That a skill was not
// loaded is believed only of a backend that tells; that it was needs no more
// than a trace.
func (k *Check) skillInvoked(c *Case, a *Attempt) CheckResult {
	is, known := a.loaded(k.Value, k.Value == c.Skill)
	if !known && k.Type == SkillNotInvoked {
		return CheckResult{Missing: true, Evidence: untold}
	}
	r := k.pass(is == (k.Type == SkillInvoked))
	if r.Score == 0 && !known {
		r.Evidence = untold
	}
	return r
}

// trigger passes where the case's skill was loaded or left alone as it should
// be, and the neighbour, where one is named, was loaded.
func (k *Check) trigger(c *Case, a *Attempt) CheckResult {
	is, known := a.loaded(c.Skill, true)
	if !known {
		return CheckResult{Missing: true, Evidence: untold}
	}
	ok := is == *c.ShouldTrigger
	if c.Neighbour != "" {
		there, _ := a.loaded(c.Neighbour, false)
		ok = ok && there
	}
	r := CheckResult{Score: 1}
	if !ok {
		r = CheckResult{Feedback: k.Feedback}
		if r.Feedback == "" {
			r.Feedback = c.misfire(a, is)
		}
	}
	r.Evidence = "loaded: none"
	if names := a.Skills; len(names) > 0 {
		r.Evidence = "loaded: " + strings.Join(names, ", ")
	} else if is {
		r.Evidence = "loaded: " + c.Skill
	}
	return r
}

// misfire tells the mutator what happened to a request, in the user's own words
// and with the names of skills, which are on the owner's disk anyway.
func (c *Case) misfire(a *Attempt, is bool) string {
	request := shorten(c.Prompt, 300)
	switch {
	case *c.ShouldTrigger:
		for _, name := range a.Skills {
			if name != c.Skill {
				return fmt.Sprintf("The request asks for what this skill is for, and the skill %q was loaded instead of it: %q", name, request)
			}
		}
		return fmt.Sprintf("The request asks for what this skill is for, and the skill was not loaded: %q", request)
	case is && c.Neighbour != "":
		return fmt.Sprintf("The request is one for the skill %q, and this skill was loaded: %q", c.Neighbour, request)
	case is:
		return fmt.Sprintf("The request asks for something else, and this skill was loaded: %q", request)
	}
	return fmt.Sprintf("The request is one for the skill %q, which was not loaded beside this one: %q", c.Neighbour, request)
}

// shorten keeps at most n bytes of a text, cut at a rune.
func shorten(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
