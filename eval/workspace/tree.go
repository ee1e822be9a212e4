package workspace

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Limits of a recorded tree. Trees that share subtrees can pretend to any number of
// files, at any depth.
const (
	maxEntries = 200_000
	maxFolders = 256  // depth of nesting
	maxName    = 255  // bytes of a file's name, which is what file systems hold
	maxLink    = 4095 // bytes of a link's target
)

// A treeReader reads a repository's objects, as *git.Objects does.
type treeReader interface {
	Tree(id string) ([]git.Entry, error)
	Blob(id string) (*git.Blob, error)
}

// A packer writes a tree as a tar file, without what no attempt may have: repositories,
// links that lead out of the tree.
type packer struct {
	objects treeReader
	out     *tar.Writer
	limit   int64 // of all files together, in bytes
	size    int64
	entries int
}

// packTree writes to out the folder prefix of a tree, and the files of above that the folders
// over it have.
func packTree(out *tar.Writer, objects treeReader, tree, prefix string, above []string, limit int64) error {
	top := tree
	for name := range strings.SplitSeq(prefix, "/") {
		if name == "" {
			break // the top
		}
		entries, err := objects.Tree(tree)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(entries, func(e git.Entry) bool { return e.Name == name && e.Mode == "40000" })
		if i < 0 {
			return fmt.Errorf("the commit has no folder %s", prefix)
		}
		tree = entries[i].ID
	}
	p := &packer{objects: objects, out: out, limit: limit}
	if err := p.folder(tree, ".", 0); err != nil {
		return err
	}
	return p.above(top, prefix, above)
}

// packFolder writes to out the folder name below dir.
func packFolder(out *tar.Writer, dir, name string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), name, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o700, Format: tar.FormatPAX})
		}
		f, err := bounded.OpenIn(root, name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: 0o600, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = io.CopyN(out, f, info.Size())
		return err
	})
}

func (p *packer) folder(tree, dir string, depth int) error {
	entries, err := p.objects.Tree(tree)
	if err != nil {
		return fmt.Errorf("read folder %s: %w", dir, err)
	}
	if depth > maxFolders {
		return fmt.Errorf("the tree has more than %d folders within each other", maxFolders)
	}
	if p.entries += len(entries); p.entries > maxEntries {
		return fmt.Errorf("the tree has more than %d files", maxEntries)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if seen[e.Name] || len(e.Name) > maxName {
			return fmt.Errorf("read folder %s: a name is there twice, or is too long: %.40q", dir, e.Name)
		}
		seen[e.Name] = true
		if !fs.ValidPath(e.Name) || e.Name == "." || strings.Contains(e.Name, "/") || dotGit(e.Name) {
			continue
		}
		if strings.EqualFold(e.Name, ".gitmodules") && !strings.HasPrefix(e.Mode, "100") {
			continue // git commits no link there, and none below it
		}
		name := path.Join(dir, e.Name)
		switch e.Mode {
		case "40000", "160000": // a submodule is an empty folder
			if err := p.out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o700, Format: tar.FormatPAX}); err != nil {
				return fmt.Errorf("write tree: %w", err)
			}
			if e.Mode == "40000" {
				err = p.folder(e.ID, name, depth+1)
			}
		case "120000":
			err = p.link(e.ID, name)
		default:
			if strings.HasPrefix(e.Mode, "100") {
				err = p.file(e, name)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) file(e git.Entry, name string) error {
	blob, err := p.objects.Blob(e.ID)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if p.size += blob.Size; p.size > p.limit {
		return fmt.Errorf("the tree is larger than %d MiB", p.limit>>20)
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: blob.Size, Mode: 0o600, Format: tar.FormatPAX}
	if mode, err := strconv.ParseUint(e.Mode, 8, 32); err == nil && mode&0o100 != 0 {
		h.Mode = 0o700
	}
	if err := p.out.WriteHeader(h); err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	if _, err := io.Copy(p.out, blob); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// link writes a link whose text stays inside, and leaves out any other.
func (p *packer) link(id, name string) error {
	target, err := p.target(id, name)
	if err != nil {
		return err
	}
	to := path.Join(path.Dir(name), target)
	if target == "" || path.IsAbs(target) || to == ".." || strings.HasPrefix(to, "../") || strings.ContainsRune(target, 0) {
		return nil
	}
	if err := p.out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Format: tar.FormatPAX}); err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	return nil
}

// target is where a link leads, "" if nothing can be there.
func (p *packer) target(id, name string) (string, error) {
	blob, err := p.objects.Blob(id)
	if err != nil {
		return "", fmt.Errorf("read link %s: %w", name, err)
	}
	if blob.Size > maxLink {
		return "", nil
	}
	text, err := bounded.ReadAll(blob, maxLink)
	if err != nil {
		return "", fmt.Errorf("read link %s: %w", name, err)
	}
	return string(text), nil
}

// dotGit reports whether some file system takes name for .git: NTFS ignores blanks and
// dots at its end and has a short name for it, HFS+ ignores invisible characters.
func dotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":") // NTFS: a stream of the file
	name = strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name), " .")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// unpack writes a packed tree below dir. Links are made last, so that nothing is
// written through one; a chain of them that leads out nevertheless is removed.
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
	info, err := f.Stat()
	if err != nil {
		return err
	}
	left, entries := info.Size(), 0 // a file with holes could be larger than any disk
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
		entries++
		switch left -= h.Size; {
		case left < 0 || entries > 2*maxEntries: // which has a repository, too
			err = errors.New("the tree is too large")
		case h.Typeflag == tar.TypeDir:
			err = folder(path.Clean(h.Name))
		case h.Typeflag == tar.TypeSymlink:
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
	return errors.Join(f.Close(), root.Chtimes(h.Name, committed, committed))
}

// committed is the time of every file of a recorded tree.
var committed = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// packed reads one file of a packed tree; fs.ErrNotExist if it has none of that name.
func packed(file, name string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for in := tar.NewReader(f); ; { // files are sought over, not read
		h, err := in.Next()
		if err == io.EOF {
			return nil, fs.ErrNotExist
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg && path.Clean(h.Name) == name {
			return bounded.ReadAll(in, h.Size)
		}
	}
}
