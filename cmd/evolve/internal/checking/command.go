package checking

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	Terminal *term.Terminal
	Store    func(context.Context) (*store.Store, error)
	Layout   func() *skill.Layout
	Outbox   func() (*settings.Outbox, error)
	Flags    func(*pflag.FlagSet) // of a run
	// Runner prepares runs of that skill by a command that was typed so.
	Runner func(name, typed string) (*campaign.Runner, error)
	// Run tries a text of that skill.
	Run func(ctx context.Context, text []byte) error
}

// Command is `evolve check`.
func (p Parts) Command() *cobra.Command {
	from := &Source{}
	c := &cobra.Command{
		Use:   "check SKILL",
		Short: "Try a text from anywhere against the live one, without a search",
		Long: `check tries a text that you did not get from a run: a patch, a pull request, a file
that another agent wrote. Locked lines and what the text may do are looked at first;
then, after a forecast, a model reads whether it weakens a locked line, and requests that
no search saw are answered under the live text and under this one. The answer is one of: better (at most 5 % luck), probably better,
no difference seen, worse. What is not decided goes on with your next sessions, in a
night or by the same command.

--patch FILE is a unified diff of the live text, applied in memory, or a whole text;
- reads it from stdin. --against REF is the file as a branch or commit of its own
repository has it (origin/pr-12, FETCH_HEAD): its change since it left the default
branch, made in the live text. Nothing is checked out, fetched or installed.

A request that the text quotes is left out. If its writer has read your
sessions in another way, better means little: these requests are older than the text.`,
		Example: "  evolve check dataviz --patch fix.diff\n  evolve check AGENTS.md --against origin/pr-12\n  evolve check ~/.claude/CLAUDE.md --patch suggested.md --dry-run",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return problem.Inputf("for example `evolve check dataviz --patch fix.diff`", "check needs a skill or a file of instructions")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return p.check(c.Context(), args[0], *from, c.Flags().Lookup("dry-run").Value.String() == "true")
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&from.Patch, "patch", "", "a diff of the live text, or a whole text; - for stdin")
	fl.StringVar(&from.Against, "against", "", "a branch or commit that has the text")
	p.Flags(fl)
	return c
}

func (p Parts) check(ctx context.Context, arg string, from Source, dry bool) error {
	name, at := subject.Cut(arg)
	if at != "" {
		return problem.Inputf("`evolve compare` measures two stored texts, and `evolve --skill "+name+"` continues the trial of one", "check tries a text that is not stored yet, and %s names a stored one", arg)
	}
	if err := from.Check(); err != nil {
		return err
	}
	runner, err := p.Runner(name, "check --patch="+from.Patch+" --against="+from.Against)
	if err != nil {
		return err
	}
	text, err := p.examine(ctx, runner, name, from, dry)
	if text == nil || err != nil {
		return err
	}
	return p.Run(ctx, text)
}
