package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ofHooks are the commands that a hook's script is a subject of too, or that refuse it in words
// of their own.
var ofHooks = []string{"", "run", "runs", "log", "show", "diff", "report", "promote", "try", "rollback", "approve", "reject", "pin", "kernel show", "kernel confirm", "kernel check"}

// insteadOf are the commands that do for hooks what those of skills do, with the hook's path
// behind them; the hint ends with the words behind the blank.
var insteadOf = map[string]string{
	"suggest":       "evolve --hook %s` searches for a better script",
	"check":         "evolve kernel check %s --base FILE` compares it with the text before",
	"corrections":   "evolve hooks learn` reads why you refused calls",
	"harvest":       "evolve hooks learn` reads why you refused calls",
	"cases new":     "evolve hooks new NAME` writes a script with its cases",
	"sleep run":     "evolve --hook %s` searches for a better script: nights leave hooks alone",
	"kernel probes": "evolve kernel show %s` lists its locked lines: probes are for agents, and a script asks none",
}

// skillsOnly refuses the script of a hook as the subject of a command that says nothing of one.
func skillsOnly(c *cobra.Command, args []string) error {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	if slices.Contains(ofHooks, path) {
		return nil
	}
	named := slices.Clone(args)
	for _, name := range []string{"file", "skill"} {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			named = append(named, several.GetSlice()...)
		} else {
			named = append(named, f.Value.String())
		}
	}
	for _, typed := range named {
		key, _ := subject.Cut(typed)
		r := subject.Parse(key)
		if r.Kind != subject.Hook {
			continue
		}
		instead := cmp.Or(insteadOf[path], "evolve hooks test %s` replays it on your recorded calls, which are its cases")
		if strings.Contains(instead, "%s") {
			instead = fmt.Sprintf(instead, r.Typed())
		}
		return problem.Inputf("`"+instead, "%s is a hook, and `evolve %s` is for skills and files of instructions", plain.Text(r.Text()), path)
	}
	return nil
}
