package standing

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// Files lists the paths of the files that sessions of an agent in a folder load, with what
// these import. A file below that folder is not among them.
func (l *Loader) Files(agent, folder string) (paths []string) {
	l.session(agent, folder).each(func(path string, _ When) bool {
		paths = append(paths, path)
		if imports[agent].hops > 0 {
			for _, i := range Graph(path) {
				if !i.Gone && i.Hops <= imports[agent].hops {
					paths = append(paths, i.To)
				}
			}
		}
		return true
	})
	slices.Sort(paths)
	return slices.Compact(paths)
}

// shared are the files of a repository in which a new rule is looked for, the one that most
// agents load first.
var shared = []string{"AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md", "GEMINI.md"}

// Project is the file of a repository that sessions of an agent load from their beginning: one
// that is there, else one that could be. ok is false if there is none.
func (l *Loader) Project(agent, root string) (file subject.Ref, ok bool) {
	for _, there := range []bool{true, false} {
		for _, name := range shared {
			file := subject.OfFile(root, name)
			if exists(filepath.Join(root, filepath.FromSlash(name))) == there && l.When(agent, "", file, root) == Start {
				return file, true
			}
		}
	}
	return subject.Ref{}, false
}

// Own is the file of a person that all sessions of an agent load. ok is false if there is none.
func Own(agent string) (file subject.Ref, ok bool) {
	for _, r := range Table {
		below, home := strings.CutPrefix(r.File, "~/")
		if r.Agent == agent && home && r.Paths == "" && !strings.Contains(below, ".override.") {
			return subject.OfFile("~", below), true
		}
	}
	return subject.Ref{}, false
}

// Above lists the files that an agent loads from the folders above a session's, "**" being any
// path below a folder.
func Above(agent string) (files []string) {
	for _, r := range Table {
		if r.Agent == agent && r.Above != "" {
			files = append(files, r.File)
		}
	}
	return files
}

// A Rival is a file that is loaded in the place of another one.
type Rival struct {
	File string // from the folder of the other's row
	// Anywhere: in any folder from the session's up, else only beside the other one.
	Anywhere bool
}

// Rivals are the files in whose presence an agent does not load that at path, below a
// repository; dir is the folder that they are named from, slash-separated. There are none if
// the agent loads the file in any case, or never.
func Rivals(agent, path string) (dir string, rivals []Rival) {
	for _, r := range Table {
		above, ok := strings.CutSuffix("/"+path, "/"+r.File)
		if r.Agent != agent || !ok || strings.HasPrefix(r.File, "~/") {
			continue
		}
		if len(r.After) == 0 {
			return "", nil
		}
		dir = strings.TrimPrefix(above, "/")
		for _, file := range r.After {
			rivals = append(rivals, Rival{file, r.Alone})
		}
	}
	return dir, rivals
}

// Imports reports whether a text imports any file, as an agent reads it.
func Imports(agent string, text []byte) bool {
	if imports[agent].hops == 0 {
		return false
	}
	doc, _ := skill.Parse(text, skill.Options{Instructions: true}) // it is never nil
	return len(doc.Imports()) > 0
}

// Top is the top folder of the repository that a folder is in, of the main working tree if it
// has several; "" if it is in none.
func Top(folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	root := skill.Repository(folder)
	if root == "" {
		return ""
	}
	return skill.MainTree(root)
}
