package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// planted is the configuration of a repository that Plant makes. Its index is valid in
// every copy of the folder whose files have the same times and sizes: so that git need not
// read all of them again, it does not look at their inodes. Names that other systems cannot
// write are names.
const planted = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
	trustctime = false
	checkStat = minimal
	protectNTFS = false
	protectHFS = false
[user]
	name = user
	email = user@localhost
[gc]
	auto = 0
[maintenance]
	auto = false
`

// plain says that files are as they were committed, whatever .gitattributes asks for.
const plain = "* -text -ident -filter -working-tree-encoding\n"

// signed is who made the commit, and when: always the same.
const signed = "user <user@localhost> 946684800 +0000\n"

// Plant makes dir a repository with one commit of all files in it, on the branch main: any
// repository that it was is replaced. The commit's id depends on the files alone. Links
// are committed as links and not followed; repositories below dir are left out. Files that
// git should not see are named in the lines of exclude, as in a .gitignore.
func Plant(ctx context.Context, dir string, exclude ...string) error {
	program, err := lookPath("git")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(".git"); err != nil {
		return err
	}
	r := &Repository{limits: defaults, own: filepath.Join(dir, ".git"), program: program}
	for _, name := range []string{".git/objects/info", ".git/objects/pack", ".git/refs/heads", ".git/refs/tags", ".git/info"} {
		err = errors.Join(err, root.MkdirAll(name, 0o700))
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": planted, "info/attributes": plain, "info/exclude": strings.Join(append(exclude, ""), "\n")} {
		err = errors.Join(err, root.WriteFile(".git/"+name, []byte(text), 0o600))
	}
	if err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	files := &stream{ctx: ctx, root: root, now: strings.NewReader("feature done\ncommit refs/heads/main\nauthor " + signed + "committer " + signed + "data 8\nInitial\n\n")}
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git" || slices.Contains(exclude, "/"+name):
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
			files.names = append(files.names, name)
		}
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("look at the files: %w", err)
	}
	_, err = r.answer(ctx, func(cmd *exec.Cmd) { cmd.Stdin = files }, "-c", "pack.compression=1", "-c", "fastimport.unpackLimit=1",
		"-c", "core.logAllRefUpdates=false", "fast-import", "--quiet", "--depth=0")
	err = errors.Join(files.err, err)
	if err == nil {
		_, err = r.Output(ctx, "read-tree", "HEAD")
	}
	if err == nil {
		r.env = []string{"GIT_WORK_TREE=" + dir}
		_, err = r.Output(ctx, "update-index", "-q", "--refresh")
	}
	return err
}

// A stream is what git fast-import reads: a commit of files.
type stream struct {
	ctx   context.Context
	root  *os.Root
	names []string // that are left
	now   io.Reader
	file  *os.File // that now reads
	ended bool
	err   error
}

func (s *stream) Read(p []byte) (n int, err error) {
	for {
		if n, err = s.now.Read(p); n > 0 || err != io.EOF {
			return n, err
		}
		if s.file != nil {
			s.file.Close()
			s.file = nil
		}
		switch {
		case s.ended:
			return 0, io.EOF
		case len(s.names) == 0:
			s.now, s.ended = strings.NewReader("done\n"), true
		default:
			if s.err = errors.Join(s.ctx.Err(), s.next(s.names[0])); s.err != nil {
				return 0, s.err
			}
			s.names = s.names[1:]
		}
	}
}

// next makes a file the next part.
func (s *stream) next(name string) error {
	part := func(mode string, size int64, text io.Reader) {
		s.now = io.MultiReader(strings.NewReader(fmt.Sprintf("M %s inline %s\ndata %d\n", mode, quoted(name), size)), text, strings.NewReader("\n"))
	}
	if to, err := s.root.Readlink(name); err == nil {
		part("120000", int64(len(to)), strings.NewReader(to))
		return nil
	}
	f, err := bounded.OpenIn(s.root, name)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	mode := "100644"
	if info.Mode()&0o100 != 0 {
		mode = "100755"
	}
	s.file = f
	part(mode, info.Size(), io.LimitReader(f, info.Size()))
	return nil
}

// quoted is a path in git's quotes.
func quoted(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}
