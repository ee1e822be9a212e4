package hookrun

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/hooks"
)

func TestTextOfARejectedOne(t *testing.T) {
	sha := "3cfc9322f0e5aaaa"
	r := &Result{Subject: subject.Parse("hook:~:hooks/x.sh"), Challenger: &sha, Trial: &hooks.Trial{
		Verdict: gate.Verdict{Decision: pareto.Decision{Verdict: pareto.Reject, Reason: "it is better in 7 and worse in 8 sessions", Cases: 7, Wins: 7}},
		Better:  7, Worse: 8, Rest: 8, RestWorse: 8}}
	got := r.text()
	if strings.Contains(got, "promote") {
		t.Errorf("a rejected text is offered:\n%s", got)
	}
	if !strings.Contains(got, "and worse in 8 of the other 8 sessions") || !strings.Contains(got, r.Trial.Reason) {
		t.Errorf("it is not said why:\n%s", got)
	}
	r.Trial = &hooks.Trial{Verdict: gate.Verdict{Decision: pareto.Decision{Verdict: pareto.Reject, Reason: "an earlier trial rejected it"}}}
	if got := r.text(); !strings.HasPrefix(got, "~/hooks/x.sh: the text that was found is not better: an earlier trial rejected it\n") {
		t.Error(got)
	}
}

// Whether two times are equal is chance, and no screen depends on it.
func TestTextOfEqualTimes(t *testing.T) {
	var b strings.Builder
	scores(&b, "trial", &hooks.Score{P95: 3, Lines: 4}, &hooks.Score{P95: 3, Lines: 4})
	if !strings.Contains(b.String(), "p95 3 ms → 3 ms, 4 lines") {
		t.Error(b.String())
	}
}

// A guard that fails in the sandbox stops nothing there: its figures say so.
func TestTextOfWhatFails(t *testing.T) {
	var b strings.Builder
	scores(&b, "trial", &hooks.Score{Events: 36, Failed: 36, Late: 1}, &hooks.Score{Events: 36})
	for _, want := range []string{"failed on 36 → 0 of 36 events", "late on 1 → 0 of 36 events"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// What a hook's author wrote for it is no sample: it is not among the figures of sessions.
func TestTextOfOwnCases(t *testing.T) {
	var b strings.Builder
	scores(&b, "search", &hooks.Score{Stop: 4, OwnStop: 3, OwnStopped: 1}, &hooks.Score{Stop: 4, Stopped: 4, OwnStop: 3, OwnStopped: 3})
	for _, want := range []string{"stops 0 → 4 of 4 that it should stop", "stops 1 → 3 of 3 cases of its author"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
