package check

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// loaded reports whether a skill was loaded, and whether that is known: by the
// backend's report, else by a call of the Skill tool in the trace.
func (s *Subject) loaded(name string, own bool) (is, known bool) {
	if own && s.SkillInvoked != nil {
		return *s.SkillInvoked, true
	}
	is = slices.Contains(s.Skills, name) || slices.ContainsFunc(s.Trace, func(t ToolCall) bool { return t.loads(name) })
	return is, is || s.SkillInvoked != nil || len(s.Skills) > 0
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

// unreported is the evidence if a backend does not report which skills it loads.
const unreported = "the agent does not report which skills it loads, and its trace shows none"

// skillInvoked is skill_invoked or skill_not_invoked.
type skillInvoked struct{ name string }

func (t skillInvoked) Spec() Spec {
	return Spec{Name: t.name, Fields: value, Cases: AllCases, Text: "skill"}
}

func (skillInvoked) Validate(*Check) error { return nil }

// Grade needs the backend's report to conclude that a skill was not loaded; that it was
// loaded may also be seen in a trace.
func (t skillInvoked) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	is, known := s.loaded(k.Value, k.Value == s.Skill)
	if !known && t.name == SkillNotInvoked {
		return Result{Missing: true, Evidence: unreported}, nil
	}
	r := k.pass(is == (t.name == SkillInvoked))
	if r.Score == 0 && !known {
		r.Evidence = unreported
	}
	return r, nil
}

func (t skillInvoked) Explain(k *Check) string {
	if t.name == SkillInvoked {
		return fmt.Sprintf("The skill %q was not used.", k.Value)
	}
	return fmt.Sprintf("The skill %q was used, and must not be.", k.Value)
}

// trigger passes if the case's skill was loaded, or not, as the case wants, and the
// neighbour, if one is named, was loaded.
type trigger struct{}

func (trigger) Spec() Spec { return Spec{Name: Trigger, Cases: TriggerCases} }

func (trigger) Validate(*Check) error { return nil }

func (trigger) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	is, known := s.loaded(s.Skill, true)
	if !known || s.ShouldTrigger == nil {
		return Result{Missing: true, Evidence: unreported}, nil
	}
	ok := is == *s.ShouldTrigger
	if s.Neighbour != "" {
		there, _ := s.loaded(s.Neighbour, false)
		ok = ok && there
	}
	r := Result{Score: 1}
	if !ok {
		r = Result{Feedback: k.Feedback}
		if r.Feedback == "" {
			r.Feedback = s.misfire(is)
		}
	}
	r.Evidence = "loaded: none"
	if len(s.Skills) > 0 {
		r.Evidence = "loaded: " + strings.Join(s.Skills, ", ")
	} else if is {
		r.Evidence = "loaded: " + s.Skill
	}
	return r, nil
}

func (trigger) Explain(*Check) string { return "The wrong skill was loaded, or none." }

// misfire describes the outcome of a request to the mutator, in the user's own words
// and with the names of skills, which are on the owner's disk anyway.
func (s *Subject) misfire(is bool) string {
	request := strings.TrimSpace(s.Prompt)
	if n := 300; len(request) > n {
		for n > 0 && !utf8.RuneStart(request[n]) {
			n--
		}
		request = request[:n] + "…"
	}
	switch {
	case *s.ShouldTrigger:
		for _, name := range s.Skills {
			if name != s.Skill {
				return fmt.Sprintf("The request asks for what this skill is for, and the skill %q was loaded instead of it: %q", name, request)
			}
		}
		return fmt.Sprintf("The request asks for what this skill is for, and the skill was not loaded: %q", request)
	case is && s.Neighbour != "":
		return fmt.Sprintf("The request is one for the skill %q, and this skill was loaded: %q", s.Neighbour, request)
	case is:
		return fmt.Sprintf("The request asks for something else, and this skill was loaded: %q", request)
	}
	return fmt.Sprintf("The request is one for the skill %q, which was not loaded beside this one: %q", s.Neighbour, request)
}
