package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/skill-evolve/evolve/store/datadir"
)

// A Finished is a session, or a part of one, that is ready to be harvested.
type Finished struct {
	Schema     int       `json:"schema"`
	Session    string    `json:"session"`
	Transcript string    `json:"transcript"`
	CWD        string    `json:"cwd"`
	Event      string    `json:"event"` // after which it was queued
	Time       time.Time `json:"time"`
}

// cooldown is how often a transcript is queued while its session continues.
const cooldown = 10 * time.Minute

// enqueue puts the session's transcript into the queue. The end of a session must cost
// no more than that; a later harvest reads it.
func (h *Host) enqueue(in *input) error {
	if in.transcript == "" {
		return nil
	}
	path := entryOf(h.Home, in.transcript)
	now := h.now()
	if in.event == Stop {
		if old, err := readFinished(path); err == nil && now.Sub(old.Time).Abs() < cooldown {
			return nil
		}
	}
	return writeState(path, Finished{1, in.session, in.transcript, in.cwd, in.event, now.UTC()})
}

// entryOf is a transcript's file in the queue.
func entryOf(home, transcript string) string {
	sum := sha256.Sum256([]byte(transcript))
	return filepath.Join(home, "queue", hex.EncodeToString(sum[:8])+".json")
}

// harvest has a session harvested that was queued. Sessions of evolve's own replays are
// never harvested.
func (h *Host) harvest(in *input) error {
	if h.Harvest == nil || in.transcript == "" || harvest.OwnReplay(&harvest.Session{CWD: in.cwd, Path: in.transcript}) {
		return nil
	}
	if info, err := os.Stat(in.transcript); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // there is nothing to read
	}
	return h.Harvest()
}

func readFinished(path string) (f Finished, err error) {
	b, err := readFile(path)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(b, &f); err != nil || f.Schema != 1 {
		return f, fmt.Errorf("read queue: %s is no entry", filepath.Base(path))
	}
	return f, nil
}

// Queue returns the transcripts that wait for a harvest, the oldest first.
func Queue(home string) ([]Finished, error) {
	dir := filepath.Join(home, "queue")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read queue: %w", err)
	}
	var out []Finished
	for _, e := range entries {
		if f, err := readFinished(filepath.Join(dir, e.Name())); err == nil && strings.HasSuffix(e.Name(), ".json") {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Finished) int { return a.Time.Compare(b.Time) })
	return out, nil
}

// Took removes a transcript from the queue, if it was queued before a harvest of it began.
func Took(home, transcript string, began time.Time) error {
	path := entryOf(home, transcript)
	f, err := readFinished(path)
	if err != nil || !f.Time.Before(began) {
		return nil //nolint:nilerr // another harvest removed it
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("empty queue: %w", err)
	}
	return nil
}

// Harvested removes from the queue what was queued before a harvest began, and deletes
// temporary files that killed hooks left in home.
func Harvested(home string, began time.Time) error {
	dir := filepath.Join(home, "queue")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("empty queue: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if f, err := readFinished(path); err == nil && f.Time.Before(began) {
			_ = os.Remove(path) // another harvest may have removed it
		}
	}
	var folders []string
	state := datadir.Dir(home).HookState()
	hooks, _ := os.ReadDir(state)
	for _, e := range hooks {
		if e.IsDir() { // what a link leads to is not evolve's
			folders = append(folders, filepath.Join(state, e.Name()))
		}
	}
	for _, below := range []string{"queue", "notes", "quarantine"} {
		folders = append(folders, filepath.Join(home, below))
	}
	for _, folder := range folders {
		kit.Sweep(folder, began.Add(-time.Hour))
	}
	return nil
}
