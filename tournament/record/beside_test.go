package record

import (
	"encoding/json"
	"testing"
)

func TestAgainst(t *testing.T) {
	held := Beside{Skill: "slides", Requests: 8, Worse: 5, WorseAgain: 5, Held: true}
	capped := Beside{Skill: "notes", Stop: "a cap"}
	fine := []Beside{{Skill: "a", Requests: 8}, {Skill: "b", Untried: "it has too few requests to tell"}, {Skill: "c", Requests: 8, Worse: 1, Better: 1}}
	for want, all := range map[string][]Beside{
		"": fine,
		"beside `slides` 5 of 8 of its requests fail that did not before": append(fine, held, capped),
		"beside `notes`: not tried to its end: a cap":                     append(fine, capped),
	} {
		raw, err := json.Marshal(map[string]any{"beside": all, "verdict": "promote"})
		if err != nil {
			t.Fatal(err)
		}
		if why, err := (&Run{Verdict: raw}).Against(); why != want || err != nil {
			t.Errorf("%q, %v, want %q", why, err, want)
		}
	}
	for _, r := range []Run{{}, {Verdict: []byte(`{"verdict":"promote"}`)}} { // of an older evolve
		if why, err := r.Against(); why != "" || err != nil {
			t.Errorf("%q, %v", why, err)
		}
	}
	if _, err := (&Run{Verdict: []byte("{")}).Against(); err == nil {
		t.Error("a broken verdict has no objection")
	}
}
