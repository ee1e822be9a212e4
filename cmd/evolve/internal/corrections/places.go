package corrections

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// places knows which texts sessions loaded.
type places struct {
	layout   *skill.Layout
	loads    standing.Loader
	sessions map[string]*harvest.Session
}

func newPlaces(l *skill.Layout, sessions []*harvest.Session) *places {
	p := &places{layout: l, loads: standing.Loader{Layout: l}, sessions: map[string]*harvest.Session{}}
	for _, s := range sessions {
		p.sessions[s.ID] = s
	}
	return p
}

// texts are those in which the rules of a report could be: of skills, and what the sessions
// that corrected them load today.
func (p *places) texts(r *corrections.Report) (out []corrections.Text) {
	type who struct{ agent, folder string }
	files := map[who][]string{}
	at := map[string]int{} // of a path in out
	add := func(concerns, path string) {
		if t := corrections.ReadText(concerns, path); t != nil {
			out = append(out, *t)
		}
	}
	seen := map[string]bool{}
	for _, x := range r.Rules {
		if name, ok := skillOf(x.Concerns); ok && !seen[name] {
			seen[name] = true
			if live, err := p.layout.Live(name); err == nil {
				add(x.Concerns, live.Path)
			}
		}
		for _, q := range x.Quotes {
			s := p.sessions[q.Session]
			if s == nil || s.CWD == "" {
				continue
			}
			w := who{s.Agent, s.CWD}
			if _, ok := files[w]; !ok {
				files[w] = p.loads.Files(s.Agent, s.CWD)
			}
			for _, path := range files[w] {
				i, ok := at[path]
				if !ok {
					i = len(out)
					if add("standing", path); len(out) == i {
						continue
					}
					at[path], out[i].Sessions = i, map[string]bool{}
				}
				out[i].Sessions[s.ID] = true
			}
		}
	}
	return out
}

// place names the files of a report: those that have a rule, and where one could be written
// that none has: in the file of the only repository that it was corrected in, and in the
// person's own.
func (p *places) place(r *corrections.Report) {
	for i := range r.Rules {
		switch x := &r.Rules[i]; {
		case x.Written.Path != "":
			x.Written.File = filepath.Base(x.Written.Path)
			if key, err := p.layout.Key(x.Written.Path); err == nil && skill.IsFile(x.Written.Path) {
				x.Written.File = subject.Parse(key).Text()
			}
		case x.Rule != "" && !strings.HasPrefix(x.Concerns, "skill:"):
			x.Written.Project, x.Written.Own = p.open(x)
		}
	}
}

// open are the files in which a rule could be written.
func (p *places) open(x *corrections.Rule) (project, own string) {
	agent := ""
	var tops []string
	for _, q := range x.Quotes {
		if s := p.sessions[q.Session]; s != nil {
			agent, tops = cmp.Or(agent, s.Agent), append(tops, standing.Top(s.CWD))
		}
	}
	slices.Sort(tops)
	if tops = slices.Compact(tops); len(tops) == 1 && tops[0] != "" {
		if file, ok := p.loads.Project(agent, tops[0]); ok {
			project = file.Text()
		}
	}
	if file, ok := standing.Own(agent); ok {
		own = file.Text()
	}
	return project, own
}
