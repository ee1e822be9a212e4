package parcel

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// fixed is the time of files whose own does not travel.
var fixed = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// An applier does to a folder what others say that was done to it.
type applier struct {
	ctx   context.Context
	root  *os.Root
	files int
	bytes int64
	links []*tar.Header
}

// applyTar removes what is gone from dir, and writes what packed holds; nil: nothing.
func applyTar(ctx context.Context, dir string, packed io.Reader, gone []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	a := &applier{ctx: ctx, root: root}
	if len(gone) > maxEntries {
		return ErrLarge
	}
	for _, name := range gone {
		if err := valid(name); err != nil {
			return err
		}
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	if packed == nil {
		return a.linksInside()
	}
	for in := tar.NewReader(packed); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = a.entry(h, in)
		}
		if err != nil {
			return fmt.Errorf("write what changed: %w", err)
		}
	}
	// Links come last, so that nothing is written through a new one.
	for _, h := range a.links {
		if err := a.link(h); err != nil {
			return fmt.Errorf("link %s: %w", h.Name, err)
		}
	}
	return a.linksInside()
}

// valid refuses names that no file below a folder has.
func valid(name string) error {
	if !fs.ValidPath(name) || name == "." || len(name) > maxTarget || strings.ContainsRune(name, 0) || strings.Count(name, "/") >= maxFolders {
		return fmt.Errorf("%.80q is no name of a file", name)
	}
	return nil
}

func (a *applier) entry(h *tar.Header, in io.Reader) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if err := valid(h.Name); err != nil {
		return err
	}
	a.files++
	if a.bytes += h.Size; a.files > maxEntries || a.bytes > maxChanged || h.Size < 0 {
		return ErrLarge
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return a.root.MkdirAll(h.Name, 0o700)
	case tar.TypeSymlink:
		a.links = append(a.links, h)
		return nil
	case tar.TypeReg:
		return a.file(h, in)
	}
	return fmt.Errorf("%s is neither a file nor a folder nor a link", h.Name)
}

func (a *applier) file(h *tar.Header, in io.Reader) error {
	if err := a.place(h.Name); err != nil {
		return err
	}
	mode := fs.FileMode(h.Mode)&0o777 | 0o600
	f, err := a.root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	err = errors.Join(err, f.Chmod(mode))
	at := h.ModTime
	if at.Unix() <= 0 {
		at = fixed
	}
	return errors.Join(err, f.Close(), a.root.Chtimes(h.Name, at, at))
}

// place makes room for a file or a link: its folder, and nothing where it will be.
func (a *applier) place(name string) error {
	if err := a.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	return a.root.RemoveAll(name)
}

func (a *applier) link(h *tar.Header) error {
	if err := a.place(h.Name); err != nil {
		return err
	}
	return a.root.Symlink(h.Linkname, h.Name)
}

// linksInside refuses a folder in which a link leads out: an old one may by a folder that is a
// link now.
func (a *applier) linksInside() error {
	return fs.WalkDir(a.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink == 0 {
			return err
		}
		target, err := a.root.Readlink(name)
		if err == nil && !inside(a.root, name, target) {
			err = fmt.Errorf("the link %s does not stay in the folder", name)
		}
		return err
	})
}
