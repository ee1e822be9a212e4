package eval

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAssignSplitsQuotas(t *testing.T) {
	cases := make([]Case, 100)
	for i := range cases {
		cases[i] = Case{ID: fmt.Sprint(i), Skill: "s"}
	}
	AssignSplits(cases)
	count := map[Split]int{}
	for _, c := range cases {
		count[c.Split]++
	}
	if count[Train] != 40 || count[Val] != 30 || count[Test] != 30 {
		t.Errorf("100 cases were split %v", count)
	}
}

func TestAssignSplitsPerSkill(t *testing.T) {
	var cases []Case
	for _, skill := range []string{"a", "b"} {
		for i := range 10 {
			cases = append(cases, Case{ID: fmt.Sprint(i), Skill: skill})
		}
	}
	AssignSplits(cases)
	count := map[string]int{}
	for _, c := range cases {
		count[c.Skill+" "+string(c.Split)]++
	}
	for _, skill := range []string{"a", "b"} {
		if count[skill+" train"] != 4 || count[skill+" val"] != 3 || count[skill+" test"] != 3 {
			t.Errorf("skill %s: %v", skill, count)
		}
	}
}

func TestAssignSplitsKeeps(t *testing.T) {
	cases := []Case{
		{ID: "1", Cluster: "k", Split: Test}, {ID: "2", Cluster: "k"},
		{ID: "3", Cluster: "m", Split: Test}, {ID: "4", Cluster: "m", Split: Train}, {ID: "5", Cluster: "m"},
	}
	AssignSplits(cases)
	if cases[1].Split != Test {
		t.Errorf("a new case left its cluster's split: %q", cases[1].Split)
	}
	if cases[2].Split != Test || cases[3].Split != Train || cases[4].Split != Train {
		t.Errorf("a cluster divided by hand became %q %q %q; a doubtful case must not reach the held-out ones",
			cases[2].Split, cases[3].Split, cases[4].Split)
	}
}

// Whatever is given, no generated case is held out, nor a cluster that has one.
func TestAssignSplitsGenerated(t *testing.T) {
	made := &Source{Origin: "generated"}
	var cases []Case
	for i := range 30 {
		cases = append(cases, Case{ID: fmt.Sprint("real-", i), Skill: "s"})
	}
	for i := range 21 {
		cases = append(cases, Case{ID: fmt.Sprint("made-", i), Skill: "s", Source: made})
	}
	AssignSplits(cases)
	count := map[string]int{}
	for _, c := range cases {
		count[c.ID[:4]+" "+string(c.Split)]++
	}
	want := map[string]int{"real train": 12, "real val": 9, "real test": 9, "made train": 12, "made val": 9}
	if !maps.Equal(count, want) {
		t.Errorf("split %v, want %v", count, want)
	}

	cases = []Case{
		{ID: "1", Skill: "s", Cluster: "held", Split: Test}, {ID: "2", Skill: "s", Cluster: "held", Source: made}, {ID: "3", Skill: "s", Cluster: "held"},
		{ID: "4", Skill: "s", Cluster: "seen", Split: Val}, {ID: "5", Skill: "s", Cluster: "seen", Source: made}, {ID: "6", Skill: "s", Cluster: "seen"},
	}
	AssignSplits(cases)
	if cases[1].Split != Unassigned || cases[2].Split != Unassigned {
		t.Errorf("what stands beside a held-out case went to %q and %q", cases[1].Split, cases[2].Split)
	}
	if cases[4].Split != Val || cases[5].Split != Val {
		t.Errorf("variants left their cluster's split: %q, %q", cases[4].Split, cases[5].Split)
	}

	rapid.Check(t, func(t *rapid.T) {
		cases := make([]Case, rapid.IntRange(1, 40).Draw(t, "n"))
		madeUp := map[string]bool{}
		given := map[int]bool{}
		for i := range cases {
			c := &cases[i]
			*c = Case{ID: fmt.Sprint(i), Skill: "s"}
			if k := rapid.IntRange(0, 15).Draw(t, "cluster"); k > 0 {
				c.Cluster = fmt.Sprintf("k%d", k)
			}
			if rapid.Bool().Draw(t, "generated") {
				c.Source = made
				madeUp[ClusterOf(c)] = true
			} else if rapid.IntRange(0, 4).Draw(t, "set") == 0 {
				c.Split = rapid.SampledFrom([]Split{Train, Val, Test}).Draw(t, "split")
				given[i] = true
			}
		}
		AssignSplits(cases)
		for i, c := range cases {
			if c.Split == Test && !given[i] && madeUp[ClusterOf(&c)] {
				t.Fatalf("case %s of a cluster with a generated case is held out: %+v", c.ID, cases)
			}
		}
	})
}

func TestGeneratedIsNeverHeldOut(t *testing.T) {
	c := Case{ID: "a", Skill: "s", Prompt: "p", Checks: []Check{{Type: Contains, Value: "x"}}, Source: &Source{Origin: "generated"}, Split: Val}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	c.Split = Test
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "held out") {
		t.Errorf("a held-out generated case is valid: %v", err)
	}
	c.Split, c.Checks = Train, []Check{{Type: Command, Command: []string{"true"}}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "cannot run a program") {
		t.Errorf("a generated case runs a program: %v", err)
	}
}

func TestAssignSplitsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		clusters := rapid.IntRange(1, 30).Draw(t, "clusters")
		cases := make([]Case, n)
		preset := map[string]Split{}
		for i := range cases {
			cases[i] = Case{ID: fmt.Sprint(i), Skill: "s"}
			if k := rapid.IntRange(0, clusters).Draw(t, "cluster"); k > 0 {
				cases[i].Cluster = fmt.Sprintf("k%d", k)
			}
			if rapid.IntRange(0, 9).Draw(t, "set") == 0 && preset[ClusterOf(&cases[i])] == "" {
				cases[i].Split = rapid.SampledFrom([]Split{Train, Val, Test}).Draw(t, "split")
				preset[ClusterOf(&cases[i])] = cases[i].Split
			}
		}
		shuffled := slices.Clone(cases)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		r.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		AssignSplits(cases)
		AssignSplits(shuffled)

		of := map[string]Split{}
		for _, c := range cases {
			if c.Split == Unassigned {
				t.Fatalf("case %s has no split", c.ID)
			}
			if s, seen := of[ClusterOf(&c)]; seen && s != c.Split {
				t.Fatalf("cluster %s is in %s and %s", ClusterOf(&c), s, c.Split)
			}
			of[ClusterOf(&c)] = c.Split
			if s := preset[ClusterOf(&c)]; s != "" && s != c.Split {
				t.Fatalf("cluster %s was moved from %s to %s", ClusterOf(&c), s, c.Split)
			}
		}
		for _, c := range shuffled {
			if of[ClusterOf(&c)] != c.Split {
				t.Fatalf("the order of cases changed the split of %s", c.ID)
			}
		}
	})
}
