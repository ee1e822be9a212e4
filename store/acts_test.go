package store

import (
	"database/sql"
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
)

// worked is a session whose second turn has acts, with a word in each text of them.
func worked(id, path, word string) *harvest.Session {
	ses := session(id, path, use("u-"+id, "dataviz", harvest.Corrected, day))
	one := 1
	ses.Turns = append(ses.Turns, harvest.Turn{Prompt: "no, in USD", Work: []work.Act{
		{Kind: work.Ran, Line: "go test ./" + word, Exit: &one, Tests: "go test", Cut: true},
		{Kind: work.Changed, File: word + ".go", Added: "\t" + word + " \"<&>\"\n", Removed: "old\x00" + word},
		{Kind: work.Refused, Tool: "Bash", Line: "rm " + word, Said: "no, " + word},
	}, Reading: &harvest.Reading{Label: harvest.Corrected, Words: "no, " + word, Rule: "use " + word, Concerns: "skill:dataviz", Replayable: "yes", By: "model"}})
	return ses
}

// TestActs: what an agent did is loaded if it is asked for, as it was saved, of its own
// transcript, and goes when the transcript is replaced.
func TestActs(t *testing.T) {
	ctx, s := t.Context(), open(t)
	want, other := worked("s1", "/a.jsonl", "alpha"), worked("s1", "/b.jsonl", "beta")
	must(t, s.SaveSession(ctx, want))
	must(t, s.SaveSession(ctx, other))
	got, err := s.Sessions(ctx, SessionFilter{Work: true})
	must(t, err)
	if len(got) != 2 || !reflect.DeepEqual(&got[0], want) || !reflect.DeepEqual(&got[1], other) {
		t.Errorf("got %+v\nwant %+v\nand %+v", got, want, other)
	}
	for _, f := range []SessionFilter{{}, {Bare: true, Work: true}} {
		got, err := s.Sessions(ctx, f)
		must(t, err)
		for _, ses := range got {
			for _, turn := range ses.Turns {
				if turn.Work != nil {
					t.Errorf("%+v loads %+v", f, turn.Work)
				}
			}
		}
	}
	want.Turns[1].Work = nil
	must(t, s.SaveSession(ctx, want)) // it was read again, at another level
	if n := actsOf(t, s); n != 1 {
		t.Errorf("%d turns have acts, want the one of the other transcript", n)
	}
}

func actsOf(t *testing.T, s *Store) (n int) {
	t.Helper()
	must(t, readerOf(t, s).QueryRow(`SELECT count(*) FROM acts`).Scan(&n))
	return n
}

// TestActsExpire: with the text of a session its acts are gone from the files, and the
// words and the rule of a reading; the rest of the reading stays.
func TestActsExpire(t *testing.T) {
	ctx, s := t.Context(), open(t)
	must(t, s.SaveSession(ctx, worked("old", "/old.jsonl", "qzwordqz")))
	must(t, s.SaveSession(ctx, worked("new", "/new.jsonl", "other")))
	if occurrences(t, s, "qzwordqz") == 0 {
		t.Fatal("the word was never in the files: this test shows nothing")
	}
	must(t, s.Expire(ctx, Expiry{Sessions: []Due{{ID: "old", Path: "/old.jsonl"}}}, Keeping{
		Case: func(*harvest.Session, eval.Case) harvest.Recording { return harvest.Recording{} }, File: func(string) string { return "" }}))
	must(t, s.Overwrite(ctx))
	if n := occurrences(t, s, "qzwordqz"); n != 0 {
		t.Errorf("the word is in the files %d times", n)
	}
	got, err := s.Sessions(ctx, SessionFilter{ID: "old", Work: true})
	must(t, err)
	want := &harvest.Reading{Label: harvest.Corrected, Concerns: "skill:dataviz", Replayable: "yes", By: "model"}
	if len(got) != 1 || got[0].Turns[1].Work != nil || !reflect.DeepEqual(got[0].Turns[1].Reading, want) {
		t.Errorf("left are %+v", got)
	}
	if n := actsOf(t, s); n != 1 {
		t.Errorf("%d turns have acts, want the one of the newer session", n)
	}
}

// TestActsMigrate: a database of the schema before has its sessions as they were, without
// acts, and takes acts of new ones.
func TestActsMigrate(t *testing.T) {
	ctx, path := t.Context(), unpackFixture(t, 13)
	db, err := sql.Open("sqlite3", dsn(path))
	must(t, err)
	var head, turns string
	must(t, db.QueryRow(`SELECT head, turns FROM sessions`).Scan(&head, &turns))
	must(t, db.Close())
	s := openAt(t, path)
	var head2, turns2 string
	must(t, readerOf(t, s).QueryRow(`SELECT head, turns FROM sessions`).Scan(&head2, &turns2))
	if head != head2 || turns != turns2 || actsOf(t, s) != 0 {
		t.Errorf("the session was\n%s %s\nand is\n%s %s", head, turns, head2, turns2)
	}
	before, err := s.Sessions(ctx, SessionFilter{Work: true})
	must(t, err)
	want := worked("s9", "/new.jsonl", "gamma")
	must(t, s.SaveSession(ctx, want))
	got, err := s.Sessions(ctx, SessionFilter{ID: "s9", Work: true})
	must(t, err)
	if len(before) != 1 || len(got) != 1 || !reflect.DeepEqual(&got[0], want) {
		t.Errorf("before %+v\ngot %+v", before, got)
	}
}
