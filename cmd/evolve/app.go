package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
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

	access  access
	db      *store.Store    // opened for that access
	scratch *scratch.Ledger // of the same data folder; nil where nothing may be written
	conf    *config         // nil until it is read
	// keys are the credentials that backends were given, see redactor.
	keys []string
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{Terminal: term.New(stdin, stdout, stderr, os.Getenv, time.Now)}
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

// claude is Claude Code's folder.
func (a *app) claude() (string, error) {
	if a.claudeHome != "" {
		return filepath.Abs(a.claudeHome)
	}
	if h := a.Getenv("CLAUDE_CONFIG_DIR"); h != "" {
		return filepath.Abs(h)
	}
	h, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w", err)
	}
	return filepath.Join(h, ".claude"), nil
}

// skillsDir is the folder that holds the skills.
func (a *app) skillsDir() (string, error) {
	if a.skillDir != "" {
		return a.skillDir, nil
	}
	c, err := a.claude()
	if err != nil {
		return "", err
	}
	return filepath.Join(c, "skills"), nil
}

// registry finds the skills that this person has.
func (a *app) registry() (*skill.Registry, error) {
	dir, err := a.skillsDir()
	if err != nil {
		return nil, err
	}
	plugins, err := a.pluginFolders()
	if err != nil {
		return nil, err
	}
	return skill.Discover([]skill.Root{{Dir: dir, Scope: "user", Plugins: plugins}}), nil
}

// skill looks a skill up and reads it. The error is a *skill.UnknownSkillError,
// a *skill.SyntaxError, or the file system's.
func (a *app) skill(name string) (*skill.Live, error) {
	reg, err := a.registry()
	if err != nil {
		return nil, err
	}
	e, err := reg.Lookup(name)
	if err != nil {
		return nil, err
	}
	return skill.ReadEntry(e)
}

// skillAsItIs is skill for a command that mends: a SKILL.md that no longer
// parses is read all the same, its bytes are its name.
func (a *app) skillAsItIs(name string) (*skill.Live, error) {
	live, err := a.skill(name)
	var broken *skill.BrokenSkillError
	var syntax *skill.SyntaxError
	switch {
	case err == nil:
		return live, nil
	case errors.As(err, &broken):
		live = &skill.Live{Entry: broken.Entry}
	case errors.As(err, &syntax):
		reg, e := a.registry()
		if e != nil {
			return nil, e
		}
		entry, e := reg.Lookup(name)
		if e != nil {
			return nil, e
		}
		live = &skill.Live{Entry: entry}
	default:
		return nil, err
	}
	text, e := skill.ReadFile(live.Path)
	if e != nil {
		return nil, err // no file to put anything in the place of
	}
	live.Doc, _ = skill.Parse(text, skill.Options{}) // the document is whole, whatever the error
	return live, nil
}

// variantOf is the live skill as an agent is offered it.
func variantOf(l *skill.Live) (eval.Variant, error) {
	rest, err := skill.RestHash(l.Dir)
	if err != nil {
		return eval.Variant{}, fmt.Errorf("read skill %s: %w", l.Name, err)
	}
	return eval.Variant{Name: l.Name, Doc: l.Doc, Dir: l.Dir, Rest: rest}, nil
}

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
	case looks:
		if a.db, err = store.OpenReadOnly(ctx, path); errors.Is(err, fs.ErrNotExist) {
			a.db, err = store.OpenEmpty(ctx)
		}
	case tries:
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
