package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/spf13/pflag"
)

type flagT = pflag.Flag

// An app is what all commands share: the streams, the environment, the global
// flags and the store.
type app struct {
	term.Terminal

	claudeHome string
	skillDir   string

	// sandboxed is set while evolve demo runs: see isDemo.
	sandboxed bool
	// passing: they are removed when the command ends. kept, else, is what to type for
	// other commands to work in them.
	passing bool
	kept    string

	access  datadir.Access
	db      *store.Store    // opened for that access
	scratch *scratch.Ledger // of the same data folder; nil where nothing may be written
	conf    *backend.Config // nil until it is read
	keys    *redact.Keys    // those that backends were given, and the environment's
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{Terminal: term.New(stdin, stdout, stderr, os.Getenv, time.Now), keys: new(redact.Keys)}
	a.Terminal.Clean = a.clean
	return a
}

// copied is a for a command within a command, whose streams and flags differ.
func (a *app) copied() *app {
	c := *a
	c.Terminal.Clean = c.clean
	return &c
}

func (a *app) globalFlags(f *pflag.FlagSet) {
	f.BoolVar(&a.JSON, "json", false, "print the result as JSON")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "no progress on stderr")
	f.StringVar(&a.claudeHome, "claude-home", "", "Claude Code's folder (default $CLAUDE_CONFIG_DIR or ~/.claude)")
	f.StringVar(&a.skillDir, "skills-dir", "", "folder that holds the skills (default <claude-home>/skills)")
}

// home is the folder of evolve's own data.
func (a *app) home() (datadir.Dir, error) { return datadir.Find(a.Getenv) }

// layout is where this person's agents keep their skills.
func (a *app) layout() *skill.Layout {
	return &skill.Layout{Getenv: a.Getenv, ClaudeHome: a.claudeHome, SkillsDir: a.skillDir, Configured: func() ([]string, error) {
		conf, err := a.config()
		if err != nil {
			return nil, err
		}
		return conf.Targets, nil
	}}
}

// texts opens a skill for reading: nothing is recorded or changed.
func (a *app) texts(ctx context.Context, name string) (*candidate.Texts, error) {
	db, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	return candidate.Open(ctx, db, a.layout(), name)
}

func (a *app) openTrial(ctx context.Context, db *store.Store, live *skill.Live, evolves string) (*tournament.TrialRecord, error) {
	return candidate.OpenTrial(ctx, db, live, evolves)
}

func (a *app) claude() (string, error)                     { return a.layout().Claude() }
func (a *app) skillsDir() (string, error)                  { return a.layout().Skills() }
func (a *app) registry() (*skill.Registry, error)          { return a.layout().Registry() }
func (a *app) skill(name string) (*skill.Live, error)      { return a.layout().Live(name) }
func (a *app) targets(to []string) ([]skill.Target, error) { return a.layout().Targets(to) }
func (a *app) targetOf(name, path string) string           { return a.layout().TargetOf(name, path) }

// store opens the database, once, for what the command may do. Where there is none, a
// command that only looks gets an empty one, and none is made.
func (a *app) store(ctx context.Context) (*store.Store, error) {
	if a.db != nil {
		return a.db, nil
	}
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	path := h.Database()
	switch a.access {
	case datadir.Looks:
		if a.db, err = store.OpenReadOnly(ctx, path); errors.Is(err, fs.ErrNotExist) {
			a.db, err = store.OpenEmpty(ctx)
		}
	case datadir.Tries:
		a.db, err = store.OpenCopy(ctx, path)
	default:
		if a.db, err = store.Open(ctx, path); err == nil {
			a.scratch = scratch.Keep(string(h))
		}
	}
	return a.db, err
}

// existingStore is store, but nil where there is no database yet.
func (a *app) existingStore(ctx context.Context) (*store.Store, error) {
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	path := h.Database()
	if err := store.Lost(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return a.store(ctx)
}

func (a *app) close() error {
	if a.db == nil {
		return nil
	}
	err := errors.Join(a.db.Close(), a.scratch.Close())
	a.db, a.scratch = nil, nil
	if err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}
