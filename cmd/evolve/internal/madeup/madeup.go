// Package madeup is the person of the demo, who says which of two answers is better.
package madeup

import (
	"context"
	"math/rand/v2"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/judge"
)

// Review answers the open pairs of a skill until enough of them have a preference, or none
// is left. prefers is positive for the first of two answers, negative for the second.
// labels counts those with a preference.
func Review(ctx context.Context, db *store.Store, name string, enough int, prefers func(c *eval.Case, first, second string) int) (labels int, err error) {
	rng := rand.New(rand.NewPCG(1, 0x726576696577))
	for {
		pairs, err := judge.OpenPairs(ctx, db, name, rng)
		if err != nil || len(pairs) == 0 {
			return labels, err
		}
		for _, p := range pairs { // one a case; then other answers to the same cases
			said := store.Same
			switch d := prefers(p.Case, p.First.Answer, p.Second.Answer); {
			case d > 0:
				said = store.FirstBetter
			case d < 0:
				said = store.SecondBetter
			}
			if err := p.Keep(ctx, db, name, said); err != nil {
				return labels, err
			}
			if said != store.Same {
				labels++
			}
			if labels >= enough {
				return labels, nil
			}
		}
	}
}
