// Package fleetcmd is the commands for a fleet: its server, and who may join it.
package fleetcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/server"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/spf13/cobra"
)

// A Machine is what the commands work with.
type Machine struct {
	*term.Terminal
	Home   func() (datadir.Dir, error)
	Config func() (*backend.Config, error)
	Opener func(noWait bool) *backend.Opener
	Store  func(ctx context.Context) (*store.Store, error)
}

// New is `evolve fleet`.
func New(p Machine) *cobra.Command {
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Replays on other machines: the server, and who may join",
		Long: `A fleet replays cases on other machines. One machine runs the server (serve). Each
other machine joins with an invitation, a file with a key of its own (invite): a
worker takes jobs and returns results, a coordinator is a machine that searches
and gives the jobs. A key can be taken back at any time (revoke). To set one up:

  evolve fleet serve --listen 0.0.0.0:4222 --host build.example.com
  evolve fleet invite build-2              # for each worker: copy the file there
  evolve worker --join build-2.invitation.json             # on that machine
  evolve fleet invite laptop --coordinator # copy it to where you search
  evolve run SKILL --fleet laptop.invitation.json          # there

A machine without a valid invitation is not admitted: invite it, or invite it
again if its key was revoked or has expired. All machines need the same evolve and
the same version of the agent. docs/fleet.md in evolve's repository says what
travels, who can read it, what a worker could lie about and what a promotion needs
because of it, and has manifests for Kubernetes and compose.`,
		Example: "  evolve fleet serve --listen 0.0.0.0:4222\n  evolve fleet invite build-2\n  evolve fleet revoke build-2\n  evolve fleet status",
	}
	usage.Parent(c, p.serveCommand(), p.inviteCommand(), p.revokeCommand(), p.listCommand(), p.statusCommand(), p.prepareCommand())
	return c
}

func (p Machine) serveCommand() *cobra.Command {
	o := server.Options{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the fleet's server on this machine",
		Long: `serve runs the server through which the machines of a fleet reach each other, an
embedded NATS with JetStream, until Ctrl-C or SIGTERM. It makes the fleet's keys
when it first runs, in the folder fleet of evolve's data folder: back that up, and
keep it secret. Jobs and results that wait are kept there too, and survive a
restart. By default only programs on this machine can connect. With another
address connections are encrypted by TLS 1.3, with a certificate that serve makes
and renews; every invitation has the authority that signed it.`,
		Example: "  evolve fleet serve\n  evolve fleet serve --listen 0.0.0.0:4222 --host build.example.com",
		Args:    usage.None,
		RunE:    func(c *cobra.Command, _ []string) error { return p.serve(c.Context(), o) },
	}
	c.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:4222", "host:port to listen on (port 0: any free port)")
	c.Flags().StringSliceVar(&o.Hosts, "host", nil, "name or address by which others reach this machine; repeat it for several (default that of --listen, or this machine's name)")
	c.Flags().BoolVar(&o.TLS, "tls", false, "encrypt connections on this machine too")
	return c
}

func (p Machine) serve(ctx context.Context, o server.Options) error {
	f, err := p.open()
	if err != nil {
		return err
	}
	var failed error // to print
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Log = func(line string) { p.Say("%s", plain.Line(line)) }
	o.Ready = func(at *server.Served) {
		secured := "TLS: off; only programs on this machine can connect"
		if at.CA != "" {
			secured = "TLS: on; the authority's SHA-256 is " + at.Fingerprint
		}
		if failed = p.Print(map[string]any{"schema": 1, "url": at.URL, "tls": at.CA != "", "fingerprint": at.Fingerprint},
			fmt.Sprintf("listening on %s; Ctrl-C ends the server\n%s\nto invite a machine: evolve fleet invite NAME\n", at.URL, secured)); failed != nil {
			cancel()
		}
	}
	if err := f.Serve(ctx, o); err != nil {
		return err
	}
	return failed
}

func (p Machine) inviteCommand() *cobra.Command {
	var coordinator bool
	var expires, out string
	c := &cobra.Command{
		Use:   "invite NAME",
		Short: "Write an invitation with which a machine joins the fleet",
		Long: `invite makes a key for one machine, and writes it to a file together with the
server's address. Whoever has the file can join as this machine, so move it by a
safe way, and keep no copy. A name has one valid key: to invite it again takes the
old one back. A worker can take its own jobs and return its own results, nothing
else. With --coordinator the machine may give jobs to all workers.`,
		Example: "  evolve fleet invite build-2\n  evolve fleet invite laptop --coordinator --expires 30d --out laptop.json",
		Args:    usage.Exact(1, "a name"),
		RunE: func(_ *cobra.Command, args []string) error {
			role := fleet.RoleWorker
			if coordinator {
				role = fleet.RoleCoordinator
			}
			return p.invite(args[0], role, expires, out)
		},
	}
	c.Flags().BoolVar(&coordinator, "coordinator", false, "the machine gives jobs; otherwise it takes them")
	c.Flags().StringVar(&expires, "expires", "90d", "how long the invitation is valid: days (90d) or hours (12h)")
	c.Flags().StringVar(&out, "out", "", "file to write (default NAME.invitation.json in this folder)")
	return c
}

func (p Machine) invite(name, role, expires, out string) error {
	lasts, err := backend.ParseAge(expires)
	if err != nil || lasts <= 0 {
		return problem.Inputf("for example --expires 90d", "--expires takes a number of days or hours, not %q", expires)
	}
	f, err := p.open()
	if err != nil {
		return err
	}
	if out == "" {
		out = name + ".invitation.json"
	}
	i, replaced, err := written(f, name, role, lasts, out)
	if err != nil {
		return err
	}
	then := "copy it to that machine, and start `evolve worker --join " + plain.Arg(filepath.Base(out)) + "` there\n"
	if role == fleet.RoleCoordinator {
		then = "copy it to that machine, and give `evolve run` there --fleet " + plain.Arg(filepath.Base(out)) + "\n"
	}
	if replaced {
		then += "the key that " + name + " had before is revoked\n"
	}
	return p.Print(map[string]any{"schema": 1, "name": name, "role": role, "file": out, "expires": i.Expires, "replaced": replaced},
		fmt.Sprintf("invited %s as a %s until %s: the key is in %s, keep it secret\n%s", name, role, i.Expires.Format(time.DateOnly), plain.Arg(out), then))
}

// written invites a machine and writes the invitation to a new file. The file is made first:
// if it cannot be, the key that the name has stays valid.
func written(f *server.Folder, name, role string, lasts time.Duration, out string) (i *fleet.Invitation, replaced bool, err error) {
	if err := server.CheckName(name); err != nil {
		return nil, false, err
	}
	file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, false, problem.Refusef("remove it, or choose another file with --out", "%s exists already", out)
	} else if err != nil {
		return nil, false, fmt.Errorf("write the invitation: %w", err)
	}
	if i, replaced, err = f.Invite(name, role, lasts); err == nil {
		err = i.Write(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		err = errors.Join(err, os.Remove(out))
	}
	return i, replaced, err
}

func (p Machine) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Take a machine's key back: the server cuts it off",
		Long: `revoke makes the key of a machine invalid for good. A running server cuts the
machine off within two seconds, and needs no restart; the jobs that it had go to
others. evolve fleet invite lets it in again, with a new key.`,
		Example: "  evolve fleet revoke build-2",
		Args:    usage.Exact(1, "a name"),
		RunE:    func(_ *cobra.Command, args []string) error { return p.revoke(args[0]) },
	}
}

func (p Machine) revoke(name string) error {
	f, err := p.open()
	if err != nil {
		return err
	}
	if err := f.Revoke(name); err != nil {
		return err
	}
	return p.Print(map[string]any{"schema": 1, "name": name, "revoked": true},
		fmt.Sprintf("revoked the key of %s: a running server cuts it off within two seconds\n", name))
}

func (p Machine) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "invitations",
		Short:   "List who was invited, and whose key is valid",
		Long:    "invitations lists the machines that were invited: the role of each, when its key expires, and whether it was revoked. Keys that expired are listed until the next invitation.",
		Example: "  evolve fleet invitations\n  evolve fleet invitations --json",
		Args:    usage.None,
		RunE:    func(*cobra.Command, []string) error { return p.list() },
	}
}

func (p Machine) list() error {
	h, err := p.Home()
	if err != nil {
		return err
	}
	list, err := server.Invitations(h.Fleet())
	if err != nil {
		return err
	}
	type invitation struct {
		server.Invited
		State string `json:"state"`
	}
	all, now := make([]invitation, 0, len(list)), p.Now()
	var b bytes.Buffer
	table := plain.NewTable(&b)
	fmt.Fprintf(table, "NAME\tROLE\tKEY\tEXPIRES\tPUBLIC KEY\n")
	for _, i := range list {
		all = append(all, invitation{i, i.State(now)})
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", i.Name, i.Role, i.State(now), i.Expires.Format(time.DateOnly), i.ID)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(list) == 0 {
		b.Reset()
		b.WriteString("no machine is invited yet: `evolve fleet invite NAME` writes an invitation\n")
	}
	return p.Print(map[string]any{"schema": 1, "invitations": all}, b.String())
}

func (p Machine) prepareCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:     "prepare --fleet FILE",
		Short:   "Make the streams on a NATS server of your own",
		Long:    "prepare makes the streams and the bucket of a fleet, or brings them up to date, on a NATS server that `evolve fleet serve` does not run. docs/fleet.md says which rights its members need.",
		Example: "  evolve fleet prepare --fleet laptop.invitation.json",
		Args:    usage.None,
		RunE: func(c *cobra.Command, _ []string) error {
			conn, err := p.dial(c.Context(), file)
			if err != nil {
				return err
			}
			defer conn.Close()
			if err := fleet.Prepare(c.Context(), conn.JS); err != nil {
				return err
			}
			return p.Print(map[string]any{"schema": 1, "url": conn.In.URL, "prepared": true}, "the streams are there: workers can join "+conn.In.URL+"\n")
		},
	}
	c.Flags().StringVar(&file, "fleet", "", "file of an invitation as a coordinator (default that of config.yaml)")
	return c
}

func (p Machine) open() (*server.Folder, error) {
	h, err := p.Home()
	if err != nil {
		return nil, err
	}
	return server.Open(h.Fleet(), p.Now)
}
