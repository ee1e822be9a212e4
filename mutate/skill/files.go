package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/script"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// scopeFile is the scope of a file of standing instructions.
const scopeFile = "file"

// IsFile reports whether a subject, as somebody typed it, is a file of standing instructions
// and no skill.
func IsFile(typed string) bool {
	return strings.HasSuffix(typed, ".md") && filepath.Base(typed) != FileName || subject.Parse(typed).Kind == subject.File
}

// IsScript reports whether a subject, as somebody typed it, is the script of a hook, or its
// rule file.
func IsScript(typed string) bool {
	if subject.Parse(typed).Kind == subject.Hook || !strings.ContainsAny(typed, `/\\`) {
		return subject.Parse(typed).Kind == subject.Hook
	}
	return slices.Contains(scripts, filepath.Ext(typed)) || holdsHook(typed)
}

// holdsHook reports whether a file without an ending has the first line of a script, or one that
// ends with .json is a rule file.
func holdsHook(path string) bool {
	ending := filepath.Ext(path)
	if ending != "" && ending != ".json" {
		return false
	}
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		home, _ := os.UserHomeDir()
		path = filepath.Join(home, below)
	}
	text, err := bounded.ReadFile(path, 64<<10) // what is longer is not checked, and cannot evolve
	return err == nil && script.Of(text, path) != ""
}

// scripts are the endings of files that a path names as scripts; a skill's name may have a dot.
var scripts = []string{".sh", ".bash", ".py", ".js", ".mjs", ".cjs"}

// Key is the key of a file of standing instructions, or of a hook's script, by its path, or by
// its key. A file in an agent's folder is named below the person's home, wherever the agent's variable puts that
// folder; any other below its repository, else below the folder that it is in. In a
// further working tree it is the main one's file, if that has one. A link to a file of its
// repository is that file.
func (l *Layout) Key(typed string) (string, error) {
	if subject.Parse(typed).IsFile() {
		return typed, nil
	}
	kind := subject.File
	if IsScript(typed) {
		kind = subject.Hook
	}
	return l.keyOf(kind, typed)
}

// HookKey is the key of the hook whose script is at path.
func (l *Layout) HookKey(path string) (string, error) { return l.keyOf(subject.Hook, path) }

func (l *Layout) keyOf(kind subject.Kind, typed string) (string, error) {
	of := func(root, path string) string { return subject.Ref{Kind: kind, ID: root + ":" + path}.Key() }
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w", err)
	}
	if below, ok := strings.CutPrefix(typed, "~/"); ok {
		typed = filepath.Join(home, below)
	}
	path, err := filepath.Abs(typed)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", typed, err)
	}
	for _, a := range agents {
		dir, err := l.Home(a)
		if err != nil {
			return "", err
		}
		if below, ok := under(path, dir); ok {
			return of("~", a.HomeDefault+"/"+below), nil
		}
	}
	for _, a := range agents { // the folder is elsewhere, and was named as people call it
		if below, ok := under(path, filepath.Join(home, filepath.FromSlash(a.HomeDefault))); ok && a.HomeDefault != "" {
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				return of("~", a.HomeDefault+"/"+below), nil
			}
		}
	}
	path = filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path))
	path = linked(path)
	root := filepath.Dir(path)
	if root == realPath(home) {
		root = "~"
	}
	if top := Repository(filepath.Dir(path)); top != "" {
		root = top
	}
	below, _ := under(path, root)
	if main := MainTree(root); main != root {
		if _, err := os.Stat(filepath.Join(main, filepath.FromSlash(below))); err == nil {
			root = main
		}
	}
	if in, ok := under(path, realPath(home)); ok && kind == subject.Hook && Repository(filepath.Dir(path)) == "" {
		root, below = "~", in // hooks of a person are in a folder of theirs, whichever
	} else if root == "~" {
		below = filepath.Base(path)
	}
	return of(root, below), nil
}

// linked is the file of the same repository that a link leads to, beside it or below: CLAUDE.md
// is often one to AGENTS.md. Any other path is itself.
func linked(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return path
	}
	dir := filepath.Dir(path)
	if strings.HasPrefix(filepath.Base(dir), ".") { // .claude/CLAUDE.md
		dir = filepath.Dir(dir)
	}
	top := Repository(dir)
	if _, below := under(real, dir); !below || top == "" || Repository(filepath.Dir(real)) != top {
		return path
	}
	return real
}

// Repository is the top folder of the working tree of git that dir is in, "" for none.
func Repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// maxGitFile bounds the file that a further working tree has in the place of .git, in bytes.
const maxGitFile = 8 << 10

// MainTree is the top folder of the main working tree of the repository that has a further
// one at top; top itself if it is none.
func MainTree(top string) string {
	text, err := bounded.ReadFile(filepath.Join(top, ".git"), maxGitFile)
	if err != nil {
		return top // a folder, as a main one has
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	common, kind := filepath.Dir(filepath.Dir(dir)), filepath.Base(filepath.Dir(dir))
	if !ok || kind != "worktrees" || filepath.Base(common) != ".git" {
		return top // a submodule, or of a bare repository
	}
	return filepath.Dir(common)
}

// under is path below dir, slash-separated; false if it is not below it.
func under(path, dir string) (string, bool) {
	below, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	return filepath.ToSlash(below), ok
}

// FilePath is where the file with that key is.
func (l *Layout) FilePath(key string) (string, error) {
	root, below := subject.Parse(key).Place()
	if root != "~" {
		return filepath.Join(root, filepath.FromSlash(below)), nil
	}
	for _, a := range agents {
		if rest, ok := strings.CutPrefix(below, a.HomeDefault+"/"); ok {
			dir, err := l.Home(a)
			return filepath.Join(dir, filepath.FromSlash(rest)), err
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w", err)
	}
	return filepath.Join(home, filepath.FromSlash(below)), nil
}

// Organisations are folders whose instructions an organisation keeps for everybody on a
// machine.
var Organisations = []string{"/etc/claude-code", "/Library/Application Support/ClaudeCode", "/etc/codex", `C:\ProgramData\ClaudeCode`, `C:\Program Files\ClaudeCode`}

// file finds a file of standing instructions by its key. The error is that of
// Registry.Lookup.
func (l *Layout) file(key string) (e Entry, err error) {
	path, err := l.FilePath(key)
	if err != nil {
		return e, err
	}
	plugins, err := l.PluginFolders()
	if err != nil {
		return e, err
	}
	e = Entry{Name: key, Dir: filepath.Dir(path), Path: path, Scope: scopeFile}
	switch {
	case Within(path, plugins):
		e.Scope, e.Managed = scopePlugin, true
	case Within(path, Organisations):
		e.Scope, e.Managed = scopeManaged, true
	}
	// A hint ends a name at its first blank, see subject.Readable.
	if _, below := subject.Parse(key).Place(); strings.Contains(below, " ") && obeyed(strings.NewReplacer("/", "", " ", "").Replace(below)) != "" {
		return e, &BrokenSkillError{e, "its name holds blanks, and what a shell or a terminal obeys: rename it"}
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return e, &BrokenSkillError{e, "it is a symlink to nothing"}
		}
		return e, &UnknownSkillError{Name: key}
	}
	if err != nil {
		return e, &BrokenSkillError{e, reason(err)}
	}
	if !info.Mode().IsRegular() {
		return e, &BrokenSkillError{e, "it is not a file"}
	}
	text, err := ReadFile(path)
	switch _, large := errors.AsType[*bounded.TooLargeError](err); {
	case large:
		return e, &BrokenSkillError{e, "it is " + reason(err) + ": move what it quotes into files that it names"}
	case err != nil:
		return e, &BrokenSkillError{e, reason(err)}
	case bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text):
		return e, &BrokenSkillError{e, "it is no text in UTF-8"}
	case len(bytes.TrimSpace(text)) == 0:
		return e, &BrokenSkillError{e, NoText}
	}
	if doc, err := Parse(text, OptionsOf(key)); err == nil && doc.Managed() {
		e.Scope, e.Managed = scopeManaged, true
	}
	return e, nil
}

// PathIn is the text of the subject with that key in a target.
func (t Target) PathIn(key string) string {
	if _, below := subject.Parse(key).Place(); below != "" {
		return filepath.Join(t.Dir, filepath.Base(below))
	}
	return filepath.Join(t.Dir, key, FileName)
}

// own is the one target of a file of standing instructions: where it is. A skill has none
// of its own.
func (l *Layout) own(key string) (t Target, is bool, err error) {
	if !subject.Parse(key).IsFile() {
		return t, false, nil
	}
	path, err := l.FilePath(key)
	return Target{subject.Parse(key).Text(), filepath.Dir(path)}, true, err
}
