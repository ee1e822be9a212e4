package hook

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A finder knows where the skills of a session are.
type finder struct {
	roots   []skill.Root
	plugins []plugin
}

// A plugin contains skills of its own, called "plugin:skill".
type plugin struct{ name, dir string }

// A text is the SKILL.md of a skill as it is now; empty if none was found.
type text struct {
	dir, hash string
	body      []byte
}

// finder searches the same folders as Claude Code: the user's first, then the
// project's, from the working folder up to the repository's root.
func (h *Host) finder(cwd string) finder {
	user := h.Skills
	if user == "" {
		user = filepath.Join(h.Claude, "skills")
	}
	f := finder{roots: []skill.Root{{Dir: user, Scope: "user"}}}
	for dir := cwd; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		f.roots = append(f.roots, skill.Root{Dir: filepath.Join(dir, ".claude", "skills"), Scope: "project"})
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	f.plugins = h.plugins()
	return f
}

// plugins lists the installed plugins from Claude Code's own record of them.
func (h *Host) plugins() (out []plugin) {
	b, err := readFile(filepath.Join(h.Claude, "plugins", "installed_plugins.json"))
	if err != nil || !gjson.ValidBytes(b) {
		return nil
	}
	gjson.GetBytes(b, "plugins").ForEach(func(k, v gjson.Result) bool {
		name, _, _ := strings.Cut(k.Str, "@")
		v.ForEach(func(_, in gjson.Result) bool {
			if dir := in.Get("installPath").Str; filepath.IsAbs(dir) {
				out = append(out, plugin{name, filepath.Join(dir, "skills")})
			}
			return true
		})
		return true
	})
	return out
}

// load reads the text that the agent loads for name.
func (f finder) load(name string) text {
	space, plain, scoped := strings.Cut(name, ":")
	if !scoped {
		plain = name
	}
	if !plainName(plain) {
		return text{}
	}
	if scoped {
		for _, p := range f.plugins {
			if t, ok := read(filepath.Join(p.dir, plain)); ok && p.name == space {
				return t
			}
		}
		return text{}
	}
	for _, r := range f.roots {
		if t, ok := read(filepath.Join(r.Dir, plain)); ok {
			return t
		}
	}
	return text{}
}

func read(dir string) (text, bool) {
	b, err := readFile(filepath.Join(dir, skill.FileName))
	if err != nil {
		return text{}, false
	}
	return text{dir, hashOf(b), b}, true
}

// plainName reports whether s names a folder inside another one.
func plainName(s string) bool {
	return s != "" && !strings.HasPrefix(s, ".") && !strings.ContainsAny(s, "/\\\x00")
}

// callable lists the skills that a prompt may mention. A skill's name is that of its
// folder; the name in the frontmatter is an alias. The files are not parsed as skills:
// that would take a millisecond each, and agents load them even if evolve finds them
// invalid.
func (f finder) callable(disabled map[string]bool) (list []skill.Callable) {
	seen := map[string]bool{}
	for _, r := range f.roots {
		list = append(list, callables(r.Dir, "", seen, disabled)...)
	}
	slices.SortStableFunc(list, func(a, b skill.Callable) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range f.plugins {
		list = append(list, callables(p.dir, p.name+":", seen, disabled)...)
	}
	return list
}

// callables lists the skills in one folder, in order of their names.
func callables(dir, space string, seen, disabled map[string]bool) (list []skill.Callable) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // no skills
	}
	for _, e := range entries {
		name := space + e.Name()
		if seen[name] || !plainName(e.Name()) {
			continue
		}
		head, err := readHead(filepath.Join(dir, e.Name(), skill.FileName))
		if err != nil {
			continue // no skill
		}
		seen[name] = true
		c := skill.Callable{Name: name, Disabled: disabled[name]}
		if other, _ := front(head); other != "" && space+other != name {
			c.Aliases = []string{space + other}
		}
		list = append(list, c)
	}
	return list
}

// maxHead is how much of a SKILL.md is searched for the name, in bytes.
const maxHead = 4 << 10

func readHead(path string) ([]byte, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, maxHead)
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return b[:n], err
}

// front returns the name in the frontmatter of a text, "" for none, and where the body
// begins.
func front(text []byte) (name string, body int) {
	at := bom(text)
	for first := true; at < len(text); first = false {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := strings.TrimRight(string(text[at:end]), " \t\r\n")
		switch {
		case first && line != "---":
			return "", 0
		case !first && line == "---":
			return name, end
		}
		if value, ok := strings.CutPrefix(line, "name:"); ok {
			name = strings.Trim(strings.TrimSpace(value), `"'`)
		}
		at = end
	}
	return name, 0
}

// disabled are the skills that the user's settings turn off.
func (h *Host) disabled() map[string]bool {
	off := map[string]bool{}
	b, err := readFile(filepath.Join(h.Claude, "settings.json"))
	if err != nil || !gjson.ValidBytes(b) {
		return off
	}
	gjson.GetBytes(b, "skillOverrides").ForEach(func(k, v gjson.Result) bool {
		off[k.Str] = v.Str == "off"
		return true
	})
	return off
}
