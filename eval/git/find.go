package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// ErrNone means that a folder is in no repository.
var ErrNone = errors.New("not a git repository (or any of the parent directories)")

// find returns dir without links, the repository that it is or is in, as git finds it,
// and the place of dir in its working tree. A repository that belongs to a third user
// is refused, because anybody can make /tmp/.git.
func find(dir string) (start, gitDir, prefix string, err error) {
	if dir, err = filepath.Abs(dir); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", "", "", fmt.Errorf("find repository: %w", err)
	}
	folder, err := os.Stat(dir)
	if err != nil {
		return "", "", "", fmt.Errorf("find repository: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		dotGit := filepath.Join(at, ".git")
		switch info, err := os.Stat(dotGit); {
		case err != nil:
		case info.IsDir() && isRepository(dotGit):
			gitDir = dotGit
		case info.Mode().IsRegular(): // a worktree's or a submodule's
			if gitDir, err = follow(dotGit, "gitdir: "); err != nil {
				return "", "", "", err
			}
			if !isRepository(gitDir) {
				return "", "", "", fmt.Errorf("not a git repository: %s", gitDir)
			}
		}
		if gitDir != "" {
			if prefix, err = filepath.Rel(at, dir); err != nil || prefix == "." {
				prefix = ""
			}
		} else if isRepository(at) {
			gitDir, dotGit = at, at
		}
		if gitDir != "" {
			if info, err := os.Lstat(dotGit); err != nil || !ours(info, folder) {
				return "", "", "", fmt.Errorf("%s belongs to another user", dotGit)
			}
			return dir, gitDir, filepath.ToSlash(prefix), nil
		}
		if at == filepath.Dir(at) {
			return "", "", "", ErrNone
		}
	}
}

// isRepository reports whether dir looks like a repository, or like the part of one
// that a worktree has.
func isRepository(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common, err := commonDir(dir)
	for _, name := range []string{"objects", "refs"} {
		info, no := os.Stat(filepath.Join(common, name))
		if err != nil || no != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// commonDir is the folder that a repository's worktrees share.
func commonDir(gitDir string) (string, error) {
	common, err := follow(filepath.Join(gitDir, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	return common, err
}

// follow reads a file that holds prefix and a path, which may be relative to the file's
// folder.
func follow(file, prefix string) (string, error) {
	text, err := readSmall(file)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), prefix)
	if !ok || to == "" || strings.ContainsAny(to, "\x00\n") {
		return "", fmt.Errorf("%s names no repository", file)
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return to, nil
}

// A format is what evolve has to know about a repository to read it.
type format struct{ objects, refs string }

// readFormat reads the format from the configuration: its [extensions], and nothing
// else. An unknown value is an error.
func readFormat(common string) (format, error) {
	f := format{objects: "sha1", refs: "files"}
	file := filepath.Join(common, "config")
	text, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if header, ok := strings.CutPrefix(line, "["); ok {
			header, line, _ = strings.Cut(header, "]")
			inside = strings.EqualFold(strings.TrimSpace(header), "extensions")
		}
		key, value, _ := strings.Cut(line, "=")
		if i := strings.IndexAny(value, "#;"); i >= 0 {
			value = value[:i]
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case !inside:
		case key == "objectformat" && (value == "sha1" || value == "sha256"):
			f.objects = value
		case key == "refstorage" && (value == "files" || value == "reftable"):
			f.refs = value
		case key == "objectformat" || key == "refstorage":
			return f, fmt.Errorf("%s: extensions.%s is %q, which evolve does not know", file, key, value)
		}
	}
	return f, nil
}

// config is the configuration for git. Packed files of more than 1 MiB are read in
// parts, unless they are stored as differences from others.
func (f format) config() string {
	version, extensions := 0, ""
	if f.objects != "sha1" { // an older git does not know the key, even with that value
		version, extensions = 1, "\tobjectFormat = "+f.objects+"\n"
	}
	if f.refs != "files" {
		version, extensions = 1, extensions+"\trefStorage = "+f.refs+"\n"
	}
	return fmt.Sprintf("[core]\n\trepositoryFormatVersion = %d\n\tbare = true\n\tbigFileThreshold = 1m\n[extensions]\n%s", version, extensions)
}

// readSmall reads a file of at most 1 MiB.
func readSmall(file string) (string, error) {
	text, err := bounded.ReadFile(file, 1<<20)
	return string(text), err
}
