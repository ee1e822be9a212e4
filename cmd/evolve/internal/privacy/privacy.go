// Package privacy is the command that shows which text may go to whom, and notes what its
// owner agrees to.
package privacy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir/policy"
	"github.com/spf13/cobra"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	Terminal *term.Terminal
	Store    func(context.Context) (*store.Store, error)
	Keeper   func() Keeper
	Opener   func() *backend.Opener
	Control  func() *outgoing.Control
}

// A Keeper says what is kept of agents' work.
type Keeper interface {
	Keeps(context.Context, *store.Store) (string, error)
}

// Command is `evolve privacy`.
func (p Parts) Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "privacy",
		Short: "Which projects are read, and who may get their text",
		Long: `privacy shows which projects have sessions here, which vendors may get their text,
how long and how much is kept of them, and where requests would go with the agent and the models that are configured now, with
how much text at most. A run uses only what all of them may get; ` + "`evolve --dry-run`" + `
says how much that would be. The kinds of requests are
replay (an agent does what a case asks for), mutate (a model writes a text of a
skill), judge (a model grades answers, or reads what a new text changes) and mine (a model turns corrections into
checks). Text of a project goes to the vendor whose agent recorded it, and to those
that ` + "`evolve projects allow PATH --to VENDOR`" + ` names. Before the first request of a
kind is sent to a vendor, it is shown whole and asked for.`,
		Example: "  evolve privacy\n  evolve privacy --json\n  evolve privacy agree openai judge",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return problem.Inputf("`evolve privacy agree VENDOR`, or `evolve privacy`", "privacy takes no %q", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return p.show(c.Context()) },
	}
	c.AddCommand(&cobra.Command{
		Use:   "agree VENDOR [KIND...]",
		Short: "Agree to kinds of requests without seeing the first",
		Long: `agree notes that requests of these kinds (replay, mutate, judge, mine; all if none is
named) may be sent to a vendor without showing the first of each. setup, which is
named or not agreed to, lets replays take your own instructions, rules and notes
to a vendor that is not the agent's own. It allows no
project: ` + "`evolve projects allow`" + ` does.`,
		Example: "  evolve privacy agree openai\n  evolve privacy agree anthropic replay mutate",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return problem.Inputf("usage: "+c.UseLine(), "%s needs a vendor", c.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.agree(args[0], args[1:]) },
	})
	return c
}

func (p Parts) show(ctx context.Context) error {
	db, err := p.Store(ctx)
	if err != nil {
		return err
	}
	g, open := p.Control(), p.Opener()
	spec := agent.Spec{Searches: true}
	var to map[string][]agent.Recipient
	who := ""
	if err := open.Resolve(&spec); err != nil {
		who = err.Error()
	} else {
		who, to = spec.Describe(), open.Recipients(&spec)
	}
	v, err := g.Overview(ctx, db, to, who)
	if err != nil {
		return err
	}
	words := ""
	fixed, err := g.Policy()
	if err != nil {
		words = err.Error()
	} else if fixed != nil {
		words = policy.Path + " limits what you may choose: `evolve doctor` shows it"
	}
	conf, err := open.Config()
	if err != nil {
		return err
	}
	keep, err := conf.Retention(open.Layout, fixed, time.Time{})
	if err != nil {
		return err
	}
	moments, err := p.Keeper().Keeps(ctx, db)
	if err != nil {
		return err
	}
	besides := "nothing personal: `personal: [mail, phone, card, iban]` in config.yaml"
	if len(conf.Personal) > 0 {
		besides = strings.Join(conf.Personal, ", ")
	}
	v.Settings = append(v.Settings, [2]string{"kept", keep.Words}, [2]string{"moments", moments}, [2]string{"redacted", "secrets, and " + besides})
	if words != "" {
		v.Settings = append(v.Settings, [2]string{"policy", words})
	}
	return p.Terminal.Print(v, v.String())
}

func (p Parts) agree(vendor string, kinds []string) error {
	vendor, err := outgoing.Vendor(vendor)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		if known := append(slices.Clone(agent.Requests), agent.Setup); !slices.Contains(known, kind) {
			hint := "the kinds are " + strings.Join(known, ", ")
			if near := skill.Nearest(kind, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			return problem.Inputf(hint, "unknown kind of requests %q", kind)
		}
	}
	if len(kinds) == 0 {
		kinds = agent.Requests
	}
	if err := outgoing.Agree(p.Control().File, vendor, kinds...); err != nil {
		return err
	}
	return p.Terminal.Print(map[string]any{"schema": 1, "vendor": vendor, "agreed": kinds},
		fmt.Sprintf("%s requests may go to %s, of projects whose text it may get: `evolve privacy` shows them\n", strings.Join(kinds, ", "), vendor))
}
