// Package envfile reads the file in which the owner keeps the keys of nights.
package envfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Vars are variables by their names.
type Vars map[string]string

const maxSize = 64 << 10

var name = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Read reads a file that only its owner, who is this user, can read.
func Read(path string) (Vars, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem.Inputf(ToMake(path), "--env-file %s does not exist", plain.Line(path))
	case err != nil:
		return nil, fmt.Errorf("read the environment file: %w", err)
	case !info.Mode().IsRegular():
		return nil, problem.Inputf("name a file with lines NAME=value", "--env-file %s is no file", plain.Line(path))
	case !mine(info):
		return nil, problem.Inputf("make one of your own", "--env-file %s belongs to somebody else", plain.Line(path))
	case info.Mode().Perm()&0o077 != 0:
		return nil, problem.Inputf("`chmod 600 "+plain.Arg(path)+"`", "--env-file %s is open to others (mode %04o)", plain.Line(path), info.Mode().Perm())
	}
	text, err := bounded.ReadFile(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("read the environment file: %w", err)
	}
	vars, err := parse(string(text))
	if err != nil {
		return nil, problem.Inputf("one NAME=value a line, in quotes if it has blanks", "%s, %v", plain.Line(path), err)
	}
	return vars, nil
}

// ToMake is what to type for a file with the token of a subscription.
func ToMake(path string) string {
	return "`claude setup-token` prints a token for a subscription: put the line CLAUDE_CODE_OAUTH_TOKEN=… into " + plain.Line(path) + ", and `chmod 600 " + plain.Arg(path) + "`"
}

// parse reads lines NAME=value. It skips "export" before a name, comments and empty lines.
// Values are literal: no variable is expanded. An error has the number of the line and never
// a value.
func parse(text string) (Vars, error) {
	vars := Vars{}
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "export "); ok {
			line = strings.TrimSpace(rest)
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || !name.MatchString(key) {
			return nil, fmt.Errorf("line %d: it is not NAME=value", i+1)
		}
		value, why := literal(value)
		if why != "" {
			return nil, fmt.Errorf("line %d: the value of %s %s", i+1, key, why)
		}
		vars[key] = value
	}
	return vars, nil
}

// literal is a value without its quotes. What a shell would read in another way is refused:
// a file may be sourced in one place and read here in another.
func literal(value string) (out, why string) {
	special := "$`\\"
	switch {
	case strings.HasPrefix(value, "'") || strings.HasPrefix(value, `"`):
		quote := value[:1]
		inner, after, closed := strings.Cut(value[1:], quote)
		if after = strings.TrimSpace(after); !closed || after != "" && after[0] != '#' {
			return "", "does not end with its quote"
		}
		if value = inner; quote == "'" {
			special = ""
		}
	default:
		if at := strings.IndexAny(value, " \t"); at >= 0 {
			if rest := strings.TrimSpace(value[at:]); rest[0] != '#' {
				return "", "has blanks and no quotes"
			}
			value = value[:at]
		}
		special += "'\"();&|<>"
	}
	switch {
	case strings.ContainsAny(value, special):
		return "", "has a character that a shell replaces: put it in single quotes"
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", "has a control character"
	}
	return value, ""
}

// Over returns the variables, and those of getenv where the file has none.
func (v Vars) Over(getenv func(string) string) func(string) string {
	return func(name string) string {
		if value, ok := v[name]; ok {
			return value
		}
		return getenv(name)
	}
}
