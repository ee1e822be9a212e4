package permission

import (
	"slices"

	"github.com/skill-evolve/evolve/eval/shell"
)

// Words are a program and words that all stand behind it, in any order: what a script can look
// for where no rule of the settings tells the calls.
type Words []string

// Matches reports whether a call has a command with the words, also in a line for another shell.
func (w Words) Matches(c Call) bool {
	return c.Tool == "Bash" && slices.ContainsFunc(unfolded(c.command()), func(words []string) bool {
		return words[0] == w[0] && !slices.ContainsFunc(w, func(one string) bool { return !slices.Contains(words, one) })
	})
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

// ProposeWords are the words that the calls share if they are several, or of one call those that
// a rule names; false if that is not a program and a word behind it.
func ProposeWords(calls []Call, rule string) (Words, bool) {
	if len(calls) == 0 || !all(calls, func(c Call) bool { return c.Tool == "Bash" }) {
		return nil, false
	}
	named := tokens(rule)
	several := slices.ContainsFunc(calls, func(c Call) bool { return c.command() != calls[0].command() })
	var best Words
	for _, words := range unfolded(calls[0].command()) {
		w := Words{words[0]}
		for _, one := range words[1:] {
			more := append(w[:len(w):len(w)], one)
			if !slices.Contains(w, one) && (several || slices.Contains(named, one)) && all(calls, more.Matches) {
				w = more
			}
		}
		if len(w) > len(best) {
			best = w
		}
	}
	return best, len(best) > 1 && !wider(calls, named, best)
}
