package standing

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// Instructions reports whether the file at path is one of standing instructions and no
// SKILL.md: an agent loads it, or it lacks the frontmatter that a skill must have.
func (l *Loader) Instructions(path string) (key string, ok bool) {
	if !skill.IsFile(path) {
		return "", false
	}
	key, err := l.Layout.Key(path)
	if err != nil {
		return "", false
	}
	if len(l.LoadedBy(subject.Parse(key))) > 0 {
		return key, true
	}
	doc, err := read(path)
	return key, err == nil && !doc.HasFrontmatter()
}

// Findings are the faults of a file of standing instructions: an agent does not read it, or
// not all of it, or evolve does not.
func (l *Loader) Findings(key string) (list []check.Finding, err error) {
	reg, err := l.Layout.Registry()
	if err != nil {
		return nil, err
	}
	e, err := reg.Lookup(key)
	if broken, ok := errors.AsType[*skill.BrokenSkillError](err); ok {
		return []check.Finding{{Rule: "unreadable", Severity: check.Reject, Line: 1, Reason: "the file is not loaded: " + broken.Reason}}, nil
	} else if err != nil {
		return nil, err
	}
	text, err := skill.ReadFile(e.Path)
	if err != nil {
		return nil, err
	}
	doc, _ := skill.Parse(text, skill.Options{Instructions: true}) // Validate reports the reason
	list = check.Validate(doc, check.ClaudeCode, "")
	warn := func(line int, rule, format string, args ...any) {
		list = append(list, check.Finding{Rule: rule, Severity: check.Warn, Line: line, Reason: fmt.Sprintf(format, args...)})
	}
	if len(l.LoadedBy(subject.Parse(key))) == 0 {
		warn(1, "not-loaded", "no agent is known to load a file of this name in this folder")
	}
	short := short(e.Path)
	for _, i := range Graph(e.Path) {
		switch {
		case i.Back:
			warn(i.Line, "import-cycle", "%s imports %s, which imports it: agents load each once", short(i.From), short(i.To))
		case i.Gone:
			warn(i.Line, "import-gone", "%s imports %s, which is not there", short(i.From), short(i.To))
		}
	}
	return list, nil
}

// short names the files in and below the folder of path by their paths from there.
func short(path string) func(string) string {
	dir := filepath.Dir(path)
	return func(path string) string {
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
		return path
	}
}
