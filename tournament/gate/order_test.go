package gate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
	"pgregory.net/rapid"
)

// TestOrderDoesNotDependOnStrata: however little each run may spend, which uses are heard
// by then, and in which order, follows from when they took place and how many cases they
// brought, and not from what became of them. None is dropped: the others come later.
func TestOrderDoesNotDependOnStrata(t *testing.T) {
	strata := []string{record.Corrected, "accepted", eval.Silent}
	inc, cha := variant(t, "bad"), variant(t, "another bad")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(rt, "cases") // a trial is dropped after 8 pairs
		caps := rapid.SliceOfN(rapid.Int64Range(1, 24), 1, 5).Draw(rt, "caps")
		days, clusters := make([]int, n), make([]int, n)
		for i := range n {
			days[i], clusters[i] = rapid.IntRange(1, 5).Draw(rt, "day"), rapid.IntRange(0, n).Draw(rt, "cluster")
		}
		heard := func(seed uint64) (steps [][]string) {
			rng := rand.New(rand.NewPCG(seed, 1))
			cases := heldOut(n)
			for i := range cases {
				cases[i].Source = &eval.Source{Origin: record.Mined, Stratum: strata[rng.IntN(3)], Time: time.Date(2026, 11, days[i], 9, 0, 0, 0, time.UTC)}
				cases[i].Cluster = fmt.Sprint("session ", clusters[i])
			}
			cases[0].Source.Stratum, cases[0].Source.Time = record.Corrected, cases[0].Source.Time.AddDate(0, 0, -30) // the trial begins: State.AfterSearch
			m := &recordtest.Memory{}
			for run, limit := range append(slices.Clone(caps), 0) { // the last run has no cap
				g := newGate(m, duel{}, fmt.Sprint("r", run), limit)
				if _, err := g.Try(t.Context(), inc, cha, cases); err != nil {
					rt.Fatal(err)
				}
				rec, err := m.Trial(t.Context(), "s", inc.SHA(), cha.SHA())
				if err != nil {
					rt.Fatal(err)
				}
				st, _, err := rec.Begin("another run", g.Config, record.Model{})
				if err != nil {
					rt.Fatal(err)
				}
				steps = append(steps, st.Clusters)
			}
			return steps
		}
		first := heard(1)
		for seed := range uint64(4) {
			if again := heard(seed + 2); !slices.EqualFunc(first, again, slices.Equal) {
				rt.Fatalf("with other strata\n%v, was\n%v", again, first)
			}
		}
		want := map[int]bool{}
		for _, c := range clusters {
			want[c] = true
		}
		if last := first[len(first)-1]; len(last) != len(want) {
			rt.Fatalf("%d of %d sessions were heard in the end: %v", len(last), len(want), last)
		}
	})
}

// TestLeavesOutWhatStandsAlone: held-out cases of a time in which no case came of other uses
// are not measured, and the verdict says why; nor are they when the trial goes on.
func TestLeavesOutWhatStandsAlone(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 9, 0, 0, 0, time.UTC) }
	var uses []record.Use
	var cases []eval.Case
	for i := 1; i <= 22; i++ { // after the eighth day only corrections bring cases, until the last
		u := record.Use{Time: at(i), Stratum: eval.Silent, Replays: i <= 8 || i%3 == 1 || i > 20}
		if i%3 == 1 {
			u.Stratum = record.Corrected
		}
		if uses = append(uses, u); u.Replays {
			c := heldOutFrom(i, 1)[0]
			c.Source = &eval.Source{Origin: record.Mined, Stratum: u.Stratum, Time: u.Time}
			cases = append(cases, c)
		}
	}
	m := &recordtest.Memory{}
	for run, want := range []int{8, 0} {
		g := newGate(m, duel{}, fmt.Sprint("r", run), 0)
		g.Uses = uses
		v, err := g.Try(t.Context(), variant(t, "good"), variant(t, "good too"), cases)
		if err != nil {
			t.Fatal(err)
		}
		if v.Fresh != want || v.Cases != 8 {
			t.Errorf("run %d: %d of %d cases were measured, want %d; %s", run, v.Fresh, len(cases), want, v.Reason)
		}
		if w := "3 unseen requests left out: no case could be made of the last silent uses, and the others do not stand for all"; !slices.Contains(v.Warnings, w) {
			t.Errorf("run %d: %q does not say %q", run, v.Warnings, w)
		}
	}
}
