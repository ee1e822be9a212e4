package install

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A site is the place of a SKILL.md: an open folder, and a name in it. Names
// are looked up inside that folder alone, whatever its path leads to by now.
type site struct {
	path   string // as Install was given it
	name   string // of the file in the folder
	folder *os.Root
}

// moved is an error if the path no longer leads to the open folder.
func (p *site) moved() error {
	now, err := resolve(p.path)
	if err == nil && now != p.path {
		return fmt.Errorf("it led to %s at first and leads to %s now", p.path, now)
	}
	if err != nil {
		return fmt.Errorf("its folder was replaced meanwhile: %w", err)
	}
	open, err := p.folder.Stat(".")
	if err != nil {
		return err
	}
	there, err := os.Stat(filepath.Dir(p.path))
	if err != nil {
		return fmt.Errorf("its folder was replaced meanwhile: %w", err)
	}
	if !os.SameFile(open, there) {
		return errors.New("its folder was replaced by another one meanwhile")
	}
	return nil
}

// A liveFile is the installed file; hash is "" and info nil if there is none.
type liveFile struct {
	hash string
	info fs.FileInfo
}

func (f liveFile) mode() fs.FileMode {
	if f.info == nil {
		return 0o600
	}
	return f.info.Mode().Perm()
}

// read reads the installed file. A symlink is an error: the path was
// resolved, so somebody has put it there since.
func (p *site) read() (live liveFile, err error) {
	info, err := p.folder.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return live, nil
	}
	if err != nil {
		return live, err
	}
	if !info.Mode().IsRegular() {
		return live, fmt.Errorf("%s is not a regular file", p.path)
	}
	text, err := bounded.ReadFileIn(p.folder, p.name, skill.MaxFile)
	if err != nil {
		return live, err
	}
	return liveFile{skill.HashText(text), info}, nil
}

// write makes a temporary file that holds text, with the mode and the owner
// of the file that it will replace, synced and closed. After an error there
// is none.
func (p *site) write(text []byte, like liveFile, at func(step)) (_ string, err error) {
	name := tempPrefix + rand.Text()
	f, err := p.folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close() // twice, at worst
			_ = p.folder.Remove(name)
		}
	}()
	at(created)
	half := len(text) / 2
	if _, err = f.Write(text[:half]); err != nil {
		return "", err
	}
	at(halfway)
	if _, err = f.Write(text[half:]); err != nil {
		return "", err
	}
	if like.info != nil {
		if err = keepOwner(f, like.info); err != nil {
			return "", err
		}
	}
	// Set the mode after the owner: changing the owner clears bits of the
	// mode.
	if err = f.Chmod(like.mode()); err != nil {
		return "", err
	}
	if err = f.Sync(); err != nil {
		return "", err
	}
	if err = f.Close(); err != nil {
		return "", err
	}
	return name, nil
}

// clean removes temporary files of killed installers. The caller holds the
// lock, so none of them is alive; failing to remove one does no harm.
func (p *site) clean() {
	entries, err := fs.ReadDir(p.folder.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if isTemp(e.Name()) && e.Type().IsRegular() {
			_ = p.folder.Remove(e.Name())
		}
	}
}

// sync makes a rename durable.
func (p *site) sync() error { return syncFolder(p.folder) }

// syncFolder makes renames and removals in a folder durable. Some file
// systems cannot sync a folder and need no such call.
func syncFolder(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
