package replay

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// skillHomes are the folders of a project in which agents look for skills,
// each in its "skills".
var skillHomes = []string{".claude", ".agents", ".codex", ".pi", ".github", ".copilot"}

// removeCopies removes every copy of the skill name from a project's skills
// folders, at any depth: those of agents, and a plain skills/NAME that holds a
// SKILL.md. A copy is known by its folder's name, or in an agent's folder by its
// frontmatter. Other skills of the project stay, as do its AGENTS.md and
// CLAUDE.md. Eval files of the skill go too.
func removeCopies(workspace, name string) error {
	if name == "" {
		return nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	return removeCopiesIn(root, ".", name)
}

func removeCopiesIn(root *os.Root, dir, name string) error {
	entries, err := fs.ReadDir(root.FS(), dir)
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
			if err := removeSkill(root, at, name); err != nil {
				return err
			}
		case e.Type()&fs.ModeSymlink != 0 && slices.Contains(skillHomes, e.Name()):
			if err := removeSkill(root, path.Join(at, "skills"), name); err != nil {
				return err
			}
		case e.Type().IsRegular() && evalFile(e.Name()) && strings.HasSuffix(e.Name(), ".json"):
			text, err := root.ReadFile(at)
			if err == nil && evals(text) {
				err = root.Remove(at)
			}
			if err != nil {
				return err
			}
			continue
		}
		if e.IsDir() && e.Name() != "node_modules" {
			if err := removeCopiesIn(root, at, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeSkill removes name from one folder of skills. Links inside the
// workspace are followed, because agents follow them.
func removeSkill(root *os.Root, skills, name string) error {
	agent := slices.Contains(skillHomes, path.Base(path.Dir(skills)))
	entries, err := fs.ReadDir(root.FS(), skills)
	if err != nil {
		if info, lerr := root.Lstat(skills); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return root.Remove(skills) // it leads out, or nowhere
		}
		return nil // no folder
	}
	for _, e := range entries {
		at := path.Join(skills, e.Name())
		text, err := root.ReadFile(path.Join(at, skill.FileName))
		is := err == nil && e.Name() == name
		if agent {
			is = e.Name() == name || err == nil && nameOf(text) == name
		}
		if !is {
			continue
		}
		if err := root.RemoveAll(at); err != nil {
			return err
		}
	}
	return nil
}

// nameOf is the name in a skill's frontmatter, "" where there is none.
func nameOf(text []byte) string {
	d, err := skill.Parse(text, skill.Options{})
	if err != nil {
		return ""
	}
	return d.Name()
}
