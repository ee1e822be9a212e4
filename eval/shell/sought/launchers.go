package sought

import (
	"path"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
)

// launchers are the words, with flags between them, behind which a program of a project or of
// an interpreter follows as if it were called itself.
var launchers = [][]string{
	{"python", "-m"}, {"py", "-m"},
	{"uv", "run"}, {"uvx"}, {"poetry", "run"}, {"pipenv", "run"}, {"pdm", "run"}, {"hatch", "run"}, {"rye", "run"}, {"conda", "run"},
	{"npx"}, {"bunx"}, {"bun", "x"}, {"npm", "exec"}, {"pnpm", "exec"}, {"pnpm", "dlx"}, {"yarn", "exec"}, {"yarn", "dlx"},
	{"bundle", "exec"}, {"go", "tool"}, {"mise", "exec"}, {"direnv", "exec"},
}

// launched is how many of the words are a launcher, 0 if they do not begin with one.
func launched(words []shell.Word) int {
	if !words[0].Whole {
		return 0
	}
	name := path.Base(words[0].Text)
	if strings.HasPrefix(name, "python") {
		name = strings.TrimRight(name, "0123456789.") // python3.12
	}
	for _, l := range launchers {
		if l[0] != name {
			continue
		}
		if len(l) == 1 {
			return 1
		}
		for i := 1; i < min(len(words), maxPrefix); i++ {
			w := words[i]
			if w.Whole && w.Text == l[1] {
				return i + 1
			}
			if !Flag(w) && !takesValue(words[i-1]) {
				break
			}
		}
	}
	return 0
}
