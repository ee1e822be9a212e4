package consent

import (
	"cmp"
	"slices"
	"time"
)

// A Gate holds back the sessions that may not be read, and counts them. Any number of
// sources may use it, one after the other.
type Gate struct {
	// Decisions are the owner's, and those of others whose word holds too: each of them
	// has to allow a session.
	Decisions []*Decisions
	waiting   map[string]int // sessions of projects on which nothing is decided, by project
	waits     bool           // the one that was asked about last is of these
}

// Allowed reports whether a session may be read that worked in these folders.
func (g *Gate) Allowed(folders []string) bool {
	g.waits = false
	if g.MayRead(folders) {
		return true
	}
	owner, project, open := g.Decisions[0], "", !slices.ContainsFunc(g.Decisions[1:], func(d *Decisions) bool { return !d.MayRead(folders) })
	for _, f := range folders {
		if r, decided := owner.On(f); decided && !r.Read {
			open = false
		} else if !r.Read && project == "" {
			project = owner.Project(f)
		}
	}
	if open {
		if g.waiting == nil {
			g.waiting = map[string]int{}
		}
		g.waiting[project]++
		g.waits = true
	}
	return false
}

// MayRead is Allowed, and counts nothing.
func (g *Gate) MayRead(folders []string) bool {
	return !slices.ContainsFunc(g.Decisions, func(d *Decisions) bool { return !d.MayRead(folders) })
}

// Waits reports, once, whether the session that was asked about last was held back because
// nothing is decided on its project.
func (g *Gate) Waits() bool {
	was := g.waits
	g.waits = false
	return was
}

// Free reports whether the gate holds nothing back.
func (g *Gate) Free() bool {
	return !slices.ContainsFunc(g.Decisions, func(d *Decisions) bool {
		return !d.All || slices.ContainsFunc(d.Rules, func(r Rule) bool { return !r.Read })
	})
}

// Waiting counts the sessions that were held back because nothing is decided on their
// projects, and these projects.
func (g *Gate) Waiting() (sessions, projects int) {
	for _, n := range g.waiting {
		sessions += n
	}
	return sessions, len(g.waiting)
}

// Print is a fingerprint of what the gate lets through.
func (g *Gate) Print() (s string) {
	for _, d := range g.Decisions {
		s += d.Print()
	}
	return s
}

// A Project is a folder with its sessions. One that worked in several projects counts for
// the first that keeps it from being read, else for the first.
type Project struct {
	Folder   string    `json:"folder"` // "" for sessions that name none
	Sessions int       `json:"sessions"`
	Last     time.Time `json:"last,omitzero"` // when the last of them ended
}

// A Survey counts sessions by their projects.
type Survey struct {
	Decisions *Decisions
	projects  map[string]*Project
}

// Add counts one session that worked in these folders.
func (s *Survey) Add(folders []string, ended time.Time) {
	name := ""
	for i, f := range folders {
		if may := s.Decisions.MayRead([]string{f}); i == 0 || !may {
			name = s.Decisions.Project(f)
			if !may {
				break
			}
		}
	}
	if s.projects == nil {
		s.projects = map[string]*Project{}
	}
	p := s.projects[name]
	if p == nil {
		p = &Project{Folder: name}
		s.projects[name] = p
	}
	p.Sessions++
	if ended.After(p.Last) {
		p.Last = ended
	}
}

// Projects are those that were counted, the one with the newest session first.
func (s *Survey) Projects() (out []Project) {
	for _, p := range s.projects {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(p, q Project) int {
		if c := q.Last.Compare(p.Last); c != 0 {
			return c
		}
		return cmp.Compare(p.Folder, q.Folder)
	})
	return out
}
