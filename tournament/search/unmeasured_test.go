package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func TestUnmeasured(t *testing.T) {
	var none Unmeasured
	none.Add(&eval.Rollout{CaseID: "a", Status: eval.Missing, Failure: "no connection"})
	none.Add(&eval.Rollout{CaseID: "a", Status: eval.Done})
	none.Add(&eval.Rollout{CaseID: "a", Status: eval.Missing, Failure: "no connection"})
	if got := none.String(); got != "" {
		t.Errorf("a case that was scored once: %q", got)
	}
	var some Unmeasured
	some.Add(&eval.Rollout{CaseID: "train-7", Status: eval.Missing, Failure: "judge check: the judge's reply could not be read: it has no score\nlong\nend"})
	some.Add(&eval.Rollout{CaseID: "train-7", Status: eval.Missing, Failure: "no connection"})
	some.Add(&eval.Rollout{CaseID: "train-8", Status: eval.Done})
	if got, want := some.String(), "1 case could not be measured: train-7 (judge check: the judge's reply could not be read: it has no score)"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for i := range 7 {
		some.Add(&eval.Rollout{CaseID: fmt.Sprintf("val-%d", i), Status: eval.Void, Failure: "tests/answers.txt"})
	}
	want := "8 cases could not be measured: val-0, val-1, val-2, val-3, val-4 and 2 more (the agent read what it must not: tests/answers.txt); " +
		"train-7 (judge check: the judge's reply could not be read: it has no score)"
	if got := some.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for i := range 4 {
		some.Add(&eval.Rollout{CaseID: fmt.Sprintf("test-%d", i), Status: eval.Missing, Failure: fmt.Sprint(i, strings.Repeat("é", 400))})
	}
	if got := some.String(); !strings.HasPrefix(got, "12 cases") || !strings.HasSuffix(got, "; and more") || len([]rune(got)) > 600 {
		t.Errorf("a line for many reasons: %q", got)
	}
}
