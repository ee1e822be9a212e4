package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/tournament/record"
)

// requests saves a train case and a held-out one, of two sessions.
func requests(t *testing.T, s *Store) (train, test eval.Case) {
	t.Helper()
	train, test = aCase("train-1"), aCase("test-1")
	train.Split, train.Prompt, train.Source.Session = eval.Train, "plot the TRAINsecret", "ses-train"
	test.Split, test.Prompt, test.Source.Session = eval.Test, "plot the TESTsecret", "ses-test"
	save(t, s, 2, 0, train, test)
	return train, test
}

func spentOf(t *testing.T, s *Store) *record.Spent {
	t.Helper()
	spent, err := s.Journal("").SpentCases(t.Context(), "dataviz")
	must(t, err)
	return spent
}

// TestPrintsStay: what was spent, or read by a search, is known again by what it asks
// after it was purged, dropped or changed, under any name; nothing of the text is left.
func TestPrintsStay(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, s *Store, train, test eval.Case){
		"purged": func(t *testing.T, s *Store, _, _ eval.Case) {
			_, err := s.PurgeSessions(t.Context(), []string{"ses-train", "ses-test"})
			must(t, err)
		},
		"dropped, then purged": func(t *testing.T, s *Store, train, test eval.Case) {
			must(t, s.DropCase(t.Context(), "dataviz", train.ID))
			must(t, s.DropCase(t.Context(), "dataviz", test.ID))
			_, err := s.PurgeSessions(t.Context(), []string{"ses-train", "ses-test"})
			must(t, err)
		},
		"changed, then purged": func(t *testing.T, s *Store, train, test eval.Case) {
			train.Prompt, test.Prompt = "something", "else"
			save(t, s, 0, 2, train, test)
			_, err := s.PurgeSessions(t.Context(), []string{"ses-train", "ses-test"})
			must(t, err)
		},
		"dropped": func(t *testing.T, s *Store, train, test eval.Case) {
			must(t, s.DropCase(t.Context(), "dataviz", train.ID))
			must(t, s.DropCase(t.Context(), "dataviz", test.ID))
		},
	} {
		for _, old := range []bool{false, true} { // an older evolve kept no print when it spent
			t.Run(name, func(t *testing.T) {
				s := open(t)
				train, test := requests(t, s)
				print := content.Print(spentOf(t, s).Key, &test)
				if old {
					print = ""
				}
				must(t, s.Journal("r1").SpendCase(t.Context(), "dataviz", "inc", "chal", test.ID, print))
				remove(t, s, train, test)
				spent := spentOf(t, s)
				copied, read, other := test, train, aCase("new")
				copied.ID, copied.Cluster, copied.Source = "copy-1", "elsewhere", nil
				read.ID, read.Split, read.Cluster = "copy-2", eval.Test, "somewhere"
				other.Split, other.Prompt, other.Cluster = eval.Test, "nobody asked for this", "x"
				if who := spent.On(&copied); who != "chal" {
					t.Errorf("its copy is spent on %q", who)
				}
				if kept, left := spent.Unused([]eval.Case{read, other}, nil); len(kept) != 1 || kept[0].ID != "new" || left != 1 {
					t.Errorf("kept %+v of what a search had read", kept)
				}
				if !strings.Contains(name, "purged") {
					return
				}
				for _, word := range []string{"TESTsecret", "TRAINsecret", "ses-test", test.ID} {
					if n := occurrences(t, s, word); n > 0 {
						t.Errorf("%q still stands %d times in the files", word, n)
					}
				}
			})
		}
	}
}

// TestSpentByPrint: a copy of a case that is spent on one challenger is not another's,
// and each database has a key of its own.
func TestSpentByPrint(t *testing.T) {
	s, elsewhere := open(t), open(t)
	_, test := requests(t, s)
	key := spentOf(t, s).Key
	if len(key) != 32 || string(key) == string(spentOf(t, elsewhere).Key) {
		t.Fatalf("a key of %d bytes, or one that another database has", len(key))
	}
	j, print := s.Journal("r1"), content.Print(key, &test)
	must(t, j.SpendCase(t.Context(), "dataviz", "inc", "chal", "a", print))
	must(t, j.SpendCase(t.Context(), "dataviz", "inc", "chal", "b", print))
	must(t, j.SpendCase(t.Context(), "review", "inc", "rival", "c", print))
	err := j.SpendCase(t.Context(), "dataviz", "inc2", "rival", "c", print)
	var spent *record.SpentError
	if !errors.As(err, &spent) || spent.On != "chal" {
		t.Errorf("a copy was spent on a second challenger: %v", err)
	}
	if got := spentOf(t, s); len(got.By) != 2 || got.ByPrint[print] != "chal" {
		t.Errorf("spent %+v", got)
	}
}
