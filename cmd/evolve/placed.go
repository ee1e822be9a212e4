package main

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release"
)

// printPlaced prints what is in place now, a line for each target.
func printPlaced(a *global, r *release.Result) error {
	if a.JSON {
		path, v := r.Live.Path, r.Version
		if len(r.Placed) == 1 {
			path = shownPath(&r.Placed[0], r.Live)
		}
		err := a.PrintJSON(map[string]any{"schema": 1, "skill": r.Live.Name, "version": v.N, "sha256": v.SHA, "from": r.Live.Doc.Hash(),
			"path": path, "proven": v.Proven, "targets": r.Placed})
		if err != nil {
			return err
		}
		return r.Refusal()
	}
	if _, err := fmt.Fprint(a.Stdout, plain.Text(placedText(r))); err != nil {
		return err
	}
	return r.Refusal()
}

// placedText is what is in place now; "" where the only target was refused: the error
// says that.
func placedText(r *release.Result) string {
	done, name, v := r.Placed, r.Live.Name, r.Version
	if len(done) == 1 && done[0].Err != nil {
		return ""
	}
	next := fmt.Sprintf("`evolve rollback %s%s` takes it back", name, onlyTo(done))
	if r.Op == store.OpRollback {
		next = fmt.Sprintf("`evolve log %s` lists the versions", name)
		if r.Again != nil {
			next = fmt.Sprintf("`evolve promote %s@v%d%s` installs what was there", name, r.Again.N, onlyTo(done))
		}
	}
	var b strings.Builder
	if len(done) == 0 {
		fmt.Fprintf(&b, "%s: nothing of it was in place\n", name)
	} else if len(done) == 1 && done[0].Outcome == release.Installed && !done[0].Differs {
		fmt.Fprintf(&b, "%s: v%d (%.12s, %s) is installed in %s\n", name, v.N, v.SHA, candidate.Backing(*v), shownPath(&done[0], r.Live))
	} else {
		fmt.Fprintf(&b, "%s: v%d (%.12s, %s)\n", name, v.N, v.SHA, candidate.Backing(*v))
		wide := 0 // of agents' names: a folder has the length that it has
		for i := range done {
			if !skill.IsFolder(done[i].Target) {
				wide = max(wide, len(done[i].Target))
			}
		}
		for i := range done {
			fmt.Fprintf(&b, "  %-*s  %s\n", wide, done[i].Target, done[i].Words(versionNames(r.Versions)))
		}
	}
	if r.Changed() {
		fmt.Fprintf(&b, "next: %s\n", next)
	}
	return b.String()
}

// versionNames names texts by their versions, or by the beginning of their SHA-256.
func versionNames(versions []tournament.Version) func(sha string) string {
	return func(sha string) string {
		if k := candidate.VersionIn(versions, sha); k != nil {
			return fmt.Sprintf("v%d", k.N)
		}
		return plain.Short(sha)
	}
}

// onlyTo is the --to that takes back what was done, "" where that is what a
// rollback does by itself: the live text is among it.
func onlyTo(done []release.Placed) string {
	var names []string
	for i := range done {
		switch o := &done[i]; {
		case o.Home && o.Changed():
			return ""
		case o.Changed():
			names = append(names, o.Target)
		}
	}
	return " --to " + strings.Join(names, ",")
}

// shownPath is the path as its owner knows it.
func shownPath(o *release.Placed, live *skill.Live) string {
	if o.Home {
		return live.Path
	}
	return o.Path
}
