package release

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
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
)

// A Place is the path at which a target has a skill, or would have it.
type Place struct {
	skill.Target
	Path string // of the SKILL.md, symlinks resolved as far as there is something
	Held string // SHA-256 of what is there, "" for nothing
	text []byte
	Home bool // it is the file that evolve works on
	// Same is an earlier target that is the very same file, "" for none.
	Same    string
	Refusal error // nothing may be written there
	// tracked: the reason is that others get the file through git.
	tracked bool
}

// dir is the skill's folder.
func (p *Place) dir() string { return filepath.Dir(p.Path) }

// places finds a skill in targets. Two that lead to the same file are one.
func (in *Installer) places(ctx context.Context, live *skill.Live, targets []skill.Target) ([]Place, error) {
	managed, err := in.Layout.PluginFolders()
	if err != nil {
		return nil, err
	}
	var out []Place
	for _, t := range targets {
		p := Place{Target: t, Path: t.PathIn(live.Name)}
		if err := p.look(ctx, in.Store, live, managed); err != nil {
			return nil, err
		}
		if root := in.Within; root != "" && !skill.Within(p.Path, []string{root}) {
			p.Refusal = problem.Refusef("use your own data folder: unset EVOLVE_HOME", "%s is not in the demo's folder %s, and what the demo found better is simulated", p.Path, root)
		}
		if in.Layout.Tracked != nil && p.Refusal == nil && (p.Home || !in.Word) {
			if p.tracked, _, err = in.Layout.Tracked(t.PathIn(live.Name)); err != nil {
				return nil, err
			} else if p.tracked {
				p.Refusal = OfOthersToo(live.Name, p.Path)
			}
		}
		for _, q := range out {
			if q.Path == p.Path && q.Same == "" {
				p.Same = q.Name
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// OfOthersToo refuses to change a file that others get through git.
func OfOthersToo(name, path string) error {
	return problem.Refusef(fmt.Sprintf("`evolve promote %s` puts the text into your working tree; with --patch it prints it, with --branch NAME it commits it on a new branch", name),
		"git tracks %s, so others get it: it is changed at your word alone", path)
}

// MayWrite reports whether a version of a skill may be put into any of the targets.
func (in *Installer) MayWrite(ctx context.Context, live *skill.Live, targets []skill.Target) (bool, error) {
	places, err := in.places(ctx, live, targets)
	return slices.ContainsFunc(places, func(p Place) bool { return p.Refusal == nil }), err
}

// look reads the text at a place.
func (p *Place) look(ctx context.Context, db *store.Store, live *skill.Live, managed []string) error {
	home, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return fmt.Errorf("find %s: %w", skill.Called(live.Name), err)
	}
	real, err := skill.RealPath(p.Path)
	if err != nil {
		p.Refusal = err
		return nil
	}
	p.Path = real
	p.Home = p.Path == home
	info, err := os.Lstat(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Refusal = p.absent(ctx, db, live.Name)
	case err != nil:
		p.Refusal = err
	case !info.Mode().IsRegular():
		p.Refusal = fmt.Errorf("%s is no regular file", p.Path)
	default:
		if p.text, err = skill.ReadFile(p.Path); err != nil {
			p.Refusal = err
			break
		}
		p.Held = skill.HashText(p.text)
	}
	if p.Refusal != nil {
		return nil
	}
	doc, _ := skill.Parse(p.text, live.Doc.Options()) // whole, whatever the error
	switch {
	case skill.Within(p.Path, managed):
		p.Refusal = problem.Refusef("edit it at its source", "%s %s: an installation would not last", skill.Called(live.Name), skill.OfPlugin)
	case p.Held != "" && doc.Managed() || p.Home && live.Managed:
		p.Refusal = problem.Refusef("edit it at its source", "%s %s: an installation would not last", skill.Called(live.Name), skill.OfTool)
	case p.Held != "" && info.Mode().Perm()&0o222 == 0: // a rename would replace it all the same
		p.Refusal = problem.Refusef(fmt.Sprintf("`chmod u+w %s` allows it", p.Path), "%s is read-only", p.Path)
	}
	return nil
}

// Places are the present places of a skill: if a folder was moved and
// replaced by a symlink, the place is the link's target.
func Places(ctx context.Context, db *store.Store, name string) (out []store.Place, err error) {
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

// absent returns why a skill may not be put into a place without a SKILL.md,
// nil if it may: nothing is there, or the remains of our own interrupted
// removal, which are removed first.
func (p *Place) absent(ctx context.Context, db *store.Store, name string) error {
	entries, err := os.ReadDir(p.dir())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	files, planted, err := db.PlantedFiles(ctx, name, p.Path)
	if err != nil {
		return err
	}
	if planted {
		if others, err := install.Others(p.dir(), files); err != nil || len(others) == 0 {
			return err
		}
	}
	return fmt.Errorf("%s is there without a SKILL.md", p.dir())
}
