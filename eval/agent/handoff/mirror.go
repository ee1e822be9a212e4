package handoff

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// maxMirror is how much the files of one folder may hold, in bytes.
const maxMirror = 2 << 30

var errTooMuch = fmt.Errorf("its files hold more than %d GiB: remove what is no part of the answer", maxMirror>>30)

// mirror makes the folder to a copy of from: files with their permissions and times,
// links as links. Pipes and devices are left out. A from that does not exist is empty.
// No link is followed out of either folder.
func mirror(to, from string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	old, err := fs.ReadDir(dst.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range old {
		if err := dst.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	info, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", from)
	}
	src, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer src.Close()
	left := int64(maxMirror)
	return copyFolder(dst, src, ".", &left)
}

func copyFolder(dst, src *os.Root, dir string, left *int64) error {
	entries, err := fs.ReadDir(src.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if err := dst.Mkdir(name, 0o700); err != nil {
				return err
			}
			err = copyFolder(dst, src, name, left)
		case e.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = src.Readlink(name); err == nil {
				err = dst.Symlink(target, name)
			}
		case e.Type().IsRegular():
			err = copyFile(dst, src, name, left)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(dst, src *os.Root, name string, left *int64) error {
	in, err := bounded.OpenIn(src, name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if info.Size() > *left {
		return errTooMuch
	}
	out, err := dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, *left+1))
	if *left -= n; err == nil && *left < 0 {
		err = errTooMuch // it grew
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = dst.Chmod(name, info.Mode().Perm())
	}
	if err == nil {
		err = dst.Chtimes(name, info.ModTime(), info.ModTime())
	}
	return err
}
