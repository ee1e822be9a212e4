package envfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
)

// Lacks says which keys of this shell a night with such arguments does not have, "" if it has
// a file of its own.
func Lacks(getenv func(string) string, args []string) string {
	var left []string
	for _, k := range agent.Kinds() {
		for _, name := range k.Credentials {
			if getenv(name) != "" {
				left = append(left, name)
			}
		}
	}
	if len(left) == 0 || slices.Contains(args, "--env-file") {
		return ""
	}
	slices.Sort(left)
	return fmt.Sprintf("a night does not have the %s of this shell: put it into a file of mode 600, a NAME=value a line, and name that with --env-file", strings.Join(slices.Compact(left), ", "))
}

// Unproved is the error of a timer whose nights could not ask their agent; keys is what Lacks
// says.
func Unproved(err error, keys string) error {
	const anyway = "--no-ping installs it all the same"
	_, hint := problem.Of(err)
	if hint != "" {
		hint += "; "
	}
	return &problem.Error{Kind: problem.Failed, Err: fmt.Errorf("nothing was installed, because a night could not ask its agent: %w", err), Hint: cmp.Or(keys, hint+anyway)}
}
