package fleetcmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/worker"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/spf13/cobra"
)

// offers are the flags of a worker.
type offers struct {
	join    string
	agents  []string
	slots   int
	cache   int64 // GiB
	command string
	ready   string
	spec    agent.Spec
}

// NewWorker is `evolve worker`. opener opens agents with the keys of this process. With noWait
// it does not wait for answers that a person gives.
func NewWorker(t *term.Terminal, opener func(noWait bool) *backend.Opener) *cobra.Command {
	o := offers{}
	c := &cobra.Command{
		Use:   "worker --join FILE",
		Short: "Replay here for the runs of a fleet",
		Long: `worker joins a fleet with the invitation in FILE and makes the attempts that runs
on other machines give to it, with this machine's agents, keys and sandbox. The
keys stay here. What a job brings is the request, the skill and the files; what is
expected stays with the run. Ctrl-C or SIGTERM ends the worker once the jobs at
work are done, and a second one at once.`,
		Example: "  evolve worker --join build-2.invitation.json\n  evolve worker --join build-2.invitation.json --agent claude --slots 4",
		Args:    usage.None,
		RunE:    func(c *cobra.Command, _ []string) error { return work(c.Context(), t, opener(false), o) },
	}
	f := c.Flags()
	f.StringVar(&o.join, "join", "", "file of the invitation")
	f.StringSliceVar(&o.agents, "agent", nil, "agents that work for others: "+strings.Join(backend.Workers(), ", ")+" (default: all whose program and key are here)")
	f.IntVar(&o.slots, "slots", 0, "jobs at a time (default: one for two cores)")
	f.StringVar(&o.spec.Sandbox, "sandbox", "", "around agents that run tools: on, or none, which gives what others send your own rights (default on)")
	f.Int64Var(&o.cache, "cache", 10, "largest size, in GiB, of what is kept of jobs for the next ones")
	f.StringVar(&o.ready, "ready", "", "file that is there, and younger than 10 s, while the worker is connected and takes jobs: for a probe")
	f.StringVar(&o.command, "command", "", "program of the agent \"command\", with its arguments, split at spaces")
	f.StringSliceVar(&o.spec.PassEnv, "pass-env", nil, "variables that the program of --command gets")
	f.StringSliceVar(&o.spec.AllowHosts, "allow-host", nil, "host:port that the program of --command reaches from its sandbox")
	return c
}

func work(ctx context.Context, t *term.Terminal, open *backend.Opener, o offers) error {
	if o.join == "" {
		return problem.Inputf("`evolve fleet invite NAME` makes one, where the fleet is served", "worker needs --join with the file of an invitation")
	}
	if o.slots < 0 || o.cache <= 0 {
		return problem.Inputf("for example --slots 4 --cache 10", "--slots and --cache are 1 or more")
	}
	in, err := fleet.ReadInvitation(o.join)
	if err != nil {
		return err
	}
	if in.Role != fleet.RoleWorker {
		return problem.Inputf("`evolve fleet invite NAME` makes one for a worker", "%s invites a %s", o.join, in.Role)
	}
	o.spec.Command = strings.Fields(o.command)
	open.Keys.Add(in.Seed, in.JWT)
	offer, err := o.offer(ctx, open)
	if err != nil {
		return err
	}
	conn, err := fleet.Dial(ctx, in)
	if err != nil {
		return err
	}
	defer conn.Close()
	blobs, err := fleet.OpenBlobs(ctx, conn.JS)
	if err != nil {
		return err
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("find the folder for caches: %w", err)
	}
	dir = filepath.Join(dir, "evolve", "fleet")
	cache, err := worker.OpenCache(dir, conn.ID, blobs, o.cache<<30)
	if err != nil {
		return err
	}
	defer cache.Close()
	if _, _, err := scratch.Sweep(dir, workspace.Remove); err != nil { // of one that was killed
		return err
	}
	defer scratch.Keep(dir).Close()
	if err := t.Print(map[string]any{"schema": 1, "name": in.Name, "url": in.URL, "offer": offer},
		fmt.Sprintf("joined %s as %s\noffers %s; %s at a time\nCtrl-C ends it when the jobs at work are done, once more ends it at once\n", in.URL, in.Name, named(offer.Agents), plain.Counted(offer.Slots, "job"))); err != nil {
		return err
	}
	shown, err := readiness(o.ready, func() bool { return conn.Nats.IsConnected() && ctx.Err() == nil })
	if err != nil {
		return err
	}
	defer shown()
	say := func(line string) { t.Say("%s", plain.Line(line)) }
	// The first signal drains. The second one ends the process.
	return worker.Run(context.WithoutCancel(ctx), worker.Options{Conn: conn, Blobs: blobs, Cache: cache, Name: in.Name, Offer: *offer,
		Open: func(ctx context.Context, need fleet.Need, owner *setup.Set) (eval.Agent, error) {
			return open.Needed(ctx, o.spec, need, owner)
		},
		Clean: open.Keys.ByValue, Drain: ctx.Done(), Log: say, Tell: say})
}

// offer is what this machine has.
func (o *offers) offer(ctx context.Context, open *backend.Opener) (*fleet.Offer, error) {
	out := &fleet.Offer{Protocol: fleet.Protocol, Program: fleet.Program(), Cores: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	out.Slots = cmp.Or(o.slots, max(1, out.Cores/2))
	names := o.agents
	if len(names) == 0 {
		if names = open.Working(); len(names) == 0 {
			return nil, problem.Inputf("`evolve doctor` prints what to type for each agent", "no agent works here, so there is nothing to offer")
		}
	}
	for _, name := range names {
		spec := o.spec
		spec.Agent = name
		a, err := open.Offer(ctx, spec)
		if err != nil {
			return nil, err
		}
		out.Agents = append(out.Agents, a)
	}
	return out, nil
}

// named lists agents: "claude 2.1.0 and codex 0.5 (sandbox on)".
func named(list []fleet.Agent) string {
	var out []string
	for _, a := range list {
		out = append(out, strings.TrimSpace(a.Backend+" "+a.Version)+" (sandbox "+a.Sandbox+")")
	}
	return strings.Join(out, ", ")
}
