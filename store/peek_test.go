package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/store/peek"
)

// bytesOf tells every file of a folder by its content and when it was changed.
func bytesOf(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		if filepath.Ext(e.Name()) == ".db-shm" {
			b = nil // memory that processes share: readers leave their marks in it
		}
		info, err := e.Info()
		must(t, err)
		out = append(out, fmt.Sprintf("%s %x %v", e.Name(), sha256.Sum256(b), info.ModTime()))
	}
	return out
}

func peekAll(t *testing.T, path string) (all []peek.Name) {
	t.Helper()
	p, err := peek.At(t.Context(), path)
	must(t, err)
	defer p.Close()
	ctx := context.Background()
	for _, of := range []peek.Known{peek.KnownSkills, peek.KnownVersions, peek.KnownCandidates, peek.KnownRuns, peek.KnownCases, peek.KnownSessions, peek.KnownNights} {
		names, err := p.Names(ctx, of, "dataviz")
		must(t, err)
		all = append(all, names...)
	}
	return all
}

// TestPeek: the same is seen of a database that is closed and of one that is in
// use, and neither is changed by it.
func TestPeek(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "evolve.db")
	s := openAt(t, path)
	fill(t, s)
	busy := bytesOf(t, dir)
	used := peekAll(t, path)
	if after := bytesOf(t, dir); !slices.Equal(busy, after) {
		t.Errorf("a database in use was changed: %q, then %q", busy, after)
	}
	if len(used) < 5 || !slices.ContainsFunc(used, func(n peek.Name) bool { return n.Name == "v0" && n.Note != "" }) {
		t.Errorf("seen of a database in use: %q", used)
	}
	must(t, s.Close())
	idle := bytesOf(t, dir)
	closed := peekAll(t, path)
	if after := bytesOf(t, dir); !slices.Equal(idle, after) {
		t.Errorf("a closed database was changed: %q, then %q", idle, after)
	}
	if !slices.Equal(used, closed) {
		t.Errorf("closed %q, in use %q", closed, used)
	}
	must(t, os.Chmod(path, 0o400))
	must(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if got := peekAll(t, path); !slices.Equal(got, closed) {
		t.Errorf("read only: %q", got)
	}
}

// TestPeekDropped: a skill whose cases were all dropped is offered no more.
func TestPeekDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	s := openAt(t, path)
	c := aCase("a")
	c.Skill = "nosuch"
	save(t, s, 1, 0, c)
	skills := func() []peek.Name {
		p, err := peek.At(t.Context(), path)
		must(t, err)
		defer p.Close()
		names, err := p.Names(t.Context(), peek.KnownSkills, "")
		must(t, err)
		return names
	}
	if got := skills(); len(got) != 1 || got[0].Name != "nosuch" {
		t.Errorf("with a case: %q", got)
	}
	must(t, s.DropCase(t.Context(), "nosuch", "a"))
	if got := skills(); len(got) != 0 {
		t.Errorf("after its only case was dropped: %q", got)
	}
}

// TestPeekOdd: what cannot be read is an error, and stays as it is.
func TestPeekOdd(t *testing.T) {
	dir := t.TempDir()
	if _, err := peek.At(t.Context(), filepath.Join(dir, "evolve.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing database: %v", err)
	}
	if left := bytesOf(t, dir); len(left) > 0 {
		t.Errorf("made %q", left)
	}
	path := filepath.Join(dir, "foreign.db")
	must(t, os.WriteFile(path, []byte("this is no database, however long it may be"), 0o600))
	before := bytesOf(t, dir)
	if p, err := peek.At(t.Context(), path); err == nil {
		defer p.Close()
		if names, err := p.Names(t.Context(), peek.KnownSkills, ""); err == nil {
			t.Errorf("read %q out of a text file", names)
		}
	}
	if after := bytesOf(t, dir); !slices.Equal(before, after) {
		t.Errorf("changed: %q, then %q", before, after)
	}
}
