package hooktest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// Named reports whether the settings of an agent name the script of a hook: those of the person,
// of the project here, or of the repository that the script is in. Errors: settings that cannot
// be read.
func (p Parts) Named(live *skill.Live) (bool, error) {
	here, err := os.Getwd()
	if err != nil {
		return false, fmt.Errorf("find the project: %w", err)
	}
	projects := []string{here}
	if root, _ := subject.Parse(live.Name).Place(); filepath.IsAbs(root) && root != here {
		projects = append(projects, root)
	}
	for _, project := range projects {
		f, err := p.finderIn(project)
		if err != nil {
			return false, err
		}
		for _, file := range f.files {
			all, err := f.settings(file)
			if err != nil {
				return false, err
			}
			for _, g := range all {
				if slices.ContainsFunc(g.scripts, func(path string) bool { return real(path) == real(live.Path) }) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}
