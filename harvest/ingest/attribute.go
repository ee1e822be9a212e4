package ingest

import (
	"context"
	"slices"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/attribute"
)

// attribute returns what decides about corrections of turns in which several skills were
// loaded. Skills, texts and cases are read if there are such turns, once.
func (g *Ingester) attribute(ctx context.Context) func(*harvest.Session, harvest.Invocation, []int) (harvest.Attribution, bool, error) {
	finder := sync.OnceValues(func() (*attribute.Finder, error) { return g.finder(ctx) })
	return func(s *harvest.Session, v harvest.Invocation, corrections []int) (a harvest.Attribution, ok bool, err error) {
		if !slices.ContainsFunc(s.Invocations, func(o harvest.Invocation) bool { return o.Turn == v.Turn && o.Skill != v.Skill && o.Used() }) {
			return a, false, nil
		}
		f, err := finder()
		if err != nil {
			return a, false, err
		}
		return f.Of(s, v, corrections)
	}
}

func (g *Ingester) finder(ctx context.Context) (*attribute.Finder, error) {
	reg, err := g.Layout.Registry()
	if err != nil {
		return nil, err
	}
	known, texts, cases := map[string]string{}, map[string]string{}, map[string][]eval.Case{}
	for _, a := range reg.Aliases {
		known[a.Name] = a.Of
	}
	return &attribute.Finder{
		Own: func(name string) string { return known[name] },
		Text: func(name string) string {
			text, ok := texts[name]
			if !ok {
				if live, err := g.Layout.Live(name); err == nil { // else it is not there, or broken
					text = string(live.Doc.Render())
				}
				texts[name] = text
			}
			return text
		},
		Has: func(name, id string) (bool, error) {
			of, ok := cases[name]
			if !ok {
				if of, err = g.Store.Cases(ctx, name); err != nil {
					return false, err
				}
				cases[name] = of
			}
			return slices.ContainsFunc(of, func(c eval.Case) bool {
				return c.ID == id && c.Source != nil && c.Source.Outcome == string(harvest.Corrected)
			}), nil
		},
	}, nil
}
