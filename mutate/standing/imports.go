package standing

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// imported lists the files that a file imports directly and that are there.
func imported(path string, f following) (out []string) {
	doc, err := read(path)
	if err != nil {
		return nil
	}
	for _, i := range doc.Imports() {
		if i.Comment && !f.comments {
			continue
		}
		names := []string{i.Path}
		if f.trims {
			names = append(names, trimmed(i.Path))
		}
		for _, name := range names {
			if at := resolve(path, name); exists(at) {
				if !slices.Contains(out, at) {
					out = append(out, at)
				}
				break
			}
		}
	}
	return out
}

// trimmed is a path without the punctuation behind it.
func trimmed(path string) string { return strings.TrimRight(path, ".,;:!?)") }

// resolve is the path of an import in the file at from.
func resolve(from, name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		return filepath.Join(home, filepath.FromSlash(below))
	}
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(filepath.Dir(from), name)
}

// reaches reports whether a file is loaded because from is.
func (l *Loader) reaches(from, file string, f following) bool {
	seen := map[string]bool{from: true}
	level := []string{from}
	for range f.hops {
		var next []string
		for _, path := range level {
			for _, to := range imported(path, f) {
				if to == file {
					return true
				}
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		level = next
	}
	return false
}

// An Import is a file that another one imports.
type Import struct {
	From, To string // paths
	Hops     int    // from the file that was asked about
	Line     int    // in that file: of the import that leads to this one
	// Back: To is From or one of the files through which From is reached: nothing follows it
	// from here.
	Back bool
	Gone bool // there is no such file
}

// maxImports bounds a graph.
const maxImports = 500

// Graph lists the imports of a file and of the files that it imports, each file's once, in
// the order in which they are met. Each imported file is a subject of its own.
func Graph(path string) (out []Import) {
	done := map[string]bool{}
	var follow func(from string, above []string, line int)
	follow = func(from string, above []string, line int) {
		done[from] = true
		above = append(slices.Clone(above), from)
		doc, err := read(from)
		if err != nil {
			return
		}
		for _, i := range doc.Imports() {
			if from == path {
				line = 1 + bytes.Count(doc.Render()[:i.Start], []byte("\n"))
			}
			name := i.Path
			if !exists(resolve(from, name)) {
				name = trimmed(name)
			}
			to := resolve(from, name)
			if len(out) == maxImports {
				return
			}
			found := exists(to)
			back := slices.Contains(above, to)
			if !found && !strings.ContainsAny(name, "/.") {
				continue // "@somebody" is no path
			}
			out = append(out, Import{from, to, len(above), line, back, !found})
			if found && !back && !done[to] {
				follow(to, above, line)
			}
		}
	}
	follow(path, nil, 0)
	return out
}
