package ingest

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/suite"
)

// An Unconfirmed test command would grade cases if its owner confirmed it.
type Unconfirmed struct {
	Project string `json:"project"`
	Command string `json:"command"`
	Cases   int    `json:"cases"`
}

// grade gives the mined cases of a skill the checks by which confirmed test commands grade
// them, and takes away those of commands that are not confirmed any more. What a trial has
// used keeps its checks as long as they are confirmed, and gets no other.
func (g *Ingester) grade(ctx context.Context, name string, sessions []*harvest.Session) (waiting []Unconfirmed, err error) {
	cases, err := g.Store.Cases(ctx, name)
	if err != nil {
		return nil, err
	}
	owner, err := consent.Read(g.Dir.Projects())
	if err != nil { // who harvests is told of it, and nothing else has to wait for that
		return nil, nil
	}
	spent, err := g.Store.Journal("").SpentCases(ctx, name)
	if err != nil {
		return nil, err
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
				case slices.Contains(confirmed, command):
					c.Checks = append(c.Checks, k)
				default:
					waiting = count(waiting, owner.Project(c.Workspace.Repo), command)
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
			return nil, err
		}
	}
	slices.SortFunc(waiting, func(a, b Unconfirmed) int {
		return cmp.Or(cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Command, b.Command))
	})
	return waiting, nil
}

func count(list []Unconfirmed, project, command string) []Unconfirmed {
	i := slices.IndexFunc(list, func(u Unconfirmed) bool { return u.Project == project && u.Command == command })
	if i < 0 {
		i = len(list)
		list = append(list, Unconfirmed{Project: project, Command: command})
	}
	list[i].Cases++
	return list
}
