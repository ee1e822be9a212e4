package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store"
)

// WriteSidecars writes the skill events of every stored session into dir, one file per
// session as Entire's CLI writes them. The content of an existing file is kept: its
// events come first, its other fields keep their values byte for byte, and of two equal
// events the earlier one is kept.
func (g *Ingester) WriteSidecars(ctx context.Context, dir string) (written int, err error) {
	sessions, err := g.Store.Sessions(ctx, store.SessionFilter{})
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, fmt.Errorf("make the folder of sidecars: %w", err)
	}
	for i := range sessions {
		s := &sessions[i]
		side := harvest.Events(s).ForEntire()
		if len(side.Events) == 0 {
			continue
		}
		changed, err := mergeSidecar(filepath.Join(dir, sidecarName(s.ID)), s.ID, side)
		if err != nil {
			return written, err
		}
		if changed {
			written++
		}
	}
	return written, nil
}

// longestID is how much of an id a file's name has, in bytes.
const longestID = 120

// sidecarName is a session's id as a file name: ids come from transcripts, and must not
// lead out of the folder. An id that is no file name, or a long one, is followed by its hash,
// so that two ids never share a file.
func sidecarName(id string) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r < ' ' {
			return '_'
		}
		return r
	}, strings.TrimLeft(id, "."))
	if name != id || len(id) > longestID {
		name = fmt.Sprintf("%s-%.16s", plain.Head(name, longestID), harvest.Hash(id))
	}
	return name + ".skills.json"
}

// maxSidecar is the largest sidecar that is read, in bytes.
const maxSidecar = 64 << 20

// fileMode keeps what is written for its owner alone.
const fileMode fs.FileMode = 0o600

// mergeSidecar adds the events of side to the file of the session id at path; changed is false if it has
// them all. A file that is no sidecar is an error and is not changed.
func mergeSidecar(path, id string, side harvest.Sidecar) (changed bool, err error) {
	fields := map[string]json.RawMessage{}
	var have harvest.Sidecar
	old, err := bounded.ReadFile(path, maxSidecar)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, fmt.Errorf("read sidecar: %w", err)
	default:
		if err := errors.Join(json.Unmarshal(old, &fields), json.Unmarshal(old, &have)); err != nil {
			return false, fmt.Errorf("read sidecar %s: %w", path, err)
		}
	}
	merged := harvest.AppendEvents(have.Events, side.Events...)
	if len(merged) == len(have.Events) {
		return false, nil
	}
	if fields["skill_events"], err = json.Marshal(merged); err != nil {
		return false, fmt.Errorf("encode sidecar: %w", err)
	}
	fields["skill_events_version"] = json.RawMessage("1")
	if _, ok := fields["session_id"]; !ok {
		if fields["session_id"], err = json.Marshal(id); err != nil {
			return false, fmt.Errorf("encode sidecar: %w", err)
		}
	}
	text, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return false, fmt.Errorf("encode sidecar: %w", err)
	}
	if err := renameio.WriteFile(path, append(text, '\n'), fileMode); err != nil {
		return false, fmt.Errorf("write sidecar: %w", err)
	}
	return true, nil
}
