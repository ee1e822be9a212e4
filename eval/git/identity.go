package git

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Identities returns the user's addresses: those in their own git configuration, in the
// system's, and in the files which these include, under whatever condition (a person
// may have one address for each employer); and those in the variables
// GIT_COMMITTER_EMAIL and EMAIL. GIT_AUTHOR_EMAIL is not used: in a hook it may be the
// author of a commit that is being picked. No repository's configuration is read. The
// result is empty if there is no address, or if it cannot be read.
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
	if os.Getenv("GIT_CONFIG_NOSYSTEM") == "" {
		files = append(files, cmp.Or(os.Getenv("GIT_CONFIG_SYSTEM"), "/etc/gitconfig"))
	}
	r := &Repository{own: home, program: program, limits: defaults} // the files of a repository that git would read are in no home
	var found []string
	add := func(email string) {
		if email = Address(email); email != "" {
			found = append(found, email)
		}
	}
	add(os.Getenv("GIT_COMMITTER_EMAIL"))
	add(os.Getenv("EMAIL"))
	for i := 0; i < len(files) && i < maxIncludes; i++ {
		// An error is a file that is absent, or without any of the keys.
		out, _ := r.Output(ctx, "config", "--file", files[i], "--no-includes", "--null", "--type=path",
			"--get-regexp", `^(user|author|committer)\.email$|^include(if\..*)?\.path$`)
		for entry := range strings.SplitSeq(string(out), "\x00") {
			key, value, _ := strings.Cut(entry, "\n")
			switch {
			case value == "":
			case !strings.HasPrefix(key, "include"):
				add(value)
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

// Address normalises an address for comparison: in lower case, and without the
// characters that git drops at both ends of one.
func Address(email string) string {
	return strings.ToLower(strings.TrimFunc(email, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`.,:;<>"\'`, r) }))
}
