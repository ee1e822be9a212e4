package backend

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/coordinator"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store/datadir"
)

// A UsedFleet is one that a run of this machine has joined, so that a purge knows where text
// may be.
type UsedFleet struct {
	Invitation string            `json:"invitation"` // its file
	URL        string            `json:"url"`
	Used       time.Time         `json:"used"`
	Workers    map[string]string `json:"workers"` // names, by id, of those that were there
	// IDs are the members that this machine was: a new invitation in the same file is another.
	IDs []string `json:"ids,omitempty"`
}

// Note writes down that it is used now, and which workers are there.
func (u *UsedFleet) Note(dir datadir.Dir, workers []coordinator.Worker) error {
	u.Used = time.Now()
	if len(workers) > 0 {
		u.Workers = map[string]string{}
		for _, w := range workers {
			u.Workers[w.Hello.Worker] = w.Hello.Name
		}
	}
	if old, err := readUsed(u.file(dir)); err == nil { // what cannot be read is replaced
		for _, id := range old.IDs {
			if !slices.Contains(u.IDs, id) {
				u.IDs = append(u.IDs, id)
			}
		}
	}
	text, err := json.Marshal(u)
	if err == nil {
		err = os.MkdirAll(dir.Fleets(), 0o700)
	}
	if err == nil {
		err = renameio.WriteFile(u.file(dir), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note which fleet is used: %w", err)
	}
	return nil
}

func (u *UsedFleet) file(dir datadir.Dir) string {
	return filepath.Join(dir.Fleets(), fmt.Sprintf("%.8x.json", sha256.Sum256([]byte(u.Invitation))))
}

// Forget removes the note.
func (u *UsedFleet) Forget(dir datadir.Dir) error {
	if err := os.Remove(u.file(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget a fleet: %w", err)
	}
	return nil
}

// UsedFleets are those that may have text of this machine: by now all that was put on others
// has expired.
func UsedFleets(dir datadir.Dir, now time.Time) (list []UsedFleet, err error) {
	files, err := filepath.Glob(filepath.Join(dir.Fleets(), "*.json"))
	for _, file := range files {
		u, e := readUsed(file)
		if e != nil {
			return nil, fmt.Errorf("read which fleets are used: %w", e)
		}
		if now.Sub(u.Used) <= max(fleet.JobsExpire, fleet.ResultsExpire, fleet.BlobsExpire)+day {
			list = append(list, *u)
		}
	}
	return list, err
}

func readUsed(file string) (*UsedFleet, error) {
	text, err := bounded.ReadFile(file, 1<<20)
	u := new(UsedFleet)
	if err == nil {
		err = json.Unmarshal(text, u)
	}
	return u, err
}

// day is for runs that go on after they have joined.
const day = 24 * time.Hour
