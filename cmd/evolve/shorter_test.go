package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

func undecidedTrial(t *record.TrialRecord) { t.Decision = pareto.Undecided }

// cutText is v0 without a line.
func (r *roaming) cutText() []byte {
	return bytes.Replace(r.v0, []byte("\nTag them.\n"), nil, 1)
}

// TestShorterIsItsOwnersToInstall: a proved text that only lacks lines is named as
// such and offered, no policy installs it, and a better one goes before it.
func TestShorterIsItsOwnersToInstall(t *testing.T) {
	r := newRoaming(t)
	cut := r.cutText()
	at := r.proved(cut, r.v0)
	shorter := r.offer
	shorter.SHA, shorter.Text = skill.HashText(cut), cut
	if _, err := r.place(shorter); r.a.fail(err) != exitRefused {
		t.Errorf("a policy may install it: %v", err)
	}
	night := nightWork(t, r.a, r.db)
	if o, err := night.Parts().Look(t.Context(), "tagger"); err != nil || o.Proved != nil {
		t.Errorf("a night takes it up: %+v, %v", o.Proved, err)
	}
	if got := r.printed("status"); !bytes.Contains([]byte(got), []byte("shorter: 1 line that no check mentions; better")) {
		t.Errorf("status does not name it:\n%s", got)
	}
	r.proved(r.v1, r.v0)
	if on, _, err := installerOf(r.a, r.db).WaitingTrial(t.Context(), r.live()); err != nil || on == nil || on.Challenger != r.offer.SHA {
		t.Errorf("promote is about %+v, %v; want the better text", on, err)
	}
	if err := r.promote("@" + at); err != nil {
		t.Fatal(err)
	}
	r.says(" is shorter: 1 line that no check mentions")
	r.holds("claude", cut)
}

// TestWithoutWhatWasSeen: what is proved by objectives of which one was left out after it
// was seen is its owner's to install, and the night says which.
func TestWithoutWhatWasSeen(t *testing.T) {
	for _, dropped := range []bool{false, true} {
		r := newRoaming(t)
		if err := r.db.ConfirmKernel(t.Context(), "tagger", r.live().Doc.KernelHash(), day1); err != nil {
			t.Fatal(err)
		}
		r.proved(r.v1, r.v0, func(rec *record.TrialRecord) {
			st := &record.State{Version: 1, Trial: pareto.NewTrial(pareto.DefaultConfig())}
			for range 9 {
				p := pareto.Pair{Quality: 1, Latency: -0.4}
				if !dropped {
					p.Latency = 0
				}
				st.Trial.Add(p)
			}
			if dropped {
				st.Count([]string{"quality", "retries", "cost"})
			}
			if rec.Decision = st.Trial.Verdict(); rec.Decision != pareto.Promote {
				t.Fatalf("it is %s", rec.Decision)
			}
			if err := rec.Save(st); err != nil {
				t.Fatal(err)
			}
		})
		run, err := r.db.Run(t.Context(), "run-"+skill.HashText(r.v1)[:6])
		if err != nil {
			t.Fatal(err)
		}
		run.Config = []byte("{}")
		if err := r.db.Journal(run.ID).SaveRun(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		night := nightWork(t, r.a, r.db)
		defer night.Close()
		o, err := night.Parts().Look(t.Context(), "tagger")
		if err != nil || o.Proved == nil {
			t.Fatalf("%+v, %v", o.Proved, err)
		}
		if against := o.Proved.Result.Against; dropped != strings.Contains(against, "latency did not count any more after it was seen") {
			t.Errorf("dropped %v, and against it is %q", dropped, against)
		}
		if dropped {
			if err := r.promote(""); err != nil {
				t.Errorf("its owner may not install it: %v", err)
			}
		}
	}
}

// TestShorterTakesNoPlace: a trial for being shorter continues if shortening
// is asked for, and blocks nothing else.
func TestShorterTakesNoPlace(t *testing.T) {
	r := newRoaming(t)
	at := r.proved(r.cutText(), r.v0, undecidedTrial)
	for evolves, want := range map[string]string{skill.Harness: "", skill.Shorten: at, skill.Description: "", "": at} {
		on, err := openTrialOf(t.Context(), r.a, r.db, r.live(), evolves)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if on != nil {
			got = on.Challenger[:12]
		}
		if got != want {
			t.Errorf("--evolve %q goes on with %q, want %q", evolves, got, want)
		}
	}
	r.proved(r.v1, r.v0, undecidedTrial)
	if on, err := openTrialOf(t.Context(), r.a, r.db, r.live(), skill.Harness); err != nil || on == nil || on.Challenger != r.offer.SHA {
		t.Errorf("the harness goes on with %+v, %v", on, err)
	}
}
