package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
)

// purged is what `evolve sessions purge --json` prints: schema 1.
type purged struct {
	Schema      int             `json:"schema,omitempty"`
	Sessions    []string        `json:"sessions,omitempty"` // ids
	Transcripts int             `json:"transcripts"`
	Cases       []string        `json:"cases"`
	Rollouts    int             `json:"rollouts"`
	Replies     int             `json:"replies"`
	Texts       []string        `json:"texts"`    // SHA-256 of those removed
	Trials      int             `json:"trials"`   // of challengers whose text was removed
	Runs        []string        `json:"runs"`     // that had cases of them
	Versions    []markedVersion `json:"versions"` // that learned from them, and stay
	Files       []string        `json:"files,omitempty"`
	Reports     []string        `json:"reports,omitempty"` // made anew
	Left        []string        `json:"left,omitempty"`    // files that may hold some of it, the owner's to remove
}

// A markedVersion is a version that learned from a purged session.
type markedVersion struct {
	Skill   string `json:"skill"`
	Version int    `json:"version"`
	SHA     string `json:"sha256"`
}

func purgedOf(r store.PurgeReport) purged {
	p := purged{Transcripts: r.Sessions, Cases: append([]string{}, r.CaseIDs...), Rollouts: r.Rollouts, Replies: r.Completions,
		Texts: append([]string{}, r.Removed...), Trials: r.Trials, Runs: append([]string{}, r.Runs...), Versions: []markedVersion{}}
	for _, v := range r.Versions {
		p.Versions = append(p.Versions, markedVersion{v.Skill, v.N, v.SHA})
	}
	return p
}

func (a *app) purgeSessions(ctx context.Context, names []string, f sessionFlags) error {
	bySelection := f.all || f.skill != "" || f.olderThan != ""
	switch {
	case len(names) == 0 && !bySelection:
		return problem.Inputf("`evolve sessions list` names them; or --older-than 90d, --skill NAME, --all", "evolve sessions purge needs sessions")
	case len(names) > 0 && bySelection:
		return problem.Inputf("leave out the names, or --all, --skill and --older-than", "sessions are named and selected at once")
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	ids, err := a.toPurge(ctx, db, names, f)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		if a.JSON {
			return a.PrintJSON(purged{Schema: 1, Sessions: []string{}, Cases: []string{}, Texts: []string{}, Runs: []string{}, Versions: []markedVersion{}})
		}
		_, err := fmt.Fprintln(a.Stdout, "no session is stored that fits: nothing was removed")
		return err
	}
	// A run would write down again what it is just using.
	runs, err := db.Runs(ctx, "")
	if err != nil {
		return err
	}
	for _, r := range runs {
		if busy, err := a.running(r.ID); err != nil {
			return err
		} else if busy {
			return lock.RunBusy(r.ID)
		}
	}
	plan, err := db.PlanPurge(ctx, ids)
	if err != nil {
		return err
	}
	if !f.yes {
		ok, err := a.Confirm(fmt.Sprintf("Remove %s: %s. There is no way back. Go on?", plain.Counted(len(ids), "session"), removes(plan)))
		if err != nil {
			return err
		}
		if !ok {
			return problem.Refusef("say --yes to remove them", "%s would be removed: %s", plain.Counted(len(ids), "session"), removes(plan))
		}
	}
	return a.purge(ctx, db, ids, plan)
}

// toPurge returns the ids of the sessions that are named or selected. One that
// was purged before is known by its whole id alone: purging it again finishes
// what was cut short.
func (a *app) toPurge(ctx context.Context, db *store.Store, names []string, f sessionFlags) (ids []string, err error) {
	for _, name := range names {
		before, err := db.Purged(ctx, name)
		if err != nil {
			return nil, err
		}
		id := name
		if !before {
			if id, err = sessionID(ctx, db, name); err != nil {
				return nil, err
			}
		}
		ids = append(ids, id)
	}
	if len(names) == 0 {
		sessions, err := a.selected(ctx, db, f)
		if err != nil {
			return nil, err
		}
		for _, s := range sessions {
			ids = append(ids, s.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// purge removes files first and the store's rows then: where it is cut short,
// the store still knows which files there were, and the same command finishes.
func (a *app) purge(ctx context.Context, db *store.Store, ids []string, plan store.PurgeReport) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	w := sweep{home: h, ids: ids, plan: plan}
	if w.boxes, err = requestFolders(ctx, db, h, plan.Runs); err != nil {
		return err
	}
	if err := w.files(); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	done, err := db.PurgeSessions(ctx, ids)
	if err != nil {
		return problem.Hinted(err, "type the same command again, with the whole id, once nothing else uses the database")
	}
	p := purgedOf(done)
	p.Schema, p.Sessions, p.Files, p.Left = 1, ids, w.removed, slices.Compact(slices.Sorted(slices.Values(append(w.left, a.doubtful(string(h))...))))
	for _, run := range w.reports {
		path, err := a.writeReport(ctx, db, run)
		if err != nil {
			a.Say("the report of run %s cannot be made anew: %v", run, err)
			continue
		}
		p.Reports = append(p.Reports, path)
	}
	if a.JSON {
		return a.PrintJSON(p)
	}
	return a.printPurged(p, done)
}

func (a *app) printPurged(p purged, r store.PurgeReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s purged: %s\n", plain.Counted(len(p.Sessions), "session"), removes(r))
	if r.Trials > 0 {
		fmt.Fprintf(&b, "  trials    %s on the removed texts ended\n", plain.Counted(r.Trials, "trial"))
	}
	for _, f := range p.Files {
		fmt.Fprintf(&b, "  removed   %s\n", plain.Text(f))
	}
	for _, f := range p.Reports {
		fmt.Fprintf(&b, "  made anew %s\n", plain.Text(f))
	}
	for _, v := range p.Versions {
		fmt.Fprintf(&b, "  learned   %s v%d (%.12s) learned from it and stays: `evolve rollback %s` takes a version back\n", plain.Text(v.Skill), v.Version, v.SHA, plain.Text(v.Skill))
	}
	for _, f := range p.Left {
		fmt.Fprintf(&b, "  left      %s may hold it too, and is yours to remove\n", plain.Text(f))
	}
	b.WriteString("the agents' own transcripts were not touched; the next harvest leaves these sessions out\n")
	_, err := fmt.Fprint(a.Stdout, a.Folded(b.String()))
	return err
}

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
		var f runConfig
		if json.Unmarshal(r.Config, &f) == nil && f.HandoffDir != "" && !slices.Contains(dirs, f.HandoffDir) {
			dirs = append(dirs, f.HandoffDir)
		}
	}
	return dirs, nil
}

// A sweep removes files that show purged sessions.
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
	for _, of := range inside(w.home.Staged(), "*") {
		for _, sha := range slices.Concat(w.plan.Candidates, w.plan.Removed) {
			if err := w.all(inside(of, sha[:min(16, len(sha))])); err != nil {
				return err
			}
		}
	}
	for _, edit := range inside(string(w.home), datadir.Edits+"*") { // of somebody whose editor was killed
		for _, id := range w.plan.CaseIDs {
			if len(inside(edit, plainFile(id)+".json*")) > 0 {
				if err := w.remove(edit); err != nil {
					return err
				}
			}
		}
	}
	// What a log quotes cannot be told from what it does not.
	if err := w.all(inside(w.home.Logs(), "*")); err != nil {
		return err
	}
	if err := w.bus(); err != nil {
		return err
	}
	// What hooks have left: transcripts that wait for a harvest, notes for the
	// user, texts in quarantine.
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
	removed, left, err := scratch.Sweep(string(w.home), eval.RemoveTree) // what killed runs have left
	if err != nil {
		return err
	}
	removed = append(removed, store.SweepCopies(w.home.Database())...)
	w.removed, w.left = append(w.removed, removed...), append(w.left, left...)
	w.left = append(w.left, inside(string(w.home), w.home.Damaged())...)
	return nil
}

// inside lists what a folder holds whose name matches a pattern; a folder that is
// not there, or cannot be read, holds nothing.
func inside(dir, pattern string) (out []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok {
			out = append(out, filepath.Join(dir, e.Name()))
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

// names are those of the sessions and of what was made of them.
func (w *sweep) names() []string {
	return slices.Concat(w.ids, w.plan.CaseIDs, w.plan.Runs, w.plan.Candidates, w.plan.Removed)
}

// naming removes the files that name what is purged in their name or content.
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

// bus removes the lines of the bus that name what is purged, while no hook
// writes to it.
func (w *sweep) bus() error {
	path := filepath.Join(string(w.home), hook.BusFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock := flock.New(path+".lock", flock.SetPermissions(fileMode))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock the bus: %w", err)
	}
	defer lock.Close()
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(old) {
		if !slices.ContainsFunc(w.names(), func(name string) bool { return bytes.Contains(line, []byte(name)) }) {
			kept.Write(line)
		}
	}
	if kept.Len() == len(old) {
		return nil
	}
	w.removed = append(w.removed, fmt.Sprintf("%s: %s", path, plain.Counted(bytes.Count(old, []byte("\n"))-bytes.Count(kept.Bytes(), []byte("\n")), "line")))
	return renameio.WriteFile(path, kept.Bytes(), fileMode)
}

// requests removes the requests that quote a session: those about one of its
// cases or a text that learned from it, and, because prompts quote cases, every
// one that is a prompt. What a run still wants to know it asks again.
func (w *sweep) requests(dir string) error {
	// Names of requests are hexadecimal; what else lies there is not ours.
	folders := slices.Concat(inside(dir, "[0-9a-f]*"), inside(filepath.Join(dir, "answered"), "[0-9a-f]*"))
	before := len(w.removed)
	for _, folder := range folders {
		var r struct{ Kind, Case string }
		data, err := bounded.ReadFile(filepath.Join(folder, "request.json"), 64<<20) // who answers can write there
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
	_, err := handoff.Clean(dir, func(string) bool { return false }) // writes the list anew
	return err
}

// shows reports whether a request offers a text that learned from a session.
func (w *sweep) shows(folder string) bool {
	return slices.ContainsFunc(inside(filepath.Join(folder, "skills"), "*"), func(dir string) bool {
		text, err := skill.ReadFile(filepath.Join(dir, skill.FileName))
		sha := sha256Hex(text)
		return err != nil || slices.Contains(w.plan.Candidates, sha) || slices.Contains(w.plan.Removed, sha)
	})
}
