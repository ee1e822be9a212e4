package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// Backends are the opened agent, mutator and judge of one run. The caller must close
// them.
type Backends struct {
	Agent   eval.Agent
	Search  eval.Agent // the agent with the model of the search; nil: it has no other
	Mutator eval.Model
	Judge   eval.Model
	Miner   eval.Model // the mutator's, for requests of another kind
	// To are who gets the text of requests, by their kind; a kind whose text stays on
	// this machine is not in it.
	To     map[string][]Recipient
	Spaces *workspace.Recorded // nil: the agent works in no folder
	// Owner is what the agent's replays load beside the subject; nil: nothing.
	Owner *setup.Set
	// Without is what they lack though it loads at the owner's, in words.
	Without []string
	// Redactor knows the keys of this process by their values.
	Redactor redact.Redactor
	// Find returns why a check cannot run a program in a folder; nil: all are taken to run.
	Find func(dir, name string) error
	// Fleet has the replays made on other machines; nil: on this one.
	Fleet Fleet
	// AtATime is how many rollouts run at once if the run does not set it.
	AtATime int
}

// Second is who reads candidates a second time, and whose calls these are: the judge, or the
// mutator in a call of its own if the judge is simulated. nil: both are, and understand no
// prose.
func (b *Backends) Second() (eval.Model, eval.Spender) {
	switch {
	case b.Judge != nil && !b.Judge.Identity().Simulated:
		return b.Judge, eval.ByJudge
	case b.Mutator != nil && !b.Mutator.Identity().Simulated:
		return b.Mutator, eval.ByMutator
	}
	return nil, ""
}

// Vendors are those that get the text of requests of these kinds.
func (b *Backends) Vendors(kinds ...string) (out []string) {
	for _, kind := range kinds {
		for _, r := range b.To[kind] {
			if !slices.Contains(out, r.Vendor) {
				out = append(out, r.Vendor)
			}
		}
	}
	return out
}

// Lacks is a line about what the replays of cases lacked, none if that is nothing.
func (b *Backends) Lacks(cases []eval.Case) []string {
	var projects []string
	for i := range cases {
		if w := cases[i].Workspace; w != nil {
			projects = append(projects, w.Repo)
		}
	}
	without := slices.Concat(b.Without, b.Owner.Held(projects))
	if len(without) == 0 {
		return nil
	}
	return []string{"replayed without: " + strings.Join(without, ", ")}
}

// UsesTools reports whether the agent works in a folder.
func (b *Backends) UsesTools() bool { return b != nil && b.Spaces != nil }

// Workspaces are the folders that the agent works in; nil for one that reads a case's
// files from its prompt.
func (b *Backends) Workspaces() eval.Workspaces {
	if b.Spaces == nil {
		return nil // not an interface that holds nil
	}
	return b.Spaces
}

// A Fleet are machines that replay.
type Fleet interface {
	eval.Executor
	// Continue names the run, before its first attempt: a process that continues the run gets
	// the results of its predecessor.
	Continue(ctx context.Context, run string) error
	Workers() []string // that can replay now, by their ids
	Close()
}

// Executor is who has replays made, and its workers; nil and nil: this machine.
func (b *Backends) Executor() (eval.Executor, func() []string) {
	if b.Fleet == nil {
		return nil, nil
	}
	return b.Fleet, b.Fleet.Workers
}

// Continue names the run for a fleet.
func (b *Backends) Continue(ctx context.Context, run string) error {
	if b.Fleet == nil {
		return nil
	}
	return b.Fleet.Continue(ctx, run)
}

// Close leaves the fleet, and removes the files of the workspaces.
func (b *Backends) Close() error {
	if b == nil {
		return nil
	}
	if b.Fleet != nil {
		b.Fleet.Close()
	}
	if b.Spaces == nil {
		return nil
	}
	return b.Spaces.Close()
}

// Grader grades by a case's checks, with the judge and the programs of this run.
func (b *Backends) Grader(s *Spec, cases []eval.Case) *eval.Checks {
	g := &eval.Checks{Judge: b.Judge, Redactor: b.Redactor, ShowWork: KindOf(s.Agent).Records}
	if slices.ContainsFunc(cases, func(c eval.Case) bool { return runsPrograms(&c) }) {
		// Without them, how programs are run is not part of the grader's identity.
		programs := s.programs(cases)
		if b.Spaces != nil {
			programs.Prepared = func(dir string) (string, []string) {
				if p := b.Spaces.PreparedIn(dir); p != nil {
					return p.Root, p.Env
				}
				return "", nil
			}
		}
		g.TrustExec, g.Programs = true, programs
	}
	return g
}

// A pinger is a backend that can test cheaply whether it is available.
type pinger interface{ Ping(context.Context) error }

const pingTimeout = 10 * time.Second

// Ping pings every backend that is a pinger, once, before anything is spent.
func (b *Backends) Ping(ctx context.Context) error {
	for _, x := range []any{b.Agent, b.Search, b.Mutator, b.Judge} {
		p, ok := x.(pinger)
		if !ok {
			continue
		}
		short, cancel := context.WithTimeout(ctx, pingTimeout)
		err := p.Ping(short)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = eval.Infraf(eval.Unreachable, "no answer within %v", pingTimeout)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
