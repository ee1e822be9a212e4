package fleet_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/tournament/record/recordtest"
	"github.com/skill-evolve/evolve/tournament/search"
)

// whole has a fleet of n workers do what p says, without faults.
func whole(t *testing.T, n int, p part) *round {
	r := newRound(t, p.Trial)
	for len(r.workers) < n {
		r.workers = append(r.workers, r.member(r.workers[0].part))
		r.run.Members = append(r.run.Members, r.workers[len(r.workers)-1].id)
	}
	for _, w := range r.workers {
		w.Slots = max(w.Slots, p.Slots)
		w.Log = os.DevNull
	}
	r.run.Jobs, r.patience = p.Jobs, 30*time.Minute
	r.decide(nil, 0)
	return r
}

// TestSameRun: a search and its trial come to the same on this machine and over four workers.
// Only the proof may take more pairs over a fleet, because it must hold without each worker's.
func TestSameRun(t *testing.T) {
	tr := trial{Kind: "search"}
	there := whole(t, 4, part{Trial: tr}).decision()
	m := &recordtest.Memory{}
	p := tr.plan(m, "r")
	out, err := search.Improve(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	here := &decision{result: &result{Verdict: *out.Verdict, Text: string(out.Challenger.Text)}, rollouts: m.Rollouts, pairs: heard(t, m.Events)}
	there.same(t, here)
	if there.Text != here.Text {
		t.Errorf("the fleet chose\n%s\nand this machine\n%s", there.Text, here.Text)
	}
	by, controls := map[string]int{}, 0
	for key, x := range there.rollouts {
		if by[x.Worker]++; strings.HasPrefix(x.Arm, "control:") {
			controls++
		}
		if x.Arm == "" && m.Rollouts[key] == nil {
			t.Errorf("the fleet's search has asked for %s, and this machine's has not", key)
		}
	}
	searched := 0
	for key, x := range m.Rollouts {
		if x.Arm == "" {
			if searched++; there.rollouts[key] == nil {
				t.Errorf("this machine's search has asked for %s, and the fleet's has not", key)
			}
		}
	}
	if len(by) != 4 || by[""] > 0 || searched == 0 {
		t.Errorf("rollouts by worker: %v; %d of the search", by, searched)
	}
	t.Logf("%d rollouts of the search; %s after %d pairs, here %s after %d; %d rollouts of controls", searched,
		there.Verdict.Verdict, len(there.pairs), here.Verdict.Verdict, len(here.pairs), controls)
}

// TestManyJobs is 100,000 jobs of agents that take no time, on 4 workers with 8 slots. Only with
// EVOLVE_FLEET_LONG=1.
func TestManyJobs(t *testing.T) {
	if os.Getenv("EVOLVE_FLEET_LONG") != "1" {
		t.Skip("takes minutes: EVOLVE_FLEET_LONG=1")
	}
	const jobs = 100_000
	r := whole(t, 4, part{Slots: 8, Jobs: jobs})
	res := readResult(t, r.dir)
	t.Logf("%d jobs in %v: %.0f a second; the run had %d MB at most, and took %.3f ms of a processor a job", jobs, res.Took.Round(time.Second),
		jobs/res.Took.Seconds(), res.MaxRSS>>10, res.CPU.Seconds()*1000/jobs)
	if res.MaxRSS > 300<<10 {
		t.Errorf("the run had %d MB", res.MaxRSS>>10)
	}
}
