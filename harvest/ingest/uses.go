package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// Uses counts the uses of every skill, the most used first: the counts that harvest,
// status, a run and serve show. Uses under another name of a skill's file are counted
// under the skill.
func Uses(ctx context.Context, db *store.Store, reg *skill.Registry) ([]store.SkillUse, error) {
	all, err := db.SkillUses(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	for _, alias := range reg.Aliases {
		known[alias.Name] = alias.Of
	}
	sums := map[string]store.SkillUse{}
	for _, u := range all {
		u.Skill = cmp.Or(known[u.Skill], u.Skill)
		sums[u.Skill] = u.Plus(sums[u.Skill])
	}
	return slices.SortedFunc(maps.Values(sums), func(u, v store.SkillUse) int {
		return cmp.Or(cmp.Compare(v.Uses, u.Uses), cmp.Compare(u.Skill, v.Skill))
	}), nil
}

// UsesOf counts the uses of one skill.
func UsesOf(ctx context.Context, db *store.Store, reg *skill.Registry, name string) (store.SkillUse, error) {
	all, err := Uses(ctx, db, reg)
	if i := slices.IndexFunc(all, func(u store.SkillUse) bool { return u.Skill == name }); i >= 0 {
		return all[i], err
	}
	return store.SkillUse{Skill: name}, err
}
