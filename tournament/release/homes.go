package release

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
)

// followHome detects that the path of a skill leads to another file than
// before: its folder was moved and linked, or the symlink changed (stow,
// home-manager). The skill's history goes with it, so that the text there is
// compared with the last live one. target is the file that it leads to now.
func (in *Installer) followHome(ctx context.Context, live *skill.Live, target string) error {
	link, err := filepath.Abs(live.Path)
	if err != nil {
		return fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	homes, err := in.Store.Homes(ctx, live.Name)
	if err != nil {
		return err
	}
	was := homes[link]
	if was == target {
		return nil
	}
	from := was
	for other, path := range homes {
		if other != link && path == was { // of a project, for one
			from = ""
		}
	}
	for _, name := range skill.TargetNames() {
		t, err := in.Layout.Target(name)
		if err != nil {
			continue
		}
		if at, err := skill.RealPath(filepath.Join(t.Dir, live.Name, filepath.Base(live.Path))); err == nil && at == was {
			from = "" // another agent still loads it
		}
	}
	return in.Store.SetHome(ctx, live.Name, link, target, from)
}

// otherHomes are former homes of a skill, by path, that are not reachable
// from here, such as those of a home directory that this one was copied from,
// or of another folder of skills. They are changed only if somebody names
// them.
func (in *Installer) otherHomes(ctx context.Context, live *skill.Live) (map[string]bool, error) {
	homes, err := in.Store.Homes(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for link, path := range homes {
		out[link], out[path] = true, true
	}
	conf, err := in.Layout.Configured()
	if err != nil {
		return nil, err
	}
	for _, name := range append(skill.TargetNames(), conf...) {
		t, err := in.Layout.Target(name)
		if err != nil {
			continue
		}
		if at, err := skill.RealPath(filepath.Join(t.Dir, live.Name, filepath.Base(live.Path))); err == nil {
			delete(out, at)
		}
	}
	return out, nil
}

// NearestVersion is the version whose text has the most lines in common with
// text, the newest of several; "" for none. It is taken as the origin of a
// text if its predecessor is not known.
func NearestVersion(versions []record.Version, text []byte) string {
	best, sha := 0, ""
	for i := range versions {
		if d := linesApart(versions[i].Text, text); sha == "" || d <= best {
			best, sha = d, versions[i].SHA
		}
	}
	return sha
}

// linesApart counts the lines that only one of two texts has.
func linesApart(a, b []byte) (n int) {
	count := map[string]int{}
	for line := range bytes.Lines(a) {
		count[string(bytes.TrimSpace(line))]++
	}
	for line := range bytes.Lines(b) {
		count[string(bytes.TrimSpace(line))]--
	}
	for _, c := range count {
		n += max(c, -c)
	}
	return n
}
