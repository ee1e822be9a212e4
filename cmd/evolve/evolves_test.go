package main

import (
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// TestPartOfACarriedVersion: a version that an older evolve named after how its trial
// went changes what its candidate changed.
func TestPartOfACarriedVersion(t *testing.T) {
	r := newRoaming(t)
	r.proved(r.v1, r.v0)
	c := &record.Candidate{SHA: skill.HashText(r.v1), Run: "run-" + skill.HashText(r.v1)[:6], Seq: 1, Operator: search.DescriptionOnly[0].Name(), Text: r.v1}
	if err := r.db.Journal(c.Run).SaveCandidate(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for operator, want := range map[string]string{"carried": skill.Description, "reflect": skill.Harness, search.DescriptionOnly[0].Name(): skill.Description} {
		v := r.offer
		v.Operator = operator
		if got, err := candidate.PartOfVersion(t.Context(), r.db, &v); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", operator, got, err, want)
		}
	}
	gone := record.Version{Skill: "tagger", SHA: "ffff", Operator: "carried"}
	if got, err := candidate.PartOfVersion(t.Context(), r.db, &gone); err != nil || got != skill.Harness {
		t.Errorf("nothing is left of it: %s, %v", got, err)
	}
}
