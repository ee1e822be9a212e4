package store

import (
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// TestSaveReadings saves what was read of a session that was loaded before a harvest stored
// more of it, or before its text expired or was purged.
func TestSaveReadings(t *testing.T) {
	ctx, s := t.Context(), open(t)
	must(t, s.SaveSession(ctx, worked("s1", "/a.jsonl", "alpha")))
	list, err := s.Sessions(ctx, SessionFilter{Text: true}) // without Work
	must(t, err)
	old := &list[0]
	more := worked("s1", "/a.jsonl", "alpha")
	more.Turns = append(more.Turns, harvest.Turn{Prompt: "again", Reading: &harvest.Reading{Label: harvest.Accepted, By: "model"}})
	must(t, s.SaveSession(ctx, more))
	old.Turns[0].Reading = &harvest.Reading{Label: harvest.Corrected, Words: "no, in USD", Reply: 1, By: "model"}
	old.Turns[1].Prompt, old.Turns[1].Reading = "another", nil
	must(t, s.SaveReadings(ctx, old))
	list, err = s.Sessions(ctx, SessionFilter{Work: true})
	must(t, err)
	if got := list[0]; len(got.Turns) != 3 || got.Turns[0].Reading == nil || got.Turns[1].Reading == nil || got.Turns[2].Reading == nil || len(got.Turns[1].Work) != 3 ||
		got.Invocations[0].Feedback.Evidence != "no, in USD" {
		t.Errorf("%+v", got)
	}
	uses, err := s.Invocations(ctx, "dataviz")
	must(t, err)
	if len(uses) != 1 || uses[0].Feedback.Evidence != "no, in USD" {
		t.Errorf("%+v", uses)
	}
	must(t, s.Expire(ctx, Expiry{Sessions: []Due{{ID: "s1", Path: "/a.jsonl"}}}, Keeping{File: func(string) string { return "" }}))
	must(t, s.SaveReadings(ctx, old))
	must(t, s.Remember(ctx, "s1", "k", []byte(`{"words":"no, in USD"}`)))
	must(t, s.Remember(ctx, "s1", "failed", []byte("a model failed")))
	must(t, s.Remember(ctx, "unknown", "l", []byte(`{}`)))
	list, err = s.Sessions(ctx, SessionFilter{})
	must(t, err)
	if got := list[0]; len(list) != 1 || got.Turns[0].Prompt != "" || got.Turns[0].Reading.Words != "" {
		t.Errorf("expired: %+v", list)
	}
	for key, want := range map[string]bool{"k": false, "failed": true, "l": true} {
		if kept, err := s.Recall(ctx, key); (kept != nil) != want || err != nil {
			t.Errorf("%s: %s, %v", key, kept, err)
		}
	}
}

// TestReadAgain saves a session whose transcript has grown.
func TestReadAgain(t *testing.T) {
	ctx, s := t.Context(), open(t)
	read := worked("s1", "/a.jsonl", "alpha")
	read.Turns[0].Reading = &harvest.Reading{Label: harvest.Corrected, Words: "no, in USD", Reply: 1, By: "model"}
	must(t, s.SaveSession(ctx, read))
	again := worked("s1", "/a.jsonl", "alpha")
	again.Turns[1].Reading, again.Turns[1].Answer = nil, "in USD now"
	again.Turns = append(again.Turns, harvest.Turn{Prompt: "thanks"})
	must(t, s.SaveSession(ctx, again))
	list, err := s.Sessions(ctx, SessionFilter{})
	must(t, err)
	if got := list[0].Turns; len(got) != 3 || got[0].Reading == nil || got[1].Reading != nil || list[0].Invocations[0].Feedback.Evidence != "no, in USD" {
		t.Errorf("%+v", list[0])
	}
}

// TestPurgeGroups purges and expires a session whose rule is in a group with others'.
func TestPurgeGroups(t *testing.T) {
	for name, end := range map[string]func(*Store) error{
		"purge": func(s *Store) error { _, err := s.PurgeSessions(t.Context(), []string{"s1"}); return err },
		"expire": func(s *Store) error {
			return s.Expire(t.Context(), Expiry{Sessions: []Due{{ID: "s1", Path: "/s1"}}}, Keeping{File: func(string) string { return "" }})
		},
	} {
		ctx, s := t.Context(), open(t)
		for _, id := range []string{"s1", "s2"} {
			must(t, s.SaveSession(ctx, session(id, "/"+id)))
		}
		const lint, names = `{"wording":"Run the linter"}`, `{"wording":"Use full names"}`
		for key, of := range map[string][2]string{"rule/a": {"s1", lint}, "rule/b": {"s2", lint}, "rule/c": {"s2", names}, "rule/d": {"s1", "void"}, "rule/e": {"s2", "void"}, "m": {"s2", lint}} {
			must(t, s.Remember(ctx, of[0], key, []byte(of[1])))
		}
		must(t, end(s))
		for key, want := range map[string]bool{"rule/a": false, "rule/b": false, "rule/c": true, "rule/d": name == "expire", "rule/e": true, "m": true} {
			if got, err := s.Recall(ctx, key); (got != nil) != want || err != nil {
				t.Errorf("%s: %s: %q, %v", name, key, got, err)
			}
		}
	}
}
