package store

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestPurgeOfHook: to a hook a session is a case of the name AGENT/ID. A purge removes the texts
// that saw its calls, in a search's labelled sessions or in its others, and marks a version; the
// run's replies go, and the id is in no file any more. Other hooks' runs stay as they are.
func TestPurgeOfHook(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	const hook, id, word = "hook:~:hooks/guard.sh", "ses-d34db33f", "XYZZYreplyXYZZY"
	must(t, s.SaveSession(ctx, session(id, "/p/"+id+".jsonl")))
	must(t, s.SaveSession(ctx, session("kept", "/p/kept.jsonl")))
	for _, run := range []struct {
		id, skill string
		search    []string
		shown     []string
	}{
		{"r1", hook, []string{"claude/" + id, "claude/kept"}, []string{"claude/" + id}},
		{"r2", hook, []string{"claude/kept"}, []string{"claude/kept", "claude/" + id}}, // of an unlabelled session
		{"r3", hook, []string{"claude/kept"}, []string{"claude/kept"}},
		{"r4", "hook:~:hooks/other.sh", []string{"claude/kept"}, []string{"claude/kept"}},
	} {
		config, err := json.Marshal(map[string]any{"hook": true, "search": run.search})
		must(t, err)
		j := s.Journal(run.id)
		must(t, j.SaveRun(ctx, &record.Run{ID: run.id, Skill: run.skill, Status: record.Finished, Started: day, Config: config}))
		must(t, j.SaveCompletion(ctx, "m", eval.ByMutator, &eval.Completion{Text: word + run.id}))
		must(t, j.SaveCandidate(ctx, &record.Candidate{Run: run.id, SHA: "found" + run.skill, Text: []byte("v0")}))
		must(t, j.SaveCandidate(ctx, &record.Candidate{Run: run.id, Seq: 1, SHA: "made-" + run.id, Parents: []string{"found" + run.skill}, Shown: run.shown, Text: []byte(run.id)}))
	}
	trial := &record.TrialRecord{Skill: hook, Incumbent: "inc", Challenger: "made-r3", Run: "r3", Decision: pareto.Undecided, Updated: day}
	must(t, trial.Save(&record.State{Version: 1, Clusters: []string{"claude/" + id, "claude/kept"}}))
	must(t, s.Journal("r3").SaveTrial(ctx, trial))
	must(t, s.Journal("r3").SpendCase(ctx, hook, "inc", "made-r3", "claude/"+id, ""))
	_, err := s.SaveVersion(ctx, record.Version{Skill: hook, SHA: "made-r2"})
	must(t, err)
	for _, in := range []string{id, word + "r1", word + "r2"} {
		if occurrences(t, s, in) == 0 {
			t.Fatalf("%s was never in the files: this test shows nothing", in)
		}
	}

	report, err := s.PurgeSessions(ctx, []string{id})
	must(t, err)
	if want := []string{"made-r1", "made-r2"}; !reflect.DeepEqual(report.Candidates, want) || !reflect.DeepEqual(report.Removed, want[:1]) || report.Cases != 0 {
		t.Errorf("report %+v", report)
	}
	if len(report.Versions) != 1 || report.Versions[0].SHA != "made-r2" || report.Versions[0].Note == "" {
		t.Errorf("versions %+v", report.Versions)
	}
	if want := []string{"r1", "r2"}; !slices.Equal(report.Runs[:2], want) {
		t.Errorf("runs %v, want %v", report.Runs, want)
	}
	for in, want := range map[string]bool{id: false, word + "r1": false, word + "r2": false, word + "r3": true, word + "r4": true, "claude/kept": true} {
		if n := occurrences(t, s, in); n > 0 != want {
			t.Errorf("%s is %d times in the files", in, n)
		}
	}
	for sha, kept := range map[string]bool{"made-r1": false, "made-r2": true, "made-r3": true, "made-r4": true} {
		if c, err := s.Candidate(ctx, sha); err != nil || len(c.Text) > 0 != kept {
			t.Errorf("%s: %v, %v", sha, c, err)
		}
	}
	if again, err := s.PurgeSessions(ctx, []string{id}); err != nil || len(again.Candidates) > 0 {
		t.Errorf("a second purge: %+v, %v", again, err)
	}
}
