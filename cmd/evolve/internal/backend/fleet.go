package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/coordinator"
	"github.com/skill-evolve/evolve/eval/fleet/parcel"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/skill-evolve/evolve/store/datadir"
)

// invitation reads the one that b names; nil if it names none.
func invitation(b *agent.Spec) (*fleet.Invitation, error) {
	if b.Fleet == "" {
		return nil, nil
	}
	return Coordinates(b.Fleet)
}

// Coordinates reads an invitation as a coordinator.
func Coordinates(file string) (*fleet.Invitation, error) {
	in, err := fleet.ReadInvitation(file)
	if err != nil {
		return nil, err
	}
	if in.Role != fleet.RoleCoordinator {
		return nil, problem.Inputf("`evolve fleet invite NAME --coordinator` makes one that gives jobs", "%s invites a %s", file, in.Role)
	}
	return in, nil
}

// fleetOf are the machines that replay for b, as who gets text; none without a fleet, and
// none on this machine.
func fleetOf(b *agent.Spec) []agent.Recipient {
	in, err := invitation(b)
	if in == nil || err != nil { // it is reported when the fleet is joined
		return nil
	}
	return agent.At(in.URL)
}

// join has the replays of back made by the fleet that b names.
func (o *Opener) join(ctx context.Context, b *agent.Spec, back *agent.Backends, bare eval.Agent, to []agent.Recipient, owner *setup.Set) (err error) {
	in, err := invitation(b)
	if in == nil || err != nil {
		return err
	}
	conn, err := fleet.Dial(ctx, in)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	blobs, err := fleet.OpenBlobs(ctx, conn.JS)
	if err != nil {
		return err
	}
	data, err := datadir.Find(o.Getenv)
	if err != nil {
		return err
	}
	used := &UsedFleet{Invitation: b.Fleet, URL: in.URL, IDs: []string{conn.ID}}
	if err := used.Note(data, nil); err != nil { // before anything is put there
		return err
	}
	conf, err := o.Config()
	if err != nil {
		return err
	}
	here := func(id eval.Identity) eval.Executor {
		a := back.Agent
		if back.Search != nil && back.Search.Identity() == id {
			a = back.Search
		}
		return &eval.Local{Agent: a, Workspaces: back.Workspaces()}
	}
	pack := &parcel.Packer{Blobs: blobs, Owner: owner}
	if back.Spaces != nil {
		pack.Trees = back.Spaces
	}
	cleared := o.Control.Agent(to, nothing{bare}, owner)
	c, err := coordinator.Open(ctx, coordinator.Options{Conn: conn, Blobs: blobs, Program: fleet.Program(), Sandbox: b.Sandbox, Agent: bare.Identity(),
		Vendors: vendors(agent.KindOf(b.Agent), o.Opening(b, b.Roles()[0])), Here: here, Workspaces: back.Workspaces(), Log: o.logTo(data),
		Pack: func(ctx context.Context, t eval.Task) (fleet.Task, error) {
			out, err := pack.Pack(ctx, t)
			if errors.Is(err, workspace.ErrPrepared) {
				err = &eval.StaysError{Why: err.Error()}
			}
			return out, err
		},
		Clear: func(ctx context.Context, t eval.Task) error {
			_, err := cleared.Run(ctx, t)
			return err
		},
		Apply: func(ctx context.Context, dir string, c *fleet.Changes) error { return parcel.Apply(ctx, blobs, dir, c) }})
	if err != nil {
		return err
	}
	back.Fleet = &joined{c, conn, func() error { return used.Note(data, c.All()) }}
	if o.Tell != nil {
		for _, line := range c.Describe() {
			o.Tell(line)
		}
	}
	if n := 2 * c.Slots(); conf.Concurrency == 0 && back.AtATime < n { // else its owner has said how many
		back.AtATime = min(n, maxAtATime)
	}
	return nil
}

// logTo notes what goes wrong in a fleet, where `evolve fleet status JOB` finds it, and tells it.
func (o *Opener) logTo(data datadir.Dir) func(line string) {
	return func(line string) {
		_ = kit.Log(string(data), FleetLog, time.Now(), o.Keys.ByValue(line)) // it is told all the same
		if o.Tell != nil {
			o.Tell(line)
		}
	}
}

// FleetLog is the name of the log of what went wrong in a fleet.
const FleetLog = "fleet"

// maxAtATime is the largest --concurrency.
const maxAtATime = 256

// joined is a coordinator with the connection that it works on.
type joined struct {
	*coordinator.Coordinator
	conn *fleet.Conn
	note func() error // that the fleet was used until now
}

// Close ends both.
func (j *joined) Close() {
	_ = j.note() // the first note is there
	j.Coordinator.Close()
	j.conn.Close()
}

// nothing is an agent that does nothing: only what holds it decides.
type nothing struct{ eval.Agent }

// Run does nothing.
func (nothing) Run(context.Context, eval.Task) (eval.Attempt, error) { return eval.Attempt{}, nil }

// absolute makes the path of an invitation independent of the folder: a run that is continued
// may be continued elsewhere.
func absolute(name string) (string, error) {
	if name == "" || filepath.IsAbs(name) {
		return name, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	return filepath.Join(dir, name), nil
}
