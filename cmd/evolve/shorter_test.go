package main

import (
	"bytes"
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
	if got := r.printed("status"); !bytes.Contains([]byte(got), []byte("shorter: 1 line that no check mentions; proved")) {
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
