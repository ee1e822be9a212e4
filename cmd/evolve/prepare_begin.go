package main

import (
	"context"
	"errors"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
)

// runID names a run that begins. A run about the same skill whose process ended while
// it read corrections has no row to be resumed by: the same command goes on with it,
// so that what it read is not read again, and what it spent counts.
func (a *app) runID(ctx context.Context, db *store.Store, f *runFlags) (string, error) {
	if f.id != "" {
		return f.id, nil
	}
	if f.dryRun || !f.reads() {
		return newRunID(a.Now()), nil
	}
	id, err := db.BegunRun(ctx, f.Skill)
	if err != nil {
		return "", err
	}
	if id != "" {
		if busy, err := a.running(id); err != nil {
			return "", err
		} else if !busy {
			return id, nil
		}
	}
	id = newRunID(a.Now())
	return id, db.BeginRun(ctx, f.Skill, id)
}

// reads reports whether the run mines cases. What is mined is about what a skill does
// once it is loaded: a description is tried on trigger cases, and they come from
// their owner.
func (f *runFlags) reads() bool { return !f.noHarvest && f.Evolve != skill.Description }

// begin makes a run this process' own before anything is spent on it: nobody else
// works on it, what earlier processes spent is on its budget, and what it uses of its
// time is kept. The caller must end p.
func (a *app) begin(ctx context.Context, p *prepared, budget *eval.Budget) error {
	p.budget = budget
	if p.f.dryRun {
		return nil
	}
	unlock, err := a.lockRunUnder(ctx, p.run.ID)
	if err != nil {
		return err
	}
	p.unlock = unlock
	if err := p.owned.By(p.run.ID); err != nil {
		return err
	}
	if err := p.recall(ctx); err != nil {
		return err
	}
	if p.noted, err = noteCalls(ctx, p.db, p.run.ID, budget); err != nil {
		return err
	}
	// A process that ended by itself wrote its time into the run, too.
	p.clock, err = keepTime(ctx, p.db, p.run.ID, time.Duration(p.run.Spent.WallMS)*time.Millisecond, budget)
	return err
}

// recall puts the miner's calls of earlier processes on the budget. Whoever goes on
// does not ask all of it again: cases that are stored are known. The replies of others
// are met again where the search comes to them, and counted there: its decisions are a
// function of what was spent by then.
func (p *prepared) recall(ctx context.Context) error {
	replies, err := p.db.Recorded(ctx, p.run.ID, eval.ByMiner)
	if err != nil {
		return err
	}
	if int64(len(replies)) < p.f.Mined.MinerCalls { // of a session that was purged
		for _, one := range perCall(p.f.Mined) {
			p.budget.Charge(eval.ByMiner, one)
		}
		return nil
	}
	return p.budget.ChargeRecorded(eval.ByMiner, replies)
}

// end gives back what begin took.
func (p *prepared) end() {
	p.back.Close() // folders for temporary files; what stays behind does no harm
	if p.clock != nil {
		p.clock.end()
	}
	if p.noted != nil {
		p.noted()
	}
	if p.unlock != nil {
		p.unlock()
	}
	p.owned.Unlock()
}

// over forgets that a run has begun where err ended it for good before it was one:
// what it read is stored, and the next command is another run.
func (p *prepared) over(ctx context.Context, err error) error {
	var quiet *quietExit
	var limit *eval.BudgetError
	if errors.As(err, new(*waiting)) || errors.As(err, &quiet) && quiet.code == exitDone || errors.As(err, &limit) {
		if e := p.db.DropBegun(ctx, p.run.ID); e != nil {
			return errors.Join(err, e)
		}
	}
	return err
}

// journal is what the run is recorded in.
func (p *prepared) journal() tournament.Journal {
	var j tournament.Journal = leased{p.db.Journal(p.run.ID)}
	if p.clock == nil {
		return j
	}
	return timedJournal{j, p.clock}
}
