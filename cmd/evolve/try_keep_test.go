package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// hears lets the trial of the challenger go on, at this level if it is not 0.
func (r *roaming) hears(level float64, f func(st *record.State)) {
	r.t.Helper()
	all, err := r.db.Trials(r.t.Context(), "tagger")
	if err != nil {
		r.t.Fatal(err)
	}
	k := &all[0]
	if level > 0 {
		if _, err := k.Hold(level); err != nil {
			r.t.Fatal(err)
		}
	}
	st, _, err := k.Begin(fmt.Sprint("run ", k.Revision), pareto.DefaultConfig(), record.Model{})
	if err != nil {
		r.t.Fatal(err)
	}
	f(st)
	st.LastPair = time.Now()
	k.Decision, k.Updated = st.Trial.Verdict(), st.LastPair
	if err := k.Save(st); err != nil {
		r.t.Fatal(err)
	}
	if err := r.db.Journal(k.Run).SaveTrial(r.t.Context(), k); err != nil {
		r.t.Fatal(err)
	}
}

// inWorkspace adds pairs of one workspace until the trial is decided.
func inWorkspace(st *record.State, n int, d float64, workspace string) {
	if st.Places == nil { // each run says anew where all of them are from
		st.Places = map[string]record.Place{}
		for _, name := range st.Clusters {
			st.Places[name] = record.Place{Workspace: workspace, Time: time.Now()}
		}
	}
	for range n {
		st.Trial.Add(pareto.Pair{Quality: d})
		if st.Trial.Cases() == len(st.Clusters) {
			return // it is decided
		}
		name := fmt.Sprint("c", len(st.Clusters))
		st.Clusters = append(st.Clusters, name)
		st.Places[name] = record.Place{Workspace: workspace, Time: time.Now()}
	}
}

// wins proves the challenger with nothing that a night objects to.
func (r *roaming) wins(level float64) {
	r.t.Helper()
	if err := r.db.ConfirmKernel(r.t.Context(), "tagger", r.live().Doc.KernelHash(), time.Now()); err != nil {
		r.t.Fatal(err)
	}
	r.hears(level, func(st *record.State) {
		for k := range 60 {
			inWorkspace(st, 1, 1, fmt.Sprint("/", k%3))
		}
	})
}

// taught has the challenger learn from a correction; copied: the agent wrote its words first.
func (r *roaming) taught(copied bool) {
	r.t.Helper()
	c := eval.Case{ID: "mined-1", Skill: "tagger", Prompt: "Tag the photos of the week", Split: eval.Train, Checks: []eval.Check{harvest.Fulfilled},
		Source: &eval.Source{Agent: "claude-code", Session: "s", Origin: "mined", Outcome: "corrected", Stratum: "corrected", Copied: copied}}
	if _, _, err := r.db.SaveCases(r.t.Context(), []eval.Case{c}); err != nil {
		r.t.Fatal(err)
	}
	k, err := r.db.Candidate(r.t.Context(), skill.HashText(r.v1))
	if err != nil {
		r.t.Fatal(err)
	}
	k.Taught = []string{c.ID}
	if err := r.db.Journal(k.Run).SaveCandidate(r.t.Context(), k); err != nil {
		r.t.Fatal(err)
	}
}

// settle is what a night says of a trial install.
func (r *roaming) settle() string {
	r.t.Helper()
	placed, err := nightWork(r.t, r.a, r.db).Parts().Settle(r.t.Context(), sleep.Task{Skill: "tagger"})
	if err != nil {
		r.t.Fatal(err)
	}
	return placed.Note
}

// TestNightKeeps: a night keeps what is on trial in place and proved only if it might have
// installed it; else that stays there on trial, and its owner keeps it.
func TestNightKeeps(t *testing.T) {
	number21 := func(r *roaming) {
		for i := range 20 {
			rec := &record.TrialRecord{Skill: "tagger", Incumbent: "older", Challenger: fmt.Sprint("x", i), Run: "r", Decision: pareto.Reject, Updated: day1.Add(-time.Hour),
				State: []byte(`{"version":1,"trial":{"version":1,"config":{"quality":{"alpha":0.04},"latency":{"alpha":0.01},"cost":{"alpha":0.01},"retries":{"alpha":0.01},"tolerance_alpha":0.05,"futility_alpha":0.05},"pairs":[],"verdict":"reject"}}`)}
			if err := r.db.Journal("r").SaveTrial(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		before func(r *roaming)
		hears  func(st *record.State)
		why    string // "": it is kept
	}{
		{name: "nothing objects"},
		{name: "its kernel", before: func(r *roaming) {
			if err := r.db.Exec(t.Context(), "DELETE FROM kernels"); err != nil {
				t.Fatal(err)
			}
		}, why: "its locked lines were never confirmed"},
		{name: "no probes", before: func(r *roaming) {
			if err := os.RemoveAll(filepath.Join(r.home, "data", "probes")); err != nil {
				t.Fatal(err)
			}
		}, why: "waits for you: no probes approved for its kernel"},
		{name: "probes that are not answered", before: func(r *roaming) {
			if err := approveProbes(filepath.Join(r.home, "data"), r.live()); err != nil {
				t.Fatal(err)
			}
		}, why: "its kernel probes are not answered yet"},
		{name: "one workspace", hears: func(st *record.State) { inWorkspace(st, 3, -.2, "/a"); inWorkspace(st, 60, 1, "/b") },
			why: "its gain rests on one workspace, b"},
		{name: "dropped objectives", hears: func(st *record.State) {
			for range 40 {
				st.Trial.Add(pareto.Pair{Quality: 1, Cost: .12})
			}
			st.Count([]string{"quality"})
		}, why: "did not count any more after it was seen"},
		{name: "words of others", before: func(r *roaming) { r.taught(true) }, why: "it learned from a correction that is not in your own words (case mined-1"},
		{name: "its owner's words", before: func(r *roaming) { r.taught(false) }},
		{name: "lifetime", before: number21, why: "among all trials of this skill it takes 1 in"},
	} {
		for _, byNight := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, byNight), func(t *testing.T) {
				r := newRoaming(t)
				if err := approveNoProbes(filepath.Join(r.home, "data"), r.live()); err != nil {
					t.Fatal(err)
				}
				level := 0.01 // enough for a skill's first trial
				if c.name == "lifetime" {
					level = 0
					c.before(r)
				}
				r.proved(r.v1, r.v0, func(k *record.TrialRecord) { k.Decision = pareto.Undecided })
				r.hears(0, func(st *record.State) { inWorkspace(st, 1, .01, "/a") }) // it has a number
				in := installerOf(r.a, r.db)
				plan, err := in.PlanTry(t.Context(), r.live(), release.Request{At: skill.HashText(r.v1)[:12], ByNight: byNight})
				if err == nil {
					_, err = in.Apply(t.Context(), plan)
				}
				if err != nil {
					t.Fatal(err)
				}
				if c.hears == nil {
					r.wins(level)
				} else if err := r.db.ConfirmKernel(t.Context(), "tagger", r.live().Doc.KernelHash(), time.Now()); err != nil {
					t.Fatal(err)
				} else {
					r.hears(level, c.hears)
				}
				if c.before != nil && c.name != "lifetime" {
					c.before(r)
				}
				if on := r.trying(); on == nil || !on.Proved() || on.ByNight != byNight {
					t.Fatalf("%+v", on)
				}
				said := r.settle()
				r.holds("claude", r.v1)
				on := r.trying()
				if c.why == "" {
					if !strings.HasSuffix(said, "is better (at most 5 % luck): it stays") || on != nil {
						t.Errorf("%q, %+v", said, on)
					}
					return
				}
				if !strings.Contains(said, c.why) || !strings.HasSuffix(said, ": `evolve promote tagger` keeps it") || on == nil {
					t.Errorf("%q, %+v", said, on)
				}
				if v, err := r.db.VersionBySHA(t.Context(), "tagger", skill.HashText(r.v1)); err != nil || v.Proven {
					t.Errorf("%+v, %v", v, err)
				}
				// Its owner's run keeps what its owner put in place.
				s, err := in.SettleTry(t.Context(), r.live())
				if err != nil || s.Kept == byNight {
					t.Fatalf("%+v, %v", s, err)
				}
				if byNight {
					// What has not answered its probes is its owner's word alone.
					asks := c.why == "its kernel probes are not answered yet"
					if err := promoteSkill(t.Context(), r.a, "tagger", promoteFlags{unproven: asks}); err != nil {
						t.Fatal(err)
					}
				}
				if v, err := r.db.VersionBySHA(t.Context(), "tagger", skill.HashText(r.v1)); err != nil || !v.Proven || r.trying() != nil {
					t.Errorf("%+v, %v", v, err)
				}
				installs, err := r.db.Installs(t.Context(), "tagger")
				if err != nil || installs[0].Op != store.OpPromote {
					t.Errorf("%+v, %v", installs, err)
				}
			})
		}
	}
}

// TestKeptEverywhere: what is kept goes to the configured targets as any proved version does.
func TestKeptEverywhere(t *testing.T) {
	r := newRoaming(t)
	if err := approveNoProbes(filepath.Join(r.home, "data"), r.live()); err != nil {
		t.Fatal(err)
	}
	r.install(r.v1, "claude", "codex")
	r.configure("targets: [claude, codex]\n")
	v2 := append(bytes.Clone(r.v1), "\nSort them.\n"...)
	r.proved(v2, r.v1, func(k *record.TrialRecord) { k.Decision = pareto.Undecided })
	if err := trySkill(t.Context(), r.a, "tagger", true); err != nil {
		t.Fatal(err)
	}
	r.holds("codex", r.v1)
	r.wins(0.01)
	if said := r.settle(); !strings.HasSuffix(said, "is better (at most 5 % luck): it stays") || r.trying() != nil {
		t.Errorf("%q", said)
	}
	r.holds("claude", v2)
	r.holds("codex", v2)
}

// TestTriedNowhereElse: a text is copied nowhere else while it is on trial in place, and its
// owner hears that she keeps one that was rejected.
func TestTriedNowhereElse(t *testing.T) {
	r := onTrial(t, true)
	for _, at := range []string{"", "@v1"} {
		err := promoteSkill(t.Context(), r.a, "tagger"+at, promoteFlags{to: []string{"codex"}, yes: true})
		if err == nil || !strings.Contains(err.Error(), "v1 of tagger is a trial install: it is not copied elsewhere") {
			t.Errorf("%q: %v", at, err)
		}
		r.holds("codex", nil)
	}
	if r.trying() == nil {
		t.Error("it is on trial no more")
	}
	r.decide(pareto.Reject)
	r.configure("targets: [codex]\n")
	if err := promoteSkill(t.Context(), r.a, "tagger", promoteFlags{unproven: true}); err != nil {
		t.Fatal(err)
	}
	r.says("v1 of tagger is kept although it was to be taken back: rejected")
	r.holds("claude", r.v1)
	r.holds("codex", r.v1)
	if r.trying() != nil {
		t.Error("still on trial")
	}
}
