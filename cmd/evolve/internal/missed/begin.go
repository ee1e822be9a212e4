package missed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/envfile"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/store/datadir"
)

// A Beginning is that of a night: with which keys, and whether an agent can be asked.
type Beginning struct {
	Terminal *term.Terminal
	Dir      datadir.Dir
	Opener   *backend.Opener
	EnvFile  string // with keys; "" for none
	Ping     bool   // ask the agent one tiny question, and stop
	Looks    bool   // nothing is kept of this night
}

// Run runs a night with its keys, and keeps why it can ask no agent, if it cannot. Such a
// night still reads the sessions and watches what is installed.
func (b *Beginning) Run(ctx context.Context, spec agent.Spec, night func() error) error {
	keep := func(why error) error {
		if b.Looks || b.Ping {
			return nil
		}
		return Write(b.Dir, b.Terminal.Now(), why)
	}
	if b.EnvFile != "" {
		vars, err := envfile.Read(b.EnvFile)
		if err != nil {
			return errors.Join(err, keep(err))
		}
		b.Terminal.Getenv = vars.Over(b.Terminal.Getenv)
		b.Opener.Getenv = b.Terminal.Getenv
		for _, value := range vars {
			b.Opener.Keys.Add(value)
		}
	}
	if b.Ping {
		lines, err := b.Opener.Ping(ctx, &spec)
		fmt.Fprint(b.Terminal.Stdout, strings.Join(append(lines, ""), "\n"))
		return err
	}
	why := b.Opener.Ready(&spec)
	if why != nil {
		b.Terminal.Tell("this night can ask no agent: %v", why)
	}
	if err := keep(why); err != nil {
		return err
	}
	return night()
}
