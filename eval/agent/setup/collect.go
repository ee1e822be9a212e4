package setup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Limits of a set, because every attempt gets a copy.
const (
	maxFile  = 1 << 20 // of one text, in bytes
	maxBytes = 8 << 20
	maxFiles = 2_000
	// maxImports is how deep texts import others.
	maxImports = 5
)

// A collector reads the set-up of one agent.
type collector struct {
	program
	where        Where
	home, config string // symlinks resolved
	set          *Set
	seen         map[string]bool // by where a file stands in the home
	count, size  int
	left         []string // texts that could not be taken
}

// file takes a file of the agent's folder and what it imports, and reports whether it holds
// anything.
func (c *collector) file(name string) bool {
	return c.take(filepath.Join(c.config, filepath.FromSlash(name)), path.Join(c.folder, name), 0)
}

// tree takes the texts below a folder of the agent's.
func (c *collector) tree(folder, suffix string) {
	for _, name := range c.below(folder) {
		if strings.HasSuffix(name, suffix) {
			c.file(name)
		}
	}
}

// below lists the files at any depth of a folder in the agent's, by their paths in that. A
// folder that links lead to twice is listed once.
func (c *collector) below(folder string) (names []string) {
	been := map[string]bool{}
	var list func(folder string)
	list = func(folder string) {
		real, err := filepath.EvalSymlinks(filepath.Join(c.config, filepath.FromSlash(folder)))
		if err != nil || been[real] || !c.own(real) {
			return
		}
		been[real] = true
		entries, _ := os.ReadDir(real) // what cannot be listed does not load
		for _, e := range entries {
			name := path.Join(folder, e.Name())
			if info, err := os.Stat(filepath.Join(real, e.Name())); err == nil && info.IsDir() {
				list(name)
			} else if len(names) <= maxFiles {
				names = append(names, name)
			}
		}
	}
	list(folder)
	return names
}

// own reports whether a resolved path is in what is the person's own.
func (c *collector) own(real string) bool { return within(real, c.home) || within(real, c.config) }

// take reads the file at at, which stands at as below the home of a replay.
func (c *collector) take(at, as string, depth int) bool {
	if c.seen[as] {
		return true
	}
	text, ok := c.read(at, as)
	if !ok || len(bytes.TrimSpace(text)) == 0 {
		return false
	}
	c.seen[as] = true
	c.set.Files = append(c.set.Files, File{as, text})
	if c.imports {
		c.follow(at, as, text, depth)
	}
	return true
}

// read returns the text of a file, and false if there is none, or none that may be taken:
// then it is named.
func (c *collector) read(at, as string) ([]byte, bool) {
	real, err := filepath.EvalSymlinks(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err != nil || !c.own(real) {
		c.left = append(c.left, as) // a link out of what is the person's own
		return nil, false
	}
	text, err := bounded.ReadFile(real, maxFile)
	if err != nil || c.count >= maxFiles || c.size+len(text) > maxBytes {
		c.left = append(c.left, as)
		return nil, false
	}
	c.count, c.size = c.count+1, c.size+len(text)
	return text, true
}

// follow takes the texts that a text imports. What is no text by its name is left out: an
// import must not bring a key into a replay.
func (c *collector) follow(at, as string, text []byte, depth int) {
	doc, err := skill.Parse(text, skill.Options{Instructions: true})
	if err != nil {
		c.left = append(c.left, "what "+as+" imports")
		return
	}
	for _, i := range doc.Imports() {
		name, from, to := i.Path, "", ""
		switch below, home := strings.CutPrefix(name, "~/"); {
		case home:
			from, to = filepath.Join(c.where.Home, filepath.FromSlash(below)), path.Clean(below)
		case path.IsAbs(name):
			from, to = name, "/"
		default:
			from, to = filepath.Join(filepath.Dir(at), filepath.FromSlash(name)), path.Join(path.Dir(as), name)
		}
		if _, err := os.Stat(from); err != nil {
			continue // the agent ignores it, too
		}
		switch {
		case depth >= maxImports, !fs.ValidPath(to), !Prose(to):
			c.left = append(c.left, name)
		default:
			c.take(from, to, depth+1)
		}
	}
}

// prose are the endings of files that are imported.
var prose = []string{".md", ".markdown", ".mdx", ".mdc", ".txt", ".rst", ".adoc", ".org"}

// finish orders the set, so that its hash depends on nothing else.
func (c *collector) finish() {
	slices.SortFunc(c.set.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	c.lack("instruction file", c.left)
}

// within reports whether path is dir or below it. Both are absolute and clean.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
