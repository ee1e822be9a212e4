package splits

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
)

// session is a corrected case of the n-th session.
func session(n int) eval.Case {
	return eval.Case{ID: fmt.Sprintf("c%03d", n), Skill: "s", Cluster: fmt.Sprintf("k%03d", n),
		Source: &eval.Source{Origin: "mined", Outcome: "corrected", Stratum: "corrected", Time: time.Unix(int64(n)*3600, 0)}}
}

func sessions(from, to int) (out []eval.Case) {
	for n := from; n < to; n++ {
		out = append(out, session(n))
	}
	return out
}

func count(cases []eval.Case) (n [3]int) {
	for _, c := range cases {
		n[slices.Index([]eval.Split{eval.Train, eval.Val, eval.Test}, c.Split)]++
	}
	return n
}

// A backlog leaves a search and a trial enough to begin with.
func TestBacklog(t *testing.T) {
	for n, want := range map[int][3]int{
		5:   {3, 2, 0},
		18:  {12, 6, 0},
		20:  {12, 6, 2},
		30:  {12, 6, 12},
		40:  {12, 6, 22},
		60:  {16, 8, 36},
		100: {24, 12, 64},
		200: {48, 24, 128},
	} {
		cases := sessions(0, n)
		Assign(cases)
		if got := count(cases); got != want {
			t.Errorf("%d sessions: %v, want %v", n, got, want)
		}
		if l := (State{}).Lack(cases); (l == Lack{}) != (n >= 18) {
			t.Errorf("%d sessions: a search waits for %q", n, l)
		}
	}
}

// The order of arrival decides, whatever was asked, and however the sessions are
// harvested; what teaches nothing counts for nothing.
func TestInOrderOfArrival(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 130).Draw(t, "sessions")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var all []eval.Case
		for i := range n {
			c := session(i)
			if r.IntN(4) == 0 {
				c.Source.Stratum, c.Source.Outcome = eval.Silent, "unknown"
			}
			all = append(all, c)
			if r.IntN(5) == 0 { // a second use in the session
				c.ID += "b"
				all = append(all, c)
			}
		}
		at := func(cases []eval.Case) map[string]eval.Split {
			out := map[string]eval.Split{}
			for _, c := range cases {
				out[c.ID] = c.Split
			}
			return out
		}
		whole := slices.Clone(all)
		r.Shuffle(len(whole), func(i, j int) { whole[i], whole[j] = whole[j], whole[i] })
		Assign(whole)
		var parts []eval.Case
		for i := range all {
			parts = append(parts, all[i])
			if i+1 == len(all) || all[i].Cluster != all[i+1].Cluster && r.IntN(3) == 0 {
				before := at(parts)
				Assign(parts)
				for id, s := range at(parts) {
					if before[id] != eval.Unassigned && before[id] != s {
						t.Fatalf("%s moved from %s to %s", id, before[id], s)
					}
				}
			}
		}
		if a, b := at(whole), at(parts); !maps.Equal(a, b) {
			t.Fatalf("at once %v, in parts %v", a, b)
		}
		read := 0 // clusters that teach, in order
		seen := map[string]bool{}
		for _, c := range parts {
			switch {
			case seen[c.Cluster]:
			case !c.Teaches():
				if c.Split != eval.Test {
					t.Fatalf("%s teaches nothing and is in %s", c.ID, c.Split)
				}
			default:
				if read++; (c.Split == eval.Test) != (read > 18 && (read-1)%54 >= 18) {
					t.Fatalf("%s, number %d, is in %s", c.ID, read, c.Split)
				}
			}
			seen[c.Cluster] = true
		}
	})
}

// A search reads its cases, a trial hears others: those teach the next search, which
// waits for as many as the first.
func TestMovesOnce(t *testing.T) {
	cases := sessions(0, 30)
	Assign(cases)
	s := State{Read: map[string]bool{}, Heard: map[string]bool{}, OnTrial: true}
	for _, c := range cases[:18] {
		s.Read[c.ID] = true
	}
	for _, c := range cases[18:26] {
		s.Heard[c.ID] = false
	}
	if l := s.Lack(cases); l != (Lack{12, 6}) || l.String() != "12 more train cases and 6 more validation cases" {
		t.Errorf("after a search the next waits for %q", l)
	}
	cases = append(cases, sessions(30, 33)...)
	silent := session(90) // heard, and nothing to learn from
	silent.Source.Stratum, silent.Split = eval.Silent, eval.Test
	s.Heard[silent.ID] = false
	cases = append(cases, silent)
	s.Assign(cases)
	if got := count(cases); got != [3]int{12, 6, 16} {
		t.Errorf("while the trial goes on: %v, want all that is new held out", got)
	}
	again := session(20) // a second use in a session that was heard
	again.ID = "again"
	for id := range s.Heard {
		s.Heard[id] = true
	}
	s.OnTrial = false
	cases = append(cases, again)
	s.Assign(cases)
	if got := count(cases); got != [3]int{12 + 9, 6, 8} {
		t.Errorf("when the trial is over: %v, want what it heard, with its sessions, in train", got)
	}
	if l := s.Lack(cases); l != (Lack{4, 6}) {
		t.Errorf("the next search waits for %q, want 4 and 6", l)
	}
	cases = append(cases, sessions(40, 51)...)
	before := slices.Clone(cases)
	s.Assign(cases)
	if got := count(cases); got != [3]int{21 + 4, 6 + 6, 8 + 1} {
		t.Errorf("%v, want first what the next search waits for, then held out", got)
	}
	if l := s.Lack(cases); l != (Lack{}) || l.String() != "" {
		t.Errorf("it still waits for %q", l)
	}
	for _, now := range []State{s, {}, {OnTrial: true}, {Heard: s.Heard}} {
		after := slices.Clone(cases)
		now.Assign(after)
		for i := range after {
			if after[i].Split != cases[i].Split || i < len(before) && before[i].Split != "" && before[i].Split != after[i].Split {
				t.Errorf("%s moved from %s to %s", after[i].ID, cases[i].Split, after[i].Split)
			}
		}
	}
}

// A trial under way comes before the next search, and has enough with 36.
func TestTrialComesFirst(t *testing.T) {
	cases := sessions(0, 80)
	State{OnTrial: true}.Assign(cases)
	if got := count(cases); got != [3]int{12, 6, 62} {
		t.Errorf("%v", got)
	}
	if i := slices.IndexFunc(cases, func(c eval.Case) bool { return c.Split != eval.Test }); i != trialCases {
		t.Errorf("session %d is the first that is not held out", i)
	}
}

// Imported and generated cases have quotas of their own, and a search needs no session if
// there are enough imported cases.
func TestImportsBesideSessions(t *testing.T) {
	cases := sessions(0, 20)
	for i := range 50 {
		c := eval.Case{ID: fmt.Sprint("i", i), Skill: "s"}
		if i >= 40 {
			c.Source = &eval.Source{Origin: "generated"}
		}
		cases = append(cases, c)
	}
	Assign(cases)
	if got := count(cases[:20]); got != [3]int{12, 6, 2} {
		t.Errorf("sessions %v", got)
	}
	if got := count(cases[20:60]); got != [3]int{16, 12, 12} {
		t.Errorf("imported %v", got)
	}
	if got := count(cases[60:]); got != [3]int{6, 4, 0} {
		t.Errorf("generated %v", got)
	}
	if l := (State{}).Lack(cases[20:60]); l != (Lack{}) {
		t.Errorf("with imported cases it waits for %q", l)
	}
	if l := (State{}).Lack(cases[60:]); l != (Lack{12, 6}) {
		t.Errorf("what a model made up shortens the wait to %q", l)
	}
}
