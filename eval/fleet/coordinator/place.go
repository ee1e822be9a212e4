package coordinator

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
)

// Begin implements eval.Executor. What cannot travel is done here.
func (c *Coordinator) Begin(ctx context.Context, t eval.Task, w eval.Work) (eval.Place, error) {
	if err := c.Continue(ctx, "one-"+rand.Text()[:10]); err != nil { // unless it has a name
		return nil, err
	}
	return &place{c: c, work: w, task: t}, nil
}

// A place is that of one rollout: on whichever worker makes its attempts.
type place struct {
	c       *Coordinator
	work    eval.Work
	task    eval.Task
	n       int // attempts so far, failed ones included
	changes *fleet.Changes
	folder  *eval.Folder // for checks
	here    eval.Place   // it cannot travel
}

// need is what a job needs that an agent of this identity answers.
func (c *Coordinator) need(id eval.Identity) fleet.Need {
	if id == (eval.Identity{}) {
		id = c.opt.Agent
	}
	return fleet.NeedOf(c.opt.Program, c.opt.Sandbox, id)
}

// Attempt implements eval.Place.
func (p *place) Attempt(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if p.here != nil {
		return p.here.Attempt(ctx, t)
	}
	if clear := p.c.opt.Clear; clear != nil {
		if err := clear(ctx, t); err != nil {
			return eval.Attempt{}, err
		}
	}
	packed, err := p.c.pack(ctx, t)
	var stays *eval.StaysError
	if errors.As(err, &stays) && p.n == 0 {
		if p.here, err = p.c.opt.Here(p.work.Agent).Begin(ctx, p.task, p.work); err != nil {
			return eval.Attempt{}, err
		}
		return p.here.Attempt(ctx, t)
	}
	if err != nil {
		return eval.Attempt{}, err
	}
	packed.Changes, packed.Folder = p.changes, p.task.Case.LooksIntoFolder() || t.Prior != nil
	// The number of the call tells attempts of one rollout apart: those of a process before
	// this one had the same numbers.
	j := &job{rollout: p.work.Key, pair: p.work.Pair, avoid: p.work.Avoid, Job: fleet.Job{Protocol: fleet.Protocol,
		Key: p.work.Key + "-" + strconv.Itoa(p.n), Coordinator: p.c.id, Need: p.c.need(p.work.Agent),
		WallClockMS: p.work.WallClock.Milliseconds(), Task: packed}}
	p.n++
	out, err := p.c.do(ctx, j)
	if err != nil {
		return eval.Attempt{}, err
	}
	if out.err != nil {
		return eval.Attempt{Tried: out.tried}, out.err
	}
	a := out.result.Attempt
	a.Worker, a.Tried, a.Started = out.worker, out.tried, time.Now().Add(-a.Duration) // its clock may be wrong
	if out.result.Failed == nil {
		p.changes = out.result.Changes
		p.close()
	}
	return a, out.result.Failed.Err(fleet.Short(out.worker))
}

// pack packs a task. A server that is away is waited for, as jobs do that are packed.
func (c *Coordinator) pack(ctx context.Context, t eval.Task) (fleet.Task, error) {
	for until := time.Now().Add(c.opt.Wait); ; {
		packed, err := c.opt.Pack(ctx, t)
		if !errors.Is(err, fleet.ErrAway) || time.Now().After(until) {
			return packed, err
		}
		if err := eval.Sleep(ctx, c.opt.Beat); err != nil {
			return packed, err
		}
	}
}

// Folder implements eval.Place.
func (p *place) Folder(ctx context.Context) (string, error) {
	if p.here != nil {
		return p.here.Folder(ctx)
	}
	if p.c.opt.Workspaces == nil || !p.task.Case.LooksIntoFolder() {
		return "", nil
	}
	if p.folder == nil {
		f, err := p.c.opt.Workspaces.Open(ctx, p.task.Case)
		if err != nil {
			return "", err
		}
		if p.folder = &f; p.changes != nil {
			if err := p.c.opt.Apply(ctx, f.Dir, p.changes); err != nil {
				p.close()
				return "", err
			}
		}
	}
	return p.folder.Dir, nil
}

func (p *place) close() {
	if p.folder != nil {
		p.folder.Close()
		p.folder = nil
	}
}

// Close implements eval.Place.
func (p *place) Close() {
	p.close()
	if p.here != nil {
		p.here.Close()
	}
}
