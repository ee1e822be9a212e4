package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/problem"
)

// Claude is Claude Code's folder.
func (l *Layout) Claude() (string, error) {
	if l.ClaudeHome != "" {
		return filepath.Abs(l.ClaudeHome)
	}
	return l.home("CLAUDE_CONFIG_DIR", ".claude")
}

// Skills is the folder that holds the skills.
func (l *Layout) Skills() (string, error) {
	if l.SkillsDir != "" {
		return filepath.Abs(l.SkillsDir)
	}
	c, err := l.Claude()
	if err != nil {
		return "", err
	}
	return filepath.Join(c, "skills"), nil
}

// Registry finds this user's skills.
func (l *Layout) Registry() (*Registry, error) {
	dir, err := l.Skills()
	if err != nil {
		return nil, err
	}
	plugins, err := l.PluginFolders()
	if err != nil {
		return nil, err
	}
	reg := Discover([]Root{{Dir: dir, Scope: "user", Plugins: plugins}})
	reg.file = l.file
	return reg, nil
}

// Live looks a skill up by its name, or a file of standing instructions by its key, and
// reads it. The error is a *skill.UnknownSkillError,
// a *skill.SyntaxError, or the file system's.
func (l *Layout) Live(name string) (*Live, error) {
	reg, err := l.Registry()
	if err != nil {
		return nil, err
	}
	e, err := reg.Lookup(name)
	if err != nil {
		return nil, err
	}
	return l.Read(e)
}

// AsItIs is Live for commands that repair: a SKILL.md that no longer parses
// is read all the same, its bytes are its name.
func (l *Layout) AsItIs(name string) (*Live, error) {
	live, err := l.Live(name)
	var broken *BrokenSkillError
	var syntax *SyntaxError
	switch {
	case err == nil:
		return live, nil
	case errors.As(err, &broken):
		live = &Live{Entry: broken.Entry}
	case errors.As(err, &syntax):
		reg, e := l.Registry()
		if e != nil {
			return nil, e
		}
		entry, e := reg.Lookup(name)
		if e != nil {
			return nil, e
		}
		live = &Live{Entry: entry}
	default:
		return nil, err
	}
	text, e := ReadFile(live.Path)
	if e != nil {
		return nil, err // no file to put anything in the place of
	}
	if l.Tracked != nil {
		if live.Tracked, _, e = l.Tracked(live.Path); e != nil {
			return nil, err
		}
	}
	live.Doc, _ = Parse(text, OptionsOf(name)) // the document is whole, whatever the error
	return live, nil
}

// A Target is a folder of skills that an agent reads.
type Target struct {
	Name string // "claude", …; a folder is its own name
	Dir  string // holds the folders of skills
}

// A Layout describes where a user's agents keep their skills.
type Layout struct {
	Getenv     func(string) string
	ClaudeHome string // Claude Code's folder; "" for its default
	SkillsDir  string // holds the skills that evolve works on; "" for Claude Code's
	// Configured are the targets of the configuration.
	Configured func() ([]string, error)
	// Tracked reports whether others get the file at path through git, and the text that
	// they have; nil if their branch lacks it. A nil Tracked: they get no file.
	Tracked func(path string) (tracked bool, theirs []byte, err error)
}

// An Agent declares where one agent keeps its skills: in the folder "skills" of its home.
type Agent struct {
	Name        string // of --to
	Agent       string // in sessions
	HomeEnv     string // the environment variable that names the home; "" for none
	HomeDefault string // the home below the user's own, with slashes
	UserEnv     string // the variable that names another folder than the user's own; "" for none
	// Shared: it also reads the folder of skills that several agents share.
	Shared bool
}

// shared is the target that several agents read.
var shared = Agent{Name: "agents", HomeDefault: ".agents"}

// agents are the targets with a name.
var agents = []Agent{{Name: claude}, shared}

// claude is the target of the skills that evolve works on, unless another folder is named.
const claude = "claude"

// Register adds agents. Call it before anything else of this package, from an init.
func Register(list ...Agent) {
	for _, a := range list {
		if a.Name == claude {
			agents[0] = a
		} else {
			agents = slices.Insert(agents, len(agents)-1, a)
		}
	}
}

// TargetNames are the names that --to takes.
func TargetNames() (names []string) {
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

// ReadBy names the targets that an agent reads its skills from, its own first.
func ReadBy(agent string) (names []string) {
	for _, a := range agents {
		if a.Agent == agent && agent != "" {
			names = append(names, a.Name)
			if a.Shared {
				names = append(names, shared.Name)
			}
		}
	}
	return names
}

// IsFolder reports whether the name of a target is a folder.
func IsFolder(to string) bool {
	return strings.ContainsRune(to, '/') || strings.ContainsRune(to, filepath.Separator) || strings.HasPrefix(to, ".") || strings.HasPrefix(to, "~")
}

// CheckTargets refuses targets that depend on the working directory or the
// home: a relative folder is valid on a command line alone.
func CheckTargets(names []string) error {
	for _, n := range names {
		switch {
		case slices.Contains(TargetNames(), n):
		case !IsFolder(n):
			return unknownTarget(n)
		case !filepath.IsAbs(n) && !strings.HasPrefix(n, "~/"):
			return fmt.Errorf("targets: %q is neither an absolute folder nor one below ~/", n)
		}
	}
	return nil
}

func unknownTarget(name string) error {
	hint := "the targets are " + strings.Join(TargetNames(), ", ") + ", or a folder that holds skills, for example ./skills"
	if near := Nearest(name, TargetNames()); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return problem.Inputf(hint, "unknown target %q", name)
}

// Target finds the target for a name of --to.
func (l *Layout) Target(name string) (t Target, err error) {
	for _, a := range agents {
		if a.Name == name {
			dir, err := l.Home(a)
			return Target{name, filepath.Join(dir, "skills")}, err
		}
	}
	if !IsFolder(name) {
		return t, unknownTarget(name)
	}
	dir := name
	if below, ok := strings.CutPrefix(name, "~/"); ok { // in a list, or in config.yaml: no shell has seen it
		home, err := os.UserHomeDir()
		if err != nil {
			return t, fmt.Errorf("find the home folder: %w", err)
		}
		dir = filepath.Join(home, below)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return t, fmt.Errorf("find target %s: %w", name, err)
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return t, problem.Inputf("make it first, if it is the right one; agents' own folders have names: "+strings.Join(TargetNames(), ", "), "there is no folder %s", dir)
	case err != nil:
		return t, fmt.Errorf("find target %s: %w", name, err)
	case !info.IsDir():
		return t, problem.Inputf("name the folder that holds the skills", "%s is no folder", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, FileName)); err == nil {
		return t, problem.Inputf("name the folder above: "+filepath.Dir(dir), "%s is a skill, not a folder of skills", dir)
	}
	return Target{dir, dir}, nil
}

// Main is the target that holds the subject with that key: for a skill the folder of the
// skills that evolve works on.
func (l *Layout) Main(key string) (Target, error) {
	if t, is, err := l.own(key); is {
		return t, err
	}
	dir, err := l.Skills()
	if err != nil {
		return Target{}, err
	}
	home, err := l.Claude()
	if err != nil {
		return Target{}, err
	}
	if dir == filepath.Join(home, "skills") {
		return Target{claude, dir}, nil
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return Target{}, fmt.Errorf("find the skills: %w", err)
	}
	return Target{dir, dir}, nil
}

// Targets are the requested ones, else those of the configuration, else Main. A file of
// standing instructions has one.
func (l *Layout) Targets(key string, to []string) (out []Target, err error) {
	if t, is, err := l.own(key); is {
		if len(to) > 0 {
			err = problem.Inputf("leave --to out", "%s is in one place, where its agents load it", Called(key))
		}
		return []Target{t}, err
	}
	if len(to) == 0 {
		if to, err = l.Configured(); err != nil {
			return nil, err
		}
	}
	if len(to) == 0 {
		t, err := l.Main(key)
		return []Target{t}, err
	}
	for _, name := range to {
		t, err := l.Target(name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// The owners of skills that evolve does not write.
const (
	OfPlugin = "belongs to a plugin"
	OfTool   = "is managed by another tool"
)

// Keeper names the owner of a managed skill.
func Keeper(e Entry) string {
	if e.Scope == "plugin" {
		return OfPlugin
	}
	return OfTool
}

// RealPath follows the symlinks of the part of a path that exists. A link to
// nothing is an error: its target may come back.
func RealPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a symlink to nothing", path)
	}
	dir, err := RealPath(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// PluginFolders are folders that other programs fill: plugins of each agent,
// and an agent's own skills.
func (l *Layout) PluginFolders() ([]string, error) {
	var out []string
	for _, a := range agents {
		h, err := l.Home(a)
		if err != nil {
			return nil, err
		}
		for _, below := range []string{"plugins", "installed-plugins", "git", "npm", "skills/.system"} {
			out = append(out, filepath.Join(h, filepath.FromSlash(below)))
		}
	}
	return out, nil
}

// TargetOf names the target that a SKILL.md of a skill belongs to: an agent's
// name, else the folder of skills.
func (l *Layout) TargetOf(name, path string) string {
	if t, is, err := l.own(name); is && err == nil {
		return t.Name
	}
	for _, a := range agents {
		h, err := l.Home(a)
		if err != nil {
			continue
		}
		if at, err := RealPath(filepath.Join(h, "skills", name, FileName)); err == nil && at == path {
			return a.Name
		}
	}
	return filepath.Dir(filepath.Dir(path))
}

// TargetAt is the target that has a text of a subject at path.
func (l *Layout) TargetAt(name, path string) (Target, error) {
	if t, is, err := l.own(name); is {
		return t, err
	}
	return Target{l.TargetOf(name, path), filepath.Dir(filepath.Dir(path))}, nil
}

// Home is the folder of an agent.
func (l *Layout) Home(a Agent) (string, error) {
	if a.Name == claude {
		return l.Claude()
	}
	if a.UserEnv != "" && l.Getenv(a.UserEnv) != "" {
		return filepath.Abs(filepath.Join(l.Getenv(a.UserEnv), filepath.FromSlash(a.HomeDefault)))
	}
	return l.home(a.HomeEnv, a.HomeDefault)
}

// home is a folder that a variable names, else one below the user's own.
func (l *Layout) home(variable, below string) (string, error) {
	if h := l.Getenv(variable); h != "" {
		return filepath.Abs(h)
	}
	h, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w", err)
	}
	return filepath.Join(h, filepath.FromSlash(below)), nil
}
