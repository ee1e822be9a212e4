package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// FileName is what the text of a skill is called inside its folder.
const FileName = "SKILL.md"

// MaxFile is the largest SKILL.md that is read, in bytes: many times what the
// specification advises, and as much as Claude Code reads of a file.
const MaxFile = 256 << 10

// ReadFile reads a SKILL.md. See bounded.ReadFile for its errors.
func ReadFile(path string) ([]byte, error) { return bounded.ReadFile(path, MaxFile) }

// A Root is a folder of skill folders.
type Root struct {
	Dir   string
	Scope string // "user", "project", "plugin", "managed", …
	// Plugins are folders that a plugin manager fills: a skill that a symlink
	// leads into one of them is a plugin's, wherever it was found.
	Plugins []string
}

// An Entry is a skill on disk.
type Entry struct {
	Name    string // name of the folder: what the owner and the agents call it
	Dir     string // the skill's folder, as found; may be a symlink
	Path    string // Dir/SKILL.md
	Scope   string // of its root, unless the skill itself is more specific
	Managed bool   // scope "plugin" or "managed": someone else replaces the file, an installation would not last
}

// A BrokenSkillError is a folder that looks like a skill and cannot be used.
type BrokenSkillError struct {
	Entry
	Reason string // one sentence
}

func (e *BrokenSkillError) Error() string {
	if e.Scope == scopeFile {
		return fmt.Sprintf("load %s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("load skill %q: %s (%s)", e.Name, e.Reason, e.Path)
}

// An UnknownSkillError names the skill that was probably meant, if one is
// near.
type UnknownSkillError struct {
	Name    string
	Nearest string // "" if none is near
}

func (e *UnknownSkillError) Error() string {
	if r := subject.Parse(e.Name); r.IsFile() {
		return fmt.Sprintf("there is no file %s", r.Text())
	}
	if e.Nearest == "" {
		return fmt.Sprintf("no skill is named %q", e.Name)
	}
	return fmt.Sprintf("no skill is named %q; the nearest is %q", e.Name, e.Nearest)
}

// A Registry is what Discover found. The zero value is empty.
type Registry struct {
	Entries  []Entry             // usable, sorted by name
	Aliases  []Alias             // other names of those, in the same root
	Shadowed []Entry             // hidden by one of the same name in an earlier root
	Broken   []*BrokenSkillError // to be shown, never to be dropped

	file func(key string) (Entry, error) // finds files of standing instructions
}

// Discover looks for DIR/NAME/SKILL.md in every root, symlinked folders
// followed. Of two skills with the same name the one in the earlier root
// counts, even if it is broken: evolving the other one instead would be a
// surprise. A root that does not exist holds nothing; a folder without a
// SKILL.md is not a skill.
func Discover(roots []Root) *Registry {
	var r Registry
	seen := map[string]bool{}    // names
	visited := map[string]bool{} // roots by real path: a project in the home folder is the home folder
	for _, root := range roots {
		first := len(r.Entries)
		dirs, err := os.ReadDir(root.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			r.Broken = append(r.Broken, &BrokenSkillError{Entry{Path: root.Dir, Dir: root.Dir, Scope: root.Scope}, reason(err)})
			continue
		}
		if real, err := filepath.EvalSymlinks(root.Dir); err == nil {
			if visited[real] {
				continue
			}
			visited[real] = true
		}
		for _, de := range dirs {
			if strings.HasPrefix(de.Name(), ".") || !de.IsDir() && de.Type()&fs.ModeSymlink == 0 {
				continue
			}
			e := Entry{Name: de.Name(), Dir: filepath.Join(root.Dir, de.Name()), Scope: root.Scope}
			e.Path = filepath.Join(e.Dir, FileName)
			found, marked, why := inspect(e)
			if strings.Contains(e.Name, "@") { // NAME@v1 is a version of NAME
				why = "the folder's name holds an @, which begins the name of a version: rename it"
			} else if r := obeyed(e.Name); r != "" {
				why = fmt.Sprintf("the folder's name holds %s, which a shell or a terminal obeys: rename it", r)
			}
			switch {
			case Within(e.Path, root.Plugins):
				e.Scope = scopePlugin
			case marked:
				e.Scope = scopeManaged
			}
			e.Managed = e.Scope == scopePlugin || e.Scope == scopeManaged
			switch {
			case !found:
			case seen[e.Name]:
				r.Shadowed = append(r.Shadowed, e)
			case why != "":
				seen[e.Name] = true
				r.Broken = append(r.Broken, &BrokenSkillError{e, why})
			default:
				seen[e.Name] = true
				r.Entries = append(r.Entries, e)
			}
		}
		entries, aliases := foldAliases(r.Entries[first:])
		r.Entries, r.Aliases = append(r.Entries[:first:first], entries...), append(r.Aliases, aliases...)
	}
	slices.SortStableFunc(r.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return &r
}

// obeyed is what of a skill's name is more than letters, digits and signs that a shell takes
// for what they are, quoted; "" for nothing. Hints have names in commands that people paste.
func obeyed(name string) string {
	if strings.HasPrefix(name, "-") {
		return `"-" at its beginning`
	}
	for _, r := range name {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("._-+:%,", r) || r == utf8.RuneError {
			return strconv.QuoteToASCII(string(r))
		}
	}
	return ""
}

// The scopes of skills that other programs replace.
const (
	scopePlugin  = "plugin"
	scopeManaged = "managed"
)

// Within reports whether path, with its symlinks followed, is in one of the
// folders, with theirs followed. For a path that does not exist yet, its
// existing parent folders decide.
func Within(path string, folders []string) bool {
	real := realPath(path)
	for _, f := range folders {
		if f = realPath(f); real == f || strings.HasPrefix(real, strings.TrimSuffix(f, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// realPath follows the symlinks of the part of path that exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(realPath(dir), filepath.Base(path))
	}
	return path
}

// Add adds files of standing instructions by their keys; those that are gone are left out.
func (r *Registry) Add(keys []string) {
	for _, key := range keys {
		e, err := r.Lookup(key)
		var broken *BrokenSkillError
		switch {
		case err == nil:
			r.Entries = append(r.Entries, e)
		case errors.As(err, &broken):
			r.Broken = append(r.Broken, broken)
		}
	}
}

// Managed reports whether the frontmatter declares that somebody else keeps
// the text up to date: `managed` or `managed-by` in metadata, other than
// "false" and "".
func (d *Document) Managed() bool {
	meta := d.front.value("metadata")
	if meta == nil {
		return false
	}
	for _, key := range []string{"managed", "managed-by"} {
		if n := MapValue(meta, key); n != nil && n.Tag != "!!null" && n.Value != "" && !strings.EqualFold(n.Value, "false") {
			return true
		}
	}
	return false
}

// NoText is the error for a SKILL.md of blanks alone: an editor that empties
// a file before it writes it is half-way, and an empty text is no version to
// keep.
const NoText = "the file is empty"

// inspect reports whether e is meant as a skill, whether its text is marked
// as managed, and what is wrong with it, "" for nothing.
func inspect(e Entry) (found, managed bool, why string) {
	dir, err := os.Stat(e.Dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, false, "the folder is a symlink to nothing"
		}
		return true, false, reason(err)
	}
	if !dir.IsDir() {
		return false, false, "" // a link to a file
	}
	info, err := os.Stat(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(e.Path); err == nil {
			return true, false, "SKILL.md is a symlink to nothing"
		}
		names, _ := os.ReadDir(e.Dir)
		for _, n := range names {
			if strings.EqualFold(n.Name(), FileName) {
				return true, false, fmt.Sprintf("the file must be called SKILL.md, not %s", n.Name())
			}
		}
		return false, false, ""
	}
	if err != nil {
		return true, false, reason(err)
	}
	if !info.Mode().IsRegular() {
		return true, false, "SKILL.md is not a file"
	}
	text, err := ReadFile(e.Path)
	if _, large := errors.AsType[*bounded.TooLargeError](err); large {
		return true, false, "SKILL.md is " + reason(err) + ": move what it quotes into files beside it"
	}
	if err != nil {
		return true, false, reason(err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return true, false, NoText
	}
	doc, err := Parse(text, Options{})
	if err != nil {
		var se *SyntaxError
		if errors.As(err, &se) {
			return true, false, fmt.Sprintf("line %d: %s", se.Line, se.Msg)
		}
		return true, false, err.Error()
	}
	return true, doc.Managed(), ""
}

// reason is an error without the path, which the caller adds.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// Lookup finds a skill by name, or a file of standing instructions by its key. The error is an *UnknownSkillError, an
// *AliasError, a *BrokenSkillError, or about a name that no skill can have
// (such as a path).
func (r *Registry) Lookup(name string) (Entry, error) {
	if r.file != nil && subject.Parse(name).IsFile() {
		return r.file(name)
	}
	if !PlainName(name) {
		return Entry{}, problem.Inputf("`evolve status` lists the skills", "%q names no skill: a skill is named by its folder's name, not by a path", name)
	}
	for _, e := range r.Entries {
		if e.Name == name {
			return e, nil
		}
	}
	for _, b := range r.Broken {
		if b.Name == name {
			return Entry{}, b
		}
	}
	if of := r.Alias(name); of != "" {
		return Entry{}, &AliasError{name, of}
	}
	var names []string
	for _, e := range r.Entries {
		names = append(names, e.Name)
	}
	return Entry{}, &UnknownSkillError{name, Nearest(name, names)}
}

// PlainName reports whether s can be the name of a folder below a root and
// nothing else.
func PlainName(s string) bool {
	return s != "" && !strings.HasPrefix(s, ".") && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || r == unicode.ReplacementChar || unicode.IsControl(r)
	})
}
