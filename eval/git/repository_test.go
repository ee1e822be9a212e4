package git

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// given runs git as a repository's owner does.
func given(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
}

// repository makes one of two commits, with a file a and one in a folder.
func repository(t *testing.T, options ...string) (dir, commit string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = t.TempDir()
	given(t, dir, append([]string{"init", "-q", "-b", "main"}, options...)...)
	for _, text := range []string{"one", "two"} {
		write(t, filepath.Join(dir, "a"), text)
		write(t, filepath.Join(dir, "sub", "b"), text)
		given(t, dir, "add", "-A")
		given(t, dir, "commit", "-q", "-m", text)
	}
	return dir, given(t, dir, "rev-parse", "HEAD")
}

// file reads a file of a commit's top.
func file(ctx context.Context, r *Repository, commit, name string) (string, error) {
	o := r.Objects(ctx)
	defer o.Close()
	full, err := o.Commit(commit)
	if err != nil {
		return "", err
	}
	entries, err := o.Tree(full + "^{tree}")
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return "", errors.New("no file " + name)
	}
	blob, err := o.Blob(entries[i].ID)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(blob)
	return string(text), err
}

// Every shape that a repository can have on disk is read, by objects and by refs.
func TestShapes(t *testing.T) {
	shapes := map[string]func(t *testing.T) (dir, commit, prefix string){
		"plain":  func(t *testing.T) (string, string, string) { dir, c := repository(t); return dir, c, "" },
		"folder": func(t *testing.T) (string, string, string) { dir, c := repository(t); return dir + "/sub", c, "sub" },
		"link to a folder": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(filepath.Join(dir, "sub"), link); err != nil {
				t.Fatal(err)
			}
			return link, c, "sub"
		},
		"short id": func(t *testing.T) (string, string, string) { dir, c := repository(t); return dir, c[:8], "" },
		"bare": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			to := t.TempDir()
			given(t, to, "clone", "-q", "--bare", dir, "x.git")
			return to + "/x.git", c, ""
		},
		"inside .git": func(t *testing.T) (string, string, string) { dir, c := repository(t); return dir + "/.git/refs", c, "" },
		"sha256": func(t *testing.T) (string, string, string) {
			dir, c := repository(t, "--object-format=sha256")
			return dir, c, ""
		},
		"packed": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			given(t, dir, "gc", "-q", "--prune=now")
			if _, err := os.Stat(dir + "/.git/packed-refs"); err != nil {
				t.Fatal(err)
			}
			return dir, c, ""
		},
		"worktree": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			tree := filepath.Join(t.TempDir(), "wt")
			given(t, dir, "worktree", "add", "-q", tree)
			return tree + "/sub", c, "sub"
		},
		"submodule": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			outer, _ := repository(t)
			given(t, outer, "submodule", "--quiet", "add", dir, "module")
			return outer + "/module", c, ""
		},
		"alternates": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			to := t.TempDir()
			given(t, to, "clone", "-q", "--shared", dir, "x")
			return to + "/x", c, ""
		},
		"relative alternates": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			to := filepath.Join(filepath.Dir(dir), "x")
			given(t, filepath.Dir(dir), "clone", "-q", "--shared", dir, to)
			write(t, to+"/.git/objects/info/alternates", "../../../"+filepath.Base(dir)+"/.git/objects\n")
			return to, c, ""
		},
		"shallow": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			to := t.TempDir()
			given(t, to, "clone", "-q", "--depth=1", "file://"+dir, "x")
			return to + "/x", c, ""
		},
		"odd path": func(t *testing.T) (string, string, string) {
			dir, c := repository(t)
			to := filepath.Join(t.TempDir(), "a:\"b\n #c")
			if err := os.Rename(dir, to); err != nil {
				t.Fatal(err)
			}
			return to, c, ""
		},
	}
	for name, make := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, commit, prefix := make(t)
			r, err := Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if r.Prefix != prefix {
				t.Errorf("prefix %q, want %q", r.Prefix, prefix)
			}
			if text, err := file(t.Context(), r, commit, "a"); err != nil || text != "two" {
				t.Errorf("a holds %q (%v)", text, err)
			}
			if out, err := r.Output(t.Context(), "for-each-ref", "--format=%(objectname)", "refs/heads/main"); err != nil || !strings.HasPrefix(string(out), commit) {
				t.Errorf("main is %q (%v), want %s", out, err, commit)
			}
			if out, err := r.Output(t.Context(), "log", "--format=%H", "--branches"); err != nil || !strings.HasPrefix(string(out), commit) {
				t.Errorf("log is %q (%v), want %s first", out, err, commit)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(r.own); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("its folder is left: %v", err)
			}
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("the repository is gone: %v", err)
			}
		})
	}
}

// A folder that is no repository, or an unreadable one, is an error that names the
// cause.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"nothing":    {func(t *testing.T, dir string) { os.RemoveAll(dir + "/.git") }, "not a git repository (or any"},
		"gone":       {func(t *testing.T, dir string) { os.RemoveAll(dir) }, "no such file"},
		"no objects": {func(t *testing.T, dir string) { os.RemoveAll(dir + "/.git/objects") }, "not a git repository (or any"},
		"leads nowhere": {func(t *testing.T, dir string) {
			os.RemoveAll(dir + "/.git")
			write(t, dir+"/.git", "gitdir: ../none\n")
		}, "not a git repository: "},
		"text": {func(t *testing.T, dir string) { os.RemoveAll(dir + "/.git"); write(t, dir+"/.git", "hello\n") }, "names no repository"},
		"another format": {func(t *testing.T, dir string) {
			write(t, dir+"/.git/config", "[core]\n[Extensions] ; x\nobjectFormat = \"sha3\" # y\n")
		}, `"sha3", which evolve does not know`},
		"configures FIFO": {func(t *testing.T, dir string) { os.Remove(dir + "/.git/config"); fifo(t, dir+"/.git/config") }, "regular file"},
		"packed FIFO":     {func(t *testing.T, dir string) { fifo(t, dir+"/.git/packed-refs") }, "packed-refs is no file"},
		"ref FIFO":        {func(t *testing.T, dir string) { fifo(t, dir+"/.git/refs/heads/entire") }, "entire is no file"},
		"object FIFO": {func(t *testing.T, dir string) {
			os.MkdirAll(dir+"/.git/objects/ab", 0o700)
			fifo(t, dir+"/.git/objects/ab/cd")
		}, "cd is no file"},
		"alternates FIFO": {func(t *testing.T, dir string) { fifo(t, dir+"/.git/objects/info/alternates") }, "alternates is no file"},
		"linked FIFO": {func(t *testing.T, dir string) {
			fifo(t, dir+"/p")
			os.Symlink(dir+"/p", dir+"/.git/objects/pack/pack-1.idx")
		}, "pack-1.idx is no file"},
		"commondir FIFO": {func(t *testing.T, dir string) { fifo(t, dir+"/.git/commondir") }, "not a git repository"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := repository(t)
			c.change(t, dir)
			if r, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v, want %q", r, err, c.want)
			}
		})
	}
}

func fifo(t *testing.T, at string) {
	t.Helper()
	if err := syscall.Mkfifo(at, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A repository of a third user is refused: anybody may make one above a folder
// of somebody else's.
func TestThirdUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir, commit := repository(t)
	sub := filepath.Join(dir, "sub")
	for _, c := range []struct {
		repository, folder int
		ok                 bool
	}{{7, 0, false}, {7, 8, false}, {7, 7, true}, {0, 7, true}} {
		if err := errors.Join(os.Lchown(filepath.Join(dir, ".git"), c.repository, -1), os.Lchown(sub, c.folder, -1)); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), sub)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "belongs to another user") {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil {
			if _, err := file(t.Context(), r, commit, "a"); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			r.Close()
		}
	}
}

// Nothing in the caller's environment, the repository or the current folder changes
// what git reads.
func TestInfluences(t *testing.T) {
	dir, commit := repository(t)
	first := given(t, dir, "rev-parse", "HEAD^")
	given(t, dir, "replace", commit, first)
	other, _ := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	write(t, filepath.Join(dir, "git"), "#!/bin/sh\ntouch "+ran+"\n")
	write(t, filepath.Join(dir, ".git", "info", "grafts"), commit+"\n")
	home := t.TempDir()
	write(t, filepath.Join(home, ".gitconfig"), "[alias]\n[core\n") // a syntax error
	t.Chdir(dir)
	for name, value := range map[string]string{"PATH": ".:" + os.Getenv("PATH"), "HOME": home, "XDG_CONFIG_HOME": home, "GIT_DIR": other + "/.git",
		"GIT_OBJECT_DIRECTORY": other, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.x", "GIT_CONFIG": home + "/.gitconfig",
		"GIT_CONFIG_PARAMETERS": "'core.bare=", "GIT_NAMESPACE": "x", "GIT_TRACE": ran, "GIT_EXEC_PATH": dir, "GIT_CEILING_DIRECTORIES": "/"} {
		t.Setenv(name, value)
	}
	r, err := Open(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, err := file(t.Context(), r, commit, "a"); err != nil || text != "two" {
		t.Errorf("a holds %q (%v)", text, err)
	}
	if out, err := r.Output(t.Context(), "log", "--format=%H", "--branches"); err != nil || string(out) != commit+"\n"+first+"\n" {
		t.Errorf("log is %q (%v)", out, err)
	}
	cmd := r.command(t.Context(), "log")
	if cmd.Dir != r.own || !filepath.IsAbs(cmd.Path) || slices.ContainsFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=.") }) {
		t.Errorf("%s in %q with %q", cmd.Path, cmd.Dir, cmd.Env)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the current folder's git ran, or the caller's variables counted")
	}
	t.Setenv("PATH", ".")
	if _, err := Open(t.Context(), "."); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a git of the current folder alone: %v", err)
	}
}

// What git is given holds nothing of the repository's that could name a program.
func TestOwnFolder(t *testing.T) {
	dir, _ := repository(t, "--object-format=sha256")
	given(t, dir, "config", "core.fsmonitor", "touch x")
	given(t, dir, "config", "remote.origin.promisor", "true")
	write(t, dir+"/.git/packed-refs", "")
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	entries, err := os.ReadDir(r.own)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"HEAD", "config", "objects", "packed-refs", "refs"}) {
		t.Errorf("%q", names)
	}
	out, err := r.Output(t.Context(), "config", "--list", "--show-scope")
	if want := "local\tcore.repositoryformatversion=1\nlocal\tcore.bare=true\nlocal\tcore.bigfilethreshold=1m\nlocal\textensions.objectformat=sha256\n"; err != nil || string(out) != want {
		t.Errorf("the configuration is %q (%v), want %q", out, err, want)
	}
	if info, err := os.Stat(r.own); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// An object that is asked for as what it is not, one that is absent and one that
// is left half read do not disturb the next.
func TestObjects(t *testing.T) {
	dir, commit := repository(t)
	large := strings.Repeat("0123456789abcdef", 1<<20) // 16 MiB, more than maxSkip
	write(t, filepath.Join(dir, "large"), large)
	write(t, filepath.Join(dir, "empty"), "")
	id := given(t, dir, "hash-object", "-w", "large")
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	o := r.Objects(t.Context())
	defer o.Close()
	for range 2 {
		blob, err := o.Blob(id)
		if err != nil || blob.Size != int64(len(large)) {
			t.Fatalf("%+v, %v", blob, err)
		}
		if part, err := io.ReadAll(io.LimitReader(blob, 5)); err != nil || string(part) != "01234" {
			t.Errorf("%q, %v", part, err)
		}
		asked := o.cmd.Process.Pid
		if _, err := o.Blob(commit); err == nil || !strings.Contains(err.Error(), "is a commit, not a blob") {
			t.Errorf("a commit as a blob: %v", err)
		}
		if o.cmd.Process.Pid == asked {
			t.Error("all of a large object was read to pass over it")
		}
		asked = o.cmd.Process.Pid
		if _, err := o.Tree(commit); err == nil || !strings.Contains(err.Error(), "is a commit, not a tree") {
			t.Errorf("a commit as a tree: %v", err)
		}
		for _, absent := range []string{strings.Repeat("12", 20), "0000000"} {
			if _, err := o.Commit(absent); !errors.Is(err, ErrMissing) {
				t.Errorf("%s: %v", absent, err)
			}
		}
		if full, err := o.Commit(commit[:7]); err != nil || full != commit {
			t.Errorf("%q, %v", full, err)
		}
		if o.cmd.Process.Pid != asked {
			t.Error("more than one git for small objects")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Objects(ctx).Blob(id); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := r.Output(ctx, "for-each-ref"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := r.Output(t.Context(), "log", "--none-such"); err == nil || !strings.Contains(err.Error(), "git log: fatal: ") {
		t.Errorf("an error of git's: %v", err)
	}
}

// A git that supports reftables reads them; with any other the error names what is
// needed.
func TestReftable(t *testing.T) {
	dir, _ := repository(t)
	given(t, dir, "config", "core.repositoryFormatVersion", "1")
	given(t, dir, "config", "extensions.refStorage", "reftable")
	write(t, dir+"/.git/reftable/tables.list", "")
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Output(t.Context(), "for-each-ref"); err != nil && !strings.Contains(err.Error(), "git 2.45 or later is needed") {
		t.Error(err)
	}
}

// objectsOf opens the objects of a repository until the test ends.
func objectsOf(t *testing.T, dir string) *Objects {
	t.Helper()
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	o := r.Objects(t.Context())
	t.Cleanup(o.Close)
	return o
}
