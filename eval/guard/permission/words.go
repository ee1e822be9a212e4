package permission

import (
	"path"
	"slices"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/eval/shell"
)

// ForFile is a call as a rule file sees it.
func (c *Call) ForFile() *rulefile.Call {
	return &rulefile.Call{Tool: c.Tool, Command: c.command(), File: c.file(), Root: c.Project}
}

// unfolded are the commands of a line, those in its strings for other shells among them, with
// the words that can be compared.
func unfolded(line string) (out [][]string) {
	commands, _ := shell.Commands(line) // what of it can be read
	for i := range commands {
		var words []string
		for n, w := range commands[i].Words {
			if w.Whole && plainWord.MatchString(w.Text) {
				words = append(words, w.Text)
			} else if n == 0 {
				break
			}
		}
		if len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

// ProposeFile is the rule of a rule file, without what it says, that is about a program's commands
// with the words that the calls share if they are several, or of one call those that a rule in words
// names; false if that is not a program and a word behind it.
func ProposeFile(calls []Call, words string) (rulefile.Rule, bool) {
	if len(calls) == 0 || !all(calls, func(c Call) bool { return c.Tool == "Bash" }) {
		return rulefile.Rule{}, false
	}
	named := tokens(words)
	several := slices.ContainsFunc(calls, func(c Call) bool { return c.command() != calls[0].command() })
	var best rulefile.Rule
	for _, of := range unfolded(calls[0].command()) {
		r := rulefile.Rule{Tool: "Bash", Program: path.Base(of[0])}
		for _, one := range of[1:] {
			more := r
			more.Words = append(slices.Clone(r.Words), one)
			if !slices.Contains(r.Words, one) && (several || slices.Contains(named, one)) && all(calls, func(c Call) bool { return more.Matches(c.ForFile()) }) {
				r = more
			}
		}
		if len(r.Words) > len(best.Words) {
			best = r
		}
	}
	return best, len(best.Words) > 0 && !wider(calls, named, append([]string{best.Program}, best.Words...))
}
