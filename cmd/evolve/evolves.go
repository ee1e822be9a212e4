package main

import (
	"context"
	"errors"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
)

// The values of --evolve.
const (
	evolveShorten = "shorten" // the harness, by deletions alone
)

// evolvesOf says which part of a skill an operator changes.
func evolvesOf(operator string) string {
	if operator == rebaseDescription || contains(tournament.DescriptionOnly, operator) {
		return skill.Description
	}
	return skill.Harness
}

// partOf says which part of a skill a version changes. Where an older evolve has
// installed it from a trial that went on, it says "carried", and its candidate more.
func partOf(ctx context.Context, db *store.Store, v *tournament.Version) (string, error) {
	if v.Operator != "carried" {
		return evolvesOf(v.Operator), nil
	}
	c, err := madeBy(ctx, db, v.Skill, v.SHA)
	if errors.Is(err, store.ErrNotFound) {
		return skill.Harness, nil
	} else if err != nil {
		return "", err
	}
	return evolvesOf(c.Operator), nil
}
