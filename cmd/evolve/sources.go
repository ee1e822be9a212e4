package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/entire"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/pi"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// harvestFlags say which sessions are read.
type harvestFlags struct {
	source   string
	repo     string
	since    string
	exclude  []string
	headless bool
}

// An agentSource links one agent's reader under its --source name: a new source
// is one more line in agentSources, and one in agentReaders.
type agentSource struct {
	name string
	home func(*skill.Layout) (string, error)
	open func(home string, o readOptions) harvest.Source
}

// readOptions are what all readers are given.
type readOptions struct {
	since   time.Time
	exclude []string
	red     redact.Redactor
	exists  func(name string) bool // whether there is such a skill
}

var agentSources = []agentSource{
	{"claude", (*skill.Layout).Claude, func(h string, o readOptions) harvest.Source {
		return claude.New(h, claude.Options{Redactor: o.red, Since: o.since, Exclude: o.exclude, Exists: o.exists})
	}},
	{"codex", skill.AgentHome("CODEX_HOME", ".codex"), func(h string, o readOptions) harvest.Source {
		return codex.New(h, codex.Options{Redactor: o.red, Since: o.since, Exclude: o.exclude, Exists: o.exists})
	}},
	{"pi", skill.AgentHome("PI_CODING_AGENT_DIR", ".pi/agent"), func(h string, o readOptions) harvest.Source {
		return pi.New(h, pi.Options{Redactor: o.red, Since: o.since, Exclude: o.exclude, Exists: o.exists})
	}},
	{"copilot", skill.AgentHome("COPILOT_HOME", ".copilot"), func(h string, o readOptions) harvest.Source {
		return copilot.New(h, copilot.Options{Redactor: o.red, Since: o.since, Exclude: o.exclude, Exists: o.exists})
	}},
}

// agentReaders read the transcripts that Entire's checkpoints hold.
func agentReaders(exists func(name string) bool) map[string]entire.Read {
	return map[string]entire.Read{
		claude.Agent: func(ctx context.Context, r io.Reader, file string, red redact.Redactor) (*harvest.Session, []harvest.Problem, error) {
			return claude.Options{Redactor: red, Exists: exists}.Read(ctx, r, file)
		},
		codex.Agent: func(ctx context.Context, r io.Reader, file string, red redact.Redactor) (*harvest.Session, []harvest.Problem, error) {
			return codex.Options{Redactor: red, Exists: exists}.Read(ctx, r, file)
		},
		pi.Agent: func(ctx context.Context, r io.Reader, file string, red redact.Redactor) (*harvest.Session, []harvest.Problem, error) {
			return pi.Options{Redactor: red, Exists: exists}.Read(ctx, r, file)
		},
		copilot.Agent: func(ctx context.Context, r io.Reader, file string, red redact.Redactor) (*harvest.Session, []harvest.Problem, error) {
			return copilot.Options{Redactor: red, Exists: exists}.Read(ctx, r, file)
		},
	}
}

// skillNames reports of a name whether a skill has it, one that is broken too.
func (a *app) skillNames() (func(name string) bool, error) {
	reg, err := a.registry()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range reg.Entries {
		names[e.Name] = true
	}
	for _, e := range reg.Broken {
		names[e.Name] = true
	}
	for _, e := range reg.Aliases {
		names[e.Name] = true
	}
	return func(name string) bool { return names[name] }, nil
}

// sourceNames lists what --source takes.
func sourceNames() string {
	names := []string{"auto"}
	for _, s := range agentSources {
		names = append(names, s.name)
	}
	return strings.Join(append(names, "entire"), ", ")
}

// sources opens the session readers that flags ask for: with auto, of every
// agent whose folder exists, and of the current repository if it holds
// checkpoints: those that the user recorded. In the demo's folder auto reads the demo's own sessions alone.
func (a *app) sources(ctx context.Context, f harvestFlags) (out []ingest.Source, err error) {
	o := readOptions{exclude: f.exclude, red: a.redactor()}
	if o.exists, err = a.skillNames(); err != nil {
		return nil, err
	}
	if f.since != "" {
		d, err := parseAge(f.since)
		if err != nil {
			return nil, problem.Inputf("for example --since 30d, --since 12h", "--since %q is no age", f.since)
		}
		o.since = a.Now().Add(-d)
	}
	auto := f.source == "" || f.source == "auto"
	known := auto
	for _, s := range agentSources {
		if !auto && f.source != s.name || auto && s.name != "claude" && a.isDemo() {
			continue
		}
		known = true
		home, err := s.home(a.layout())
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(home); auto && err != nil && s.name != "claude" {
			continue
		}
		out = append(out, ingest.Source{Source: s.open(home, o), Where: home})
	}
	repo := f.repo
	if repo == "" {
		repo = "."
	}
	asked := f.source == "entire" || auto && f.repo != ""
	if asked || auto && !a.isDemo() {
		known = true
		if repo, err = filepath.Abs(repo); err != nil {
			return nil, fmt.Errorf("find the repository: %w", err)
		}
		eo := entire.Options{Redactor: o.red, Since: o.since, Exclude: o.exclude, Readers: agentReaders(o.exists), Exists: o.exists}
		if asked {
			out = append(out, ingest.Source{Source: entire.New(repo, eo), Where: repo})
		} else if entire.New(repo, eo).Holds(ctx) { // a cloned repository holds the sessions of strangers
			eo.Authors, eo.LeftOut = append([]string{}, git.Identities(ctx)...), a.sayLeftOut
			out = append(out, ingest.Source{Source: entire.New(repo, eo), Where: repo})
		}
	} else if f.repo != "" {
		return nil, problem.Inputf("add --source entire", "--repo is for Entire checkpoints, not for --source %s", f.source)
	}
	if !known {
		names := sourceNames()
		hint := "the sources are " + names
		if near := skill.Nearest(f.source, strings.Split(names, ", ")); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return nil, problem.Inputf(hint, "unknown source %q", f.source)
	}
	return out, nil
}

// sayLeftOut says how to read the checkpoints of the current repository that other
// people recorded, and those of which nobody can tell.
func (a *app) sayLeftOut(others, lost int) {
	say := func(n int, why string) {
		are := "are"
		if n == 1 {
			are = "is"
		}
		if n > 0 {
			a.Say("harvest: %s of this repository %s left out: %s; `evolve harvest --source entire` reads all", plain.Counted(n, "checkpoint"), are, why)
		}
	}
	say(others, "recorded under no address in your own git configuration")
	say(lost, "the recording commit is not here, as in a shallow clone")
}

// parseAge reads a Go duration or a number of days ("30d").
func parseAge(s string) (time.Duration, error) {
	var days int
	if n, err := fmt.Sscanf(s, "%dd", &days); err == nil && n == 1 && fmt.Sprintf("%dd", days) == s && days >= 0 {
		return time.Duration(days) * 24 * time.Hour, nil
	}
	return time.ParseDuration(s)
}
