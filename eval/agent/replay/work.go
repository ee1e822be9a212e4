package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
// git ignores there do not count, nor does what was there without being of the request
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

// ignore removes files that git ignores from the steps and from names. A workspace that is no
// repository ignores none.
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
	tree, err := git.FindWorkTree(ctx, s.Workspace)
	var ignored map[string]bool
	if err == nil && tree.Prefix == "" {
		ignored, err = tree.Ignored(ctx, all)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, git.ErrNone):
		w.Cut = true // git is not there, or the agent has broken the repository
	}
	w.Steps = slices.DeleteFunc(w.Steps, func(step check.Step) bool { return ignored[step.File] })
	*names = slices.DeleteFunc(*names, func(name string) bool { return ignored[name] })
	return nil
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
	case v.Path == name && v.Doc != nil:
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
