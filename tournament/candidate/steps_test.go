package candidate

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestSteps: what proved promotions may have cost adds up to the owner's last own version;
// an edit of hers begins anew, and what she installed without a proof uses nothing.
func TestSteps(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	cheaper := pareto.NewTrial(pareto.Config{}) // and as good
	for range 200 {
		cheaper.Add(pareto.Pair{Cost: 0.1, Latency: -0.05, Retries: math.NaN(), Bill: pareto.Bill{USD: [2]float64{1, 0.7}}})
	}
	d := cheaper.Decide()
	if d.Verdict != pareto.Promote || d.Route != "cost" || d.Margin == nil || *d.Margin <= 0 {
		t.Fatalf("%+v: this test shows little", d)
	}
	evidence, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	parent, path := "", filepath.Join(t.TempDir(), skill.FileName)
	install := func(text, author string, proven bool) pareto.Steps {
		t.Helper()
		text = "---\nname: tables\ndescription: Tables.\n---\n" + text + "\n"
		v := record.Version{Skill: "tables", SHA: skill.HashText([]byte(text)), Parent: parent, Author: author, Proven: proven, Text: []byte(text)}
		if author == "evolve" {
			v.Evidence = evidence
		}
		if _, err := db.SaveVersion(ctx, v); err != nil {
			t.Fatal(err)
		}
		parent = v.SHA
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		live, err := new(skill.Layout).Read(skill.Entry{Name: "tables", Path: path})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Steps(ctx, db, live)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, step := range []struct {
		text, author string
		proven       bool
		want         float64 // times what one step uses
	}{{"v0", "you", false, 0}, {"v1", "evolve", true, 1}, {"v2", "evolve", false, 1}, {"v3", "evolve", true, 2}, {"v4", "you", false, 0}, {"v5", "evolve", true, 1}} {
		s := install(step.text, step.author, step.proven)
		if math.Abs(s.Quality-step.want**d.Margin) > 1e-9 || math.Abs(s.Latency-0.05*step.want) > 1e-9 || math.Abs(s.Cost+0.1*step.want) > 1e-9 {
			t.Errorf("%s: %+v, want %g steps of %g", step.text, s, step.want, *d.Margin)
		}
	}
}
