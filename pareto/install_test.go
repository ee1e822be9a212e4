package pareto

import (
	"testing"
	"time"
)

func TestTakeBack(t *testing.T) {
	begun := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	with := func(pairs ...float64) *Trial {
		trial := NewTrial(Config{})
		for _, d := range pairs {
			trial.Add(Pair{Quality: d})
		}
		return trial
	}
	for _, c := range []struct {
		name  string
		trial *Trial
		in    TrialInstall
		after time.Duration
		want  Removal
	}{
		{"nothing heard, an owner's", with(), TrialInstall{Begun: begun}, 55 * 24 * time.Hour, Stays},
		{"eight weeks, an owner's", with(), TrialInstall{Begun: begun}, 56 * 24 * time.Hour, StillOpen},
		{"eight weeks, a night's that still hears", with(1, 1), TrialInstall{ByNight: true, Begun: begun, Heard: begun.Add(50 * 24 * time.Hour)}, 56 * 24 * time.Hour, Stays},
		{"six weeks without a pair", with(1, 1), TrialInstall{ByNight: true, Begun: begun}, 42 * 24 * time.Hour, NoPairs},
		{"e of 1 is not below 1", with(), TrialInstall{ByNight: true, Begun: begun}, time.Hour, Stays},
		{"e below 1, a night's", with(1, -1), TrialInstall{ByNight: true, Begun: begun}, time.Hour, NoEvidence},
		{"e below 1, an owner's", with(1, -1), TrialInstall{Begun: begun}, time.Hour, Stays},
		{"four worse", with(-1, -1, -1, -1), TrialInstall{Begun: begun}, time.Hour, ShownWorse},
		{"dropped", with(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -.2, -.2), TrialInstall{Begun: begun}, time.Hour, Lost},
	} {
		if got := c.trial.TakeBack(c.in, begun.Add(c.after)); got != c.want {
			better, worse := c.trial.Now()
			t.Errorf("%s: %q, want %q (e %.3g, reverse %.3g, %s)", c.name, got, c.want, better, worse, c.trial.Verdict())
		}
	}
}

func TestNightTries(t *testing.T) {
	sum := 0.0
	for n := 1; n <= 1_000_000; n++ {
		sum += 1 / NightTries(n)
	}
	if sum > .5 || sum < .4999 {
		t.Errorf("the chances add up to %.4f, want 1/2", sum)
	}
	if NightTries(1) != 4 || NightTries(2) != 12 || NightTries(3) != 24 {
		t.Errorf("%v %v %v", NightTries(1), NightTries(2), NightTries(3))
	}
}
