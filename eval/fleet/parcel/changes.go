package parcel

import (
	"archive/tar"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Limits of what travels of a folder.
const (
	maxChanged = 256 << 20 // of all files together, in bytes
	maxEntries = 200_000
	maxFolders = 256 // depth of nesting
)

// ErrLarge means that more has changed in a folder than travels.
var ErrLarge = fmt.Errorf("it left more changed files than a fleet carries: %d MiB, %d files, %d folders within each other", maxChanged>>20, maxEntries, maxFolders)

// A Beginning is the state of a folder that later ones are compared with. The zero value is
// that of an empty one.
type Beginning struct {
	files map[string]state // by slash path; folders too
}

// A state is what shows that a file has changed.
type state struct {
	mode   fs.FileMode // type and permissions; of a folder, the type alone
	size   int64
	sum    [sha256.Size]byte
	target string // of a link
	time   time.Time
}

// Look notes the state of a folder.
func Look(ctx context.Context, dir string) (*Beginning, error) {
	b := &Beginning{files: map[string]state{}}
	err := walk(ctx, dir, func(root *os.Root, name string, s state) (err error) {
		if s.mode.IsRegular() {
			s.sum, err = sum(root, name)
		}
		b.files[name] = s
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look at the folder: %w", err)
	}
	return b, nil
}

func sum(root *os.Root, name string) (h [sha256.Size]byte, err error) {
	in, err := bounded.OpenIn(root, name)
	if err != nil {
		return h, err
	}
	defer in.Close()
	w := sha256.New()
	_, err = io.Copy(w, in)
	w.Sum(h[:0])
	return h, err
}

// A format says how changes are packed.
type format struct {
	clean func(string) string // applied to names and contents; nil: they stay
	times bool                // files keep their times; else all have the same
}

// changes writes a tar of what is new or differs in dir, and returns what is gone. Files that
// cannot be read, pipes, devices and links that lead out count as gone.
func (b *Beginning) changes(ctx context.Context, dir string, out io.Writer, f format) (gone []string, err error) {
	p := &packer{begun: b.files, format: f, out: tar.NewWriter(out), left: maps.Clone(b.files)}
	if err := walk(ctx, dir, p.entry); err != nil {
		return nil, fmt.Errorf("look at what changed: %w", err)
	}
	for name := range p.left { // of a folder that is gone, nothing else is named
		if _, above := p.left[path.Dir(name)]; !above {
			gone = append(gone, name)
		}
	}
	if len(gone) > maxEntries {
		return nil, ErrLarge
	}
	slices.Sort(gone)
	return gone, p.out.Close()
}

// A packer writes what differs from the beginning.
type packer struct {
	begun, left map[string]state // left: what was not seen yet
	format
	out   *tar.Writer
	files int
	bytes int64
}

func (p *packer) entry(root *os.Root, name string, now state) error {
	was, known := p.begun[name]
	known = known && was.mode == now.mode && was.size == now.size && was.target == now.target
	if p.hides(name) || p.hides(now.target) || now.mode&fs.ModeSymlink != 0 && !inside(root, name, now.target) {
		return nil
	}
	if known && now.mode.IsRegular() {
		h, err := sum(root, name)
		if err != nil {
			return nil // it cannot be read
		}
		known = h == was.sum
	}
	if known {
		delete(p.left, name)
		return nil
	}
	h := &tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o700, Format: tar.FormatPAX}
	var text []byte
	switch {
	case now.mode&fs.ModeSymlink != 0:
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, now.target, 0o777
	case now.mode.IsRegular():
		var err error
		if text, err = bounded.ReadFileIn(root, name, maxChanged-p.bytes); errors.As(err, new(*bounded.TooLargeError)) {
			return ErrLarge
		}
		if err != nil {
			return nil
		}
		if text, err = p.cleaned(name, text); err != nil {
			return nil
		}
		h.Typeflag, h.Mode, h.Size = tar.TypeReg, int64(now.mode.Perm()), int64(len(text))
		if p.times {
			h.ModTime = now.time
		}
	}
	p.bytes += int64(len(text))
	if p.files++; p.files > maxEntries {
		return ErrLarge
	}
	if was.mode.Type() == now.mode.Type() { // else what was there goes first
		delete(p.left, name)
	}
	if err := p.out.WriteHeader(h); err != nil {
		return err
	}
	_, err := p.out.Write(text)
	return err
}

// hides reports whether a name has something that must not travel.
func (p *packer) hides(name string) bool { return p.clean != nil && p.clean(name) != name }

// cleaned is a content as it may travel. An object of a repository is what its name says, so
// that it goes as it is or not at all: then there is an error. One in a pack is not looked
// into.
func (p *packer) cleaned(name string, text []byte) ([]byte, error) {
	if p.clean == nil {
		return text, nil
	}
	if strings.Contains("/"+name, "/.git/objects/") {
		in, err := zlib.NewReader(bytes.NewReader(text))
		if err != nil {
			return text, nil // a pack, or an index of one
		}
		object, err := bounded.ReadAll(in, maxChanged)
		if err == nil && p.hides(string(object)) {
			err = errors.New("it has a key")
		}
		return text, err
	}
	return []byte(p.clean(string(text))), nil
}

// walk calls f for every file, folder and link below dir, by name, folders before what is in
// them. What cannot be listed is left out.
func walk(ctx context.Context, dir string, f func(root *os.Root, name string, s state) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if name == "." {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.Count(name, "/") >= maxFolders {
			return ErrLarge
		}
		if err != nil { // of a folder, f had it already
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil // gone meanwhile
		}
		s := state{mode: info.Mode(), time: info.ModTime()}
		switch s.mode.Type() {
		case fs.ModeDir:
			s.mode = fs.ModeDir
		case fs.ModeSymlink:
			s.mode = fs.ModeSymlink
			if s.target, err = root.Readlink(name); err != nil {
				return nil
			}
		case 0:
			s.size, s.mode = info.Size(), s.mode.Perm()|0o600
		default:
			return nil // a pipe or a device
		}
		return f(root, name, s)
	})
}

// inside reports whether a link stays in the folder, by its text and by where it leads now.
func inside(root *os.Root, name, target string) bool {
	to := path.Join(path.Dir(name), target)
	if target == "" || len(target) > maxTarget || path.IsAbs(target) || to == ".." || strings.HasPrefix(to, "../") || strings.ContainsRune(target, 0) {
		return false
	}
	_, err := root.Stat(name)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

const maxTarget = 4095 // bytes of a link's target
