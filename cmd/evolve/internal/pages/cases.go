package pages

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/report/serve"
)

// Cases are the cases of a skill.
func (p *Program) Cases(ctx context.Context, name string) ([]eval.Case, error) {
	return look(ctx, p, func(r *request) ([]eval.Case, error) { return r.Command.Cases.Cases(ctx, name, "") })
}

// Case is one case, by its whole ID.
func (p *Program) Case(ctx context.Context, name, id string) (*serve.CaseNow, error) {
	return look(ctx, p, func(r *request) (*serve.CaseNow, error) { return r.caseNow(ctx, name, id) })
}

func (r *request) caseNow(ctx context.Context, name, id string) (*serve.CaseNow, error) {
	g := r.Command.Cases
	k, err := g.Case(ctx, name, id)
	if err == nil && k.ID != id {
		err = problem.Inputf(fmt.Sprintf("`evolve cases list %s` lists them", name), "%s has no case %q", name, id)
	}
	if err != nil {
		return nil, err
	}
	seen, err := stateOf(k)
	return &serve.CaseNow{Case: k, Seen: seen, Spent: g.SpentOn(ctx, k)}, err
}

// change edits a case, unless it has changed since the state seen.
func (p *Program) change(ctx context.Context, name, id, seen string, do func(*request, *eval.Case) (*serve.Done, error)) (*serve.Done, error) {
	return with(ctx, p, datadir.Writes, func(r *request) (*serve.Done, error) {
		k, err := r.caseNow(ctx, name, id)
		if err != nil {
			return nil, err
		}
		if k.Seen != seen {
			return nil, serve.ErrChanged
		}
		return do(r, k.Case)
	})
}

// EditCase replaces a case.
func (p *Program) EditCase(ctx context.Context, name, id, seen string, text []byte) (*serve.Done, error) {
	return p.change(ctx, name, id, seen, func(r *request, k *eval.Case) (*serve.Done, error) {
		e, err := r.Command.Cases.Replace(ctx, k, text, false, "nothing was changed; your text is in the field below")
		if err != nil {
			return nil, err
		}
		word := "changed"
		if !e.Changed {
			word = "as before"
		}
		return &serve.Done{Said: []string{fmt.Sprintf("case %s of %s: %s", id, name, word)}, Notes: e.Warnings}, nil
	})
}

// DropCase drops a case.
func (p *Program) DropCase(ctx context.Context, name, id, seen string) (*serve.Done, error) {
	return p.change(ctx, name, id, seen, func(r *request, k *eval.Case) (*serve.Done, error) {
		dropped, left, err := r.Command.Cases.Drop(ctx, name, []string{id})
		if err != nil {
			return nil, err
		}
		return &serve.Done{Said: []string{fmt.Sprintf("%s dropped, %s has %d left", plain.Counted(len(dropped), "case"), name, left)}}, nil
	})
}

// Pair is the next pair of a blind review. The order stays the same while the
// server runs.
func (p *Program) Pair(ctx context.Context, name string, skipped func(serve.PairName) bool) (pair *serve.Pair, rev *serve.Review, err error) {
	rev, err = look(ctx, p, func(r *request) (*serve.Review, error) {
		pairs, err := judge.OpenPairs(ctx, r.Store, name, rand.New(rand.NewPCG(p.Seed, 0x726576696577)))
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			var unknown *skill.UnknownSkillError
			if _, err := r.Layout.Live(name); errors.As(err, &unknown) {
				return nil, err
			}
		}
		for i := range pairs {
			k := &pairs[i]
			first, second := k.Names()
			if n := (serve.PairName{Case: k.Case.ID, First: first, Second: second}); !skipped(n) {
				pair = &serve.Pair{PairName: n, Prompt: k.Case.Prompt, Context: k.Case.Context, Answer1: k.First.Answer, Answer2: k.Second.Answer}
				pair.Work1, pair.Work2 = k.Works()
				break
			}
		}
		rev := &serve.Review{Left: len(pairs)}
		labels, err := r.Store.Labels(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, l := range labels {
			if l.Choice != store.Same {
				rev.Labels++
			}
		}
		known, err := judge.Known(ctx, r.Store, name)
		if err == nil && rev.Labels > 0 {
			rev.Judge = known.String()
		}
		return rev, err
	})
	return pair, rev, err
}

// Answer records the owner's choice between two answers.
func (p *Program) Answer(ctx context.Context, name string, n serve.PairName, choice string) error {
	_, err := with(ctx, p, datadir.Writes, func(r *request) (none struct{}, err error) {
		cases, err := r.Command.Cases.Cases(ctx, name, "")
		if err != nil {
			return none, err
		}
		i := slices.IndexFunc(cases, func(c eval.Case) bool { return c.ID == n.Case })
		if i < 0 {
			return none, serve.ErrChanged
		}
		pair, err := judge.Find(ctx, r.Store, &cases[i], n.First, n.Second)
		if err != nil {
			return none, err
		}
		if pair == nil {
			return none, serve.ErrChanged
		}
		return none, pair.Keep(ctx, r.Store, name, store.Choice(choice))
	})
	return err
}
