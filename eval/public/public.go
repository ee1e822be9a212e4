// Package public chooses the cases that may leave the machine: those that a person wrote
// or imported. What a session or a model brought stays.
package public

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// local is a path of a person's own folder on any of three systems, in a JSON text.
var local = lazyregexp.New(`/(?:home|Users|root)/[^/\s"]|[A-Za-z]:(?:\\\\|/)Users`)

// Cases are those of cases that may be published, and why the others may not, one line a
// reason. home is the person's home folder. A name of a cluster may be that of a session,
// so that clusters get the id of their first published case.
func Cases(cases []eval.Case, home string) (kept []eval.Case, notes []string) {
	mined, onDisk, paths := 0, 0, 0
	first := map[string]string{} // cluster → id
	for _, c := range cases {
		switch {
		case c.Origin() != "imported" || c.Source != nil && (c.Source.Session != "" || c.Source.Turn != "" || len(c.Source.Also) > 0):
			mined++
			continue
		case c.Workspace != nil && strings.ContainsAny(c.Workspace.Repo[:1], `/~.\`):
			onDisk++
			continue
		}
		cluster := c.Cluster
		c.Cluster = ""
		if c.Source != nil {
			c.Source = &eval.Source{Agent: c.Source.Agent, Origin: c.Source.Origin}
		}
		if text, err := json.Marshal(c); err != nil || local.MatchString(string(text)) || len(home) > 1 && strings.Contains(string(text), home+"/") {
			paths++
			continue
		}
		if cluster != "" {
			if first[cluster] == "" {
				first[cluster] = c.ID
			}
			c.Cluster = first[cluster]
		}
		kept = append(kept, c)
	}
	for _, n := range []struct {
		n   int
		why string
	}{{mined, "from your sessions, or written by a model"}, {onDisk, "need a repository on this machine"}, {paths, "name a folder on this machine"}} {
		if n.n > 0 {
			notes = append(notes, fmt.Sprintf("%s left out: %s", plain.Counted(n.n, "case"), n.why))
		}
	}
	return kept, notes
}
