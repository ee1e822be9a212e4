package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Identities returns the addresses that the user's own git configuration gives him,
// and that of the files which it includes, under whatever condition: a person may
// have one address for each employer. No repository's configuration is read. It is
// empty if there is none, or if it cannot be read.
func Identities(ctx context.Context) []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	program, err := lookPath("git")
	if err != nil {
		return nil
	}
	files := []string{filepath.Join(home, ".config", "git", "config"), filepath.Join(home, ".gitconfig")}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		files[0] = filepath.Join(dir, "git", "config")
	}
	if file := os.Getenv("GIT_CONFIG_GLOBAL"); file != "" {
		files = []string{file}
	}
	r := &Repository{own: home, program: program, limits: defaults} // what it would read of a repository is in no home
	var found []string
	for i := 0; i < len(files) && i < maxIncludes; i++ {
		// An error is a file that is absent, or without any of the keys.
		out, _ := r.Output(ctx, "config", "--file", files[i], "--no-includes", "--null", "--type=path",
			"--get-regexp", `^(user|author|committer)\.email$|^include(if\..*)?\.path$`)
		for entry := range strings.SplitSeq(string(out), "\x00") {
			key, value, _ := strings.Cut(entry, "\n")
			switch {
			case value == "":
			case !strings.HasPrefix(key, "include"):
				found = append(found, strings.ToLower(value))
			default:
				if !filepath.IsAbs(value) {
					value = filepath.Join(filepath.Dir(files[i]), value)
				}
				if !slices.Contains(files, value) {
					files = append(files, value)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// maxIncludes is how many files of the user's configuration are read.
const maxIncludes = 50
