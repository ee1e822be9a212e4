package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament"
)

// sameCommand goes on with the run that waits for answers where the same command
// is typed again: whoever answers need not know of runs.
func (a *app) sameCommand(ctx context.Context, f *runFlags) error {
	if f.resume != "" {
		return nil
	}
	if err := f.answer(a); err != nil || !f.ByHand() {
		return err
	}
	db, err := a.existingStore(ctx)
	if err != nil || db == nil {
		return err
	}
	runs, err := db.Runs(ctx, f.Skill)
	if err != nil {
		return err
	}
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		var was runConfig
		if r.Status != tournament.Stopped || !strings.Contains(r.Note, string(eval.Pending)) || json.Unmarshal(r.Config, &was) != nil || was.Typed != f.Typed {
			continue
		}
		f.resume = r.ID
		return nil
	}
	return nil
}

// A pendingWatch remembers that replies of a model are still to come, for a
// caller that can do without them for now.
type pendingWatch struct {
	eval.Model
	mu   sync.Mutex
	n    int
	last error
}

// Complete is the model's.
func (p *pendingWatch) Complete(ctx context.Context, q eval.Prompt) (eval.Completion, error) {
	c, err := p.Model.Complete(ctx, q)
	if eval.IsPending(err) {
		p.mu.Lock()
		p.n, p.last = p.n+1, err
		p.mu.Unlock()
	}
	return c, err
}

// err says how many replies are still to come; nil for none.
func (p *pendingWatch) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n == 0 {
		return nil
	}
	return fmt.Errorf("%d of the miner's questions have no answer yet: %w", p.n, p.last)
}
