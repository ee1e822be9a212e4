package status

import (
	"context"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// uncertified is the last night's certification of the live version where that waits
// for its owner's labels, nil where none does, or what the owner has labelled since
// lets the next night ask the judge again.
func uncertified(ctx context.Context, db *store.Store, last *sleep.Night, st *sleep.State, s *Skill) (*sleep.Step, error) {
	if last == nil {
		return nil, nil
	}
	for i := range last.Steps {
		k := &last.Steps[i]
		if k.Kind != sleep.Certify || k.Skill != s.Skill || k.Outcome != sleep.Open || k.Drift == nil || k.Drift.Version != s.Live.SHA {
			continue
		}
		if !asksForLabels(k) && k.Drift.Judge == "" {
			continue // it waits for nothing but a night
		}
		who := k.Drift.Judge
		if st != nil {
			c := st.Certificate(s.Live.SHA, k.Drift.Previous, k.Drift.To)
			if c.Closed() {
				continue
			}
			if who == "" && c.Calibration != nil {
				who = c.Calibration.Judge
			}
		}
		cases, err := db.Cases(ctx, s.Skill)
		if err != nil {
			return nil, err
		}
		known, err := judge.OnRecord(ctx, db, s.Skill, cases, who)
		if err != nil {
			return nil, err
		}
		if !known.Trusted() && !judge.UndecidedYet(known) {
			return k, nil
		}
	}
	return nil, nil
}

// waitsForLabels adds what its owner's labels would bring on: a trial, or the
// certificate of the live version on another model.
func waitsForLabels(ctx context.Context, db *store.Store, s *Skill, known *overview, add func(kind WaitKind, command, format string, args ...any)) error {
	review := "evolve review " + s.Skill
	if c := s.Challenger; c != nil && c.Unlabelled > 0 {
		add(waitReview, review, "%s", c.unlabelled())
	}
	k, err := uncertified(ctx, db, known.last, known.nights[s.Skill], s)
	if err != nil || k == nil || s.Pinned {
		return err
	}
	add(waitReview, review, "on %v nothing trusted decides its cases", k.Drift.To)
	return nil
}
