package purge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// requestFolders are the folders into which runs put requests for people.
func requestFolders(ctx context.Context, db *store.Store, home datadir.Dir, runs []string) ([]string, error) {
	dirs := []string{home.Handoff()}
	for _, id := range runs {
		r, err := db.Run(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			continue // rollouts without a run
		}
		if err != nil {
			return nil, err
		}
		var f struct {
			HandoffDir string `json:"handoff_dir"`
		}
		if json.Unmarshal(r.Config, &f) == nil && f.HandoffDir != "" && !slices.Contains(dirs, f.HandoffDir) {
			dirs = append(dirs, f.HandoffDir)
		}
	}
	return dirs, nil
}

// A sweep removes files with content of purged sessions.
type sweep struct {
	home    datadir.Dir
	ids     []string
	plan    store.PurgeReport
	boxes   []string // folders of requests
	removed []string
	reports []string // runs whose reports were removed
	left    []string
}

func (w *sweep) files() error {
	if err := w.pages(); err != nil {
		return err
	}
	if err := w.staged(); err != nil {
		return err
	}
	if err := w.probed(); err != nil {
		return err
	}
	if err := w.edits(); err != nil {
		return err
	}
	// Logs and what hooks keep are removed whole, because quoted content cannot be
	// recognised in them.
	if err := w.all(slices.Concat(inside(w.home.Logs(), "*"), keptByHooks(w.home))); err != nil {
		return err
	}
	if err := w.bus(); err != nil {
		return err
	}
	// Files of hooks: transcripts that wait for a harvest, notes for the user, texts in
	// quarantine.
	for _, dir := range []string{w.home.Queue(), w.home.Notes(), w.home.Told(), w.home.Quarantine()} {
		if err := w.naming(inside(dir, "*")); err != nil {
			return err
		}
	}
	for _, dir := range w.boxes {
		if err := w.requests(dir); err != nil {
			return err
		}
	}
	removed, left, err := scratch.Sweep(string(w.home), workspace.Remove) // files of killed runs
	if err != nil {
		return err
	}
	removed = append(removed, store.SweepCopies(w.home.Database())...)
	w.removed, w.left = append(w.removed, removed...), append(w.left, left...)
	w.left = append(w.left, inside(string(w.home), w.home.Damaged())...)
	return nil
}

// staged removes the staged texts that are removed from the store.
func (w *sweep) staged() error {
	for _, of := range inside(w.home.Staged(), "*") {
		for _, sha := range slices.Concat(w.plan.Candidates, w.plan.Removed) {
			if err := w.all(inside(of, datadir.TextName(sha))); err != nil {
				return err
			}
		}
	}
	return nil
}

// probed removes how removed texts answered the probes of their kernel. The probes themselves
// are made of the owner's locked lines alone.
func (w *sweep) probed() error {
	for _, of := range inside(filepath.Dir(w.home.Probes("")), "*") {
		for _, sha := range w.plan.Removed {
			if err := w.all(inside(of, "*"+datadir.TextName(sha)+"-*")); err != nil {
				return err
			}
		}
	}
	return nil
}

// edits removes what was left of edits of the cases by somebody whose editor was killed.
func (w *sweep) edits() error {
	for _, edit := range inside(string(w.home), datadir.Edits+"*") {
		for _, id := range w.plan.CaseIDs {
			if len(inside(edit, datadir.FileName(id)+".json*")) > 0 {
				if err := w.remove(edit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// inside lists the files of a folder whose names match a pattern; a folder that does
// not exist, or cannot be read, holds nothing.
func inside(dir, pattern string) (out []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// keptByHooks are the files of the hooks that people wrote. What a link leads to is not
// evolve's: the link itself is listed.
func keptByHooks(home datadir.Dir) (out []string) {
	for _, folder := range inside(home.HookState(), "*") {
		if info, err := os.Lstat(folder); err == nil && info.IsDir() {
			out = append(out, inside(folder, "*")...)
		} else {
			out = append(out, folder)
		}
	}
	return out
}

func (w *sweep) all(paths []string) error {
	for _, p := range paths {
		if err := w.remove(p); err != nil {
			return err
		}
	}
	return nil
}

func (w *sweep) remove(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	w.removed = append(w.removed, path)
	return nil
}

// names are the names of the sessions and of everything made of them.
func (w *sweep) names() []string {
	return slices.Concat(w.ids, w.plan.CaseIDs, w.plan.Runs, w.plan.Candidates, w.plan.Removed)
}

// naming removes the files that contain such a name in their name or content.
func (w *sweep) naming(files []string) error {
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a folder
		}
		text = append(text, filepath.Base(path)...)
		if slices.ContainsFunc(w.names(), func(name string) bool { return bytes.Contains(text, []byte(name)) }) {
			if err := w.remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// bus removes the lines of the bus that contain a purged name, while no hook writes to
// it.
func (w *sweep) bus() error {
	n, err := hook.Rewrite(string(w.home), func(line []byte) []byte {
		if slices.ContainsFunc(w.names(), func(name string) bool { return bytes.Contains(line, []byte(name)) }) {
			return nil
		}
		return line
	})
	if n > 0 && err == nil {
		w.removed = append(w.removed, fmt.Sprintf("%s: %s", filepath.Join(string(w.home), hook.BusFile), plain.Counted(n, "line")))
	}
	return err
}

// requests removes the requests that quote a session: those about one of its cases or a
// text that learned from it, and every prompt, because prompts quote cases. A run that
// still needs an answer asks again.
func (w *sweep) requests(dir string) error {
	// Names of requests are hexadecimal; other files are not evolve's.
	folders := slices.Concat(inside(dir, "[0-9a-f]*"), inside(filepath.Join(dir, "answered"), "[0-9a-f]*"))
	before := len(w.removed)
	for _, folder := range folders {
		var r struct{ Kind, Case string }
		data, err := bounded.ReadFile(filepath.Join(folder, "request.json"), 64<<20) // the person who answers can write there
		if err != nil || json.Unmarshal(data, &r) != nil {
			continue
		}
		if r.Kind == "complete" || slices.Contains(w.plan.CaseIDs, r.Case) || w.shows(folder) {
			if err := w.remove(folder); err != nil {
				return err
			}
		}
	}
	if err := w.all(inside(dir, ".new-*")); err != nil {
		return err
	}
	if len(w.removed) == before {
		return nil
	}
	_, err := handoff.Clean(dir, func(string, time.Time) bool { return false }) // writes the list anew
	return err
}

// shows reports whether a request offers a text that learned from a session.
func (w *sweep) shows(folder string) bool {
	return slices.ContainsFunc(inside(filepath.Join(folder, "skills"), "*"), func(dir string) bool {
		text, err := skill.ReadFile(filepath.Join(dir, skill.FileName))
		sha := skill.HashText(text)
		return err != nil || slices.Contains(w.plan.Candidates, sha) || slices.Contains(w.plan.Removed, sha)
	})
}

// Tidy removes what killed runs of a data folder left in the folder for temporary
// files: their workspaces hold files of cases. What cannot be removed stays listed for
// the next time.
func Tidy(home datadir.Dir) {
	_, _, _ = scratch.Sweep(string(home), workspace.Remove) // a run must not end because tidying up failed
	store.SweepCopies(home.Database())
}

// doubtfulAge is the age from which the owner is asked to look at a folder with a name
// of evolve's that is in no ledger of this data folder. A run of another data folder
// may be using a younger one.
const doubtfulAge = 24 * time.Hour

// doubtful are such folders. Their name alone does not prove that they are evolve's to
// remove.
func doubtful(home datadir.Dir, now time.Time) (paths []string) {
	listed := scratch.Listed(string(home))
	for _, path := range inside(os.TempDir(), "evolve-*") {
		info, err := os.Lstat(path)
		if err == nil && scratch.Own(path) && !slices.Contains(listed, path) && now.Sub(info.ModTime()) > doubtfulAge {
			paths = append(paths, path)
		}
	}
	return paths
}
