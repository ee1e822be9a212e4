package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Bounds of an attempt's work.
const (
	maxSteps = 1000
	maxLine  = 16 << 10  // bytes of one command line
	maxLines = 128 << 10 // bytes of all of them
	maxFiles = 200       // that differ
	maxFile  = 1 << 20   // bytes of a file whose lines are compared
	maxDiff  = 64 << 10  // bytes of all added and removed lines
)

// editors are the tools that change the files that they name, in lower case.
var editors = []string{"apply_patch", "create", "edit", "multiedit", "notebookedit", "str_replace_editor", "write"}

// Work is what the agent did: accesses in the order in which they began, and what differs in
// the workspace since the request, as this attempt and those before it left it. Files that
// git ignored there do not count, nor does what was there without being of the request
// (installed dependencies). whole is false if there were more accesses; changed is what
// Changed returned.
func (s *Stage) Work(ctx context.Context, changed []string, accesses []Access, whole bool, keys Secrets) (*check.Work, error) {
	w := &check.Work{Cut: !whole}
	s.steps(w, accesses)
	names := slices.Clone(changed)
	for _, c := range s.earlier().Files {
		names = append(names, c.Path)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if err := s.ignore(ctx, w, &names); err != nil {
		return nil, err
	}
	if err := s.diff(w, names); err != nil {
		return nil, fmt.Errorf("look at workspace: %w", err)
	}
	return w.Map(keys.Text), nil
}

// earlier is what the attempts before this one did.
func (s *Stage) earlier() *check.Work {
	if p := s.task.Prior; p != nil && p.Work != nil {
		return p.Work
	}
	return new(check.Work)
}

// steps adds what the calls did. What an attempt before this one edited comes first, so that
// what ran then does not count as run after it.
func (s *Stage) steps(w *check.Work, accesses []Access) {
	room := maxLines
	add := func(step check.Step) {
		room -= len(step.Line)
		if len(w.Steps) == maxSteps || room < 0 {
			w.Cut = true
			return
		}
		w.Steps = append(w.Steps, step)
	}
	for _, c := range s.earlier().Files {
		add(check.Step{File: c.Path})
	}
	for _, a := range accesses {
		failed := a.Failed || a.Open
		if a.Command != "" {
			line := a.Command
			if dir := a.Dir; dir != "" && s.within(dir) != "." {
				line = "cd " + shellWord(dir) + " && " + line
			}
			line = s.local(line)
			if len(line) > maxLine {
				line, w.Cut = Clip(line, maxLine), true
			}
			add(check.Step{Line: line, Failed: failed})
		}
		if a.Path != "" && slices.Contains(editors, strings.ToLower(a.Tool)) {
			name := a.Path
			if !filepath.IsAbs(name) && a.Dir != "" {
				name = filepath.Join(a.Dir, name)
			}
			if name = s.within(name); name != "" && name != "." {
				add(check.Step{File: name, Failed: failed})
			}
		}
	}
}

// within is a path from the workspace, with slashes; "" if it is elsewhere.
func (s *Stage) within(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.Workspace, name)
	}
	for _, top := range []string{s.Workspace, s.task.Workspace} {
		if rel, err := filepath.Rel(top, name); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return ""
}

// local is a command line without the folders of this one attempt: with paths from the
// workspace and from ~.
func (s *Stage) local(line string) string {
	for _, top := range []string{s.Workspace, s.task.Workspace} {
		if top != "" {
			line = strings.ReplaceAll(strings.ReplaceAll(line, top+"/", ""), top, ".")
		}
	}
	return strings.ReplaceAll(line, s.Home, "~")
}

// ignore removes files that git ignored at the request from the steps and from names. What
// the agent made of the rules does not count, nor does the owner's own list; a file that was
// committed counts whatever the rules say. A workspace that was no repository ignores none.
func (s *Stage) ignore(ctx context.Context, w *check.Work, names *[]string) error {
	all := slices.Clone(*names)
	for _, step := range w.Steps {
		if step.File != "" {
			all = append(all, step.File)
		}
	}
	if len(all) == 0 {
		return nil
	}
	ignored, err := s.ignored(ctx, all)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		w.Cut = true // git is not there
	}
	w.Steps = slices.DeleteFunc(w.Steps, func(step check.Step) bool { return ignored[step.File] })
	*names = slices.DeleteFunc(*names, func(name string) bool { return ignored[name] })
	return nil
}

// ignored are the files that git ignored at the request, or that are behind a link.
func (s *Stage) ignored(ctx context.Context, files []string) (map[string]bool, error) {
	exclude, err := s.old(".git/info/exclude") // every recorded repository has one
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rules, err := os.MkdirTemp(s.Root, "rules-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(rules)
	linked := map[string]bool{}
	seen := map[string]bool{}
	for _, file := range files {
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if err := s.rule(rules, path.Join(dir, ".gitignore")); err != nil {
				return nil, err
			}
		}
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			linked[file] = linked[file] || s.before.files[dir].mode&fs.ModeSymlink != 0
		}
	}
	ignored, err := git.IgnoredBy(ctx, rules, exclude, files)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if ignored[file] = ignored[file] || linked[file]; ignored[file] && s.known(file) {
			_, err := s.old(file)
			ignored[file] = errors.Is(err, fs.ErrNotExist)
		}
	}
	return ignored, nil
}

// rule copies a .gitignore of the request, if there was one.
func (s *Stage) rule(to, name string) error {
	if !s.known(name) {
		return nil
	}
	text, err := s.old(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	file := filepath.Join(to, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// known reports whether a file can be of the request: it was there when this attempt began,
// or an attempt before it changed it.
func (s *Stage) known(name string) bool {
	_, there := s.before.files[name]
	return there || slices.ContainsFunc(s.earlier().Files, func(c check.Change) bool { return c.Path == name })
}

// A content is a file at one time.
type content struct {
	there bool
	text  []byte // of a regular file
	err   error  // why text is not known
}

// diff adds the files of names that differ from what they were at the request.
func (s *Stage) diff(w *check.Work, names []string) error {
	root, err := os.OpenRoot(s.Workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	room := maxDiff
	for _, name := range names {
		was, of := s.original(name)
		is := now(root, name)
		if !of || !was.there && !is.there {
			continue
		}
		if len(w.Files) == maxFiles {
			w.Cut = true
			break
		}
		c := check.Change{Path: name}
		switch {
		case was.err != nil || is.err != nil:
			w.Cut = true
		case !binary(was.text) && !binary(is.text):
			c.Added, c.Removed = check.DiffLines(string(was.text), string(is.text))
		}
		for _, text := range []*string{&c.Added, &c.Removed} {
			if *text = strings.ToValidUTF8(*text, "\ufffd"); len(*text) > room {
				*text, w.Cut = (*text)[:strings.LastIndexByte((*text)[:room], '\n')+1], true
			}
			room -= len(*text)
		}
		w.Files = append(w.Files, c)
	}
	return nil
}

// binary reports whether git would compare no lines.
func binary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 }

// now is a file of the workspace.
func now(root *os.Root, name string) (c content) {
	info, err := root.Lstat(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.there, c.err = true, err
		}
		return c
	}
	if c.there = true; info.Mode().IsRegular() {
		c.text, c.err = bounded.ReadFileIn(root, name, maxFile)
	}
	return c
}

// original is a file at the request. of is false if it is none that the request came with,
// and none that an attempt has made.
func (s *Stage) original(name string) (c content, of bool) {
	state, there := s.before.files[name]
	made := slices.ContainsFunc(s.earlier().Files, func(c check.Change) bool { return c.Path == name })
	switch v := s.task.Variant; {
	case !there && !made:
		return c, true
	case v.Path == name && v.Doc == nil:
		return c, true // it was removed
	case v.Path == name:
		return content{there: true, text: v.Doc.Render()}, true
	case there && !made && !state.mode.IsRegular():
		return content{there: true}, true
	case there && !made && state.size > maxFile:
		return content{there: true, err: fmt.Errorf("%s is larger than %d MiB", name, maxFile>>20)}, true
	}
	text, err := s.old(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, made
	case err == nil && len(text) > maxFile:
		err = fmt.Errorf("%s is larger than %d MiB", name, maxFile>>20)
	}
	return content{there: true, text: text, err: err}, true
}

// old reads a file as it was at the request.
func (s *Stage) old(name string) ([]byte, error) {
	if s.task.Before != nil {
		return s.task.Before(name)
	}
	if s.task.Case != nil {
		if text, ok := s.task.Case.Files[name]; ok {
			return []byte(text), nil
		}
	}
	return nil, fs.ErrNotExist
}
