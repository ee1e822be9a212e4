package eval

import (
	"slices"
	"testing"
)

func TestFeedbackOfTellsEachFaultOnce(t *testing.T) {
	got := feedbackOf("no answer", []CheckResult{{Feedback: "sort it"}, {Score: 1}, {Feedback: "sort it"}, {Feedback: "label it"}})
	if want := []string{"The attempt failed: no answer", "sort it", "label it"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
