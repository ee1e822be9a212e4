package work

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// anotherText is the version of a use of a text that is no version of the skill.
const anotherText = "another text"

// watched is what was at a place, as the watch reads it.
func watched(h release.Timeline) (out sleep.Timeline) {
	for _, s := range h {
		if s.Unknown() {
			s.SHA = anotherText
		}
		out = append(out, sleep.Stay{Version: s.SHA, From: s.From})
	}
	return out
}

// usedPlaces tell which text of a skill a use was of, if no hook noted it: each
// agent reads its own folder, and what is there may be another version.
type usedPlaces struct {
	name   string
	home   release.Timeline            // of the skill's home
	paths  map[string]release.Timeline // of the other places, by the SKILL.md
	target map[string]string           // path of a target's SKILL.md, by its name
	dirs   map[string]string           // SKILL.md of a folder, resolved; "" for none
	at     string                      // path of home
}

// whereUsed reads the histories of all places of a skill.
func whereUsed(ctx context.Context, db *store.Store, layout *skill.Layout, live *skill.Live) (*usedPlaces, error) {
	p := &usedPlaces{name: live.Name, paths: map[string]release.Timeline{}, target: map[string]string{}, dirs: map[string]string{}}
	var err error
	if p.at, err = live.Home(); err != nil {
		return nil, err
	}
	if p.home, err = release.TimelineOf(ctx, db, live.Name, p.at, true); err != nil {
		return nil, err
	}
	places, err := db.Places(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	installs, err := db.Installs(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, k := range places {
		paths = append(paths, k.Path)
	}
	for _, in := range installs { // it may be gone from there since
		paths = append(paths, in.Path)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if path == p.at {
			continue
		}
		if p.paths[path], err = release.TimelineOf(ctx, db, live.Name, path, false); err != nil {
			return nil, err
		}
		p.target[layout.TargetOf(live.Name, path)] = path
	}
	return p, nil
}

// version is the SHA-256 of the text that was in force in a use, "" if the
// history of the skill's home does not have it.
func (p *usedPlaces) version(u *store.Use) string {
	if store.IsHashed(u.Dir) {
		return anotherText
	}
	if u.Dir != "" {
		switch path := p.resolve(u.Dir); {
		case path == "": // it is gone, or on another machine: the agent tells
		case path == p.at:
			return ""
		case p.paths[path] == nil:
			return anotherText // of a project, or of a plugin
		default:
			if sha := watched(p.paths[path]).At(u.Time); sha != "" {
				return sha
			}
			return anotherText
		}
	}
	for _, name := range skill.ReadBy(u.Agent) {
		if h := p.paths[p.target[name]]; h != nil {
			if sha := watched(h).At(u.Time); sha != "" {
				return sha
			}
		}
	}
	return ""
}

// resolve is the SKILL.md of a folder, "" if there is none.
func (p *usedPlaces) resolve(dir string) string {
	path, ok := p.dirs[dir]
	if !ok && filepath.IsAbs(dir) {
		path, _ = filepath.EvalSymlinks(filepath.Join(dir, skill.FileName))
		if _, err := os.Stat(path); err != nil {
			path = ""
		}
		p.dirs[dir] = path
	}
	return path
}
