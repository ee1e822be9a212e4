package purge

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/store"
)

// continued: a session that goes on after its text has expired is stored as a whole again,
// once.
func (y *years) continued(t *testing.T) {
	i := len(y.sessions) - 1
	s, before := *y.sessions[i], y.numbers(t)["uses"]
	s.Ended = clock
	if err := y.db.SaveSession(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	got, err := y.db.Sessions(t.Context(), store.SessionFilter{ID: s.ID})
	if err != nil || len(got) != 1 || got[0].Path != s.Path || !strings.Contains(got[0].Turns[0].Prompt, word(i)) {
		t.Errorf("it is stored as %+v, %v", got, err)
	}
	if now := y.numbers(t)["uses"]; !reflect.DeepEqual(now, before) {
		t.Errorf("uses %+v, were %+v", now, before)
	}
	if n := y.expire(t); n != 0 {
		t.Errorf("its time begins anew, and the text of %d sessions has expired", n)
	}
}

// kept: a model can still write the checks of a case whose session's text has expired,
// and after that the case keeps neither the corrected answer nor what was said of it.
func (y *years) kept(t *testing.T, cases []eval.Case) {
	recorded, err := y.db.Recordings(t.Context(), "tagger")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, s := range y.sessions {
		for _, c := range cases {
			if c.Source.Session != s.ID || !y.due(s) || c.Source.Outcome != string(harvest.Corrected) {
				continue
			}
			rec, w := recorded[c.ID], word(i)
			if y.quoted[s.ID] != strings.Contains(rec.Answer, w) || y.quoted[s.ID] != (len(rec.Corrections) == 1 && strings.Contains(rec.Corrections[0], w)) {
				t.Errorf("case of %s keeps %+v", s.ID, rec)
			}
			n++
		}
	}
	if n < 20 {
		t.Fatalf("%d corrected cases of expired sessions: this test shows less than it says", n)
	}
	m := &checkWriter{}
	if _, stats, err := y.ingester.Mine(t.Context(), "tagger", ingest.Mining{Model: m}); err != nil || m.asked < 20 {
		t.Errorf("a model was asked about %d cases: %+v, %v", m.asked, stats, err)
	}
	recorded, err = y.db.Recordings(t.Context(), "tagger")
	if err != nil {
		t.Fatal(err)
	}
	for id, rec := range recorded {
		if len(rec.Corrections) > 0 || rec.Answer != "" {
			t.Errorf("case %s has checks of a model, and keeps %+v", id, rec)
		}
	}
}

type checkWriter struct{ asked int }

func (m *checkWriter) Identity() eval.Identity { return eval.Identity{Model: "writer"} }

func (m *checkWriter) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	items := strings.Split(p.User, "\nitem ")[1:]
	if len(items) > 0 { // the rubrics are tried on what was recorded
		for i, text := range items {
			met := "yes"
			if strings.Contains(text, "by a linear order.") {
				met = "no"
			}
			id, _, _ := strings.Cut(text, "\n")
			items[i] = `{"id":"` + id + `","criteria":[{"reason":"r","met":"` + met + `"}]}`
		}
		return eval.Completion{Text: "```json\n{\"items\":[" + strings.Join(items, ",") + "]}\n```", Finish: "stop"}, nil
	}
	if words.MatchString(p.User) {
		m.asked++
	}
	return eval.Completion{Text: "```json\n{\"checks\":[{\"type\":\"judge\",\"rubric\":\"It tags by place first.\"}]}\n```", Finish: "stop"}, nil
}
