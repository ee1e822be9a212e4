package install

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A FolderFile is one file of a skill's folder beside its SKILL.md.
type FolderFile struct {
	Path string      `json:"path"` // slash-separated, below the folder
	Mode fs.FileMode `json:"mode"` // permission bits
	Size int64       `json:"size,omitempty"`
	SHA  string      `json:"sha256,omitempty"`
	Link string      `json:"link,omitempty"` // what a symlink says; then nothing else is set
}

// Limits on a skill's folder that is copied. A larger one is no skill, but a
// folder in which somebody has built something.
const (
	maxFolderFiles = 5_000
	maxFolderBytes = 256 << 20
)

// Survey lists the files of a skill's folder by name, except its SKILL.md and
// files that are no part of a skill (version control, caches). A symlink that
// leads out of the folder or to nothing, and anything but a file, folder or
// symlink, is an error: what cannot be copied must not be left out silently.
func Survey(dir string) ([]FolderFile, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("list skill folder: %w", err)
	}
	defer root.Close()
	var files []FolderFile
	var bytes int64
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case slices.Contains(notSkill, e.Name()):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir(), name == skill.FileName, path.Dir(name) == "." && isTemp(name):
			return nil
		}
		f, err := survey(root, name)
		if err != nil {
			return err
		}
		files, bytes = append(files, f), bytes+f.Size
		if len(files) > maxFolderFiles || bytes > maxFolderBytes {
			return fmt.Errorf("it holds more than %d files or %d MB", maxFolderFiles, maxFolderBytes>>20)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list skill folder %s: %w", dir, err)
	}
	return files, nil
}

// survey reads name, which is no folder.
func survey(root *os.Root, name string) (f FolderFile, err error) {
	info, err := root.Lstat(name)
	if err != nil {
		return f, err
	}
	f = FolderFile{Path: name, Mode: info.Mode().Perm(), Size: info.Size()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := root.Readlink(name)
		if err != nil {
			return f, err
		}
		if _, err := root.Stat(name); err != nil {
			return f, fmt.Errorf("the symlink %s leads out of the folder, or to nothing", name)
		}
		return FolderFile{Path: name, Link: link}, nil
	case !info.Mode().IsRegular():
		return f, fmt.Errorf("%s is no regular file", name)
	}
	in, err := bounded.OpenIn(root, name)
	if err != nil {
		return f, err
	}
	defer in.Close()
	f.SHA, err = copyHash(io.Discard, in)
	return f, err
}

// copyHash copies and returns the SHA-256 in hex of what was copied.
func copyHash(w io.Writer, r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, h), r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// plantPrefix begins the names of folders in which a skill's folder is put
// together. They are hidden and hold the new folder one level down, so that
// no agent finds its SKILL.md.
const plantPrefix = ".evolve-plant-"

// Plant puts a skill into a place that has none: the folder at dir gets text
// as its SKILL.md, and a copy of files (what Survey returned for the folder
// from). The folder is put together beside dir and renamed in one step, so
// that a crash leaves all of it or nothing; missing parent folders are made.
// If dir exists and is not empty, the error wraps fs.ErrExist, and nothing is
// overwritten. A file that differs from its entry in files (it was edited
// meanwhile) is an error, too. After an error nothing is at dir.
//
// dir must be the path that the caller has recorded, with symlinks resolved
// in the part that exists. If it leads through a symlink by now, or its
// folder is replaced meanwhile, somebody else did that, and nothing is
// written.
func Plant(dir, from string, files []FolderFile, text []byte) error {
	if err := plant(dir, from, files, text, func(step) {}); err != nil {
		return fmt.Errorf("copy skill to %s: %w", dir, err)
	}
	return nil
}

func plant(dir, from string, files []FolderFile, text []byte, at func(step)) (err error) {
	if !skill.PlainName(filepath.Base(dir)) {
		return fmt.Errorf("%q is no name of a skill", filepath.Base(dir))
	}
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat(skill.FileName)
	if err != nil {
		return err
	}
	above := filepath.Dir(dir)
	root, err := openAsWritten(above, at)
	if err != nil {
		return err
	}
	defer root.Close()
	at(resolved)
	unlock, err := lockFolder(above)
	if err != nil {
		return err
	}
	defer unlock()
	// The lock was taken by name, and may be that of another folder by now.
	if err := movedFrom(root, above); err != nil {
		return err
	}
	at(locked)
	sweepPlants(root)
	if err := vacant(root, filepath.Base(dir)); err != nil {
		return err
	}
	at(compared)
	bed := plantPrefix + rand.Text()
	defer func() { _ = root.RemoveAll(bed) }() // the next Plant does it otherwise
	made := path.Join(bed, filepath.Base(dir))
	if err := root.MkdirAll(made, 0o700); err != nil {
		return err
	}
	at(created)
	grown, err := root.OpenRoot(made)
	if err != nil {
		return err
	}
	defer grown.Close()
	for i, f := range files {
		if err := copyFile(grown, source, f); err != nil {
			return err
		}
		if i == 0 {
			at(halfway)
		}
	}
	if err := writeSynced(grown, skill.FileName, text, info.Mode().Perm()); err != nil {
		return err
	}
	if err := likeFolders(grown, source); err != nil {
		return err
	}
	at(complete)
	if err := movedFrom(root, above); err != nil {
		return err
	}
	// If somebody has put something there meanwhile, this fails: a rename
	// replaces only an empty folder.
	if err := root.Rename(made, filepath.Base(dir)); err != nil {
		return err
	}
	at(renamed)
	err = movedFrom(root, above)
	if err == nil {
		if err = syncFolder(root); err != nil {
			err = fmt.Errorf("sync folder after the skill was put in place: %w", err)
		}
	}
	if err != nil { // back into the bed, which is removed
		if back := root.Rename(filepath.Base(dir), made); back != nil {
			return fmt.Errorf("%w; what was put there stays in the folder that was there before: %w", err, back)
		}
		return err
	}
	at(synced)
	return nil
}

// openAsWritten opens the folder at dir, a path without symlinks, and makes
// missing folders of the path. It starts at the last one that exists and
// looks up the others inside it, so that a symlink that is made meanwhile has
// no effect.
func openAsWritten(dir string, at func(step)) (*os.Root, error) {
	there := dir
	for {
		_, err := os.Lstat(there)
		if err == nil {
			break
		}
		if up := filepath.Dir(there); errors.Is(err, fs.ErrNotExist) && up != there {
			there = up
			continue
		}
		return nil, err
	}
	root, err := os.OpenRoot(there)
	if err != nil {
		return nil, err
	}
	at(opened)
	if err := movedFrom(root, there); err != nil {
		root.Close()
		return nil, err
	}
	if there == dir {
		return root, nil
	}
	defer root.Close()
	below, err := filepath.Rel(there, dir)
	if err != nil {
		return nil, err
	}
	if err := root.MkdirAll(below, 0o700); err != nil {
		return nil, err
	}
	return root.OpenRoot(below)
}

// movedFrom is an error if dir no longer leads, without a symlink, to the
// open folder.
func movedFrom(open *os.Root, dir string) error {
	now, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("its folder was replaced meanwhile: %w", err)
	}
	if now != dir {
		return fmt.Errorf("%s leads to %s now", dir, now)
	}
	is, err := open.Stat(".")
	if err != nil {
		return err
	}
	there, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("its folder was replaced meanwhile: %w", err)
	}
	if !os.SameFile(is, there) {
		return errors.New("its folder was replaced by another one meanwhile")
	}
	return nil
}

// vacant is nil if nothing is at name, or an empty folder.
func vacant(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		entries, err := fs.ReadDir(root.FS(), name)
		if err != nil || len(entries) == 0 {
			return err
		}
	}
	return fmt.Errorf("something is there already: %w", fs.ErrExist)
}

// SweepPlants removes what a Plant that died has left in a folder of skills.
func SweepPlants(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	if unlock, err := lockFolder(dir); err == nil {
		sweepPlants(root)
		unlock()
	}
}

// sweepPlants removes what a Plant that died has left. The caller holds the lock.
func sweepPlants(root *os.Root) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), plantPrefix) && e.IsDir() {
			_ = root.RemoveAll(e.Name())
		}
	}
}

// copyFile copies one file with its mode, and refuses one that has changed.
func copyFile(to, from *os.Root, f FolderFile) error {
	if err := to.MkdirAll(path.Dir(f.Path), 0o700); err != nil {
		return err
	}
	if f.Link != "" {
		return to.Symlink(f.Link, f.Path)
	}
	info, err := from.Lstat(f.Path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s changed while it was copied", f.Path)
	}
	in, err := bounded.OpenIn(from, f.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() // twice, at worst
	sha, err := copyHash(out, in)
	if err != nil {
		return err
	}
	if sha != f.SHA {
		return fmt.Errorf("%s changed while it was copied", f.Path)
	}
	return errors.Join(out.Chmod(f.Mode), out.Sync(), out.Close())
}

func writeSynced(root *os.Root, name string, text []byte, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // twice, at worst
	if _, err := f.Write(text); err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Sync(), f.Close())
}

// likeFolders gives the folders of a copy, the copy itself included, the
// modes of the original, and makes them durable. Their owner can always enter
// them.
func likeFolders(to, from *os.Root) error {
	var dirs []string
	err := fs.WalkDir(to.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			dirs = append(dirs, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Reverse(dirs) // the deepest first
	for _, name := range dirs {
		info, err := from.Stat(name)
		if err != nil {
			return err
		}
		if err := to.Chmod(name, info.Mode().Perm()|0o700); err != nil {
			return err
		}
		d, err := to.OpenRoot(name)
		if err != nil {
			return err
		}
		if err := errors.Join(syncFolder(d), d.Close()); err != nil {
			return err
		}
	}
	return nil
}
