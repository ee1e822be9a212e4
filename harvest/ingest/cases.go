package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
)

// Registry finds this user's skills, and the files of standing instructions that db has cases
// of. Without a db there are none.
func Registry(ctx context.Context, layout *skill.Layout, db *store.Store) (*skill.Registry, error) {
	reg, err := layout.Registry()
	if db == nil || err != nil {
		return reg, err
	}
	cases, err := db.CaseCounts(ctx)
	if err != nil {
		return nil, err
	}
	keys := slices.Sorted(maps.Keys(cases))
	reg.Add(slices.DeleteFunc(keys, func(key string) bool { return subject.Parse(key).Kind != subject.File }))
	return reg, nil
}

// Known returns an error unless name is a skill on disk or one that the store has uses
// or cases of, or the key of a file on disk or one whose moments were drawn.
func Known(ctx context.Context, db *store.Store, reg *skill.Registry, name string) error {
	if r := subject.Parse(name); r.Kind == subject.File {
		return knownFile(ctx, db, r)
	}
	_, err := reg.Lookup(name)
	var unknown *skill.UnknownSkillError
	if !errors.As(err, &unknown) {
		var broken *skill.BrokenSkillError
		if errors.As(err, &broken) {
			return nil
		}
		if err != nil {
			return problem.Inputf("`evolve status` lists the skills that were found", "%v", err)
		}
		return nil
	}
	uses, err := db.SkillUses(ctx)
	if err != nil {
		return err
	}
	cases, err := db.Cases(ctx, "")
	if err != nil {
		return err
	}
	var names []string
	for _, u := range uses {
		names = append(names, u.Skill)
	}
	for _, c := range cases {
		names = append(names, c.Skill)
	}
	if slices.Contains(names, name) {
		return nil
	}
	if unknown.Nearest == "" {
		unknown.Nearest = skill.Nearest(name, names)
	}
	return unknown
}

// Cases reads the cases of a skill that is Known; those of one split, if split is not
// "".
func (g *Ingester) Cases(ctx context.Context, name, split string) ([]eval.Case, error) {
	switch eval.Split(split) {
	case eval.Unassigned, eval.Train, eval.Val, eval.Test:
	default:
		hint := "the splits are train, val and test"
		if near := skill.Nearest(split, []string{"train", "val", "test"}); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return nil, problem.Inputf(hint, "unknown split %q", split)
	}
	reg, err := g.Layout.Registry()
	if err != nil {
		return nil, err
	}
	if g.Store == nil {
		if r := subject.Parse(name); r.Kind == subject.File {
			return nil, onDisk(r)
		}
		_, err := reg.Lookup(name)
		return nil, err
	}
	if err := Known(ctx, g.Store, reg, name); err != nil {
		return nil, err
	}
	cases, err := g.Store.Cases(ctx, name)
	if split != "" {
		cases = slices.DeleteFunc(cases, func(c eval.Case) bool { return string(c.Split) != split })
	}
	return cases, err
}

// Case reads one case of a skill by its id or the beginning of it.
func (g *Ingester) Case(ctx context.Context, name, id string) (*eval.Case, error) {
	cases, err := g.Cases(ctx, name, "")
	if err != nil {
		return nil, err
	}
	var ids []string
	var begins []*eval.Case
	for i := range cases {
		c := &cases[i]
		if c.ID == id {
			return c, nil
		}
		if id != "" && (strings.HasPrefix(c.ID, id) || c.ID == "eval-"+id) { // the number in an evals.json
			begins = append(begins, c)
		}
		ids = append(ids, c.ID)
	}
	if len(begins) == 1 {
		return begins[0], nil
	}
	hint := fmt.Sprintf("`evolve cases list %s` lists them", name)
	if len(begins) > 1 {
		return nil, problem.Inputf(hint, "%d cases of %s begin with %q", len(begins), name, id)
	}
	if near := skill.Nearest(id, ids); near != "" {
		hint = fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	return nil, problem.Inputf(hint, "%s has no case %q", name, id)
}

// Drop deletes cases of a skill, each named by its id or the beginning of it; no
// harvest brings them back. If one of them does not exist, none is deleted. left is the
// number of cases that the skill then has.
func (g *Ingester) Drop(ctx context.Context, name string, ids []string) (dropped []string, left int, err error) {
	for _, id := range ids {
		c, err := g.Case(ctx, name, id)
		if err != nil {
			return nil, 0, err
		}
		if !slices.Contains(dropped, c.ID) {
			dropped = append(dropped, c.ID)
		}
	}
	for _, id := range dropped {
		if err := g.Store.DropCase(ctx, name, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, 0, err
		}
	}
	rest, err := g.Store.Cases(ctx, name)
	return dropped, len(rest), err
}

// SpentOn returns the challenger in whose trial a case was used, "" for none.
func (g *Ingester) SpentOn(ctx context.Context, c *eval.Case) string {
	spent, err := g.Store.Journal("").SpentCases(ctx, c.Skill)
	if err != nil {
		return ""
	}
	return spent.On(c)
}

// SplitCounts counts cases by split.
func SplitCounts(cases []eval.Case) map[eval.Split]int {
	n := map[eval.Split]int{}
	for _, c := range cases {
		n[c.Split]++
	}
	return n
}
