package checkout

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Known says how far the commit is known at which a case's request was made.
type Known string

// The ways in which a commit is known.
const (
	Exact       Known = "exact"
	Approximate Known = "approximate"
	None        Known = "none"
)

// KnownOf says how far the commit of a case is known.
func KnownOf(c *eval.Case) Known {
	switch {
	case c.Workspace == nil:
		return None
	case c.Workspace.Approximate:
		return Approximate
	}
	return Exact
}

// String says it in words.
func (k Known) String() string {
	switch k {
	case Exact:
		return "exact: this commit was checked out when the request was made"
	case Approximate:
		return "approximate: the commit was found by the time of the request, or files had changed since it"
	}
	return "none: the request is made without the repository"
}

// Counts are the mined cases of each agent by how far their commits are known.
type Counts map[string]map[Known]int

// Count counts the mined cases. It is nil if none of them has a commit.
func Count(cases []eval.Case) Counts {
	counts, some := Counts{}, false
	for i := range cases {
		c := &cases[i]
		if c.Origin() != "mined" {
			continue
		}
		if counts[c.Source.Agent] == nil {
			counts[c.Source.Agent] = map[Known]int{}
		}
		counts[c.Source.Agent][KnownOf(c)]++
		some = some || c.Workspace != nil
	}
	if !some {
		return nil
	}
	return counts
}

// String is one line, with the counts of each agent if there are several.
func (c Counts) String() string {
	all := map[Known]int{}
	var each []string
	for _, agent := range slices.Sorted(maps.Keys(c)) {
		each = append(each, fmt.Sprintf("%s %d, %d and %d", agent, c[agent][Exact], c[agent][Approximate], c[agent][None]))
		for k, n := range c[agent] {
			all[k] += n
		}
	}
	line := fmt.Sprintf("%s: %d with their exact commit, %d approximate, %d without", plain.Counted(all[Exact]+all[Approximate]+all[None], "case"), all[Exact], all[Approximate], all[None])
	if len(each) > 1 {
		line += " (" + strings.Join(each, "; ") + ")"
	}
	return line
}
