package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/server"
	"github.com/skill-evolve/evolve/eval/fleet/watch"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/skill-evolve/evolve/store/workers"
	"github.com/spf13/cobra"
)

func (p Machine) statusCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "status [JOB]",
		Short: "Show who works in the fleet, what waits, and what went wrong with a job",
		Long: `status listens to the workers for some seconds and prints what each of them has and
does, what it did for the runs of this machine and what that cost, and why it gets
no jobs of a run as config.yaml sets it up; then the jobs and results that wait,
and the invitations that expire within two weeks. It finds the fleet by --fleet, by fleet in config.yaml, or
in this machine's own server. With the name of a job, or its first digits, it says
who has that and what went wrong with it.`,
		Example: "  evolve fleet status\n  evolve fleet status --fleet laptop.invitation.json --json\n  evolve fleet status 3f9a1c20be47",
		Args:    usage.AtMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return p.job(c.Context(), file, args[0])
			}
			s, err := p.State(c.Context(), file)
			if err != nil {
				return err
			}
			return p.Print(s, words(s, p.Now()))
		},
	}
	c.Flags().StringVar(&file, "fleet", "", "file of an invitation as a coordinator (default that of config.yaml)")
	return c
}

// State is what the fleet is at that file invites to, "" for the one of this machine's runs.
func (p Machine) State(ctx context.Context, file string) (*watch.State, error) {
	conn, err := p.dial(ctx, file)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	h, err := p.Home()
	if err != nil {
		return nil, err
	}
	used, err := backend.UsedFleets(h, p.Now())
	if err != nil {
		return nil, err
	}
	db, err := p.Store(ctx)
	if err != nil {
		return nil, err
	}
	o := watch.Options{Conn: conn, Names: map[string]string{}, Shares: map[string]watch.Share{}, Now: p.Now}
	for _, u := range used {
		for id, name := range u.Workers {
			o.Names[id] = name
		}
	}
	shares, err := workers.Shares(ctx, db)
	if err != nil {
		return nil, err
	}
	for id, s := range shares {
		o.Shares[id] = watch.Share(s)
	}
	if o.Needs, o.Vendors, err = p.Opener(true).Needs(ctx); err != nil {
		p.Say("what the runs of this machine need of a worker is not known: %v", err)
	}
	list, err := server.Invitations(h.Fleet()) // of the machine that serves
	if err != nil {
		return nil, err
	}
	for _, i := range list {
		if o.Names[i.ID] = i.Name; i.State(p.Now()) == "valid" {
			o.Members = append(o.Members, watch.Member{Name: i.Name, Expires: i.Expires})
		}
	}
	return watch.Look(ctx, o)
}

// Known reports whether there is a fleet to look at: config.yaml names one, a run has used one, or
// this machine serves one.
func (p Machine) Known() bool {
	conf, err := p.Config()
	if err == nil && conf.Fleet != "" {
		return true
	}
	h, err := p.Home()
	if err != nil {
		return false
	}
	used, err := backend.UsedFleets(h, p.Now())
	list, _ := server.Invitations(h.Fleet())
	return err != nil || len(used)+len(list) > 0
}

// dial connects with an invitation as a coordinator: the one of file or of config.yaml, or one
// that this machine's own server makes.
func (p Machine) dial(ctx context.Context, file string) (*fleet.Conn, error) {
	if file == "" {
		conf, err := p.Config()
		if err != nil {
			return nil, err
		}
		file = conf.Fleet
	}
	var in *fleet.Invitation
	var err error
	if file != "" {
		in, err = backend.Coordinates(file)
	} else {
		in, err = p.visit()
	}
	if err != nil {
		return nil, err
	}
	return fleet.Dial(ctx, in)
}

func (p Machine) visit() (*fleet.Invitation, error) {
	h, err := p.Home()
	if err != nil {
		return nil, err
	}
	if list, err := server.Invitations(h.Fleet()); err != nil || len(list) == 0 { // then it is made by nothing that looks
		return nil, errors.Join(err, problem.Inputf("--fleet FILE names the invitation of a coordinator; `evolve help fleet` says how to set a fleet up", "no fleet is known here: config.yaml names none, and this machine serves none"))
	}
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	return f.Visit()
}

// jobName is what may begin the name of a job.
var jobName = lazyregexp.New(`^[0-9A-Za-z_-]{6,200}$`)

// shownLog is how many lines about a job are shown.
const shownLog = 12

// A jobState is what is known of a job.
type jobState struct {
	Schema int      `json:"schema"`
	Job    string   `json:"job"`
	At     []string `json:"at"`  // where it is
	Log    []string `json:"log"` // what went wrong with it, the oldest first
}

func (p Machine) job(ctx context.Context, file, name string) error {
	if !jobName.MatchString(name) {
		return problem.Inputf("its first 6 digits are enough: what went wrong names it", "%q is not the name of a job", name)
	}
	h, err := p.Home()
	if err != nil {
		return err
	}
	j := jobState{Schema: 1, Job: name, At: []string{}, Log: []string{}}
	conn, err := p.dial(ctx, file)
	if err != nil {
		p.Say("who has it is not known: %v", err)
	} else {
		defer conn.Close()
		if j.At, err = watch.Find(ctx, conn, name, 0); err != nil {
			return err
		}
	}
	text, err := bounded.ReadFile(filepath.Join(h.Logs(), backend.FleetLog+".log"), 16<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the fleet's log: %w", err)
	}
	short := name[:min(len(name), 12)] // as lines name it
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, short) {
			j.Log = append(j.Log, strings.TrimRight(line, "\n"))
		}
	}
	j.Log = j.Log[max(0, len(j.Log)-shownLog):]
	var b strings.Builder
	if len(j.At) == 0 && conn != nil {
		fmt.Fprintf(&b, "nobody has the job %s now\n", name)
	}
	for _, line := range j.At {
		fmt.Fprintln(&b, plain.Line(line))
	}
	for _, line := range j.Log {
		fmt.Fprintln(&b, plain.Line(line))
	}
	if len(j.Log) == 0 {
		b.WriteString("nothing went wrong with it on this machine\n")
	}
	return p.Print(j, b.String())
}

// shownWorkers is how many workers have a line.
const shownWorkers = 8

// words is a state for people, in about twelve lines.
func words(s *watch.State, now time.Time) string {
	var b strings.Builder
	slots, busy, heard := 0, 0, 0
	for _, w := range s.Workers {
		if slots, busy = slots+w.Slots, busy+w.Busy; w.Agents != nil {
			heard++
		}
	}
	fmt.Fprintf(&b, "%s at %s: %d of %s busy\n", plain.Counted(heard, "worker"), s.URL, busy, plain.Counted(slots, "slot"))
	if len(s.Workers) > 0 {
		table := plain.NewTable(&b)
		fmt.Fprintf(table, "WORKER\tID\tSLOTS\tDONE\tFAILED\tFOR YOUR RUNS\tSTATE\tAGENTS\n")
		for _, w := range s.Shown(shownWorkers) {
			fmt.Fprintf(table, "%s\t%s\t%d/%d\t%d\t%d\t%s\t%s\t%s\n", plain.Line(w.Called()), fleet.Short(w.ID), w.Busy, w.Slots, w.Done, w.Failed, w.Here.Words(), plain.Line(w.Words(now)), plain.Line(named(w.Agents)))
		}
		_ = table.Flush() // a builder takes all
	}
	if more := len(s.Workers) - shownWorkers; more > 0 {
		fmt.Fprintf(&b, "%d more: --json has all\n", more)
	}
	if heard == 0 {
		b.WriteString("start `evolve worker --join FILE` on another machine; `evolve fleet invite NAME` writes the file\n")
	}
	fmt.Fprintf(&b, "%s, %s\n", plain.Counted(s.Jobs, "job")+" not begun", plain.Counted(s.Results, "result")+" not recorded yet")
	for _, m := range s.Expiring[:min(len(s.Expiring), 3)] {
		fmt.Fprintf(&b, "the invitation of %s expires on %s: `evolve fleet invite %[1]s` writes a new one, and ends the old one\n", plain.Arg(m.Name), m.Expires.Format(time.DateOnly))
	}
	return b.String()
}

// Purge removes what this machine has put on the fleets that it has used, and says what it
// could not. A fleet that is away is no error.
func (p Machine) Purge(ctx context.Context) (lines []string) {
	h, err := p.Home()
	if err != nil {
		return []string{err.Error()}
	}
	used, err := backend.UsedFleets(h, p.Now())
	if err != nil {
		return []string{err.Error()}
	}
	for _, u := range used {
		done, err := p.purge(ctx, &u)
		switch {
		case err != nil:
			lines = append(lines, fmt.Sprintf("%s still has what was put there (%v): purge the session again, or it expires within %d days", u.URL, err, int(fleet.ResultsExpire.Hours()/24)))
			continue
		case len(done.Left) == 0:
			if err := u.Forget(h); err != nil {
				lines = append(lines, err.Error())
			}
		}
		lines = append(lines, fmt.Sprintf("%s: %s, %s and %s removed there; copies deleted by %s", u.URL, plain.Counted(done.Jobs, "job"), plain.Counted(done.Results, "result"), plain.Counted(done.Blobs, "file"), plain.Counted(len(done.Workers), "worker")))
		for _, l := range done.Left {
			lines = append(lines, fmt.Sprintf("%s: %s; what it keeps goes within 24 h once it runs, or with ~/.cache/evolve/fleet there", (&watch.Worker{ID: l.ID, Name: l.Name}).Called(), l.Why))
		}
	}
	return slices.Compact(lines)
}

func (p Machine) purge(ctx context.Context, u *backend.UsedFleet) (*watch.Purged, error) {
	in, err := backend.Coordinates(u.Invitation)
	if err != nil {
		return nil, err
	}
	conn, err := fleet.Dial(ctx, in)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return watch.Purge(ctx, conn, u.Workers, u.IDs...)
}
