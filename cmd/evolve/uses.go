package main

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// usesOf counts the uses of every skill, the most used first: the counts that harvest,
// status, a run and serve show. Uses under another name of a skill's file are the
// skill's.
func usesOf(ctx context.Context, db *store.Store, reg *skill.Registry) ([]store.SkillUse, error) {
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

// usesOf counts the uses of one skill.
func (a *app) usesOf(ctx context.Context, db *store.Store, name string) (store.SkillUse, error) {
	reg, err := a.registry()
	if err != nil {
		return store.SkillUse{}, err
	}
	all, err := usesOf(ctx, db, reg)
	if i := slices.IndexFunc(all, func(u store.SkillUse) bool { return u.Skill == name }); i >= 0 {
		return all[i], err
	}
	return store.SkillUse{Skill: name}, err
}
