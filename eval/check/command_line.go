package check

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/eval/shell/sought"
)

// writers are programs that change the files that they are given, by the flag that makes them
// do so.
var writers = map[string]string{"cp": "", "gofmt": "-w", "goimports": "-w", "install": "", "ln": "", "mv": "", "perl": "-", "prettier": "--w",
	"rm": "", "sed": "-", "tee": "", "touch": "", "truncate": ""}

// changers are programs that need not name the files that they change, by their subcommands.
var changers = map[string][]string{"patch": nil, "tar": nil, "unzip": nil,
	"git": {"am", "apply", "checkout", "cherry-pick", "clean", "merge", "mv", "pull", "rebase", "reset", "restore", "revert", "rm", "stash", "switch"}}

// writes reports whether a command line evidently writes one of the files that differ.
func (w *Work) writes(line string) bool {
	list, _ := shell.Commands(line)
	return len(w.Files) > 0 && slices.ContainsFunc(list, func(c shell.Command) bool { return edits(&c, w.names) })
}

// MayEdit reports whether a command line edits files in the workspace as far as it shows, or
// cannot be read. What other programs write is not seen.
func MayEdit(line string) bool {
	list, err := shell.Commands(line)
	return err != nil || slices.ContainsFunc(list, func(c shell.Command) bool {
		return edits(&c, func(x shell.Word) bool {
			return !x.Whole || !sought.Flag(x) && !sought.Number(x.Text) && !strings.HasPrefix(x.Text, "/dev/") && !strings.HasPrefix(x.Text, "/tmp/")
		})
	})
}

// edits reports whether a command writes one of the files that are of interest, or changes
// files that it does not name.
func edits(c *shell.Command, interest func(shell.Word) bool) bool {
	for _, r := range c.Redirects {
		if strings.Contains(r.Op, ">") && interest(r.Word) {
			return true
		}
	}
	if subs, ok := changers[c.Name()]; ok {
		return subs == nil || slices.ContainsFunc(c.Words, func(x shell.Word) bool { return slices.Contains(subs, x.Text) })
	}
	how, ok := writers[c.Name()]
	return ok && slices.ContainsFunc(c.Words[1:], interest) &&
		slices.ContainsFunc(c.Words, func(x shell.Word) bool { return how == "" || inPlace(x.Text, how) })
}

// inPlace reports whether a flag makes a program change its files: for sed and perl, one with
// an i.
func inPlace(arg, how string) bool {
	if how != "-" {
		return strings.HasPrefix(arg, how)
	}
	return strings.HasPrefix(arg, "--in-place") || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "i")
}

// names reports whether a word may be one of the files that differ, or a folder with one.
func (w *Work) names(x shell.Word) bool {
	if !x.Whole {
		return len(w.Files) > 0
	}
	text := path.Clean(strings.TrimSuffix(x.Text, "..."))
	return slices.ContainsFunc(w.Files, func(c Change) bool {
		return text == "." || path.Base(text) == path.Base(c.Path) || strings.HasPrefix(c.Path, text+"/")
	})
}
