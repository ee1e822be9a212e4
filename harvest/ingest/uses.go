package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/skill-evolve/evolve/eval/plain"
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

// Uses counts the uses of one skill in g's store. Those of a file are the requests in which
// it was loaded; what became of them is known of the drawn ones.
func (g *Ingester) Uses(ctx context.Context, name string) (store.SkillUse, error) {
	if draw, err := g.Draw(ctx, name); err != nil || draw != nil && draw.Counts != nil {
		u := store.SkillUse{Skill: name}
		if err == nil {
			c := draw.Counts
			u.Uses, u.Corrected, u.Accepted, u.Unread = c.Turns, c.Corrected, c.Accepted, c.Unread
		}
		return u, err
	}
	reg, err := g.Layout.Registry()
	if err != nil {
		return store.SkillUse{}, err
	}
	all, err := Uses(ctx, g.Store, reg)
	if i := slices.IndexFunc(all, func(u store.SkillUse) bool { return u.Skill == name }); i >= 0 {
		return all[i], err
	}
	return store.SkillUse{Skill: name}, err
}

// UnreadUses says that no model has read n uses, and what that means.
func UnreadUses(n int) string {
	return "no model has read " + plain.Counted(n, "use") + ": only sure words count"
}
