package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// minedReply is what a reply of the miner is expected to take, in tokens.
const minedReply = 300

// An askCount is a model that answers nothing and counts what it is asked.
type askCount struct {
	id    eval.Identity // who will be asked: what it has read already is not read again
	mu    sync.Mutex
	calls int
	in    int // tokens, estimated
}

func (c *askCount) Identity() eval.Identity { return c.id }

func (c *askCount) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.in += skill.Tokens(p.System) + skill.Tokens(p.User)
	return eval.Completion{}, &eval.InfraError{Kind: eval.Unreachable, Err: errors.New("only counted")}
}

// countMining walks the mining of a skill's sessions without asking anybody, and
// returns what would be asked. Nothing is stored.
func (a *app) countMining(ctx context.Context, db *store.Store, name string, headless bool, who eval.Identity) (*askCount, error) {
	sessions, err := db.Sessions(ctx, store.SessionFilter{Skill: name})
	if err != nil {
		return nil, err
	}
	known, err := db.Cases(ctx, name)
	if err != nil {
		return nil, err
	}
	ptrs := make([]*harvest.Session, len(sessions))
	for i := range sessions {
		ptrs[i] = &sessions[i]
	}
	c := &askCount{id: who}
	_, _, err = harvest.Mine(ctx, ptrs, name, harvest.Miner{Model: c, Memory: db, Redactor: a.redactor(), Now: a.Now, Existing: slices.DeleteFunc(known, quoted),
		IncludeHeadless: headless, Labeller: &harvest.Labeller{Model: c, Memory: db, Redactor: a.redactor()}})
	return c, err
}

// announceMining says what reading the corrections takes before anything is
// spent, and asks on a terminal where that is much.
func (a *app) announceMining(ctx context.Context, p *prepared) error {
	f := p.f
	if p.back.Mutator.Identity().Simulated || f.harvested { // a night has nobody to tell, and its caps
		return nil
	}
	c, err := a.countMining(ctx, p.db, f.Skill, f.harvest.headless, p.back.Mutator.Identity())
	if err != nil || c.calls == 0 {
		return err
	}
	usd := f.Price(f.ReflectModel).USD(&eval.Usage{Input: int64(c.in), Output: int64(c.calls * minedReply)})
	cost := "cost unknown"
	if usd != nil {
		cost = "about " + eval.FormatUSD(*usd)
	}
	a.Say("mining: about %s to turn your corrections into checks, %s tokens, %s", plain.Counted(c.calls, "call"), plain.Thousands(int64(c.in+c.calls*minedReply)), cost)
	if usd == nil || *usd <= a.confirmOver(f.confirmOver) || f.yes || !term.IsTerminal(a.Stdin) {
		return nil
	}
	ok, err := a.Confirm(fmt.Sprintf("Spend about %s on that?", eval.FormatUSD(*usd)))
	if err == nil && !ok {
		err = &problem.Error{Kind: problem.Stopped, Err: errors.New("nothing was spent"), Hint: "say --yes, or --no-harvest to go on with the cases there are"}
	}
	return err
}
