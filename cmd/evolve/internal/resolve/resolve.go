// Package resolve is the command that shows which skill a message with $name would use.
package resolve

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/spf13/cobra"
)

// Parts are what the command works with.
type Parts struct {
	Terminal *term.Terminal
	Layout   func() *skill.Layout
	// Unknown ends the program as after bad input; what was wrong is printed by then.
	Unknown error
}

// Command is `evolve resolve`.
func (p Parts) Command() *cobra.Command {
	return &cobra.Command{
		Use:   "resolve TEXT",
		Short: "Show which skill a message with $name would use",
		Long: `resolve reads a message as an agent would that knows $name: "$dataviz plot the
weeks" asks for the skill dataviz. It prints the skill and its tools, and runs
nothing. If TEXT is -, it is read from stdin, so that the $ needs no quotes.`,
		Example: "  evolve resolve '$dataviz plot the weeks'\n  pbpaste | evolve resolve -",
		Args:    usage.Exact(1, "one text, quoted"),
		RunE:    func(_ *cobra.Command, args []string) error { return p.run(args[0]) },
	}
}

// A resolved is what `evolve resolve --json` prints: schema 1.
type resolved struct {
	Schema    int             `json:"schema"`
	Outcome   skill.Outcome   `json:"outcome"`
	Activated *string         `json:"activated"`
	Task      string          `json:"task"`
	Messages  []string        `json:"messages"`
	Mentions  []skill.Mention `json:"mentions"`
	Skill     *resolvedSkill  `json:"skill"`
}

// A resolvedSkill is the skill that would be used. Tools are those that it
// declares; an agent's own settings still decide what it may do.
type resolvedSkill struct {
	Name  string   `json:"name"`
	Path  string   `json:"path"`
	Tools []string `json:"allowed_tools"`
}

// maxMessage is the longest message that is read from stdin, in bytes.
const maxMessage = 16 << 20

func (p Parts) run(text string) error {
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(p.Terminal.Stdin, maxMessage+1))
		if err != nil {
			return fmt.Errorf("read the message: %w", err)
		}
		if len(b) > maxMessage {
			return problem.Inputf("", "the message is longer than %d MiB", maxMessage>>20)
		}
		text = strings.TrimRight(string(b), "\r\n")
	}
	reg, err := p.Layout().Registry()
	if err != nil {
		return err
	}
	docs := map[string]*skill.Document{}
	var callable []skill.Callable
	for _, e := range reg.Entries {
		c := skill.Callable{Name: e.Name, Aliases: reg.AliasesOf(e.Name)}
		// A skill that cannot be read can still be named.
		if b, err := skill.ReadFile(e.Path); err == nil {
			if doc, err := skill.Parse(b, skill.Options{}); err == nil {
				docs[e.Name] = doc
				if n := doc.Name(); n != e.Name {
					c.Aliases = append(c.Aliases, n)
				}
			}
		}
		callable = append(callable, c)
	}
	r := skill.Resolve(text, callable)
	out := &resolved{Schema: 1, Outcome: r.Outcome, Task: r.Task,
		Messages: append([]string{}, r.Messages...), Mentions: append([]skill.Mention{}, r.Mentions...)}
	if r.Activated != "" {
		e, err := reg.Lookup(r.Activated)
		if err != nil {
			return err
		}
		doc := docs[e.Name]
		if doc == nil {
			return errors.New("read skill " + e.Name + ": it changed meanwhile")
		}
		out.Activated = &r.Activated
		out.Skill = &resolvedSkill{e.Name, e.Path, append([]string{}, doc.AllowedTools()...)}
	}
	if err := p.print(out); err != nil {
		return err
	}
	if out.Skill == nil && out.Outcome != skill.OutcomeNone { // it was asked for
		return p.Unknown
	}
	return nil
}

func (p Parts) print(r *resolved) error {
	var b strings.Builder
	for _, m := range r.Messages {
		// The message has to be an agent's, byte for byte; its command is not
		// one of evolve's.
		fmt.Fprintln(&b, strings.Replace(m, "Run /skill list to see available skills.", "`evolve status --all` lists the skills that were found.", 1))
	}
	if s := r.Skill; s != nil {
		tools := "none declared: the agent's own settings decide"
		if len(s.Tools) > 0 {
			tools = strings.Join(s.Tools, ", ")
		}
		task := "none yet: the skill waits for the next message"
		if r.Task != "" {
			task = strings.ReplaceAll(r.Task, "\n", "\n        ")
		}
		fmt.Fprintf(&b, "  file  %s\n  tools %s\n  task  %s\n", s.Path, tools, task)
	}
	switch {
	case r.Outcome == skill.OutcomeNone:
		fmt.Fprintln(&b, "No skill is mentioned: this is an ordinary message.")
	case r.Skill == nil:
		fmt.Fprintln(&b, "No skill would be used.")
	}
	return p.Terminal.Print(r, b.String())
}
