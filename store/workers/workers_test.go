package workers

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
)

// TestShares: what another run measured and this one uses is counted once, a failure beside
// the success that came later, and this machine's own rollouts are nobody's.
func TestShares(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	usd := func(x float64) *float64 { return &x }
	one := eval.Rollout{Key: "k1", CaseID: "c", Status: eval.Done, Worker: "UA", CostUSD: usd(0.25), RetryUSD: usd(0.5)}
	for run, all := range map[string][]eval.Rollout{
		"r1": {one, {Key: "k2", CaseID: "c", Status: eval.Missing, Worker: "UA", Tried: []string{"UB", "UC"}}, {Key: "k3", CaseID: "c", Status: eval.Done, CostUSD: usd(9)}},
		"r2": {one, {Key: "k2", CaseID: "c", Status: eval.Done, Worker: "UB"}, {Key: "k4", CaseID: "c", Status: eval.Done, Worker: "UA", CostUSD: usd(1), Tried: []string{"UC"}}},
	} {
		for i := range all {
			if err := db.Journal(run).SaveRollout(ctx, &all[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := Shares(ctx, db)
	want := map[string]Share{"UA": {Rollouts: 3, Missing: 1, CostUSD: usd(1.75)}, "UB": {Rollouts: 1, Unmade: 1}, "UC": {Unmade: 2}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
