package replay

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A Program is a CLI and what it needs to run.
type Program struct {
	Path   string // absolute, symlinks resolved
	Runner string // what the first line of a script runs it with, absolute; "" for what is no script
	// Path of folders that must come first on its PATH: its interpreter's.
	Dirs []string
	// Readable are the files and folders of the program: for an npm package the
	// node_modules that hold it and the folder of its node, for a native program its
	// folder. Files in the system's folders are not named.
	Readable []string
}

// An absentError is that a program is not there. It is an exec.ErrNotFound, whose text names
// a package of Go.
type absentError struct{ name string }

func (e *absentError) Error() string { return fmt.Sprintf("no program %s is on the PATH", e.name) }
func (e *absentError) Unwrap() error { return exec.ErrNotFound }

// OnPath is exec.LookPath.
func OnPath(name string) (string, error) {
	at, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		err = &absentError{name}
	}
	return at, err
}

// Find finds the program that c.Path names, or else name on PATH. Resolve it
// once, not per attempt.
func Find(c Config, name string) (Program, error) {
	given := c.Path
	if given == "" {
		var err error
		if given, err = OnPath(name); err != nil {
			return Program{}, err
		}
	}
	given, err := filepath.Abs(given)
	if err != nil {
		return Program{}, fmt.Errorf("find %s: %w", name, err)
	}
	p := Program{}
	if p.Path, err = filepath.EvalSymlinks(given); err != nil {
		return Program{}, fmt.Errorf("find %s: %w", name, err)
	}
	if info, err := os.Stat(p.Path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
		return Program{}, fmt.Errorf("find %s: %s is no program", name, given)
	}
	p.needs(installRoot(p.Path))
	if runner := interpreter(p.Path); runner != "" {
		if err := p.runBy(runner, filepath.Dir(given)); err != nil {
			return Program{}, fmt.Errorf("find %s: %w", name, err)
		}
	}
	return p, nil
}

// runBy adds the interpreter of a script: the one beside it, else that on PATH.
func (p *Program) runBy(runner, beside string) error {
	at := runner
	if !filepath.IsAbs(runner) {
		at = filepath.Join(beside, runner)
		if _, err := os.Stat(at); err != nil {
			if at, err = exec.LookPath(runner); err != nil {
				return fmt.Errorf("find its interpreter: %w", err)
			}
		}
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return fmt.Errorf("find its interpreter: %w", err)
	}
	dir := filepath.Dir(real)
	if filepath.Base(real) != filepath.Base(runner) { // a link of another name
		dir = filepath.Dir(at)
		p.needs(at)
	}
	p.Runner = filepath.Join(dir, filepath.Base(runner))
	if !inSystem(dir) {
		p.Dirs = append(p.Dirs, dir)
	}
	p.needs(installRoot(real))
	return nil
}

func (p *Program) needs(path string) {
	if !inSystem(path) && !slices.ContainsFunc(p.Readable, func(r string) bool { return within(path, r) }) {
		p.Readable = append(p.Readable, path)
	}
}

// installRoot is the folder in which a program was installed: the outermost
// node_modules, the folder with the bin folder of a node, else the folder of the
// program. A folder shared with others (a bin, a home) is not opened for one program;
// then it is the file itself.
func installRoot(file string) string {
	sep := string(filepath.Separator)
	if at := strings.Index(file, sep+"node_modules"+sep); at >= 0 {
		return file[:at] + sep + "node_modules"
	}
	dir := filepath.Dir(file)
	home, _ := os.UserHomeDir()
	switch base := filepath.Base(dir); {
	case base == "bin" && filepath.Base(file) == "node" && isNode(filepath.Dir(dir)):
		return filepath.Dir(dir)
	case base == "bin" || base == "sbin" || dir == home || home != "" && within(home, dir):
		return file
	}
	return dir
}

// isNode reports whether dir is an installation of node: they bring its headers.
func isNode(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "include", "node"))
	return err == nil
}

// interpreter is the program in the first line of a script: a name for PATH, or a path;
// "" for a file that is no script.
func interpreter(file string) string {
	f, err := bounded.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := bufio.NewReaderSize(f, 256).Peek(256)
	line, _, _ := strings.Cut(string(head), "\n")
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	words := strings.Fields(rest)
	if len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return w
		}
	}
	return ""
}

// Sandbox is the sandbox of a child that works on this stage: the stage and the
// workspace for writing, the program for reading, hosts (host:port) over the network.
func (s *Stage) Sandbox(hosts ...string) *process.Sandbox {
	box := &process.Sandbox{
		Writable: []string{s.Root, s.Workspace},
		Readable: slices.Clone(s.layout.Program.Readable),
		Hosts:    hosts,
	}
	if s.task.Prepared != nil {
		box.Readable = append(box.Readable, s.task.Prepared.Root)
	}
	return box
}

// systemDirs hold what belongs to the system and to no person.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt/homebrew",
	"/System", "/Library", "/nix/store"}

func inSystem(path string) bool {
	return slices.ContainsFunc(systemDirs, func(dir string) bool { return within(path, dir) })
}

// within reports whether path is dir or below it. Both are absolute and clean.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/' || dir == "/")
}
