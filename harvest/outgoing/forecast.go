package outgoing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
)

// A Send is what one host may get.
type Send struct {
	agent.Recipient
	Kinds []string `json:"kinds"`
	// Bytes is an upper estimate of the text in all requests; 0 if nothing limits them.
	Bytes    int64     `json:"bytes"`
	Projects []Project `json:"projects"`
	// Setup: what the agent loads of its owner goes along.
	Setup bool `json:"setup,omitempty"`
}

// A Project is how many cases hold text of a folder: one of several counts for each. Of
// cases without a folder, some were imported, and of the others' sessions none is known.
type Project struct {
	Folder   string `json:"folder"`
	Cases    int    `json:"cases"`
	Sessions int    `json:"sessions,omitempty"` // in place of cases, if sessions are read
	Imported bool   `json:"imported,omitempty"`
}

// OfSessions are the projects of sessions, each given by its folder, in the order of the folders.
func OfSessions(folders []string) (out []Project) {
	for _, folder := range folders {
		i := slices.IndexFunc(out, func(p Project) bool { return p.Folder == folder })
		if i < 0 {
			i, out = len(out), append(out, Project{Folder: folder})
		}
		out[i].Sessions++
	}
	return out
}

// Forecast is who may get text of these cases, which are cleared, in requests with so
// many bytes in all, by their kind. It is nil if text stays on this machine, unless Dry.
func (g *Control) Forecast(ctx context.Context, db *store.Store, back *agent.Backends, cases []eval.Case, bytes map[string]int64) ([]Send, error) {
	if g == nil || len(back.To) == 0 && !g.Dry {
		return nil, nil
	}
	out := []Send{}
	projects, err := g.projects(ctx, db, cases)
	if err != nil {
		return nil, err
	}
	for _, kind := range agent.Requests {
		n, asked := bytes[kind]
		for _, r := range back.To[kind] {
			if !asked {
				continue
			}
			i := slices.IndexFunc(out, func(s Send) bool { return s.Recipient == r })
			if i < 0 {
				i = len(out)
				out = append(out, Send{Recipient: r, Bytes: n, Projects: projects})
			} else if out[i].Bytes > 0 && n > 0 {
				out[i].Bytes += n
			} else {
				out[i].Bytes = 0
			}
			out[i].Kinds = append(out[i].Kinds, kind)
			out[i].Setup = out[i].Setup || kind == agent.Replay && back.Owner.Sent()
		}
	}
	return out, nil
}

func (g *Control) projects(ctx context.Context, db *store.Store, cases []eval.Case) ([]Project, error) {
	from, err := g.origins(ctx, db, cases)
	if err != nil {
		return nil, err
	}
	count := map[Project]int{}
	for i := range cases {
		all, list := origin{}, from.of(&cases[i])
		for _, o := range list {
			all.in(o.folders...)
		}
		for _, dir := range all.folders {
			count[Project{Folder: dir}]++
		}
		if len(all.folders) == 0 {
			count[Project{Imported: len(list) == 0}]++
		}
	}
	out := []Project{}
	for p, n := range count {
		p.Cases = n
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Project) int { return cmp.Or(cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.Folder, b.Folder)) })
	return out, nil
}

// projectsShown is how many projects a line names.
const projectsShown = 4

// Lines say in words who gets what.
func Lines(sends []Send) (out []string) {
	for _, s := range sends {
		most := "without a cap, so nobody knows how much"
		if s.Bytes > 0 {
			most = "at most about " + size(int(s.Bytes))
		}
		var of []string
		for i, p := range s.Projects {
			if i == projectsShown && len(s.Projects) > projectsShown+1 {
				of = append(of, fmt.Sprintf("%d more projects", len(s.Projects)-i))
				break
			}
			name := "imported"
			if p.Folder != "" {
				name = Short(p.Folder)
			} else if !p.Imported {
				name = "no known project"
			}
			n := plain.Counted(p.Cases, "case")
			if p.Sessions > 0 {
				n = plain.Counted(p.Sessions, "session")
			}
			of = append(of, fmt.Sprintf("%s (%s)", name, n))
		}
		with := ""
		if s.Setup {
			with = ", with your own instructions and the agent's notes"
		}
		out = append(out, fmt.Sprintf("sends: %s gets %s in %s requests, of %s%s", s.name(), most, strings.Join(s.Kinds, ", "), strings.Join(of, ", "), with))
	}
	if sends != nil && len(sends) == 0 {
		out = append(out, "sends: no text leaves this machine")
	}
	return out
}

func (s *Send) name() string {
	if at := s.Address(); at != "" && at != s.Vendor {
		return at + " (" + s.Vendor + ")"
	}
	return s.Vendor
}
