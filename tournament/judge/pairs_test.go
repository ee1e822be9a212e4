package judge

import (
	"math/rand/v2"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// Answers of two texts that are the same are no pair, and are counted as that.
func TestSameAnswersAreNoPair(t *testing.T) {
	ctx, db := t.Context(), open(t)
	var cases []eval.Case
	for _, id := range []string{"a", "b", "c"} {
		cases = append(cases, eval.Case{ID: id, Skill: "rels", Prompt: "ask " + id, Split: eval.Test, Checks: []eval.Check{{Type: eval.Judge, Rubric: "it is kind"}}})
	}
	if _, _, err := db.SaveCases(ctx, cases); err != nil {
		t.Fatal(err)
	}
	answer := func(id, text, candidate string) {
		t.Helper()
		if err := db.Journal("r").SaveRollout(ctx, &eval.Rollout{Key: id + candidate, CaseID: id, Candidate: candidate, Status: eval.Done, Answer: text}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(same, asked, pairs int) {
		t.Helper()
		s, n, err := Same(ctx, db, "rels")
		if err != nil || s != same || n != asked {
			t.Errorf("%d of %d are the same, want %d of %d: %v", s, n, same, asked, err)
		}
		if list, err := OpenPairs(ctx, db, "rels", rand.New(rand.NewPCG(0, 0))); err != nil || len(list) != pairs {
			t.Errorf("%d pairs, want %d: %v", len(list), pairs, err)
		}
	}
	answer("a", "yes", "old")
	count(0, 0, 0)
	answer("a", "yes", "new")
	answer("b", "no", "old")
	answer("b", "no", "new")
	count(2, 2, 0)
	answer("c", "no", "old")
	answer("c", "maybe", "new")
	count(2, 3, 1)
}
