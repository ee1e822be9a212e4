// Package start is `evolve init`: it looks what is here, asks what only its owner can decide,
// and writes that down.
package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/doctor"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/envfile"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/projects"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/timer"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/gate"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	Terminal *term.Terminal
	Home     func() (datadir.Dir, error)
	Layout   func() *skill.Layout
	Opener   func() *backend.Opener
	Desk     func() *projects.Desk
	Timer    func(context.Context) (*timer.Timer, error) // that is installed; nil for none
	// Install installs a timer of nights with these flags.
	Install func(ctx context.Context, at string, night []string) error
	// Harvest reads the sessions that may be read, and makes cases of them.
	Harvest func(context.Context) (*store.Store, []ingest.SkillCases, error)
}

type flags struct {
	answers
	envFile string
	yes     bool
}

// Command is `evolve init`.
func (p Parts) Command() *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use:   "init",
		Short: "Set up: find what is here, ask five questions, write config.yaml",
		Long: `init looks which agents, keys, sessions and skills are here, asks at most five
questions, each with a default, and writes config.yaml and which projects may be
read. It reads no session before you have said which, and sends nothing. Then it
says of each skill what you can expect at the pace of your uses. Ctrl-C writes
nothing; a second init asks only what is still open.

Each question has a flag. --yes takes the defaults for the others: no project is
read, the agent that has a key, $2 a night, no nights, nothing on trial.`,
		Example: "  evolve init\n  evolve init --projects all --agent claude --nights off\n  evolve init --projects ~/shop --night-budget 1 --nights 03:17 --trial-installs off --env-file ~/.config/evolve/env",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return problem.Inputf("`evolve init` asks, and its flags answer", "init takes no %q", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			f.given = map[string]bool{}
			for _, name := range []string{"projects", "agent", "night-budget", "nights", "trial-installs"} {
				f.given[name] = c.Flags().Changed(name)
			}
			return p.run(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&f.projects, "projects", nil, "which projects may be read: all, none, or folders")
	fl.StringVar(&f.agent, "agent", "", "which agent answers in replays")
	fl.StringVar(&f.model, "model", "", "its model (default: the agent's own)")
	fl.Float64Var(&f.budget, "night-budget", defaultBudget, "dollars at list price that a night may take at most")
	fl.StringVar(&f.nights, "nights", off, "when a night begins every day, for example 03:17, or off")
	fl.StringVar(&f.trials, "trial-installs", off, "whether a nightly run may put a text that is probably better in place, as a trial install: on, or off")
	fl.StringVar(&f.envFile, "env-file", "", "the file with the keys of nights (default, if it is there: ~/.config/evolve/env)")
	fl.BoolVarP(&f.yes, "yes", "y", false, "take the defaults instead of asking")
	return c
}

// A result is what `evolve init --json` prints: schema 1.
type result struct {
	Schema   int               `json:"schema"`
	Config   string            `json:"config"`
	Changed  bool              `json:"changed"` // the configuration
	Agent    string            `json:"agent,omitempty"`
	Model    string            `json:"model,omitempty"`
	Budget   *float64          `json:"night_max_cost_usd"`
	Nights   string            `json:"nights"`
	Projects bool              `json:"projects_decided"`
	Skills   []*expect.Outlook `json:"skills"`
	Next     string            `json:"next"`
}

func (p Parts) run(ctx context.Context, f *flags) error {
	home, err := p.Home()
	if err != nil {
		return err
	}
	conf, err := backend.ReadConfig(home.Config()) // a broken one is refused, with its line
	if err != nil {
		return err
	}
	desk := p.Desk()
	if desk.Demo {
		return problem.Inputf("unset EVOLVE_HOME", "a demo is set up already")
	}
	t, err := p.Timer(ctx)
	if err != nil {
		return err
	}
	getenv, err := p.keys(f)
	if err != nil {
		return err
	}
	s := &setup{Parts: p, flags: f, conf: conf, timer: t, desk: desk, getenv: getenv}
	if err := s.check(); err != nil {
		return err
	}
	open := s.open()
	terminal := term.IsTerminal(p.Terminal.Stdin) && term.IsTerminal(p.Terminal.Stderr) && !f.yes
	if len(open) > 0 && !terminal && !f.yes {
		return problem.Inputf("answer by flags: "+strings.Join(open, " ")+"; or --yes, which reads no project and starts no nights",
			"init has %s, and there is no terminal to answer on", plain.Counted(len(open), "question"))
	}
	if err := s.show(ctx, home); err != nil {
		return err
	}
	if terminal {
		if err := s.ask(ctx); err != nil {
			return interrupted(err)
		}
	} else if err := s.defaults(); err != nil {
		return err
	}
	if err := s.checkAgent(); err != nil {
		return err
	}
	changed, err := s.write(home)
	if err != nil {
		return err
	}
	var late error // what else was answered is in place
	if s.night != "" {
		if late = p.Install(ctx, s.night, s.nightFlags()); late != nil {
			late = problem.Hinted(late, "everything else is set; "+hintOf(late))
		}
	}
	r := &result{Schema: 1, Config: home.Config(), Changed: changed, Agent: conf.Agent, Model: conf.Model, Budget: conf.NightMaxCostUSD, Nights: off}
	if s.chosen != "" {
		r.Agent, r.Model = s.chosen, s.model
	}
	if s.spend != nil {
		r.Budget = s.spend
	}
	if t, err := p.Timer(ctx); err == nil && t != nil {
		r.Nights = t.At()
	}
	r.Projects = !desk.Undecided()
	if err := s.expect(ctx, r); err != nil {
		return errors.Join(late, err)
	}
	return errors.Join(late, p.Terminal.Print(r, r.text()))
}

func hintOf(err error) string { _, hint := problem.Of(err); return hint }

// interrupted is the error of who stops in the middle.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return &problem.Error{Kind: problem.Interrupted, Err: errors.New("interrupted: nothing was written"), Hint: "`evolve init` asks again"}
	}
	return err
}

// keys reads the environment file of nights: the one that is named, else the usual one.
func (p Parts) keys(f *flags) (func(string) string, error) {
	getenv := p.Terminal.Getenv
	if f.envFile == "" {
		dir := getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(dir) {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, fmt.Errorf("find the home folder: %w", err)
			}
			dir = filepath.Join(home, ".config")
		}
		usual := filepath.Join(dir, "evolve", "env")
		if _, err := os.Stat(usual); err != nil {
			return getenv, nil
		}
		f.envFile = usual
	}
	at, err := filepath.Abs(f.envFile)
	if err != nil {
		return nil, fmt.Errorf("find --env-file: %w", err)
	}
	f.envFile = at
	vars, err := envfile.Read(at)
	if err != nil {
		return nil, err
	}
	return vars.Over(getenv), nil
}

// write puts the answers in place: first what may be read, then the configuration.
func (s *setup) write(home datadir.Dir) (changed bool, err error) {
	f, err := edit(home.Config(), s.settings())
	if err != nil {
		return false, err
	}
	if s.change != nil {
		if err := consent.Update(home.Projects(), s.change); err != nil {
			return false, err
		}
	}
	if !f.changed() {
		return false, nil
	}
	if !s.Terminal.JSON {
		fmt.Fprint(s.Terminal.Stdout, f.words())
	}
	return true, f.write()
}

// mostSkills is how many skills are printed; --json has all.
const mostSkills = 8

// expect reads the sessions, if that is allowed, and forecasts each skill.
func (s *setup) expect(ctx context.Context, r *result) error {
	r.Skills = []*expect.Outlook{}
	if !r.Projects && s.sessionsHere == 0 {
		r.Next = "`evolve demo` shows every step; there is no session here to learn from yet"
		return nil
	}
	if !r.Projects {
		r.Next = "`evolve projects allow --all`, or `evolve projects allow PATH`: no session is read before"
		return nil
	}
	db, skills, err := s.Harvest(ctx)
	if err != nil {
		return err
	}
	r.Next = "`evolve corrections` shows what you corrected; `evolve status` what is known of each skill"
	for _, k := range skills {
		if k.Uses == 0 || k.Draw != nil {
			continue
		}
		o, err := expect.OutlookOf(ctx, db, k.Skill, gate.Replays)
		if err != nil {
			return err
		}
		if r.Skills = append(r.Skills, o); len(r.Skills) == 1 && o.Corrected > 0 {
			r.Next = "`evolve corrections " + plain.Arg(k.Skill) + "` shows what you corrected"
		}
	}
	return nil
}

// text is the end of what init prints.
func (r *result) text() string {
	var b strings.Builder
	t := plain.NewTable(&b)
	weeks := false
	for i, o := range r.Skills {
		weeks = weeks || o.Proved != nil
		if i == mostSkills {
			fmt.Fprintf(t, "and %d more\t`evolve status --all`\n", len(r.Skills)-mostSkills)
			break
		}
		fmt.Fprintf(t, "%s\t%s\n", plain.Line(o.Skill), o.Words())
	}
	_ = t.Flush() // into memory
	if weeks {
		b.WriteString("(in four trials of five)\n")
	}
	return b.String() + "next: " + r.Next + "\n"
}

// agents are the findings on agents, in the environment that nights have.
func (s *setup) agents(ctx context.Context) []doctor.Finding {
	open := s.Opener()
	open.Getenv = s.getenv
	d := &doctor.Doctor{Home: s.Home, Layout: s.Layout(), Opener: open, Getenv: s.getenv, KeyEnv: "OPENAI_API_KEY", Timeout: agentWait}
	return d.Agents(ctx)
}
