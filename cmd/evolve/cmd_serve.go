package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/browser"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/guard"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/pages"
	"github.com/skill-evolve/evolve/eval/fleet/watch"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/spf13/cobra"
)

type serveFlags struct {
	port int
	open bool
}

func newServeCommand(a *global) *cobra.Command {
	f := &serveFlags{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Look and decide in a browser",
		Long: `serve shows pages on this machine: the status of all skills, runs in progress,
nights, versions, cases and what waits for you. You can decide there too:
approve, reject, promote, roll back, edit and drop cases, review answers blind.
A page does what the command of the same name does. The server listens on
127.0.0.1 only, and lets in only browsers that opened the printed address, which
holds a new token each time. Ctrl-C ends it.`,
		Example: "  evolve serve\n  evolve serve --open\n  evolve serve --port 3700",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runServe(c.Context(), a, f) },
	}
	c.Flags().IntVar(&f.port, "port", 0, "port to listen on (0: any free port)")
	c.Flags().BoolVar(&f.open, "open", false, "open the page in the browser")
	return c
}

func runServe(ctx context.Context, a *global, f *serveFlags) error {
	if f.port < 0 || f.port > 65535 {
		return problem.Inputf("ports are 0 to 65535", "--port %d is not a port", f.port)
	}
	db, err := a.existingStore(ctx)
	if err != nil {
		return err
	}
	if db == nil {
		return problem.Inputf("`evolve harvest` reads your sessions; `evolve demo --keep DIR` provides made-up ones", "there is nothing to show yet")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return &problem.Error{Err: fmt.Errorf("port %d is in use", f.port), Hint: "without --port, a free port is used"}
	} else if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer l.Close()
	p := served(a, db)
	s := serve.New(p, l.Addr().(*net.TCPAddr).Port)
	s.Fleet = fleetOf(a).Known()
	s.Explain, s.Bug = p.Explain, a.tellBug
	if a.JSON {
		err = a.PrintJSON(map[string]any{"schema": 1, "url": s.Address()})
	} else {
		_, err = fmt.Fprintln(a.Stdout, s.Address())
	}
	if err != nil {
		return err
	}
	if f.open {
		home, err := a.home()
		if err != nil {
			return err
		}
		defer browser.Open(ctx, string(home), a.Getenv("BROWSER"), s.Address(), a.Say)()
	}
	a.Say("do not share this address; Ctrl-C ends the server")
	return s.Serve(ctx, l, log.New(io.Discard, "", 0)) // a page says what went wrong
}

// served is the program behind the pages. db serves the requests that change
// nothing; others open a database of their own.
func served(a *global, db *store.Store) *pages.Program {
	base := *a // not changed any more: requests come several at a time
	return &pages.Program{Clean: base.clean, Classify: advice.Of, Seed: uint64(a.Now().UnixNano()),
		Begin: func(ctx context.Context, to datadir.Access, say func(string)) (*pages.Command, error) {
			if to != datadir.Looks {
				if err := guard.Word(base.machine.typist, "a decision on these pages"); err != nil {
					return nil, err
				}
			}
			c := base
			c.Stdin, c.Stdout, c.Stderr = strings.NewReader(""), io.Discard, io.Discard
			c.JSON, c.Quiet, c.conf, c.Notice = false, false, nil, say
			c.access, c.open = to, opened{db: db}
			shut := func() error { return nil }
			if to != datadir.Looks {
				c.open, shut = opened{}, c.close
			}
			k, err := commandOf(ctx, &c)
			if err != nil {
				return nil, errors.Join(err, shut())
			}
			k.Close = shut
			return k, nil
		}}
}

// commandOf is the command behind a request.
func commandOf(ctx context.Context, a *global) (*pages.Command, error) {
	db, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	rd, err := a.reader(db)
	if err != nil {
		return nil, err
	}
	g, err := a.ingester(db)
	if err != nil {
		return nil, err
	}
	in, err := a.installer(db)
	if err != nil {
		return nil, err
	}
	desk, err := approvalDesk(a, db)
	return &pages.Command{Store: db, Layout: a.layout(), Installer: in, Reader: rd, Cases: g, Desk: desk,
		Fleet:    func(ctx context.Context) (*watch.State, error) { return fleetOf(a).State(ctx, "") },
		Forecast: func(ctx context.Context, name string) (*campaign.Forecast, error) { return forecastFor(ctx, a, name) },
		Agree: func(ctx context.Context, p *release.Plan, yes bool) error {
			return agree(ctx, a, db, p, promoteFlags{unproven: yes})
		}}, err
}
