package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A record is what evolve stores about a settings file that it has edited.
type record struct {
	Schema int    `json:"schema"`
	Path   string `json:"path"`
	Before []byte `json:"before"` // null if there was no file
	After  string `json:"after"`  // SHA-256
}

// fileMode keeps what evolve writes for its owner alone.
const fileMode fs.FileMode = 0o600

// edit replaces the text of a settings file by the result of change. A copy of the old
// text is kept. The file is replaced as a whole, and only if it is still what was read.
func (e *Editor) edit(path string, change func(text []byte, was *record) ([]byte, error)) (*Edit, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, problem.Inputf("mend the link first", "%s is a symlink to nothing", path)
		}
		target, err = path, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find settings: %w", err)
	}
	text, mode, err := readFile(target)
	if err != nil {
		return nil, err
	}
	kept := e.recordFile(target)
	next, err := change(text, readRecord(kept))
	if err != nil {
		var bad *hook.SettingsError
		if errors.As(err, &bad) {
			return nil, problem.Inputf(bad.Hint, "%s: %s; nothing was changed", path, bad.Reason)
		}
		return nil, err
	}
	r := &Edit{Schema: 1, Path: path, Events: hook.Events}
	if bytes.Equal(text, next) && (text == nil) == (next == nil) {
		return r, nil
	}
	r.Changed = true
	if text != nil {
		r.Backup = filepath.Join(e.Dir.Backups(), "settings-"+e.Now().UTC().Format("20060102T150405.000")+".json")
		if err := keepFile(r.Backup, text); err != nil {
			return nil, err
		}
	}
	now, _, err := readFile(target)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(now, text) {
		return nil, problem.Refusef("try again", "%s changed meanwhile; nothing was changed", path)
	}
	if next == nil {
		if err := os.Remove(target); err != nil {
			return nil, fmt.Errorf("remove settings: %w", err)
		}
	} else {
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return nil, fmt.Errorf("write settings: %w", err)
		}
		if err := renameio.WriteFile(target, next, mode, renameio.IgnoreUmask()); err != nil {
			return nil, fmt.Errorf("write settings: %w", err)
		}
	}
	return r, remember(kept, record{1, target, text, skill.HashText(next)})
}

// maxSettings is the largest settings file that is read, in bytes.
const maxSettings = 16 << 20

// readFile reads a settings file; if there is none, the text is nil.
func readFile(path string) (text []byte, mode fs.FileMode, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fileMode, nil
	}
	if err == nil {
		text, err = bounded.ReadFile(path, maxSettings)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read settings: %w", err)
	}
	return append([]byte{}, text...), info.Mode().Perm(), nil
}

// recordFile is the file with the record of target.
func (e *Editor) recordFile(target string) string {
	return filepath.Join(e.Dir.Hooks(), skill.HashText([]byte(target))[:16]+".json")
}

// forget removes the record of a settings file.
func (e *Editor) forget(path string) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path // removed: it was made by install
	}
	if err := os.Remove(e.recordFile(target)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget hooks: %w", err)
	}
	return nil
}

// readRecord reads the record of a file; nil if there is none.
func readRecord(path string) *record {
	var h record
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &h) != nil || h.Schema != 1 {
		return nil
	}
	return &h
}

func remember(path string, h record) error {
	// A repeated edit keeps the text from before the first one.
	if old := readRecord(path); old != nil {
		if commands, _, err := hook.Hooked(h.Before); err == nil && len(commands) > 0 {
			h.Before = old.Before
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode record of hooks: %w", err)
	}
	return keepFile(path, append(text, '\n'))
}

// keepFile writes a file of evolve's own.
func keepFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := renameio.WriteFile(path, text, fileMode); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
