package work

import (
	"context"
	"errors"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// overtaken turns an error of a step into *sleep.Overtaken if its owner has
// caused it: the skill was pinned or removed meanwhile, or the candidate rejected. Any
// other error is returned as it is. An edit stops nothing by itself: the step that it
// stops says so.
func (s *Worker) overtaken(ctx context.Context, name, challenger string, err error) error {
	if err == nil || ctx.Err() != nil || errors.As(err, new(*sleep.Overtaken)) {
		return err
	}
	why, e := s.ownersAct(ctx, name, challenger)
	if e != nil || why == "" {
		return err
	}
	return &sleep.Overtaken{Why: why}
}

// ownersAct is what a skill's owner has done since the night read it, "" for
// nothing. challenger is its SHA-256, "" if unknown.
func (s *Worker) ownersAct(ctx context.Context, name, challenger string) (string, error) {
	if p, err := release.Pinned(ctx, s.Store, name); err != nil {
		return "", err
	} else if p != nil {
		return "you pinned it meanwhile: " + p.String(), nil
	}
	said, err := s.Store.Decisions(ctx, name)
	if err != nil {
		return "", err
	}
	if challenger != "" && said[challenger].Word == store.Rejected {
		return "you rejected the candidate meanwhile", nil
	}
	live, err := s.ground(ctx, name)
	if errors.As(err, new(*skill.UnknownSkillError)) {
		return "you removed it meanwhile", nil
	} else if err != nil {
		return cannotBeRead(err), nil
	}
	if live.Managed {
		return "it " + skill.Keeper(live.Entry) + " now", nil
	}
	return "", nil
}
