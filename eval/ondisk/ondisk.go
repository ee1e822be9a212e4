// Package ondisk is what the layouts of cases on disk share: names of folders, what is
// read of others' files, and the count of what a layout cannot carry.
package ondisk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// The limits of what is read.
const (
	MaxFile  = 1 << 20 // bytes of a text that a person wrote, and of a file of a case
	MaxCase  = 64 << 20
	MaxCases = 10_000
)

// Name is the folder of a case: its id if every file system can hold that and it is not
// reserved, else a name with a part of the id's hash.
func Name(id string, reserved ...string) string {
	var b strings.Builder
	for _, r := range id {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			b.WriteRune(r)
		}
	}
	name := b.String()
	if name == id && len(id) <= 80 && !slices.Contains(reserved, id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return strings.TrimPrefix(name[:min(len(name), 40)]+"-"+hex.EncodeToString(sum[:6]), "-")
}

// Open opens a folder that layouts are written into, and makes it first.
func Open(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir) // a link that leads out of it is not followed
}

// Put writes a new file, and the folders that it needs.
func Put(root *os.Root, name string, text []byte, mode fs.FileMode) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// JSON is v for people and programs to read.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

// Compact undoes what JSON did to the schemas of checks.
func Compact(checks []eval.Check) error {
	for i := range checks {
		if k := &checks[i]; len(k.Schema) > 0 {
			var b bytes.Buffer
			if err := json.Compact(&b, k.Schema); err != nil {
				return err
			}
			k.Schema = b.Bytes()
		}
	}
	return nil
}

// Read reads a plain text file of at most limit bytes, nil if there is none. An error
// names it.
func Read(dir fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Lstat(dir, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", name)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s: %d bytes, want %d at most", name, info.Size(), limit)
	}
	text, err := fs.ReadFile(dir, name)
	if err == nil && !utf8.Valid(text) {
		err = fmt.Errorf("%s is not text", name)
	}
	return text, err
}

// Portable reports whether every file of the case comes back as it was written.
func Portable(c *eval.Case) bool {
	for _, text := range c.Files {
		if len(text) > MaxFile || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return false
		}
	}
	return true
}

// A Tally counts what a layout cannot carry, one note a kind.
type Tally struct {
	Cannot string // what becomes of checks
	notes  []note
}

type note struct {
	checks, cases int
	what          string
}

func (t *Tally) add(n note) {
	for i := range t.notes {
		if t.notes[i].what == n.what {
			t.notes[i].checks += n.checks
			t.notes[i].cases += n.cases
			return
		}
	}
	t.notes = append(t.notes, n)
}

// Case counts a case.
func (t *Tally) Case(what string) { t.add(note{cases: 1, what: what}) }

// Checks counts checks of one case, by their types.
func (t *Tally) Checks(types map[string]int) {
	for _, k := range slices.Sorted(maps.Keys(types)) {
		t.add(note{checks: types[k], cases: 1, what: k})
	}
}

// Notes are what was counted, for a person.
func (t *Tally) Notes() []string {
	list := []string{}
	for _, n := range t.notes {
		if n.checks > 0 {
			list = append(list, fmt.Sprintf("%s of %s: %s", plain.Counted(n.checks, n.what+" check"), plain.Counted(n.cases, "case"), t.Cannot))
		} else {
			list = append(list, fmt.Sprintf("%s: %s", plain.Counted(n.cases, "case"), n.what))
		}
	}
	return list
}
