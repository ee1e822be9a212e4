package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

var (
	plainWord  = lazyregexp.New(`^[A-Za-z0-9_./=@:+,%~-]+$`)
	subcommand = lazyregexp.New(`^[a-z][a-z0-9:-]*$`)
)

// Propose is the rule of the settings that is about all of these calls, which were refused for a
// rule in words; false if one tool and a beginning of a command or a path does not decide it.
func Propose(calls []Call, words string) (Rule, bool) {
	if len(calls) == 0 {
		return Rule{}, false
	}
	var r Rule
	switch {
	case all(calls, func(c Call) bool { return c.Tool == "Bash" }):
		r = Rule{"Bash", command(calls, tokens(words))}
	case all(calls, func(c Call) bool { return slices.Contains(edits, c.Tool) }):
		r = Rule{"Edit", file(calls, tokens(words))}
	case strings.HasPrefix(calls[0].Tool, "mcp__") && all(calls, func(c Call) bool { return c.Tool == calls[0].Tool }):
		return Rule{Tool: calls[0].Tool}, true
	}
	if r.Spec == "" || !all(calls, r.Matches) {
		return Rule{}, false
	}
	if prefix, ok := strings.CutSuffix(r.Spec, ":*"); ok && wider(calls, tokens(words), strings.Fields(prefix)) {
		return Rule{}, false
	}
	return r, true
}

// Told reports whether a rule in words, or more than one call, tells that all that a proposed
// rule is about is to be stopped. Else it is a guess, which a person should be asked about.
func (r Rule) Told(calls []Call, words string) bool {
	named := tokens(words)
	switch r.Tool {
	case "Bash":
		prefix := strings.Fields(strings.TrimSuffix(r.Spec, ":*"))
		if len(prefix) == 1 { // a program is for many things
			return false
		}
		return prefixIn(prefix, named) > 0 || prefixIn(prefix[1:], named) == len(prefix)-1 ||
			slices.ContainsFunc(calls, func(c Call) bool { return c.command() != calls[0].command() })
	case "Edit":
		folder, ok := strings.CutSuffix(r.Spec, "/**")
		return !ok || slices.ContainsFunc(named, func(w string) bool { return alike(w, path.Base(folder)) })
	}
	return false // a whole tool, whatever it is given
}

// wider reports whether a rule names a word of the calls' commands that is not among those kept:
// what leaves it out is about calls that the rule permits. "Never push to main" is not "never push".
func wider(calls []Call, named, kept []string) bool {
	return !all(calls, func(c Call) bool {
		return !slices.ContainsFunc(unfolded(c.command()), func(words []string) bool {
			if path.Base(words[0]) != path.Base(kept[0]) && words[0] != "cd" {
				return false
			}
			return slices.ContainsFunc(words[1:], func(w string) bool {
				return !slices.Contains(kept, w) && slices.ContainsFunc(named, func(n string) bool { return n == w || alike(n, path.Base(w)) })
			})
		})
	})
}

// alike reports whether a word of a rule names a file or a folder.
func alike(word, name string) bool {
	return len(name) > 2 && strings.EqualFold(path.Base(strings.TrimRight(word, "/*")), name)
}

func all(calls []Call, is func(Call) bool) bool {
	return !slices.ContainsFunc(calls, func(c Call) bool { return !is(c) })
}

// tokens are the words of a rule, without the punctuation around them, and without the "run" of
// "do not run", which is none of a command's.
func tokens(words string) (out []string) {
	before := ""
	for _, w := range strings.Fields(words) {
		word := strings.Trim(w, "`'\"“”‘’«»,.;:!?()")
		if lower := strings.ToLower(word); lower != "run" || w != word || !slices.Contains([]string{"", "not", "don't", "never", "always", "to", "only", "and", "or"}, before) {
			out = append(out, word)
		}
		before = strings.ToLower(word)
	}
	return out
}

// command is the beginning that all calls share if they are several; of one call what the words
// name, or else the program, its subcommand and its flags. It is "" if nothing tells which of
// several commands was refused.
func command(calls []Call, named []string) string {
	var lines [][][]string // of each distinct call
	seen := map[string]bool{}
	for _, c := range calls {
		if line := c.command(); !seen[line] {
			seen[line] = true
			lines = append(lines, candidates(line))
		}
	}
	var best []string
	if len(lines) == 1 {
		best = alone(lines[0], named)
	} else {
		best = shared(lines, named)
	}
	if len(best) == 0 {
		return ""
	}
	return strings.Join(best, " ") + ":*"
}

// candidates are the commands of a line that may be why it was refused.
func candidates(line string) (out [][]string) {
	commands, _ := top(line)
	for _, words := range commands {
		if words = plainWords(words); len(words) > 0 && words[0] != "cd" {
			out = append(out, words)
		}
	}
	return out
}

func alone(commands [][]string, named []string) []string {
	var best []string
	most := 0
	for _, words := range commands {
		if n := prefixIn(words, named); n > most {
			most, best = n, words[:n]
			if n == 1 {
				best = words[:shape(words)]
			}
		}
	}
	if best == nil && len(commands) == 1 {
		best = commands[0][:shape(commands[0])]
		if slices.ContainsFunc(commands[0][len(best):], func(w string) bool { return strings.HasPrefix(w, "-") }) {
			return nil // a flag behind it may be why
		}
	}
	return best
}

func shared(lines [][][]string, named []string) []string {
	var best []string
	for _, words := range lines[0] {
		for _, other := range lines[1:] {
			most := 0
			for _, o := range other {
				most = max(most, common(words, o))
			}
			words = words[:most]
		}
		if d := prefixIn(words, named) - prefixIn(best, named); d > 0 || d == 0 && len(words) > len(best) {
			best = words
		}
	}
	if len(best) == 1 && prefixIn(best, named) == 0 {
		return nil // a program for many things
	}
	return best
}

// plainWords are the first words of a command that can stand in a rule.
func plainWords(words []string) []string {
	for i, w := range words {
		if !plainWord.MatchString(w) {
			return words[:i]
		}
	}
	return words
}

func common(a, b []string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// prefixIn counts the first words of a command that all are among those of a rule.
func prefixIn(words, named []string) (n int) {
	for n < len(words) && slices.Contains(named, words[n]) {
		n++
	}
	return n
}

// shape counts the program, what may be its subcommand, and the flags behind it.
func shape(words []string) (n int) {
	if n = min(1, len(words)); n < len(words) && subcommand.MatchString(words[n]) {
		n++
	}
	for n < len(words) && strings.HasPrefix(words[n], "-") {
		n++
	}
	return n
}

// file is the folder or the name in all paths that the words name, or else the folder that all
// files share, or the one file. If the calls are of one project, a folder or a file is that of
// the project, and none of the same name elsewhere.
func file(calls []Call, named []string) string {
	var paths []string
	root := "/"
	if !all(calls, func(c Call) bool { return path.Clean(c.Project) == path.Clean(calls[0].Project) }) {
		root = ""
	}
	for _, c := range calls {
		below, ok := strings.CutPrefix(path.Clean(c.file()), path.Clean(c.Project)+"/")
		if !ok || c.Project == "" || strings.ContainsAny(below, "*?[]\\()!#") {
			return ""
		}
		if !slices.Contains(paths, below) {
			paths = append(paths, below)
		}
	}
	names := func(segment string) bool {
		return slices.ContainsFunc(named, func(w string) bool { return alike(w, segment) })
	}
	if base := path.Base(paths[0]); names(base) {
		return base
	}
	segments := strings.Split(paths[0], "/")
	for i, s := range segments[:len(segments)-1] {
		if names(s) {
			return root + strings.Join(segments[:i+1], "/") + "/**"
		}
	}
	shared := segments[:len(segments)-1]
	for _, p := range paths[1:] {
		shared = shared[:common(shared, strings.Split(p, "/"))]
	}
	switch {
	case len(paths) == 1 && (root != "" || len(segments) > 1): // else it would be one of that name anywhere
		return root + paths[0]
	case len(paths) > 1 && len(shared) > 0:
		return root + strings.Join(shared, "/") + "/**"
	}
	return ""
}
