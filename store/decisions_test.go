package store

import (
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/tournament/record"
)

// TestDecisions: the owner's last decision counts, the text's flag is kept, and a
// rejected challenger has no place in its trial until the decision is revoked.
func TestDecisions(t *testing.T) {
	s, ctx := open(t), t.Context()
	j := s.Journal("r1")
	must(t, j.SaveTrial(ctx, &record.TrialRecord{Skill: "dataviz", Incumbent: "aa", Challenger: "bb", Decision: "undecided", State: []byte(`{}`), Updated: day}))
	must(t, j.SaveTrial(ctx, &record.TrialRecord{Skill: "dataviz", Incumbent: "aa", Challenger: "cc", Decision: "promote", State: []byte(`{}`), Updated: day}))
	place := func() string {
		t.Helper()
		trials, err := s.Trials(ctx, "dataviz")
		must(t, err)
		return string(trials[0].Decision + " " + trials[1].Decision)
	}
	for _, c := range []struct {
		word Word
		want string
	}{{Rejected, "withdrawn promote"}, {Approved, "undecided promote"}, {Rejected, "withdrawn promote"}} {
		_, err := s.Decide(ctx, Decision{Skill: "dataviz", SHA: "bb", Word: c.word, By: "me", Rules: []string{"new-host"}})
		must(t, err)
		if got := place(); got != c.want {
			t.Errorf("%s: the trials are %s, want %s", c.word, got, c.want)
		}
		// A run that is walked again saves its trial again.
		saveTrialOver(t, j, &record.TrialRecord{Skill: "dataviz", Incumbent: "aa", Challenger: "bb", Decision: "undecided", State: []byte(`{}`), Updated: day})
		if got := place(); got != c.want {
			t.Errorf("%s, saved again: the trials are %s, want %s", c.word, got, c.want)
		}
	}
	said, err := s.Decisions(ctx, "dataviz")
	must(t, err)
	d := said["bb"]
	if len(said) != 1 || d.Word != Rejected || d.By != "me" || !slices.Equal(d.Rules, []string{"new-host"}) || d.Time.IsZero() {
		t.Errorf("decisions: %+v", said)
	}
	if other, err := s.Decisions(ctx, "other"); err != nil || len(other) != 0 {
		t.Errorf("another skill has %v, %v", other, err)
	}
	if _, err := s.Decide(ctx, Decision{Skill: "dataviz", SHA: "bb", Word: "maybe"}); err == nil {
		t.Error("a word that means nothing was kept")
	}
}

// TestQuarantined lists a flagged text once, the newest first.
func TestQuarantined(t *testing.T) {
	s, ctx := open(t), t.Context()
	for i, run := range []string{"r1", "r2", "r3"} {
		skill := "dataviz"
		if run == "r3" {
			skill = "other"
		}
		j := s.Journal(run)
		must(t, j.SaveRun(ctx, &record.Run{ID: run, Skill: skill, Status: record.Finished, Started: day.Add(time.Duration(i) * time.Hour)}))
		must(t, j.SaveCandidate(ctx, &record.Candidate{SHA: "aa", Run: run, Seq: 1, State: record.Quarantined, Reason: run, Text: []byte("a")}))
		must(t, j.SaveCandidate(ctx, &record.Candidate{SHA: "p" + run, Run: run, Seq: 2, State: record.Pooled}))
	}
	must(t, s.Journal("r2").SaveCandidate(ctx, &record.Candidate{SHA: "bb", Run: "r2", Seq: 3, State: record.Quarantined}))
	got, err := s.Quarantined(ctx, "dataviz")
	must(t, err)
	if len(got) != 2 || got[0].SHA != "bb" || got[1].SHA != "aa" || got[1].Reason != "r1" || string(got[1].Text) != "a" {
		t.Errorf("got %+v", got)
	}
}
