// Package madeup is the person of the demo, who says which of two answers is better.
package madeup

import (
	"context"
	"math/rand/v2"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Reviews is what the person of a world does when a run asks for the owner's reviews: as
// many as the judge needs to be looked at.
func Reviews(w simulated.World, say func(format string, args ...any)) func(context.Context, *store.Store, string) error {
	person := w.Person()
	return func(ctx context.Context, db *store.Store, name string) error {
		n, err := Review(ctx, db, name, record.TrustedLabels, person.Prefers)
		if n > 0 {
			say("review: the made-up person said of %s of answers which is better (yours: `evolve review %s`)", plain.Counted(n, "pair"), name)
		}
		return err
	}
}

// Review answers the open pairs of a skill until it has enough labels, or none is left.
// prefers is positive for the first of two answers, negative for the second. n counts the
// new labels.
func Review(ctx context.Context, db *store.Store, name string, enough int, prefers func(c *eval.Case, first, second string) int) (n int, err error) {
	labels, err := db.Labels(ctx, name)
	if err != nil {
		return 0, err
	}
	for _, l := range labels {
		if l.Choice != store.Same {
			enough--
		}
	}
	rng := rand.New(rand.NewPCG(1, 0x726576696577))
	for n < enough {
		pairs, err := judge.OpenPairs(ctx, db, name, rng)
		if err != nil || len(pairs) == 0 {
			return n, err
		}
		for _, p := range pairs[:min(len(pairs), enough-n)] { // one a case; then other answers to the same cases
			said := store.Same
			switch d := prefers(p.Case, p.First.Answer, p.Second.Answer); {
			case d > 0:
				said = store.FirstBetter
			case d < 0:
				said = store.SecondBetter
			}
			if err := p.Keep(ctx, db, name, said); err != nil {
				return n, err
			}
			if said != store.Same {
				n++
			}
		}
	}
	return n, nil
}
