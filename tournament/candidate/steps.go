package candidate

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Steps is what the proved promotions that led to the live text may have cost since the
// last text that its owner wrote or edited. What was installed without a proof was her
// word, and uses nothing.
func Steps(ctx context.Context, db *store.Store, live *skill.Live) (s pareto.Steps, err error) {
	versions, err := db.Versions(ctx, live.Name)
	if err != nil {
		return s, err
	}
	seen := map[string]bool{}
	for at := live.Doc.Hash(); !seen[at]; {
		seen[at] = true
		v := VersionIn(versions, at)
		if v == nil || v.Author != "evolve" {
			break
		}
		if d, err := VerdictOf(v.Evidence); err != nil {
			return s, err
		} else if d != nil && v.Proven {
			s.Add(&d.Decision)
		}
		at = v.Parent
	}
	return s, nil
}

// Creep describes what the promotion of a trial would be beyond, with those before it since
// the owner's last own version; "" for nothing.
func Creep(ctx context.Context, db *store.Store, live *skill.Live, t *OnTrial) (string, error) {
	s, err := Steps(ctx, db, live)
	if err != nil {
		return "", err
	}
	d, err := t.Evidence()
	return s.Beyond(&d), err
}

// NotOwnWords is an objection to a challenger that learned from a correction which is not the
// owner's own words, "" without one. Whoever writes what an agent reads could have put them
// there.
func NotOwnWords(ctx context.Context, db *store.Store, t *record.TrialRecord) (string, error) {
	texts := &Texts{Store: db, Skill: t.Skill}
	ids, err := texts.Lessons(ctx, t.Challenger, func(sha string) bool { return sha == t.Incumbent })
	if err != nil {
		return "", err
	}
	cases, err := db.Teachers(ctx, t.Skill, ids)
	for _, c := range cases {
		if c.Source != nil && c.Source.Copied {
			return fmt.Sprintf("it learned from a correction that is not in your own words (case %s: the agent wrote them first)", c.ID), err
		}
	}
	return "", err
}
