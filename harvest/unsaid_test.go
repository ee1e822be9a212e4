package harvest

import (
	"fmt"
	"testing"
)

// What followed uses of skills in real projects, with the label of each.
func TestRealReplies(t *testing.T) {
	used := "!okay, now /github-pr-review => I reviewed the branch. The comment in logger.go is stale; shall I draft a PR?"
	for name, c := range map[string]struct {
		want  string // label, confidence, evidence
		turns []string
	}{
		"a choice":          {"unknown 0.00 ", []string{used, "1 => Done, option 1."}},
		"a choice, then":    {"accepted 0.80 commit", []string{used, "1 => Done, option 1.", "commit"}},
		"commit":            {"accepted 0.80 commit", []string{used, "commit"}},
		"/commit":           {"accepted 0.75 /commit", []string{used, "/commit"}},
		"/create-pr":        {"accepted 0.75 /git:create-pr main", []string{used, "/git:create-pr main"}},
		"another command":   {"unknown 0.00 ", []string{used, "/commitment-letter"}},
		"another skill":     {"unknown 0.00 ", []string{"!1 => Option 1 it is.", "okay, now /github-pr-review"}},
		"push and draft":    {"accepted 0.80 push and draft PR please", []string{used, "push and draft PR please"}},
		"missed something":  {"unknown 0.00 ", []string{used, "did we fix the logger.go comment?"}},
		"interrupted":       {"rejected 0.80 [interrupted by the user]", []string{"!^commit => On it", "now the costs"}},
		"no, but a plan":    {"unknown 0.00 ", []string{used, "no, write the plan"}},
		"write the plan":    {"corrected 0.90 no, write the plan", []string{"!/github-pr-review => I began with the code.", "no, write the plan"}},
		"new subject":       {"unknown 0.00 ", []string{used, "Explain how our cache evicts entries"}},
		"nothing":           {"unknown 0.00 ", []string{used}},
		"unanswered, gone":  {"abandoned 0.30 [the session ended]", []string{"!okay, now /github-pr-review"}},
		"unanswered, left":  {"abandoned 0.30 Explain how our cache evicts entries", []string{"!okay, now /github-pr-review", "Explain how our cache evicts entries"}},
		"unanswered, on":    {"unknown 0.00 ", []string{"!okay, now /github-pr-review", "go on => Reviewed."}},
		"unanswered, later": {"unknown 0.00 ", []string{"!okay, now /github-pr-review", "1 => Reviewed.", "Explain how our cache evicts entries"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := session(c.turns...)
			Assess(s)
			f := s.Invocations[0].Feedback
			if got := fmt.Sprintf("%s %.2f %s", f.Label, f.Confidence, f.Evidence); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A refused skill that the user walked away from is abandoned, answered or not;
// a program walks away from nothing.
func TestAbandoned(t *testing.T) {
	s := session("!chart it => There is no such skill.", "Explain how our cache evicts entries")
	s.Invocations[0].Failed = true
	if Assess(s); s.Invocations[0].Feedback.Label != Abandoned {
		t.Errorf("%+v", s.Invocations[0].Feedback)
	}
	s = session("!chart it")
	s.Headless = true
	if Assess(s); s.Invocations[0].Feedback.Label != Unknown {
		t.Errorf("%+v", s.Invocations[0].Feedback)
	}
}
