package hooktest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// An Installed guard is one that settings name and that is called before a tool.
type Installed struct {
	Name    string   // its script's
	Agent   string   // whose settings name it
	Command string   // as they have it
	Project string   // the folder whose sessions call it; "" for all
	Scripts []string // the files in its command

	found *found
}

// Wants reports whether the guard is called for a tool call.
func (g *Installed) Wants(e *events.Event) bool { return g.found.wants(e) }

// Named reports whether name is the guard's command, or the name of a file in it.
func (g *Installed) Named(name string) bool { return isNamed(g.found.Command, name) }

// Installed are the guards in a person's settings and in those of the project in the current
// folder, each command of an agent once. Settings that cannot be read are reported and passed
// over.
func (p Parts) Installed() (out []*Installed, err error) {
	f, err := p.finder()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, file := range f.files {
		if seen[file.path] { // in one's home the project's are one's own
			continue
		}
		seen[file.path] = true
		in, err := f.settings(file)
		if err != nil {
			p.Terminal.Say("hooks: %v", err)
			continue
		}
		for _, g := range in {
			if g.on[0].Event != events.PreToolUse {
				continue
			}
			one := &Installed{Name: called(g.Command), Agent: file.agent, Command: g.written, Project: file.project, Scripts: scripts(g.Command), found: g}
			i := slices.IndexFunc(out, func(o *Installed) bool { return o.Agent == one.Agent && o.Command == one.Command })
			if i < 0 {
				out = append(out, one)
				continue
			}
			out[i].found.on = append(out[i].found.on, g.on...)
			if one.Project == "" {
				out[i].Project = ""
			}
		}
	}
	return out, nil
}

// finder looks in a person's settings and in those of the project in the current folder.
func (p Parts) finder() (*finder, error) {
	project, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the project: %w", err)
	}
	return p.finderIn(project)
}

// finderIn looks in a person's settings and in those of a project.
func (p Parts) finderIn(project string) (*finder, error) {
	homes, err := backend.Homes(p.Layout())
	if err != nil {
		return nil, err
	}
	f := &finder{home: p.Terminal.Getenv("HOME"), project: project}
	for _, h := range homes {
		f.add(h)
	}
	return f, nil
}

// scripts are the files that a command names.
func scripts(command string) (out []string) {
	for _, w := range words(command) {
		if info, err := os.Stat(w); filepath.IsAbs(w) && err == nil && info.Mode().IsRegular() {
			out = append(out, w)
		}
	}
	return out
}

var variable = lazyregexp.New(`\$\{?\w+\}?`)

// Called is a short name of a hook's command as settings have it: that of its script.
func Called(command string) string { return called(variable.ReplaceAllString(command, "")) }

// What is the part of an event's input that a person tells it by.
func What(e *events.Event) string { return what(e) }
