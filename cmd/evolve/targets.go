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

// A target is a folder of skills that an agent reads.
type target struct {
	name string // "claude", …; a folder is its own name
	dir  string // holds the folders of skills
}

// agentTargets are the targets with a name.
var agentTargets = []struct {
	name   string
	folder func(*app) (string, error) // holds the folder "skills"
}{
	{"claude", (*app).claude},
	{"codex", agentHome("CODEX_HOME", ".codex")},
	{"pi", agentHome("PI_CODING_AGENT_DIR", ".pi/agent")},
	{"copilot", agentHome("COPILOT_HOME", ".copilot")},
	{"agents", agentHome("", ".agents")}, // what several agents read
}

// targetNames are the names that --to takes.
func targetNames() (names []string) {
	for _, t := range agentTargets {
		names = append(names, t.name)
	}
	return names
}

// isFolder tells a folder from a name.
func isFolder(to string) bool {
	return strings.ContainsRune(to, '/') || strings.ContainsRune(to, filepath.Separator) || strings.HasPrefix(to, ".") || strings.HasPrefix(to, "~")
}

// checkTargets refuses what could not be a target, whoever's home this is.
// Relative folders mean something on a command line alone.
func checkTargets(names []string) error {
	for _, n := range names {
		switch {
		case slices.Contains(targetNames(), n):
		case !isFolder(n):
			return unknownTarget(n)
		case !filepath.IsAbs(n) && !strings.HasPrefix(n, "~/"):
			return fmt.Errorf("targets: %q is neither an absolute folder nor one below ~/", n)
		}
	}
	return nil
}

func unknownTarget(name string) error {
	hint := "the targets are " + strings.Join(targetNames(), ", ") + ", or a folder that holds skills, for example ./skills"
	if near := skill.Nearest(name, targetNames()); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return problem.Inputf(hint, "unknown target %q", name)
}

// target finds what a name of --to stands for.
func (a *app) target(name string) (t target, err error) {
	for _, k := range agentTargets {
		if k.name != name {
			continue
		}
		dir, err := k.folder(a)
		return target{name, filepath.Join(dir, "skills")}, err
	}
	if !isFolder(name) {
		return t, unknownTarget(name)
	}
	dir := name
	if below, ok := strings.CutPrefix(name, "~/"); ok { // in a list, or in config.yaml: no shell has seen it
		home, err := os.UserHomeDir()
		if err != nil {
			return t, fmt.Errorf("find the home folder: %w", err)
		}
		dir = filepath.Join(home, below)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return t, fmt.Errorf("find target %s: %w", name, err)
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return t, problem.Inputf("make it first, if it is the right one; agents' own folders have names: "+strings.Join(targetNames(), ", "), "there is no folder %s", dir)
	case err != nil:
		return t, fmt.Errorf("find target %s: %w", name, err)
	case !info.IsDir():
		return t, problem.Inputf("name the folder that holds the skills", "%s is no folder", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, skill.FileName)); err == nil {
		return t, problem.Inputf("name the folder above: "+filepath.Dir(dir), "%s is a skill, not a folder of skills", dir)
	}
	return target{dir, dir}, nil
}

// mainTarget is the one where the skills live that evolve works on.
func (a *app) mainTarget() (target, error) {
	dir, err := a.skillsDir()
	if err != nil {
		return target{}, err
	}
	claude, err := a.claude()
	if err != nil {
		return target{}, err
	}
	if dir == filepath.Join(claude, "skills") {
		return target{"claude", dir}, nil
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return target{}, fmt.Errorf("find the skills: %w", err)
	}
	return target{dir, dir}, nil
}

// targets are those that were asked for, else those of the configuration, else
// the one where the skills live.
func (a *app) targets(to []string) (out []target, err error) {
	if len(to) == 0 {
		conf, err := a.config()
		if err != nil {
			return nil, err
		}
		to = conf.Targets
	}
	if len(to) == 0 {
		t, err := a.mainTarget()
		return []target{t}, err
	}
	for _, name := range to {
		t, err := a.target(name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// A place is where a target has a skill, or would have it.
type place struct {
	target
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
func (a *app) places(ctx context.Context, db *store.Store, live *skill.Live, targets []target) ([]place, error) {
	managed, err := a.pluginFolders()
	if err != nil {
		return nil, err
	}
	var out []place
	for _, t := range targets {
		p := place{target: t, path: filepath.Join(t.dir, live.Name, skill.FileName)}
		if err := p.look(ctx, db, live, managed); err != nil {
			return nil, err
		}
		if root := a.demoFolder(); root != "" && !skill.Within(p.path, []string{root}) {
			p.refusal = problem.Refusef("use your own data folder: unset EVOLVE_HOME", "%s is not in the demo's folder %s, and what the demo proved is simulated", p.path, root)
		}
		for _, q := range out {
			if q.path == p.path && q.same == "" {
				p.same = q.name
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// look reads what is at a place.
func (p *place) look(ctx context.Context, db *store.Store, live *skill.Live, managed []string) error {
	home, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	real, err := ahead(p.path)
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
		p.refusal = problem.Refusef("change it where it comes from", "skill %s %s: an installation would not last", live.Name, ofPlugin)
	case p.held != "" && doc.Managed() || p.live && live.Managed:
		p.refusal = problem.Refusef("change it where it comes from", "skill %s %s: an installation would not last", live.Name, ofTool)
	case p.held != "" && info.Mode().Perm()&0o222 == 0: // a rename would replace it all the same
		p.refusal = problem.Refusef(fmt.Sprintf("`chmod u+w %s` allows it", p.path), "%s is read-only", p.path)
	}
	return nil
}

// Whose a skill is that evolve does not write.
const (
	ofPlugin = "belongs to a plugin"
	ofTool   = "is managed by another tool"
)

// keeper says whose a managed skill is.
func keeper(e skill.Entry) string {
	if e.Scope == "plugin" {
		return ofPlugin
	}
	return ofTool
}

// refuseManaged refuses to spend on a skill of which no version could be
// installed: it is another's, and so is it in every target that f names.
func (a *app) refuseManaged(ctx context.Context, live *skill.Live, f *runFlags) error {
	if !live.Managed {
		return nil
	}
	whose := fmt.Sprintf("skill %s %s", live.Name, keeper(live.Entry))
	if f.NoGate {
		a.Say("%s: what is found stays in the store, and could be installed nowhere", whose)
		return nil
	}
	targets, err := a.targets(f.to)
	if err != nil {
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	places, err := a.places(ctx, db, live, targets)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(places, func(p place) bool { return p.refusal == nil }) {
		return nil
	}
	return problem.Refusef("copy its folder to one of your own, with another name, and evolve that; --promote --to installs in another agent's folder; --no-gate only searches",
		"%s: no version of it would last, and nothing was spent", whose)
}

// standing are the places of a skill as they are now: where a folder was moved and a
// symlink put there instead, the place is the one it leads to.
func standing(ctx context.Context, db *store.Store, name string) (out []store.Place, err error) {
	all, err := db.Places(ctx, name)
	for _, p := range all {
		if real, err := ahead(p.Path); err == nil && real != p.Path {
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

// ahead follows the symlinks of as much of a path as is there. One that leads to
// nothing is an error: what is behind it may come back.
func ahead(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a symlink to nothing", path)
	}
	dir, err := ahead(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// pluginFolders hold what somebody else replaces: plugins of each agent, and the
// skills that come with one.
func (a *app) pluginFolders() ([]string, error) {
	var out []string
	for _, k := range agentTargets {
		h, err := k.folder(a)
		if err != nil {
			return nil, err
		}
		for _, below := range []string{"plugins", "installed-plugins", "git", "npm", "skills/.system"} {
			out = append(out, filepath.Join(h, filepath.FromSlash(below)))
		}
	}
	return out, nil
}

// targetOf names the target that a SKILL.md of a skill belongs to: an agent's
// name, else the folder of skills.
func (a *app) targetOf(name, path string) string {
	for _, k := range agentTargets {
		h, err := k.folder(a)
		if err != nil {
			continue
		}
		if at, err := ahead(filepath.Join(h, "skills", name, skill.FileName)); err == nil && at == path {
			return k.name
		}
	}
	return filepath.Dir(filepath.Dir(path))
}
