package candidate

import (
	"context"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
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
