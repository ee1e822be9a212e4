// Package neighbours tries a new text of a skill beside the skills that it is used with, on
// their requests: a text that is better for its own may be in the way of theirs.
package neighbours

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

const (
	Most  = 3 // neighbours that a text is tried beside
	Cases = 8 // requests of each, at most
	// Fewest are the requests that can hold a text back: if all of three fail in both passes,
	// and nothing gets better, p is 1 in 64.
	Fewest = 3
	// sessions is how many have to have used both skills in one turn.
	sessions = 2
)

// A Neighbour is a skill that was loaded in the same turn as another one.
type Neighbour struct {
	Skill    string
	Sessions []string // ids of those with such a turn

	variant eval.Variant
	cases   []eval.Case
	others  []eval.Offer // installed besides, without the skill whose text is tried
	untried string       // why it is not tried
}

// Of finds the neighbours of a skill, the most frequent first. own is a skill's own name of
// any name. Sessions that no person was in do not count, and a turn counts in one session
// alone: a resumed session repeats those of the one before.
func Of(all []*harvest.Session, name string, own func(string) string) []Neighbour {
	by, seen := map[string]*Neighbour{}, map[string]bool{}
	for _, s := range harvest.Distinct(all) {
		if s.Headless || s.Subagent != "" || harvest.OwnReplay(s) {
			continue
		}
		turns, repeated := map[int]bool{}, map[int]bool{}
		for _, v := range s.Invocations {
			if v.Used() && own(v.Skill) == name {
				turns[v.Turn] = true
				id := s.Agent + "\x00" + cmp.Or(v.ToolUseID, v.EntryID)
				if v.ToolUseID+v.EntryID != "" {
					repeated[v.Turn] = repeated[v.Turn] || seen[id]
					seen[id] = true
				}
			}
		}
		for _, v := range s.Invocations {
			other := own(v.Skill)
			if !v.Used() || !turns[v.Turn] || repeated[v.Turn] || other == name {
				continue
			}
			n := by[other]
			if n == nil {
				n = &Neighbour{Skill: other}
				by[other] = n
			}
			if !slices.Contains(n.Sessions, s.ID) {
				n.Sessions = append(n.Sessions, s.ID)
			}
		}
	}
	out := []Neighbour{}
	for _, n := range by {
		if len(n.Sessions) >= sessions {
			out = append(out, *n)
		}
	}
	slices.SortFunc(out, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(len(b.Sessions), len(a.Sessions)), cmp.Compare(a.Skill, b.Skill))
	})
	return out
}

// A Finder finds the neighbours of a skill with what they can be tried on.
type Finder struct {
	Store   *store.Store
	Layout  *skill.Layout
	Back    *agent.Backends
	Spec    *agent.Spec
	Control *outgoing.Control
	// Learned is as campaign's, of a text: what may not be sent of the cases that taught it.
	Learned func(ctx context.Context, kinds []string, name, sha string) (outgoing.Left, error)
	Variant func(*skill.Live) (eval.Variant, error)
}

// Find finds the neighbours of a skill that are still installed, at most Most. taught are the
// cases that its new text may have learned from. An agent that is not shown installed skills
// cannot be disturbed by one: there is none for it.
func (f *Finder) Find(ctx context.Context, name string, taught []eval.Case) ([]Neighbour, error) {
	if subject.Parse(name).Kind != subject.Skill || !agent.UsesTools(f.Spec.Agent) {
		return nil, nil
	}
	reg, err := f.Layout.Registry()
	if err != nil {
		return nil, err
	}
	all, err := recorded(ctx, f.Store, reg, name)
	if err != nil {
		return nil, err
	}
	out := all[:0]
	for _, n := range all {
		if len(out) == Most {
			break
		}
		live, err := f.Layout.Live(n.Skill)
		if errors.As(err, new(*skill.UnknownSkillError)) {
			continue // it was removed since
		}
		if err != nil {
			n.untried = "it cannot be read"
		} else if err := f.prepare(ctx, &n, live, name, taught); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// recorded are the neighbours of a skill in the stored sessions.
func recorded(ctx context.Context, db *store.Store, reg *skill.Registry, name string) ([]Neighbour, error) {
	known, names := map[string]string{}, []string{name}
	for _, a := range reg.Aliases {
		if known[a.Name] = a.Of; a.Of == name {
			names = append(names, a.Name)
		}
	}
	var used []*harvest.Session
	for _, n := range names {
		some, err := db.Sessions(ctx, store.SessionFilter{Skill: n, Bare: true, People: true})
		if err != nil {
			return nil, err
		}
		for i := range some {
			used = append(used, &some[i])
		}
	}
	return Of(used, name, func(n string) string { return cmp.Or(known[n], n) }), nil
}

// Estimate is about how many rollouts it takes to try a text beside the neighbours of its
// skill, at most, for a share of a budget: which requests can be tried is not looked at.
func Estimate(ctx context.Context, db *store.Store, layout *skill.Layout, name string) (takes int64, err error) {
	reg, err := layout.Registry()
	if err != nil || subject.Parse(name).Kind != subject.Skill {
		return 0, err
	}
	all, err := recorded(ctx, db, reg, name)
	if err != nil {
		return 0, err
	}
	for _, n := range all[:min(len(all), Most)] {
		cases, err := db.Cases(ctx, n.Skill)
		if err != nil {
			return 0, err
		}
		if ordinary, _ := eval.SeparateTriggers(cases); len(ordinary) >= Fewest {
			takes += int64(4 * min(len(ordinary), Cases))
		}
	}
	return takes, nil
}

// prepare chooses the requests of a neighbour, those of sessions with both skills first. Of
// the others the oldest come first, so that the next run chooses the same.
func (f *Finder) prepare(ctx context.Context, n *Neighbour, live *skill.Live, name string, taught []eval.Case) (err error) {
	if n.variant, err = f.Variant(live); err != nil {
		return err
	}
	cases, err := f.Store.Cases(ctx, n.Skill)
	if err != nil {
		return err
	}
	if cases, _, err = f.Back.Usable(ctx, f.Spec, slices.DeleteFunc(cases, func(c eval.Case) bool { return c.IsTrigger() || c.Generated() })); err != nil {
		return err
	}
	kinds := []string{agent.Replay}
	if slices.ContainsFunc(cases, func(c eval.Case) bool { return record.Asks(&c) }) {
		kinds = append(kinds, agent.Judge)
	}
	if cases, _, err = f.Control.Filter(ctx, f.Store, f.Back, kinds, cases); err != nil {
		return err
	}
	together := func(c eval.Case) int {
		if c.Source != nil && slices.Contains(n.Sessions, c.Source.Session) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(cases, func(a, b eval.Case) int {
		return cmp.Or(cmp.Compare(together(a), together(b)), a.Recorded().Compare(b.Recorded()), cmp.Compare(a.ID, b.ID))
	})
	if len(cases) < Fewest {
		n.untried = "it has too few requests to tell"
		return nil
	}
	cases = cases[:min(len(cases), Cases)]
	if n.cases, _, err = f.Control.Clear(ctx, f.Store, f.Back, kinds, cases); err != nil {
		return err
	}
	if left, err := f.Control.Text(ctx, f.Store, f.Back, kinds, taught); err != nil {
		return err
	} else if len(left) > 0 {
		n.untried = "the new text may not be sent with its requests"
		return nil
	}
	if left, err := f.Learned(ctx, kinds, n.Skill, live.Doc.Hash()); err != nil {
		return err
	} else if len(left) > 0 {
		n.untried = "its text may not be sent"
		return nil
	}
	if n.others, err = f.Back.Others(f.Layout, n.Skill, false); err == nil {
		n.others = slices.DeleteFunc(n.others, func(o eval.Offer) bool { return o.Name == name })
	}
	return err
}

// CasesOf are the requests that will be answered.
func CasesOf(all []Neighbour) (cases []eval.Case) {
	for _, n := range tried(all) {
		cases = append(cases, n.cases...)
	}
	return cases
}

// Takes is how many rollouts they take at most: both texts, in both passes.
func Takes(all []Neighbour) int64 { return int64(4 * len(CasesOf(all))) }

// tried are the neighbours that a text is tried beside.
func tried(all []Neighbour) []*Neighbour {
	var out []*Neighbour
	for i := range all {
		if all[i].untried == "" {
			out = append(out, &all[i])
		}
	}
	return out
}
