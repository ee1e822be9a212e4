package ingest

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/suite"
)

// An Ungraded test command would grade cases if its owner confirmed it, or if its program
// could run.
type Ungraded struct {
	Project string `json:"project"`
	Command string `json:"command"`
	Cases   int    `json:"cases"`
	Why     string `json:"why,omitempty"` // its program cannot run
}

// grade gives the mined cases of a skill the checks by which confirmed test commands grade
// them, and takes away those of commands that are not confirmed any more. What a trial has
// used keeps its checks as long as they are confirmed, and gets no other. A command whose
// program cannot run here makes no check, and is missing.
func (g *Ingester) grade(ctx context.Context, name string, sessions []*harvest.Session) (waiting, missing []Ungraded, err error) {
	cases, err := g.Store.Cases(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	owner, err := consent.Read(g.Dir.Projects())
	if err != nil { // every harvest reads the list first and reports this; the cases stay as they are
		return nil, nil, nil
	}
	spent, err := g.Store.Journal("").SpentCases(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	of := map[string]*harvest.Session{}
	for _, s := range sessions {
		of[s.Agent+"\x00"+s.ID] = s
	}
	var changed []eval.Case
	for _, c := range cases {
		if c.Origin() != "mined" || c.Workspace == nil {
			continue
		}
		confirmed := owner.Tests(c.Workspace.Repo)
		was := c.Checks
		c.Checks = slices.DeleteFunc(slices.Clone(c.Checks), func(k eval.Check) bool { return k.Type == eval.Tests && !suite.Confirmed(&k, confirmed) })
		if s := of[c.Source.Agent+"\x00"+c.Source.Session]; s != nil && spent.On(&c) == "" &&
			!slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Type == eval.Tests }) {
			if turn, corrections, accepted, ok := harvest.TurnsOf(s, &c); ok {
				command := suite.Command(s, turn, corrections, accepted, confirmed)
				switch k, err := suite.Check(command); {
				case command == "" || err != nil || owner.Project(c.Workspace.Repo) == "":
				default:
					if no := g.lacks(c.Workspace.Repo, k.Command); no != nil {
						missing = count(missing, owner.Project(c.Workspace.Repo), command, no.Error())
					} else if slices.Contains(confirmed, command) {
						c.Checks = append(c.Checks, k)
					} else {
						waiting = count(waiting, owner.Project(c.Workspace.Repo), command, "")
					}
				}
			}
		}
		if len(c.Checks) == 0 {
			c.Checks = append(c.Checks, harvest.Fulfilled)
		}
		if !reflect.DeepEqual(c.Checks, was) {
			changed = append(changed, c)
		}
	}
	if len(changed) > 0 {
		if _, _, err := g.Store.SaveCases(ctx, changed); err != nil {
			return nil, nil, err
		}
	}
	for _, list := range [][]Ungraded{waiting, missing} {
		slices.SortFunc(list, func(a, b Ungraded) int {
			return cmp.Or(cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Command, b.Command))
		})
	}
	return waiting, missing, nil
}

// lacks returns why the program of a command cannot run in a folder, nil if it can.
func (g *Ingester) lacks(folder string, argv []string) error {
	if g.Find == nil {
		return nil
	}
	if len(argv) > 0 && argv[0] == "env" { // NAME=VALUE before the program
		argv = slices.DeleteFunc(slices.Clone(argv[1:]), func(word string) bool { return strings.Contains(word, "=") })
	}
	if len(argv) == 0 {
		return nil
	}
	return g.Find(folder, argv[0])
}

func count(list []Ungraded, project, command, why string) []Ungraded {
	i := slices.IndexFunc(list, func(u Ungraded) bool { return u.Project == project && u.Command == command })
	if i < 0 {
		i = len(list)
		list = append(list, Ungraded{Project: project, Command: command, Why: why})
	}
	list[i].Cases++
	return list
}
