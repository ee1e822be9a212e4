package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/tournament/record"
)

// aTrial is the record of a trial in the given round, begun by a run.
func aTrial(incumbent, challenger string, round int) *record.TrialRecord {
	past := make([]struct{}, round)
	state, err := json.Marshal(map[string]any{"version": 1, "trial": map[string]any{}, "past": past})
	if err != nil {
		panic(err)
	}
	return &record.TrialRecord{Skill: "dataviz", Incumbent: incumbent, Challenger: challenger, Decision: "undecided", State: state, Updated: day}
}

// saveTrialOver saves a trial over what is kept of it.
func saveTrialOver(t *testing.T, j record.Journal, r *record.TrialRecord) {
	t.Helper()
	kept, err := j.Trial(t.Context(), r.Skill, r.Incumbent, r.Challenger)
	must(t, err)
	if r.Revision = 0; kept != nil {
		r.Revision = kept.Revision
	}
	must(t, j.SaveTrial(t.Context(), r))
}

// TestTrialNumbers: every trial has the number of its beginning, each round another
// one, and keeps it whatever becomes of the trial; one that no run has begun has
// none yet. What was proved counts for those that begin after it, simulated
// evidence apart.
func TestTrialNumbers(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	j := s.Journal("r1")
	l, err := s.TakeSleepLease(ctx, "me", day, day.AddDate(1, 0, 0), func(string) bool { return false })
	must(t, err)
	waits := &record.TrialRecord{Skill: "dataviz", Incumbent: "v0", Challenger: "rebased", Run: "r1", Decision: "undecided", Updated: day}
	must(t, waits.Save(&record.State{Version: 1})) // of an older evolve
	simulated := aTrial("v0", "sim", 0)
	simulated.Simulated = true
	must(t, j.SaveTrial(ctx, waits))
	for _, r := range []*record.TrialRecord{aTrial("v0", "a", 0), simulated, aTrial("v0", "a", 0), aTrial("v0", "b", 0)} {
		saveTrialOver(t, j, r)
	}
	must(t, s.SaveSleepState(ctx, l.Generation, "dataviz", json.RawMessage(`{}`), 1, 2))
	must(t, s.SaveSleepState(ctx, l.Generation, "dataviz", json.RawMessage(`{}`))) // what is proved stays so
	saveTrialOver(t, j, aTrial("v0", "a", 1))
	saveTrialOver(t, j, aTrial("v0", "a", 0)) // a run that is resumed walks the same way again
	again := aTrial("v1", "sim", 0)
	again.Simulated = true
	must(t, j.SaveTrial(ctx, again))
	must(t, s.Do(ctx, func(tx *tx) error {
		return (&purge{tx: tx}).removeText("dataviz", "b")
	}))
	must(t, s.Do(ctx, func(tx *tx) error { // and whatever else may happen to them
		_, err := tx.Exec(`DELETE FROM trials`)
		return err
	}))
	must(t, j.SaveTrial(ctx, aTrial("v0", "rebased", 0)))
	other := aTrial("v0", "a", 0)
	other.Skill = "tables"
	must(t, j.SaveTrial(ctx, other))

	got, err := s.TrialNumbers(ctx, "dataviz")
	must(t, err)
	want := []record.TrialNumber{
		{Number: 1, Incumbent: "v0", Challenger: "a", Proved: true},
		{Number: 2, Incumbent: "v0", Challenger: "sim", Simulated: true, Proved: true},
		{Number: 3, Incumbent: "v0", Challenger: "b"},
		{Number: 4, Incumbent: "v0", Challenger: "a", Round: 1, Before: 1},
		{Number: 5, Incumbent: "v1", Challenger: "sim", Simulated: true, Before: 1},
		{Number: 6, Incumbent: "v0", Challenger: "rebased", Before: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("numbers\n got %+v\nwant %+v", got, want)
	}
	for _, w := range want {
		n, err := s.TrialNumber(ctx, "dataviz", w.Incumbent, w.Challenger, w.Round)
		if err != nil || n == nil || *n != w {
			t.Errorf("number of %s, round %d: %+v, %v", w.Challenger, w.Round, n, err)
		}
	}
	if n, err := s.TrialNumber(ctx, "dataviz", "v0", "stranger", 0); n != nil || err != nil {
		t.Errorf("a trial that never was: %+v, %v", n, err)
	}
	if n, err := s.TrialNumbers(ctx, "tables"); err != nil || len(n) != 1 || n[0].Number != 1 || n[0].Before != 0 {
		t.Errorf("another skill: %+v, %v", n, err)
	}
}

// TestOlderTrialsAreNumbered: in a database of before, what nights have counted
// keeps its number; the owner's trials come behind, in order of their beginning, one
// for each round, and nothing is taken to have been proved before them.
func TestOlderTrialsAreNumbered(t *testing.T) {
	path := unpackFixture(t, 8)
	db, err := sql.Open("sqlite3", dsn(path))
	must(t, err)
	_, err = db.Exec(`DELETE FROM trials; DELETE FROM sleep_states`)
	must(t, err)
	exec := func(q string, args ...any) {
		t.Helper()
		if _, err := db.Exec(q, args...); err != nil {
			t.Fatal(err)
		}
	}
	add := func(skill, challenger, state string) {
		exec(`INSERT INTO trials (skill, incumbent, challenger, simulated, updated, body) VALUES (?, 'v0', ?, 0, 0, ?)`, skill, challenger, fmt.Sprintf(`{"state":%s}`, state))
	}
	add("dataviz", "z-first", `{"trial":{},"past":[{},{}]}`)
	add("dataviz", "night1", `{"trial":{}}`)
	add("dataviz", "a-second", `{"trial":{}}`)
	add("dataviz", "rebased", `{"trial":null}`)
	add("dataviz", "night2", `{"trial":{},"past":[{}]}`)
	add("tables", "only", `{"trial":{}}`)
	exec(`INSERT INTO sleep_states (skill, body) VALUES ('dataviz', ?)`, `{"schema":1,"lifetime":{"alpha":0.05,"rejected":[1,3],"tested":3},"trials":[
		{"number":1,"run":"n","incumbent":"v0","challenger":"night1","level":0.025,"decision":"promote"},
		{"number":2,"run":"n","incumbent":"v0","challenger":"night2","level":0.0166,"decision":"undecided"},
		{"number":3,"run":"n","incumbent":"gone","challenger":"purged","level":0.008,"decision":"promote"}]}`)
	must(t, db.Close())

	s := openAt(t, path)
	got, err := s.TrialNumbers(t.Context(), "dataviz")
	must(t, err)
	want := []record.TrialNumber{
		{Number: 1, Incumbent: "v0", Challenger: "night1", Proved: true},
		{Number: 2, Incumbent: "v0", Challenger: "night2", Before: 1},
		{Number: 3, Incumbent: "gone", Challenger: "purged", Proved: true, Before: 1},
		{Number: 4, Incumbent: "v0", Challenger: "z-first"},
		{Number: 5, Incumbent: "v0", Challenger: "z-first", Round: 1},
		{Number: 6, Incumbent: "v0", Challenger: "z-first", Round: 2},
		{Number: 7, Incumbent: "v0", Challenger: "a-second"},
		{Number: 8, Incumbent: "v0", Challenger: "night2", Round: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("numbers\n got %+v\nwant %+v", got, want)
	}
	if got, err := s.TrialNumbers(t.Context(), "tables"); err != nil || len(got) != 1 || got[0].Number != 1 {
		t.Errorf("another skill: %+v, %v", got, err)
	}
}
