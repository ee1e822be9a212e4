package eval

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
)

// maxEntries bounds the files of a recorded tree.
const maxEntries = 200_000

// filterTree copies a tar stream to w without what no attempt may have:
// repositories, special files, links that lead out of the tree. limit bounds the
// files together, in bytes.
func filterTree(w io.Writer, r io.Reader, limit int64) error {
	in, out := tar.NewReader(r), tar.NewWriter(w)
	var size int64
	for n := 0; ; n++ {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("read tree: %w", err)
		}
		if n > maxEntries {
			return fmt.Errorf("the tree has more than %d files", maxEntries)
		}
		if size += h.Size; size > limit {
			return fmt.Errorf("the tree is larger than %d MiB", limit>>20)
		}
		name, ok := insideTree(h.Name)
		if !ok || !keeps(h, name) {
			continue
		}
		clean := &tar.Header{Typeflag: h.Typeflag, Name: name, Linkname: h.Linkname, Size: h.Size, Mode: h.Mode & 0o777, ModTime: h.ModTime, Format: tar.FormatPAX}
		if err := out.WriteHeader(clean); err != nil {
			return fmt.Errorf("write tree: %w", err)
		}
		if _, err := io.Copy(out, in); err != nil {
			return fmt.Errorf("write tree: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	return nil
}

// insideTree cleans a name of the archive; not ok for one of a repository's own
// files, and for one that leads out.
func insideTree(name string) (clean string, ok bool) {
	clean = path.Clean(name)
	if !fs.ValidPath(clean) || clean == "." {
		return "", false
	}
	for part := range strings.SplitSeq(clean, "/") {
		if strings.EqualFold(part, ".git") {
			return "", false
		}
	}
	return clean, true
}

// keeps reports whether an entry may be unpacked: files, folders, and links
// whose text stays inside.
func keeps(h *tar.Header, name string) bool {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
		return true
	case tar.TypeSymlink:
		to := path.Join(path.Dir(name), h.Linkname)
		return h.Linkname != "" && !path.IsAbs(h.Linkname) && to != ".." && !strings.HasPrefix(to, "../")
	}
	return false
}

// unpack writes a filtered tree below dir. Links are made last, so that nothing
// is written through one; a chain of them that leads out after all is cut.
func unpack(ctx context.Context, dir, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var links []*tar.Header
	made := map[string]bool{".": true}
	folder := func(name string) error {
		if made[name] {
			return nil
		}
		made[name] = true
		return root.MkdirAll(name, 0o700)
	}
	for in := tar.NewReader(f); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = folder(path.Clean(h.Name))
		case tar.TypeSymlink:
			links = append(links, h)
		default:
			if err = folder(path.Dir(h.Name)); err == nil {
				err = unpackFile(root, h, in)
			}
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", h.Name, err)
		}
	}
	for _, h := range links {
		if err := errors.Join(folder(path.Dir(h.Name)), root.Symlink(h.Linkname, h.Name)); err != nil {
			return fmt.Errorf("link %s: %w", h.Name, err)
		}
	}
	for _, h := range links {
		if _, err := root.Stat(h.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			if err := root.Remove(h.Name); err != nil {
				return fmt.Errorf("cut link %s: %w", h.Name, err)
			}
		}
	}
	return nil
}

func unpackFile(root *os.Root, h *tar.Header, in io.Reader) error {
	mode := fs.FileMode(0o600)
	if h.Mode&0o111 != 0 {
		mode = 0o700
	}
	f, err := root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, in); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
