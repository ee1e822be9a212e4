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
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/spf13/pflag"
)

type flagT = pflag.Flag

// A global is what all commands share: the streams, the environment, the global
// flags and the store.
type global struct {
	term.Terminal
	folders
	machine machine

	demo   demoRun
	access datadir.Access
	open   opened          // for that access
	conf   *backend.Config // nil until it is read
	keys   *redact.Keys    // those that backends were given, and the environment's
}

// folders are the global flags.
type folders struct{ claudeHome, skillDir string }

// A demoRun describes the folders of a running `evolve demo`.
type demoRun struct {
	sandboxed bool // it runs: see isDemo
	// passing: the folders are removed when the command ends. kept,
	// otherwise, is what to type for other commands to use them.
	passing bool
	kept    string
	review  func(context.Context, *store.Store, string) error // by its made-up person; nil: nobody
}

// opened is an open database and what depends on it, nil before it is opened.
type opened struct {
	db      *store.Store
	scratch *scratch.Ledger // of the same data folder; nil if nothing may be written
}

func newGlobal(stdin io.Reader, stdout, stderr io.Writer) *global {
	a := &global{Terminal: term.New(stdin, stdout, stderr, os.Getenv, time.Now), keys: redact.NewKeys(os.Environ())}
	a.Terminal.Clean = a.clean
	return a
}

// copied is a for a command within a command, whose streams and flags differ.
func (a *global) copied() *global {
	c := *a
	c.Terminal.Clean = c.clean
	return &c
}

func (a *global) globalFlags(f *pflag.FlagSet) {
	f.BoolVar(&a.JSON, "json", false, "print the result as JSON")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "no progress on stderr")
	f.StringVar(&a.claudeHome, "claude-home", "", "Claude Code's folder (default $CLAUDE_CONFIG_DIR or ~/.claude)")
	f.StringVar(&a.skillDir, "skills-dir", "", "folder that holds the skills (default <claude-home>/skills)")
}

// home is evolve's data folder.
func (a *global) home() (datadir.Dir, error) { return datadir.Find(a.Getenv) }

// layout finds the skills folders of this user's agents.
func (a *global) layout() *skill.Layout {
	l := &skill.Layout{Getenv: a.Getenv, ClaudeHome: a.claudeHome, SkillsDir: a.skillDir, Configured: func() ([]string, error) {
		conf, err := a.config()
		if err != nil {
			return nil, err
		}
		return conf.Targets, nil
	}}
	l.Tracked = tracked.Text(l)
	return l
}

// openTexts opens a skill for reading: nothing is recorded or changed.
func openTexts(ctx context.Context, a *global, name string) (*candidate.Texts, error) {
	db, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	return candidate.Open(ctx, db, a.layout(), name)
}

func openTrialOf(ctx context.Context, a *global, db *store.Store, live *skill.Live, evolves string) (*candidate.OnTrial, error) {
	return candidate.OpenTrial(ctx, db, live, evolves)
}

// store opens the database once, with the access that the command needs. If
// there is none, a command that only reads gets an empty one, and no file is
// made.
func (a *global) store(ctx context.Context) (*store.Store, error) {
	if a.open.db != nil {
		return a.open.db, nil
	}
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	path := h.Database()
	switch a.access {
	case datadir.Looks:
		if a.open.db, err = store.OpenReadOnly(ctx, path); errors.Is(err, fs.ErrNotExist) {
			a.open.db, err = store.OpenEmpty(ctx)
		}
	case datadir.Tries:
		a.open.db, err = store.OpenCopy(ctx, path)
	default:
		if a.open.db, err = store.Open(ctx, path); err == nil {
			a.open.scratch = scratch.Keep(string(h))
		}
	}
	return a.open.db, err
}

// existingStore is store, but nil if there is no database yet.
func (a *global) existingStore(ctx context.Context) (*store.Store, error) {
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

func (a *global) close() error {
	if a.open.db == nil {
		return nil
	}
	err := errors.Join(a.open.db.Close(), a.open.scratch.Close())
	a.open = opened{}
	if err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}
