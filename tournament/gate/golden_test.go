package gate

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

var update = flag.Bool("update", false, "write the golden state")

// TestStateOfASkillsTrial: to the byte what it was before trials could be about a part of the
// requests. A trial that an older evolve has begun goes on, and an older one reads a newer.
func TestStateOfASkillsTrial(t *testing.T) {
	var cases []eval.Case
	var uses []record.Use
	for i, c := range heldOut(12) {
		at := time.Date(2026, 11, 1+i, 9, 0, 0, 0, time.UTC)
		stratum := []string{record.Corrected, eval.Silent, "accepted"}[i%3]
		c.Source = &eval.Source{Origin: record.Mined, Session: c.ID, Stratum: stratum, Time: at}
		cases = append(cases, c)
		uses = append(uses, record.Use{Time: at, Session: c.ID, Stratum: stratum, Replays: true}, record.Use{Time: at.Add(time.Hour), Stratum: eval.Silent})
	}
	m := &recordtest.Memory{}
	bad, other := variant(t, "bad"), variant(t, "good")
	for i, n := range []int{5, len(cases)} { // the second run goes on with the first one's trial
		g := newGate(m, duel{cost: map[string]float64{"good\n": 1, "bad\n": 1}}, []string{"r1", "r2"}[i], 0)
		g.Uses, g.Replays, g.Config = uses, 3, pareto.DefaultConfig().Within(0.025)
		if _, err := g.Try(t.Context(), bad, other, cases[:n]); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), other.SHA())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("testdata", "skill_state.json")
	got := append(bytes.TrimSpace(rec.State), '\n')
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
