package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// A place is where a target has a skill, or would have it.
type place struct {
	skill.Target
	path string // of the SKILL.md, symlinks resolved as far as there is something
	held string // SHA-256 of what is there, "" for nothing
	text []byte
	live bool // it is the file that evolve works on
	// same is the target before it that is the very same file, "" for none.
	same    string
	refusal error // nothing may be written there
}

// dir is the skill's folder.
func (p *place) dir() string { return filepath.Dir(p.path) }

// places looks a skill up in targets. Two that lead to the same file are one.
func (in *Installer) places(ctx context.Context, live *skill.Live, targets []skill.Target) ([]place, error) {
	managed, err := in.Layout.PluginFolders()
	if err != nil {
		return nil, err
	}
	var out []place
	for _, t := range targets {
		p := place{Target: t, path: filepath.Join(t.Dir, live.Name, skill.FileName)}
		if err := p.look(ctx, in.Store, live, managed); err != nil {
			return nil, err
		}
		if root := in.Within; root != "" && !skill.Within(p.path, []string{root}) {
			p.refusal = problem.Refusef("use your own data folder: unset EVOLVE_HOME", "%s is not in the demo's folder %s, and what the demo proved is simulated", p.path, root)
		}
		for _, q := range out {
			if q.path == p.path && q.same == "" {
				p.same = q.Name
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// MayWrite reports whether a version of a skill may be put into any of the targets.
func (in *Installer) MayWrite(ctx context.Context, live *skill.Live, targets []skill.Target) (bool, error) {
	places, err := in.places(ctx, live, targets)
	return slices.ContainsFunc(places, func(p place) bool { return p.refusal == nil }), err
}

// look reads what is at a place.
func (p *place) look(ctx context.Context, db *store.Store, live *skill.Live, managed []string) error {
	home, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	real, err := skill.RealPath(p.path)
	if err != nil {
		p.refusal = err
		return nil
	}
	p.path = real
	p.live = p.path == home
	info, err := os.Lstat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.refusal = p.absent(ctx, db, live.Name)
	case err != nil:
		p.refusal = err
	case !info.Mode().IsRegular():
		p.refusal = fmt.Errorf("%s is no regular file", p.path)
	default:
		if p.text, err = skill.ReadFile(p.path); err != nil {
			p.refusal = err
			break
		}
		p.held = skill.HashText(p.text)
	}
	if p.refusal != nil {
		return nil
	}
	doc, _ := skill.Parse(p.text, skill.Options{}) // whole, whatever the error
	switch {
	case skill.Within(p.path, managed):
		p.refusal = problem.Refusef("change it where it comes from", "skill %s %s: an installation would not last", live.Name, skill.OfPlugin)
	case p.held != "" && doc.Managed() || p.live && live.Managed:
		p.refusal = problem.Refusef("change it where it comes from", "skill %s %s: an installation would not last", live.Name, skill.OfTool)
	case p.held != "" && info.Mode().Perm()&0o222 == 0: // a rename would replace it all the same
		p.refusal = problem.Refusef(fmt.Sprintf("`chmod u+w %s` allows it", p.path), "%s is read-only", p.path)
	}
	return nil
}

// standing are the places of a skill as they are now: where a folder was moved and a
// symlink put there instead, the place is the one it leads to.
func standing(ctx context.Context, db *store.Store, name string) (out []store.Place, err error) {
	all, err := db.Places(ctx, name)
	for _, p := range all {
		if real, err := skill.RealPath(p.Path); err == nil && real != p.Path {
			if slices.ContainsFunc(all, func(q store.Place) bool { return q.Path == real }) {
				continue
			}
			p.Path = real
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(p, q store.Place) int { return strings.Compare(p.Path, q.Path) })
	return out, err
}

// absent says why a skill may not be put where it has no SKILL.md, nil where it
// may: nothing is there, or what an interrupted removal of ours has left, which goes
// before something is put there.
func (p *place) absent(ctx context.Context, db *store.Store, name string) error {
	entries, err := os.ReadDir(p.dir())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	files, planted, err := db.PlantedFiles(ctx, name, p.path)
	if err != nil {
		return err
	}
	if planted {
		if others, err := skill.Others(p.dir(), files); err != nil || len(others) == 0 {
			return err
		}
	}
	return fmt.Errorf("%s is there without a SKILL.md", p.dir())
}
