package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/entire"
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

// A foundSource is a reader with the place that it reads.
type foundSource struct {
	harvest.Source
	where string
}

// found is what a harvest took from one source.
type found struct {
	Source      string `json:"source"`
	Where       string `json:"where"`
	Sessions    int    `json:"sessions"` // new or changed
	Invocations int    `json:"invocations"`
}

// An agentSource links one agent's reader under its --source name: a new source
// is one more line in agentSources.
type agentSource struct {
	name string
	home func(*app) (string, error)
	open func(home string, since time.Time, exclude []string, red redact.Redactor) harvest.Source
}

var agentSources = []agentSource{
	{"claude", (*app).claude, func(h string, t time.Time, x []string, red redact.Redactor) harvest.Source {
		return claude.New(h, claude.Options{Redactor: red, Since: t, Exclude: x})
	}},
	{"codex", agentHome("CODEX_HOME", ".codex"), func(h string, t time.Time, x []string, red redact.Redactor) harvest.Source {
		return codex.New(h, codex.Options{Redactor: red, Since: t, Exclude: x})
	}},
	{"pi", agentHome("PI_CODING_AGENT_DIR", ".pi/agent"), func(h string, t time.Time, x []string, red redact.Redactor) harvest.Source {
		return pi.New(h, pi.Options{Redactor: red, Since: t, Exclude: x})
	}},
	{"copilot", agentHome("COPILOT_HOME", ".copilot"), func(h string, t time.Time, x []string, red redact.Redactor) harvest.Source {
		return copilot.New(h, copilot.Options{Redactor: red, Since: t, Exclude: x})
	}},
}

// agentReaders read the transcripts that Entire's checkpoints hold.
var agentReaders = map[string]entire.Read{
	claude.Agent: claude.Read, codex.Agent: codex.Read, pi.Agent: pi.Read, copilot.Agent: copilot.Read,
}

// agentHome finds an agent's folder by its variable, else below the home folder.
func agentHome(variable, below string) func(*app) (string, error) {
	return func(a *app) (string, error) {
		if h := a.getenv(variable); h != "" {
			return filepath.Abs(h)
		}
		h, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home folder: %w", err)
		}
		return filepath.Join(h, filepath.FromSlash(below)), nil
	}
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
// agent whose folder exists, and of the current repository where it holds
// checkpoints.
func (a *app) sources(ctx context.Context, f harvestFlags) (out []foundSource, err error) {
	var since time.Time
	if f.since != "" {
		d, err := parseAge(f.since)
		if err != nil {
			return nil, usage("for example --since 30d, --since 12h", "--since %q is no age", f.since)
		}
		since = a.now().Add(-d)
	}
	auto := f.source == "" || f.source == "auto"
	known, red := auto, a.redactor()
	for _, s := range agentSources {
		if !auto && f.source != s.name {
			continue
		}
		known = true
		home, err := s.home(a)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(home); auto && err != nil && s.name != "claude" {
			continue
		}
		out = append(out, foundSource{s.open(home, since, f.exclude, red), home})
	}
	repo := f.repo
	if repo == "" {
		repo = "."
	}
	if f.source == "entire" || auto && (f.repo != "" || entire.Holds(ctx, repo)) {
		known = true
		if repo, err = filepath.Abs(repo); err != nil {
			return nil, fmt.Errorf("find the repository: %w", err)
		}
		out = append(out, foundSource{entire.New(repo, entire.Options{Redactor: red, Since: since, Exclude: f.exclude, Readers: agentReaders}), repo})
	} else if f.repo != "" {
		return nil, usage("add --source entire", "--repo is for Entire checkpoints, not for --source %s", f.source)
	}
	if !known {
		names := sourceNames()
		hint := "the sources are " + names
		if near := skill.Nearest(f.source, strings.Split(names, ", ")); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return nil, usage(hint, "unknown source %q", f.source)
	}
	return out, nil
}

// parseAge reads a Go duration or a number of days ("30d").
func parseAge(s string) (time.Duration, error) {
	var days int
	if n, err := fmt.Sscanf(s, "%dd", &days); err == nil && n == 1 && fmt.Sprintf("%dd", days) == s && days >= 0 {
		return time.Duration(days) * 24 * time.Hour, nil
	}
	return time.ParseDuration(s)
}
