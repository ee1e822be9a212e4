package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// programKept is how much of the end of a program's stdout is kept, in bytes. A check's
// score is a line, and the end of a test's output is its result.
const programKept = 64 << 10

// Programs runs the programs of checks. In their sandbox the workspace is writable,
// /tmp is their own and empty, and there is neither a network nor a home: a program
// that needs more is named in Readable. Its own file, and files that its arguments name
// by absolute paths, can be read: many checks are like ["python3",
// "/home/me/grade.py"], and the owner saw that when trusting them.
type Programs struct {
	// Readable are files and folders beyond the system's that programs need.
	Readable []string
	// Bare runs them without a sandbox, with the rights of this process and with its
	// HOME. Only the owner may choose that.
	Bare bool
	// Prepared is what was prepared for a folder: a further one that can be read there, ""
	// for none, and variables. nil: nothing was.
	Prepared func(dir string) (readable string, env []string)
	// Content identifies the programs, if they can change: a hash. It is part of the
	// identity.
	Content string
}

// Identity identifies how programs are run.
func (p Programs) Identity() string {
	id := "sandbox"
	if p.Bare {
		id = "bare"
	} else if len(p.Readable) > 0 {
		id += " " + strings.Join(p.Readable, ":")
	}
	if p.Content != "" {
		id += " " + p.Content
	}
	return id
}

// RunProgram runs argv in dir; "" is a folder for temporary files. A name without a
// slash is searched on PATH, a relative path is dir's. A program that exits with a code
// other than 0 is no error; exit is -1 or more than 128 if a signal ended it. The error
// is ctx's, context.DeadlineExceeded if the program did not end within limit, or the
// reason why it could not be started. Of stdout the last 64 KiB are returned, of stderr
// the last 8.
func (p Programs) RunProgram(ctx context.Context, dir string, argv []string, stdin []byte, limit time.Duration) (stdout, stderr []byte, exit int, err error) {
	if len(argv) == 0 {
		return nil, nil, 0, errors.New("run program: no program is named")
	}
	out := tail{most: programKept}
	c := Command{Args: argv[1:], Dir: dir, Stdin: stdin, MaxOutput: 1 << 40, Grace: time.Second}
	c.Line = func(line []byte) error {
		_ = out.write(line)
		return out.write([]byte{'\n'})
	}
	if c.Dir == "" {
		c.Dir = os.TempDir()
	}
	if p.Bare {
		c.Env = inherited("PATH", "HOME", "LANG", "TMPDIR", "SystemRoot")
	} else {
		c.Sandbox = new(Sandbox)
		if dir == "" {
			c.Dir = "/tmp"
		} else {
			c.Sandbox.Writable = []string{filepath.Clean(dir)}
		}
		c.Env = append(inherited("PATH", "LANG"), "HOME=/tmp", "TMPDIR=/tmp")
	}
	prepared := ""
	if p.Prepared != nil {
		var env []string
		prepared, env = p.Prepared(dir)
		c.Env = append(c.Env, env...)
	}
	if c.Path, err = programPath(argv[0], c.Dir); err != nil {
		return nil, nil, 0, fmt.Errorf("run program: %w", err)
	}
	if c.Sandbox != nil {
		c.Sandbox.Readable = append(slices.Clone(p.Readable), named(c.Path, c.Args, c.Dir)...)
		if prepared != "" {
			c.Sandbox.Readable = append(c.Sandbox.Readable, prepared)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := Run(ctx, c)
	if r == nil {
		return nil, nil, 0, err
	}
	if r.Limit != "" {
		r.Stderr += "\nevolve: " + r.Limit + "\n"
	}
	return out.bytes(), []byte(r.Stderr), r.Exit, err
}

// Find returns why RunProgram cannot run a program in dir, nil if it can: it is not on PATH
// or in dir, is no program, or is where the sandbox shows nothing. name is the first word of
// a command line; one with slashes is a path.
func (p Programs) Find(dir, name string) error {
	at, err := programPath(name, dir)
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("find program: %s is no program", at)
	}
	shown := slices.Concat(systemDirs, p.Readable)
	if own, err := filepath.EvalSymlinks(dir); err == nil {
		shown = append(shown, own)
	}
	if p.Prepared != nil {
		if root, _ := p.Prepared(dir); root != "" {
			shown = append(shown, root)
		}
	}
	if p.Bare || filepath.IsAbs(name) || slices.ContainsFunc(shown, func(dir string) bool { return within(dir, real) }) {
		return nil // a file that is named by an absolute path is shown
	}
	return fmt.Errorf("find program: the sandbox does not show %s", at)
}

func programPath(name, dir string) (string, error) {
	if !strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(name)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if _, err := os.Stat(name); err != nil {
		return "", err // the sandbox's error would have less detail
	}
	return name, nil
}

// named are the files outside of dir that a command line names, without folders, which
// may hold anything.
func named(program string, args []string, dir string) (files []string) {
	for _, path := range append([]string{program}, args...) {
		if !filepath.IsAbs(path) || within(dir, path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, filepath.Clean(path))
		}
	}
	return files
}

// inherited are variables of ours that a program may have: no key is among them.
func inherited(names ...string) (env []string) {
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
