package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Note is a message for the person at the next session: a version was installed, a
// challenger waits for a decision.
type Note struct {
	Schema int       `json:"schema"`
	Skill  string    `json:"skill"`
	Kind   NoteKind  `json:"kind"`
	Time   time.Time `json:"time"`
	Text   string    `json:"text"` // one line
}

// NoteKind is the subject of a note. A skill has one note per kind: the latest.
type NoteKind string

const (
	Installed NoteKind = "installed" // another text is live
	Waiting   NoteKind = "waiting"   // something needs the owner's decision
	Alarm     NoteKind = "alarm"     // something got worse
	Edited    NoteKind = "edited"    // the owner's edit cost a challenger its place
)

// maxNotes are announced in one session; the next one announces the rest.
const maxNotes = 8

func noteName(skill string, kind NoteKind) string {
	clean := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r < ' ' {
			return '_'
		}
		return r
	}, strings.TrimLeft(skill, "."))
	return clean + "." + string(kind) + ".json"
}

// Leave leaves a note for the next session, and replaces an older one of its skill and
// kind.
func Leave(home string, n Note) error {
	n.Schema = 1
	n.Text = strings.Join(strings.Fields(n.Text), " ")
	return writeState(filepath.Join(home, "notes", noteName(n.Skill, n.Kind)), n)
}

// Withdraw removes a note that is no longer true.
func Withdraw(home, skill string, kind NoteKind) error {
	err := os.Remove(filepath.Join(home, "notes", noteName(skill, kind)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("withdraw note: %w", err)
	}
	return nil
}

// Notes returns what has not been announced yet, the oldest first.
func Notes(home string) ([]Note, error) {
	var out []Note
	err := eachNote(home, func(_ string, n Note) { out = append(out, n) })
	return out, err
}

func eachNote(home string, f func(path string, n Note)) error {
	dir := filepath.Join(home, "notes")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	type file struct {
		path string
		Note
	}
	var notes []file
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		var n Note
		b, err := readFile(path)
		if err != nil || json.Unmarshal(b, &n) != nil || n.Schema != 1 || n.Text == "" {
			continue // announced by another session meanwhile, or not written by evolve
		}
		notes = append(notes, file{path, n})
	}
	slices.SortStableFunc(notes, func(a, b file) int { return a.Time.Compare(b.Time) })
	for _, n := range notes {
		f(n.path, n.Note)
	}
	return nil
}

// announce returns the notes, each once: only the hook that renames a note's file
// announces it.
func (h *Host) announce(in *input) (r reply, err error) {
	if h.Unattended || in.source == "compact" || in.subagent != "" {
		return r, nil
	}
	var lines []string
	told := filepath.Join(h.Home, "notes", "told")
	err = eachNote(h.Home, func(path string, n Note) {
		if len(lines) == maxNotes {
			return // left for the next session
		}
		if e := os.MkdirAll(told, 0o700); e != nil {
			return
		}
		if os.Rename(path, filepath.Join(told, filepath.Base(path))) == nil {
			lines = append(lines, fmt.Sprintf("%s: %s", n.Skill, n.Text))
		}
	})
	switch len(lines) {
	case 0:
	case 1:
		r.message = "evolve: " + lines[0]
	default:
		r.message = "evolve, since your last session:\n- " + strings.Join(lines, "\n- ")
	}
	return r, err
}
