package purge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Retention says how long text is kept.
type Retention struct {
	// Before is when sessions of an agent must have ended for their text to expire.
	Before func(agent string) time.Time
	// Oldest is when something must have been written for it to expire, whatever agent's
	// session it is about.
	Oldest time.Time
	Words  string // how long that is
}

// Expire makes cases of the sessions that are due, by mine, and then removes their text: files
// first, then what the store has. It returns how many there were. If
// nothing is due it costs a query.
func (p *Purger) Expire(ctx context.Context, keep Retention, mine func(context.Context) error) (n int, err error) {
	x, err := p.Store.Due(ctx, keep.Before, func(run string) bool {
		busy, err := p.Locks.Running(run)
		return busy || err != nil
	})
	if err != nil {
		return 0, err
	}
	if len(x.Sessions)+len(x.Cases) > 0 {
		if err := mine(ctx); err != nil {
			return 0, err
		}
		if err := p.files(ctx, x, keep.Oldest); err != nil {
			return 0, fmt.Errorf("remove expired text: %w", err)
		}
		if err := p.Store.Expire(ctx, x, store.Keeping{Case: ingest.Needs, File: skillFile}); err != nil {
			return 0, err
		}
		if _, err := p.Store.SkillUses(ctx); err != nil { // a command that only looks cannot keep what it counts
			return 0, err
		}
	} else if !x.Unwritten {
		return 0, nil
	}
	if n = len(x.Sessions); n > 0 {
		p.Say("the text of %s has expired; counts, labels and cases stay", plain.Counted(n, "session"))
		if err := p.elsewhere(ctx); err != nil {
			return 0, err
		}
	}
	if err := p.Store.Overwrite(context.WithoutCancel(ctx)); err != nil {
		p.Say("expired text is not overwritten on disk yet, the next harvest tries again: %v", err)
	}
	return n, nil
}

// elsewhere removes what is on other machines, unless a run is under way that needs it: there
// it expires by itself within days.
func (p *Purger) elsewhere(ctx context.Context) error {
	if p.Elsewhere == nil {
		return nil
	}
	runs, err := p.Store.Runs(ctx, "")
	if err != nil {
		return err
	}
	for _, r := range runs {
		if busy, err := p.Locks.Running(r.ID); err != nil || busy {
			return err
		}
	}
	for _, line := range p.Elsewhere(ctx) {
		p.Say("fleet: %s", line)
	}
	return nil
}

// skillFile is the SKILL.md of a folder, symlinks resolved; "" if there is none.
func skillFile(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	path, err := filepath.EvalSymlinks(filepath.Join(dir, skill.FileName))
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// files removes what files of the data folder hold of text that expires: pages and
// requests that show the dropped cases, the texts that were made from them, the requests of runs that are over, words in the
// records of hooks, and whatever else was written before old.
func (p *Purger) files(ctx context.Context, x store.Expiry, old time.Time) error {
	w := sweep{home: p.Dir}
	for _, c := range x.Cases {
		w.plan.CaseIDs = append(w.plan.CaseIDs, c.ID)
		w.plan.Runs = append(w.plan.Runs, c.Runs...)
		w.plan.Removed = append(w.plan.Removed, c.Texts...)
	}
	all, err := p.Store.Runs(ctx, "")
	if err != nil {
		return err
	}
	var ended []string
	status := map[string]record.RunStatus{}
	for _, r := range all {
		if status[r.ID] = r.Status; r.Status == record.Finished || slices.Contains(w.plan.Runs, r.ID) {
			ended = append(ended, r.ID)
		}
	}
	boxes, err := requestFolders(ctx, p.Store, p.Dir, ended)
	if err != nil {
		return err
	}
	for _, dir := range boxes {
		_, err := handoff.Clean(dir, func(run string, asked time.Time) bool {
			return slices.Contains(ended, run) || status[run] == "" && asked.Before(old)
		})
		if err != nil {
			return err
		}
	}
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
	sessions := map[string]bool{}
	for _, d := range x.Sessions {
		sessions[d.ID] = true
	}
	err = hook.Forget(string(p.Dir), func(session string, at time.Time) bool {
		return sessions[session] || !at.IsZero() && at.Before(old)
	})
	if err != nil {
		return err
	}
	for _, path := range inside(p.Dir.Logs(), "*") {
		if err := shorten(path, old); err != nil {
			return err
		}
	}
	for _, path := range slices.Concat(inside(p.Dir.Queue(), "*"), keptByHooks(p.Dir), inside(string(p.Dir), datadir.Edits+"*")) {
		if info, err := os.Lstat(path); err == nil && info.ModTime().Before(old) {
			if err := w.remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxLog is the longest log that is shortened, in bytes; hooks begin another one long
// before.
const maxLog = 64 << 20

// shorten removes the lines of a log that were written before old, with those behind them
// that have no time.
func shorten(path string, old time.Time) error {
	text, err := bounded.ReadFile(path, maxLog)
	if err != nil {
		return nil // a folder, or gone
	}
	var kept bytes.Buffer
	keep := true
	for line := range bytes.Lines(text) {
		stamp, _, _ := bytes.Cut(line, []byte(" "))
		if at, err := time.Parse(time.RFC3339, string(stamp)); err == nil {
			keep = !at.Before(old)
		}
		if keep {
			kept.Write(line)
		}
	}
	switch {
	case kept.Len() == len(text):
		return nil
	case kept.Len() == 0:
		err = os.Remove(path)
	default:
		err = renameio.WriteFile(path, kept.Bytes(), 0o600)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("shorten a log: %w", err)
	}
	return nil
}
