package checkout

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval/git"
)

// Whatever lines of the log are lost, and if no clock was set back: a commit that is exact is
// the one that was checked out.
func TestExactIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, log []git.Move
		at, from := time.Unix(1_800_000_000, 0), fmt.Sprintf("%040x", 0)
		for i := range rapid.IntRange(1, 12).Draw(t, "moves") {
			at = at.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second)
			to := fmt.Sprintf("%040x", i+1) // a commit that HEAD comes back to hides a gap
			whole = append(whole, git.Move{From: from, To: to, At: at})
			if from = to; rapid.IntRange(0, 3).Draw(t, "kept") > 0 {
				log = append(log, whole[i])
			}
		}
		when := whole[0].At.Add(time.Duration(rapid.IntRange(-1000, 40_000).Draw(t, "milliseconds")) * time.Millisecond)
		want := ""
		for _, m := range whole { // within its second, a move may be before or after the request
			if m.At.Before(when.Truncate(time.Second)) {
				want = m.To
			}
		}
		for _, m := range whole {
			if m.At.Equal(when.Truncate(time.Second)) {
				want = "not known"
			}
		}
		r := repository{moves: log, head: from}
		if p := r.headAt(when); p.exact && p.commit != want {
			t.Errorf("at %v: %s, want %s", when, p.commit, want)
		}
		if p := (&repository{moves: whole, head: from}).headAt(when); p.exact != (want != "" && want != "not known") {
			t.Errorf("at %v with a whole log: %+v, want %s", when, p, want)
		}
	})
}

// A line from before the clock was set back says nothing of the time since.
func TestClockSetBack(t *testing.T) {
	one, two, three := fmt.Sprintf("%040x", 1), fmt.Sprintf("%040x", 2), fmt.Sprintf("%040x", 3)
	r := repository{head: three, moves: []git.Move{{To: one, At: minute(10)}, {From: one, To: two, At: minute(50)}, {From: two, To: three, At: minute(20)}}}
	if p := r.headAt(minute(30)); p.exact || p.commit != three {
		t.Errorf("%+v", p)
	}
}
