package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// TestCertificateWords: the log tells how a version stands on another model; what is
// said of a model that is not asked any more is no reason to act.
func TestCertificateWords(t *testing.T) {
	s := newStation(t, 0)
	home, live := s.settled()
	s.judgedAlone(home, 24, 10, false)
	if k := certified(s.morning(s.asked(home, "sim-next")).Night); k == nil || k.Outcome != sleep.Certified {
		t.Fatalf("%+v", k)
	}
	name := s.cases[0].Skill
	out, err := s.command(home, "log", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var l struct{ Versions []status.Version }
	if err := json.Unmarshal(out, &l); err != nil {
		t.Fatal(err)
	}
	var got []status.Certificate
	for _, v := range l.Versions {
		if v.SHA == skill.HashText(live) {
			got = v.Certificates
		}
	}
	if len(got) != 1 || got[0].Model != "openai/sim-next" || got[0].Outcome != sleep.Certified || got[0].Lift != sleep.LiftShown || got[0].Cases == 0 {
		t.Errorf("the log says %+v", got)
	}

	db := s.open(home)
	defer db.Close()
	j := sleep.Stored(db)
	st, err := j.State(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	night, err := j.LastNight(t.Context())
	if err != nil || night.Model.Asked != "sim-next" {
		t.Fatalf("the night's model: %v, %v", night.Model, err)
	}
	st.Certificates[0].Outcome, st.Certificates[0].Parts = sleep.Worse, nil
	if err := j.SaveState(t.Context(), night.Generation, st); err != nil {
		t.Fatal(err)
	}
	status := func() string {
		t.Helper()
		out, err := s.command(home, "status").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	const word = "on openai/sim-next: worse than the version before it"
	if got := status(); !strings.Contains(got, word) {
		t.Errorf("status says nothing of an alarm: %s", got)
	}
	s.morning(s.night(home)) // on the model of before
	if got := status(); strings.Contains(got, word) {
		t.Errorf("status tells of a model that is not asked any more: %s", got)
	}
}
