package backend

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/git"
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

// SourceOptions say which sessions are read.
type SourceOptions struct {
	Name     string    // one of SourceNames; "" is auto
	Repo     string    // the git repository whose Entire checkpoints are read; "" is the current one
	Since    time.Time // sessions that are older are passed over; zero: none
	Exclude  []string  // patterns of folders whose sessions are never read
	Demo     bool      // auto reads the demo's own sessions alone
	Layout   *skill.Layout
	Redactor redact.Redactor
	// LeftOut is called with the number of checkpoints of the current repository that
	// are left out: those that other people recorded, and those whose commit is not here.
	LeftOut func(others, lost int)
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
func skillNames(l *skill.Layout) (func(name string) bool, error) {
	reg, err := l.Registry()
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

// SourceNames are the names that --source takes.
func SourceNames() []string {
	names := []string{"auto"}
	for _, s := range agentSources {
		names = append(names, s.name)
	}
	return append(names, "entire")
}

// Sources opens the session readers that o asks for: with auto, of every agent whose
// folder exists, and of the current repository if it holds checkpoints: those that the
// user recorded.
func Sources(ctx context.Context, o SourceOptions) (out []ingest.Source, err error) {
	ro := readOptions{since: o.Since, exclude: o.Exclude, red: o.Redactor}
	if ro.exists, err = skillNames(o.Layout); err != nil {
		return nil, err
	}
	auto := o.Name == "" || o.Name == "auto"
	known := auto
	for _, s := range agentSources {
		if !auto && o.Name != s.name || auto && s.name != "claude" && o.Demo {
			continue
		}
		known = true
		home, err := s.home(o.Layout)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(home); auto && err != nil && s.name != "claude" {
			continue
		}
		out = append(out, ingest.Source{Source: s.open(home, ro), Where: home})
	}
	repo := o.Repo
	if repo == "" {
		repo = "."
	}
	asked := o.Name == "entire" || auto && o.Repo != ""
	if asked || auto && !o.Demo {
		known = true
		if repo, err = filepath.Abs(repo); err != nil {
			return nil, fmt.Errorf("find the repository: %w", err)
		}
		eo := entire.Options{Redactor: o.Redactor, Since: o.Since, Exclude: o.Exclude, Readers: agentReaders(ro.exists), Exists: ro.exists}
		if asked {
			out = append(out, ingest.Source{Source: entire.New(repo, eo), Where: repo})
		} else if entire.New(repo, eo).Holds(ctx) { // a cloned repository holds the sessions of strangers
			eo.Authors, eo.LeftOut = append([]string{}, git.Identities(ctx)...), o.LeftOut
			out = append(out, ingest.Source{Source: entire.New(repo, eo), Where: repo})
		}
	} else if o.Repo != "" {
		return nil, problem.Inputf("add --source entire", "--repo is for Entire checkpoints, not for --source %s", o.Name)
	}
	if !known {
		names := SourceNames()
		hint := "the sources are " + strings.Join(names, ", ")
		if near := skill.Nearest(o.Name, names); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return nil, problem.Inputf(hint, "unknown source %q", o.Name)
	}
	return out, nil
}
