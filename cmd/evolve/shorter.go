package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
)

// isShorter reports whether a text only lacks lines of the live one.
func isShorter(live *skill.Document, text []byte) bool {
	if len(text) == 0 { // purged
		return false
	}
	doc, err := skill.Stored(text)
	if err != nil {
		return false
	}
	_, only := mutate.Removed(live, doc)
	return only && doc.Hash() != live.Hash()
}

// shortens reports whether the challenger of a trial against the live text only lacks
// lines of it.
func shortens(ctx context.Context, db *store.Store, live *skill.Live, t *tournament.TrialRecord) (bool, error) {
	c, err := madeBy(ctx, db, live.Name, t.Challenger)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && isShorter(live.Doc, c.Text), err
}

// shorter says what the challenger of a trial lacks where it lacks lines and nothing
// else, nil for any other.
func shorter(ctx context.Context, db *store.Store, live *skill.Live, t *tournament.TrialRecord) (*tournament.Shorter, error) {
	if is, err := shortens(ctx, db, live, t); err != nil || !is {
		return nil, err
	}
	c, err := madeBy(ctx, db, live.Name, t.Challenger)
	if err != nil {
		return nil, err
	}
	doc, err := skill.Stored(c.Text)
	if err != nil {
		return nil, err
	}
	cases, err := db.Cases(ctx, live.Name)
	if err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	return tournament.ShorterThan(live.Doc, doc, cases), nil
}
