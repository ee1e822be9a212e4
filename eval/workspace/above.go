package workspace

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/git"
)

// A located is a file of a commit, by its path from some folder.
type located struct {
	name  string
	entry git.Entry
}

// above writes to the top of the packed tree the files that the folders over it have and that
// agents load there too. A name that the tree has, or a nearer folder, is taken: there is one
// place for it.
func (p *packer) above(tree, prefix string, patterns []string) error {
	prefix = strings.Trim(prefix, "/")
	taken := map[string]bool{}
	for dir := prefix; dir != "" && dir != "."; {
		dir = path.Dir(dir)
		for _, pattern := range patterns {
			found, err := p.match(tree, dir, pattern)
			if err != nil {
				return err
			}
			for _, f := range found {
				if taken[f.name] {
					continue
				}
				taken[f.name] = true
				if _, there, err := p.find(tree, path.Join(prefix, f.name)); err != nil {
					return err
				} else if there {
					continue
				}
				if err := p.copyAbove(tree, prefix, f, patterns); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// copyAbove writes one file of a folder over the tree, or a link from one to another.
func (p *packer) copyAbove(tree, prefix string, f located, patterns []string) error {
	if strings.HasPrefix(f.entry.Mode, "100") {
		return p.file(f.entry, f.name)
	}
	if f.entry.Mode != "120000" {
		return nil
	}
	target, err := p.target(f.entry.ID, f.name)
	if err != nil {
		return err
	}
	to := path.Join(path.Dir(f.name), target)
	if _, there, err := p.find(tree, path.Join(prefix, to)); err != nil || there || !slices.Contains(patterns, to) {
		return err // it would lead to another file
	}
	return p.link(f.entry.ID, f.name)
}

// match lists the files of a folder that a pattern stands for: a path, with "**" for any path
// below the folder before it.
func (p *packer) match(tree, dir, pattern string) (found []located, err error) {
	before, after, any := strings.Cut(pattern, "**")
	name := strings.TrimSuffix(before, "/")
	e, there, err := p.find(tree, path.Join(dir, name))
	switch {
	case err != nil || !there || any != (e.Mode == "40000"):
		return nil, err
	case !any:
		return []located{{name, e}}, nil
	}
	var walk func(id, at string, depth int) error
	walk = func(id, at string, depth int) error {
		entries, err := p.objects.Tree(id)
		if err != nil || depth > maxFolders {
			return err
		}
		if p.entries += len(entries); p.entries > maxEntries {
			return fmt.Errorf("the tree has more than %d files", maxEntries)
		}
		for _, e := range entries {
			name := path.Join(at, e.Name)
			if e.Mode == "40000" {
				err = walk(e.ID, name, depth+1)
			} else if strings.HasSuffix(name, after) {
				found = append(found, located{name, e})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return found, walk(e.ID, name, 0)
}

// find is a file or folder of a tree. What is in the place of a folder of its path is there in
// its place.
func (p *packer) find(tree, name string) (e git.Entry, there bool, err error) {
	e = git.Entry{Mode: "40000", ID: tree}
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if part == "." {
			continue
		}
		if e.Mode != "40000" {
			return e, true, nil
		}
		entries, err := p.objects.Tree(e.ID)
		if err != nil {
			return e, false, err
		}
		there = false
		for _, x := range entries {
			if x.Name == part {
				e, there = x, true
			}
		}
		if !there {
			return e, false, nil
		}
	}
	return e, true, nil
}

// loadsAbove identifies what a case's tree has of the folders over it; "" for nothing.
func (w *Recorded) loadsAbove(c *eval.Case) string {
	if len(w.Above) == 0 {
		return ""
	}
	dir := c.Workspace.Repo
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(w.Base, dir)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return "" // the top
	}
	return "above/1 " + strings.Join(w.Above, " ")
}
