package frozen

import (
	"fmt"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/tournament/record"
	"pgregory.net/rapid"
)

var begin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// made are candidates of runs, the incumbent of each first.
func made(run int, incumbent string, of ...record.Candidate) (out []Made) {
	r := record.Run{ID: fmt.Sprint("r", run), Incumbent: incumbent, Ended: begin.AddDate(0, 0, run)}
	for _, c := range append([]record.Candidate{{SHA: incumbent}}, of...) {
		c.Run = r.ID
		out = append(out, Made{c, r})
	}
	return out
}

func TestAmong(t *testing.T) {
	all := made(1, "v0", record.Candidate{SHA: "s", Operator: record.Suggested, Parents: []string{"v0"}})
	// It begins a search beside the live text.
	all = append(all, made(2, "v0", record.Candidate{SHA: "s"}, record.Candidate{SHA: "child", Parents: []string{"s"}}, record.Candidate{SHA: "beside", Parents: []string{"v0"}})...)
	// Its owner edits the live text meanwhile.
	all = append(all, made(3, "v0", record.Candidate{SHA: "with", Operator: "rebase", Parents: []string{"v1", "s"}})...)
	// It was installed: what is made of it has only its own change.
	all = append(all, made(4, "s", record.Candidate{SHA: "next", Parents: []string{"s"}})...)
	all = append(all, made(5, "v0", record.Candidate{SHA: "apart", Parents: []string{"v0"}})...)
	got := Among(all)
	for _, sha := range []string{"s", "child", "beside", "with"} {
		if !got[sha].Equal(begin.AddDate(0, 0, 1)) {
			t.Errorf("%s is frozen at %v", sha, got[sha])
		}
	}
	for _, sha := range []string{"v0", "next", "apart"} {
		if at, ok := got[sha]; ok {
			t.Errorf("%s is frozen at %v", sha, at)
		}
	}
}

// TestDescendants: whatever runs make of a suggestion, over any number of runs, is frozen no
// earlier than it, unless the suggestion was what the run tried to improve.
func TestDescendants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Made
		known := []string{"v0"}
		knows := map[string]time.Time{} // what each text may have read, by its parents alone
		for run := range rapid.IntRange(1, 6).Draw(t, "runs") {
			incumbent := rapid.SampledFrom(known).Draw(t, "incumbent")
			var of []record.Candidate
			for n := range rapid.IntRange(1, 4).Draw(t, "candidates") {
				c := record.Candidate{SHA: fmt.Sprint(run, "-", n), Parents: []string{rapid.SampledFrom(known).Draw(t, "parent")}}
				at := knows[c.Parents[0]]
				if c.Parents[0] == incumbent {
					at = time.Time{}
				}
				if rapid.IntRange(0, 4).Draw(t, "suggested") == 0 {
					c.Operator, at = record.Suggested, begin.AddDate(0, 0, run)
				}
				if !at.IsZero() {
					knows[c.SHA] = at
				}
				of, known = append(of, c), append(known, c.SHA)
			}
			all = append(all, made(run, incumbent, of...)...)
		}
		got := Among(all)
		for sha, at := range knows {
			if got[sha].Before(at) {
				t.Fatalf("%s is frozen at %v, and may have read until %v", sha, got[sha], at)
			}
		}
	})
}
