package purge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Files removes what files of the data folder hold of text that expires: pages and
// requests that show the dropped cases, the texts that were made from them, the requests of runs that are over, words in the
// records of hooks, and whatever else was written before old.
func (p *Purger) Files(ctx context.Context, x store.Expiry, old time.Time) error {
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
	for _, path := range slices.Concat(inside(p.Dir.Queue(), "*"), inside(string(p.Dir), datadir.Edits+"*")) {
		if info, err := os.Lstat(path); err == nil && info.ModTime().Before(old) {
			if err := w.remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// shorten removes the lines of a log that were written before old, with those behind them
// that have no time.
func shorten(path string, old time.Time) error {
	text, err := os.ReadFile(path)
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
