package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
)

// The values of --evolve.
const (
	evolveHarness     = "harness"
	evolveDescription = "description"
	evolveShorten     = "shorten" // the harness, by deletions alone
)

// evolvesOf says which part of a skill an operator changes.
func evolvesOf(operator string) string {
	if operator == rebaseDescription || contains(tournament.DescriptionOnly, operator) {
		return evolveDescription
	}
	return evolveHarness
}

// partOf says which part of a skill a version changes. Where an older evolve has
// installed it from a trial that went on, it says "carried", and its candidate more.
func partOf(ctx context.Context, db *store.Store, v *tournament.Version) (string, error) {
	if v.Operator != "carried" {
		return evolvesOf(v.Operator), nil
	}
	c, err := madeBy(ctx, db, v.Skill, v.SHA)
	if errors.Is(err, store.ErrNotFound) {
		return evolveHarness, nil
	} else if err != nil {
		return "", err
	}
	return evolvesOf(c.Operator), nil
}

func optionsOf(evolves string) skill.Options {
	return skill.Options{EvolveDescription: evolves == evolveDescription}
}

// evolve reads the live text again, with what may change of it.
func (l *liveSkill) evolve(what string) error {
	doc, err := skill.Parse(l.doc.Render(), optionsOf(what))
	if err != nil {
		return fmt.Errorf("read skill %s: %w", l.Name, err)
	}
	if _, _, ok := doc.DescriptionSpan(); what == evolveDescription && !ok {
		return problem.Inputf("write it as one plain scalar: `description: …`", "the description of %s is not written so that it could be replaced", l.Name)
	}
	l.doc = doc
	return nil
}
