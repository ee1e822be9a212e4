package replay

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// skillHomes are the folders of a project in which agents search for skills, each in
// its "skills".
var skillHomes = []string{".claude", ".agents", ".codex", ".pi", ".github", ".copilot"}

// A sweep takes copies of skills out of a project.
type sweep struct {
	root  *os.Root
	names []string
	own   map[string]string // the case's files, by slash path: they stay
	found bool              // something was removed
}

// removeCopies removes every copy of the named skills from a project's skills folders,
// at any depth: those of agents, and a plain skills/NAME that holds a SKILL.md. A copy
// is recognised by its folder's name, or in an agent's folder by its frontmatter. Other
// skills of the project are kept, as are its AGENTS.md and CLAUDE.md. Files of evals
// are removed too, except those that the case itself brings. It reports whether there were
// any.
func removeCopies(workspace string, names []string, own map[string]string) (found bool, err error) {
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	if len(names) == 0 {
		return false, nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return false, err
	}
	defer root.Close()
	s := &sweep{root: root, names: names, own: own}
	err = s.folder(".")
	return s.found, err
}

// remove removes a file or folder.
func (s *sweep) remove(at string) error {
	s.found = true
	return s.root.RemoveAll(at)
}

func (s *sweep) folder(dir string) error {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // what cannot be listed cannot be found by an agent either
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		switch {
		case e.Name() == "skills":
			err = s.skills(at)
		case e.Type()&fs.ModeSymlink != 0 && slices.Contains(skillHomes, e.Name()):
			err = s.skills(path.Join(at, "skills"))
		case e.Type().IsRegular() && evalFile(e.Name()):
			err = s.evals(at)
		}
		if err == nil && e.IsDir() && e.Name() != "node_modules" && e.Name() != ".git" {
			err = s.folder(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// evals removes a file that has the name and the content of an eval file.
func (s *sweep) evals(at string) error {
	if _, own := s.own[at]; own || !strings.HasSuffix(at, ".json") {
		return nil
	}
	text, err := bounded.ReadFileIn(s.root, at, maxEvalFile)
	if _, large := errors.AsType[*bounded.TooLargeError](err); large {
		return nil
	}
	if err != nil || !evals(text) {
		return err
	}
	return s.remove(at)
}

// skills removes copies from one folder of skills. Links inside the workspace
// are followed, because agents follow them.
func (s *sweep) skills(dir string) error {
	agent := slices.Contains(skillHomes, path.Base(path.Dir(dir)))
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil {
		if info, lerr := s.root.Lstat(dir); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return s.remove(dir) // it leads out, or nowhere
		}
		return nil // no folder
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		text, err := bounded.ReadFileIn(s.root, path.Join(at, skill.FileName), skill.MaxFile)
		if _, large := errors.AsType[*bounded.TooLargeError](err); large {
			err = nil // it is a copy by its folder's name
		}
		is := err == nil && slices.Contains(s.names, e.Name())
		if agent {
			is = slices.Contains(s.names, e.Name()) || err == nil && slices.Contains(s.names, nameOf(text))
		}
		if is {
			if err := s.remove(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// nameOf is the name in a skill's frontmatter, "" if there is none.
func nameOf(text []byte) string {
	d, err := skill.Parse(text, skill.Options{})
	if err != nil {
		return ""
	}
	return d.Name()
}
