package consent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A place is what is known of a folder on disk.
type place struct {
	path     string        // real, as far as it exists
	typed    string        // as it was named
	self     fs.FileInfo   // nil if it does not exist
	above    []fs.FileInfo // self and the folders above it that exist
	project  string        // see Project
	worktree bool          // of the repository project, and not below it
}

// places remembers what was looked up. It is safe for concurrent use.
type places struct {
	mu    sync.Mutex
	known map[string]*place
}

func (p *places) look(folder string) *place {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.known[folder]; ok {
		return at
	}
	at := find(folder)
	if p.known == nil {
		p.known = map[string]*place{}
	}
	p.known[folder] = at
	return at
}

func find(folder string) *place {
	at := &place{path: real(folder), typed: filepath.Clean(folder)}
	home, err := os.UserHomeDir()
	if err == nil {
		home = real(home)
	}
	for dir := at.path; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			if dir == at.path {
				at.self = info
			}
			at.above = append(at.above, info)
		}
		if at.project == "" && dir != home { // a repository of settings is no project
			at.project = repository(dir)
			at.worktree = at.project != "" && at.project != dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if at.project == "" {
		at.project = at.path
	}
	return at
}

// in reports whether a place is a folder or below it. The same folder in other letters
// is known by the file system.
func (at *place) in(folder *place) bool {
	return below(folder.path, at.path) ||
		folder.self != nil && slices.ContainsFunc(at.above, func(i fs.FileInfo) bool { return os.SameFile(i, folder.self) })
}

// below reports whether a path is that of a folder or below it.
func below(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// maxGit is the longest file of git's that is read, in bytes: it holds a path.
const maxGit = 8 << 10

// repository is the top folder of the repository whose top, or worktree's top, dir is;
// "" if it is neither. Git names a worktree, too: one that only says so is none.
func repository(dir string) string {
	git := filepath.Join(dir, ".git")
	if info, err := os.Stat(git); err != nil {
		return ""
	} else if info.IsDir() {
		return dir
	}
	entry := elsewhere(dir)
	if entry == "" {
		return ""
	}
	all := filepath.Dir(entry)
	back := line(filepath.Join(entry, "gitdir"))
	if !filepath.IsAbs(back) {
		back = filepath.Join(entry, back)
	}
	if main := filepath.Dir(all); filepath.Base(all) == "worktrees" && real(back) == real(git) {
		if top := moduleOf(main); top != "" {
			return top
		}
		return strings.TrimSuffix(real(main), string(filepath.Separator)+".git")
	}
	return dir // a submodule
}

// elsewhere is where the repository of a folder is kept whose .git only names it; "" if it
// does not.
func elsewhere(dir string) string {
	git, ok := strings.CutPrefix(line(filepath.Join(dir, ".git")), "gitdir: ")
	if ok && !filepath.IsAbs(git) {
		git = filepath.Join(dir, git)
	}
	return git
}

// moduleOf is the top folder of the submodule whose repository is kept in git; "" if that
// is of none. Both have to name each other.
func moduleOf(git string) string {
	if filepath.Base(git) == ".git" {
		return ""
	}
	config, _ := bounded.ReadFile(filepath.Join(git, "config"), maxGit)
	for l := range strings.Lines(string(config)) {
		key, value, _ := strings.Cut(l, "=")
		if strings.TrimSpace(key) != "worktree" {
			continue
		}
		top := strings.TrimSpace(value)
		if !filepath.IsAbs(top) {
			top = filepath.Join(real(git), top)
		}
		if at := elsewhere(top); at != "" && real(at) == real(git) {
			return real(top)
		}
	}
	return ""
}

// worktrees are the top folders of the worktrees of a repository as git lists them, also
// if they are gone. One that belongs to another repository is none.
func worktrees(top string) (out []string) {
	kept := real(filepath.Join(top, ".git"))
	if at := elsewhere(top); at != "" {
		kept = real(at)
	}
	for _, all := range []string{filepath.Join(kept, "worktrees"), filepath.Join(top, "worktrees")} {
		entries, _ := os.ReadDir(all)
		for _, e := range entries {
			entry := filepath.Join(all, e.Name())
			back := line(filepath.Join(entry, "gitdir"))
			if filepath.Base(back) != ".git" {
				continue
			}
			if !filepath.IsAbs(back) {
				back = filepath.Join(entry, back)
			}
			tree := filepath.Dir(back)
			if _, err := os.Lstat(tree); errors.Is(err, fs.ErrNotExist) || slices.Contains([]string{top, kept}, repository(tree)) {
				out = append(out, tree)
			}
		}
	}
	return out
}

// line is the one line of a file, "" if it cannot be read.
func line(path string) string {
	text, _ := bounded.ReadFile(path, maxGit)
	return strings.TrimSpace(string(text))
}

// real is a folder by its real path, as far as it exists. Links to what is gone are
// followed, too.
func real(folder string) string {
	for range maxLinks {
		at, err := skill.RealPath(folder)
		if err == nil {
			return at
		}
		link, to := folder, ""
		for ; to == "" && link != filepath.Dir(link); link = filepath.Dir(link) {
			if to, err = os.Readlink(link); err == nil {
				break
			}
		}
		if to == "" {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(real(filepath.Dir(link)), to)
		}
		folder = filepath.Join(to, strings.TrimPrefix(folder, link))
	}
	return filepath.Clean(folder)
}

// maxLinks is how many links to nothing are followed.
const maxLinks = 40

// Project is what a folder belongs to: the top folder of its git repository, the main
// one if it is in a worktree, or else the folder itself, by its real path. A folder that
// nobody knows, as it is not absolute, belongs to "".
func (d *Decisions) Project(folder string) string {
	if !filepath.IsAbs(folder) {
		return ""
	}
	return d.places.look(folder).project
}

// Holds reports whether one of the folders is this one or below it.
func (d *Decisions) Holds(folder string, folders []string) bool {
	in := d.places.look(folder)
	return slices.ContainsFunc(folders, func(f string) bool { return filepath.IsAbs(f) && d.places.look(f).in(in) })
}
