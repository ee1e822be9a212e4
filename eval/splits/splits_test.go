package splits

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
)

func TestAssignQuotas(t *testing.T) {
	cases := make([]eval.Case, 100)
	for i := range cases {
		cases[i] = eval.Case{ID: fmt.Sprint(i), Skill: "s"}
	}
	Assign(cases)
	count := map[eval.Split]int{}
	for _, c := range cases {
		count[c.Split]++
	}
	if count[eval.Train] != 40 || count[eval.Val] != 30 || count[eval.Test] != 30 {
		t.Errorf("100 cases were split %v", count)
	}
}

func TestAssignPerSkill(t *testing.T) {
	var cases []eval.Case
	for _, skill := range []string{"a", "b"} {
		for i := range 10 {
			cases = append(cases, eval.Case{ID: fmt.Sprint(i), Skill: skill})
		}
	}
	Assign(cases)
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

func TestAssignKeeps(t *testing.T) {
	cases := []eval.Case{
		{ID: "1", Cluster: "k", Split: eval.Test}, {ID: "2", Cluster: "k"},
		{ID: "3", Cluster: "m", Split: eval.Test}, {ID: "4", Cluster: "m", Split: eval.Train}, {ID: "5", Cluster: "m"},
	}
	Assign(cases)
	if cases[1].Split != eval.Test {
		t.Errorf("a new case left its cluster's split: %q", cases[1].Split)
	}
	if cases[2].Split != eval.Test || cases[3].Split != eval.Train || cases[4].Split != eval.Train {
		t.Errorf("a cluster divided by hand became %q %q %q; a doubtful case must not reach the held-out ones",
			cases[2].Split, cases[3].Split, cases[4].Split)
	}
}

// Whatever is given, no generated case is held out, nor a cluster that has one.
func TestAssignGenerated(t *testing.T) {
	made := &eval.Source{Origin: "generated"}
	var cases []eval.Case
	for i := range 30 {
		cases = append(cases, eval.Case{ID: fmt.Sprint("real-", i), Skill: "s"})
	}
	for i := range 21 {
		cases = append(cases, eval.Case{ID: fmt.Sprint("made-", i), Skill: "s", Source: made})
	}
	Assign(cases)
	count := map[string]int{}
	for _, c := range cases {
		count[c.ID[:4]+" "+string(c.Split)]++
	}
	want := map[string]int{"real train": 12, "real val": 9, "real test": 9, "made train": 12, "made val": 9}
	if !maps.Equal(count, want) {
		t.Errorf("split %v, want %v", count, want)
	}

	cases = []eval.Case{
		{ID: "1", Skill: "s", Cluster: "held", Split: eval.Test}, {ID: "2", Skill: "s", Cluster: "held", Source: made}, {ID: "3", Skill: "s", Cluster: "held"},
		{ID: "4", Skill: "s", Cluster: "seen", Split: eval.Val}, {ID: "5", Skill: "s", Cluster: "seen", Source: made}, {ID: "6", Skill: "s", Cluster: "seen"},
	}
	Assign(cases)
	if cases[1].Split != eval.Unassigned || cases[2].Split != eval.Unassigned {
		t.Errorf("what stands beside a held-out case went to %q and %q", cases[1].Split, cases[2].Split)
	}
	if cases[4].Split != eval.Val || cases[5].Split != eval.Val {
		t.Errorf("variants left their cluster's split: %q, %q", cases[4].Split, cases[5].Split)
	}

	rapid.Check(t, func(t *rapid.T) {
		cases := make([]eval.Case, rapid.IntRange(1, 40).Draw(t, "n"))
		madeUp := map[string]bool{}
		given := map[int]bool{}
		for i := range cases {
			c := &cases[i]
			*c = eval.Case{ID: fmt.Sprint(i), Skill: "s"}
			if k := rapid.IntRange(0, 15).Draw(t, "cluster"); k > 0 {
				c.Cluster = fmt.Sprintf("k%d", k)
			}
			if rapid.Bool().Draw(t, "generated") {
				c.Source = made
				madeUp[eval.ClusterOf(c)] = true
			} else if rapid.IntRange(0, 4).Draw(t, "set") == 0 {
				c.Split = rapid.SampledFrom([]eval.Split{eval.Train, eval.Val, eval.Test}).Draw(t, "split")
				given[i] = true
			}
		}
		Assign(cases)
		for i, c := range cases {
			if c.Split == eval.Test && !given[i] && madeUp[eval.ClusterOf(&c)] {
				t.Fatalf("case %s of a cluster with a generated case is held out: %+v", c.ID, cases)
			}
		}
	})
}

func TestGeneratedIsNeverHeldOut(t *testing.T) {
	c := eval.Case{ID: "a", Skill: "s", Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}, Source: &eval.Source{Origin: "generated"}, Split: eval.Val}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	c.Split = eval.Test
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "in a trial") {
		t.Errorf("a held-out generated case is valid: %v", err)
	}
	c.Split, c.Checks = eval.Train, []eval.Check{{Type: eval.Command, Command: []string{"true"}}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "cannot run a program") {
		t.Errorf("a generated case runs a program: %v", err)
	}
}

func TestAssignProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		clusters := rapid.IntRange(1, 30).Draw(t, "clusters")
		cases := make([]eval.Case, n)
		preset := map[string]eval.Split{}
		for i := range cases {
			cases[i] = eval.Case{ID: fmt.Sprint(i), Skill: "s"}
			if k := rapid.IntRange(0, clusters).Draw(t, "cluster"); k > 0 {
				cases[i].Cluster = fmt.Sprintf("k%d", k)
			}
			if rapid.IntRange(0, 9).Draw(t, "set") == 0 && preset[eval.ClusterOf(&cases[i])] == "" {
				cases[i].Split = rapid.SampledFrom([]eval.Split{eval.Train, eval.Val, eval.Test}).Draw(t, "split")
				preset[eval.ClusterOf(&cases[i])] = cases[i].Split
			}
		}
		shuffled := slices.Clone(cases)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		r.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		Assign(cases)
		Assign(shuffled)

		of := map[string]eval.Split{}
		for _, c := range cases {
			if c.Split == eval.Unassigned {
				t.Fatalf("case %s has no split", c.ID)
			}
			if s, seen := of[eval.ClusterOf(&c)]; seen && s != c.Split {
				t.Fatalf("cluster %s is in %s and %s", eval.ClusterOf(&c), s, c.Split)
			}
			of[eval.ClusterOf(&c)] = c.Split
			if s := preset[eval.ClusterOf(&c)]; s != "" && s != c.Split {
				t.Fatalf("cluster %s was moved from %s to %s", eval.ClusterOf(&c), s, c.Split)
			}
		}
		for _, c := range shuffled {
			if of[eval.ClusterOf(&c)] != c.Split {
				t.Fatalf("the order of cases changed the split of %s", c.ID)
			}
		}
	})
}

// Trigger cases are split among themselves.
func TestAssignTriggers(t *testing.T) {
	var cases []eval.Case
	for i := range 20 {
		c := eval.Case{ID: fmt.Sprint(i), Skill: "s", Prompt: "p"}
		if yes := true; i < 10 {
			c.ShouldTrigger = &yes
		}
		cases = append(cases, c)
	}
	Assign(cases)
	for _, list := range [][]eval.Case{cases[:10], cases[10:]} {
		count := map[eval.Split]int{}
		for _, c := range list {
			count[c.Split]++
		}
		if want := (map[eval.Split]int{eval.Train: 4, eval.Val: 3, eval.Test: 3}); !maps.Equal(count, want) {
			t.Errorf("split %v, want %v", count, want)
		}
	}
}

// Silent cases are held out, and do not count for the others' quotas.
func TestAssignSilent(t *testing.T) {
	silent := &eval.Source{Origin: "mined", Stratum: eval.Silent}
	var cases []eval.Case
	for i := range 20 {
		c := eval.Case{ID: fmt.Sprint(i), Skill: "s"}
		if i >= 10 {
			c.Source = silent
		}
		cases = append(cases, c)
	}
	cases = append(cases, eval.Case{ID: "x", Skill: "s", Cluster: "k", Split: eval.Train}, eval.Case{ID: "y", Skill: "s", Cluster: "k", Source: silent})
	Assign(cases)
	count := map[string]int{}
	for _, c := range cases {
		count[fmt.Sprint(!c.Teaches(), " ", c.Split)]++
	}
	if want := (map[string]int{"false train": 5, "false val": 3, "false test": 3, "true test": 10, "true train": 1}); !maps.Equal(count, want) {
		t.Errorf("%v, want %v", count, want)
	}
}

// What no coin drew is never held out and validates nothing, and it changes no other case's
// split but by filling up the training of the next search.
func TestAssignTrainOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cases := make([]eval.Case, rapid.IntRange(1, 60).Draw(t, "n"))
		trainOnly := func(c *eval.Case) bool { return c.TrainOnly() }
		for i := range cases {
			only := rapid.Bool().Draw(t, "only")
			outcome := rapid.SampledFrom([]string{"corrected", "accepted", "unknown"}).Draw(t, "outcome")
			cases[i] = eval.Case{ID: fmt.Sprint(i), Skill: "file:~:AGENTS.md", Cluster: fmt.Sprint("k", rapid.IntRange(0, 40).Draw(t, "cluster")),
				Source: &eval.Source{Origin: "mined", Outcome: outcome, Stratum: outcome, TrainOnly: only}}
			if outcome == "unknown" {
				cases[i].Source.Stratum = eval.Silent
			}
		}
		Assign(cases)
		drawn := slices.DeleteFunc(slices.Clone(cases), func(c eval.Case) bool { return trainOnly(&c) })
		splits := map[string]map[eval.Split]bool{}
		for i := range cases {
			c := &cases[i]
			if splits[c.Cluster] == nil {
				splits[c.Cluster] = map[eval.Split]bool{}
			}
			splits[c.Cluster][c.Split] = true
			if c.TrainOnly() && c.Split != eval.Train && c.Split != eval.Unassigned {
				t.Fatalf("%+v", c)
			}
			if !c.TrainOnly() && c.Split == eval.Unassigned {
				t.Fatalf("a drawn case has no split: %+v", c)
			}
		}
		for k, s := range splits {
			if s[eval.Train] && (s[eval.Val] || s[eval.Test]) {
				t.Fatalf("cluster %s is split", k)
			}
		}
		if len(drawn) == len(cases) {
			return
		}
		// Where training is full already, it changes nothing.
		full := func(cases []eval.Case) map[string]eval.Split {
			cases = slices.Clone(cases)
			for i := range SearchTrain {
				cases = append(cases, eval.Case{ID: fmt.Sprint("full", i), Skill: "file:~:AGENTS.md", Split: eval.Train,
					Source: &eval.Source{Origin: "mined", Outcome: "corrected", Stratum: "corrected", TrainOnly: true}})
			}
			for i := range cases {
				if c := &cases[i]; !strings.HasPrefix(c.ID, "full") {
					c.Split = eval.Unassigned
				}
			}
			State{OnTrial: true}.Assign(cases)
			out := map[string]eval.Split{}
			for i := range cases {
				if c := &cases[i]; !c.TrainOnly() {
					out[c.ID] = c.Split
				}
			}
			return out
		}
		if with, without := full(cases), full(drawn); !maps.Equal(with, without) {
			t.Fatalf("drawn cases went to %v, and without the others to %v", with, without)
		}
	})
}
