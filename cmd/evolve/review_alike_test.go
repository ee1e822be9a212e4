package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// TestReviewSaysThatCorrectionsAreAlike: before anybody labels answers to them, it is said
// that most corrections are one sentence of one session.
func TestReviewSaysThatCorrectionsAreAlike(t *testing.T) {
	r := newRoaming(t)
	var cases []eval.Case
	for i := range 3 {
		cases = append(cases, eval.Case{ID: fmt.Sprint("mined-", i), Skill: "tagger", Prompt: fmt.Sprint("Tag the notes of week ", i), Split: eval.Train,
			Checks: []eval.Check{{Type: eval.Judge, Rubric: "It is so.", Feedback: eval.Saying("missing", "no, load the palette first")}},
			Source: &eval.Source{Agent: "claude-code", Session: "s7", Origin: "mined", Outcome: "corrected", Stratum: "corrected"}})
	}
	if _, _, err := r.db.SaveCases(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	if err := runReview(t.Context(), r.a, "tagger", &reviewFlags{most: 1}); err != nil {
		t.Fatal(err)
	}
	out := r.a.Stdout.(*bytes.Buffer).String()
	for _, want := range []string{
		"! 3 of 3 corrections are the same sentence: “no, load the palette first” — check that you said it\n",
		"! 3 of 3 corrections are of one session, s7\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
}
