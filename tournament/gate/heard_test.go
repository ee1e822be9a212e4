package gate

import (
	"fmt"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestGateNamesWhatItHeard: a verdict names the workspaces of its requests, in a trial that is
// continued, too.
func TestGateNamesWhatItHeard(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	at := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	cases := heldOut(60)
	var uses []record.Use
	for i := range cases {
		session, folder := fmt.Sprint("ses-", i), []string{"/work/shop", "/work/museum"}[i%2]
		cases[i].Source = &eval.Source{Origin: record.Mined, Session: session, Stratum: record.Corrected, Time: at.Add(time.Duration(i) * time.Hour)}
		uses = append(uses, record.Use{Time: cases[i].Source.Time, Stratum: record.Corrected, Session: session, Workspace: folder})
	}
	try := func(run string, cases []eval.Case) *Verdict {
		g := newGate(m, duel{}, run, 0)
		g.Uses, g.Judge = uses, record.Calibration{Labels: pareto.Agreement{BothPass: 20, BothFail: 20}}
		v, err := g.Try(t.Context(), bad, good, cases)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := try("r1", cases[:3]); v.Heard == nil || v.Heard.String() != "3 requests in 2 workspaces, Mar 2026: quality +1.00 in shop (2), +1.00 in museum (1)" {
		t.Errorf("of 3 cases: %v", v.Heard)
	}
	v := try("r2", cases)
	if v.Verdict != pareto.Promote || v.Heard == nil || v.Heard.Requests != v.Cases || len(v.Heard.Workspaces) != 2 || v.Heard.RestsOn() != "" {
		t.Errorf("%v: %v", v.Reason, v.Heard)
	}
}
