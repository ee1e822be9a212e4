package command

import (
	"fmt"
	"path/filepath"
	"strings"
)

// shims are the folders whose programs only start others, by the manager that prints which.
var shims = []struct{ folder, manager string }{
	{"/.pyenv/shims/", "pyenv"}, {"/.rbenv/shims/", "rbenv"}, {"/.asdf/shims/", "asdf"}, {"/mise/shims/", "mise"}, {"/.volta/bin/", "volta"},
}

// notFound says what to do if a program in a sandbox did not find what it starts (exit code
// 127). The sandbox shows the program and the system, and nothing else of the home folder.
func notFound(path string) string {
	for _, s := range shims {
		if strings.Contains(path, s.folder) {
			return fmt.Sprintf("%s only starts another program, which the sandbox does not show: write what `%s which %s` prints instead of %[3]s", path, s.manager, filepath.Base(path))
		}
	}
	return "it starts a program that the sandbox does not show: name that program by its whole path, or one of the system's"
}
