package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store"
)

// A Pin keeps a skill as it is.
type Pin struct {
	store.Pin
	Version int // that was live when it was pinned, -1 for none that is known
}

// Pinned returns a skill's pin, nil for none.
func Pinned(ctx context.Context, db *store.Store, name string) (*Pin, error) {
	p, err := db.Pinned(ctx, name)
	if p == nil || err != nil {
		return nil, err
	}
	out := &Pin{*p, -1}
	v, err := db.VersionBySHA(ctx, name, p.SHA)
	switch {
	case err == nil:
		out.Version = v.N
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	return out, nil
}

func (p *Pin) String() string {
	if p.Version < 0 {
		return "pinned"
	}
	return fmt.Sprintf("pinned at v%d", p.Version)
}

// Refuse is the error of a command that would change a pinned skill.
func (p *Pin) Refuse(op string) error {
	hint := fmt.Sprintf("`evolve pin --off %s` takes the pin off", p.Skill)
	if op == store.OpRollback {
		hint += ", or roll back with --force"
	}
	return problem.Refusef(hint, "%s is %v: nothing was changed", p.Skill, p)
}
