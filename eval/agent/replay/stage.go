package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill/check"
)

// A Layout is where an agent looks for its configuration and its skills. With only
// Config set, it suits an agent that finds its skills in CONFIG/skills.
type Layout struct {
	// Config is the agent's configuration folder below its home, with slashes:
	// ".claude", ".codex", ".pi/agent".
	Config string
	// Skills is the folder that holds one folder per skill, below the home; ""
	// is "skills" in Config.
	Skills  string
	Program Program // what Env and Sandbox open to the child
	// Owner is Config.Owner.
	Owner *setup.Set
	// Forbidden are files and folders that no attempt may read, beyond the
	// usual places: Config.Forbidden.
	Forbidden []string
}

// A Stage is the private place of one attempt: a home that holds the agent's
// configuration folder with the offered skills and nothing else, and a folder for
// temporary files. All paths are absolute, with symlinks resolved. It belongs to one
// goroutine; Close removes it.
type Stage struct {
	Root   string // "evolve-replay-…" in the system's folder for temporary files, 0700
	Home   string // Root/home
	Config string // the agent's configuration folder, in Home
	Skills string // the folder that holds the offered skills, one folder each
	Temp   string // Root/tmp
	Notes  string // Root/notes: what the agent wrote down of the case's project; "" if it keeps none
	// Workspace is the agent's working folder: Task.Workspace or, if that is empty, a
	// folder in Root that holds the case's files.
	Workspace string
	// Skill is the folder of the candidate, Skills/NAME; "" in the no-skill arm.
	Skill string
	// LeftOut are the files of the skill's folder that were not installed,
	// slash-separated: eval files, links that lead out of it, repositories.
	LeftOut []string

	layout Layout
	task   eval.Task
	before snapshot // of the workspace
	bounds bounds
}

// Open makes the place for one attempt at t and installs what l.Owner holds and the skills
// that t offers: the candidate with the rest of its folder, nothing if Variant.Doc is nil, and the Others
// unchanged. The files are copies, so that an attempt cannot touch the originals.
// Copies of an offered skill in t.Workspace are removed from there, because agents
// differ in which of two they prefer.
//
// A candidate that agents would ignore silently (frontmatter that is missing or no
// YAML, no description) is an error of kind eval.BadRequest, and so is a folder that is
// too large to copy. On an error nothing is left behind.
func Open(t eval.Task, l Layout) (s *Stage, err error) {
	if err := sound(t.Variant); err != nil {
		return nil, err
	}
	root, err := scratch.Dir("", "evolve-replay-")
	if err != nil {
		return nil, fmt.Errorf("make stage: %w", err)
	}
	t.Variant.Path = Path(t)
	s = &Stage{layout: l, task: t}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	s.Root = root
	if s.Root, err = filepath.EvalSymlinks(root); err != nil {
		return s, fmt.Errorf("make stage: %w", err)
	}
	s.Home, s.Temp = filepath.Join(s.Root, "home"), filepath.Join(s.Root, "tmp")
	s.Config = filepath.Join(s.Home, filepath.FromSlash(l.Config))
	s.Skills = filepath.Join(s.Config, "skills")
	if l.Skills != "" {
		s.Skills = filepath.Join(s.Home, filepath.FromSlash(l.Skills))
	}
	for _, dir := range []string{s.Temp, s.Config, s.Skills} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return s, fmt.Errorf("make stage: %w", err)
		}
	}
	if err := s.own(t); err != nil {
		return s, err
	}
	if err := s.install(t); err != nil {
		return s, err
	}
	if err := s.work(t); err != nil {
		return s, err
	}
	s.bounds = s.boundsOf(t)
	return s, nil
}

// dropped are the findings because of which an agent silently ignores a skill.
var dropped = []string{"syntax", "no-frontmatter", "description-missing", "not-utf8"}

// sound refuses a candidate that would not be offered: every rollout of it
// would measure the no-skill arm.
func sound(v eval.Variant) error {
	if v.Doc == nil || v.Path != "" {
		return nil
	}
	if !plainName(v.Name) {
		return eval.Infraf(eval.BadRequest, "install skill: %q cannot be a folder's name", v.Name)
	}
	for _, f := range check.Validate(v.Doc, check.ClaudeCode, "") {
		if f.Severity == check.Reject && slices.Contains(dropped, f.Rule) {
			return eval.Infraf(eval.BadRequest, "install skill %s: SKILL.md:%d: %s; agents would drop it silently", v.Name, f.Line, f.Reason)
		}
	}
	return nil
}

// plainName reports whether name is one element of a path.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

// work prepares the workspace and remembers its state.
func (s *Stage) work(t eval.Task) (err error) {
	s.Workspace = filepath.Join(s.Root, "work")
	if t.Workspace != "" {
		if s.Workspace, err = filepath.EvalSymlinks(t.Workspace); err != nil {
			return fmt.Errorf("find workspace: %w", err)
		}
		if s.Workspace, err = filepath.Abs(s.Workspace); err != nil {
			return fmt.Errorf("find workspace: %w", err)
		}
	} else {
		if err := os.Mkdir(s.Workspace, 0o700); err != nil {
			return fmt.Errorf("make workspace: %w", err)
		}
		if t.Case != nil {
			if err := workspace.Write(s.Workspace, t.Case.Files); err != nil {
				return fmt.Errorf("make workspace: %w", err)
			}
		}
	}
	var names []string
	if t.Variant.Path == "" {
		names = append(names, t.Variant.Name)
	}
	for _, o := range t.Others {
		names = append(names, o.Name)
	}
	var own map[string]string
	if t.Case != nil {
		own = t.Case.Files
	}
	found, err := removeCopies(s.Workspace, names, own)
	if err != nil {
		return fmt.Errorf("remove copies of the skill from the workspace: %w", err)
	}
	settings, err := s.removeSettings()
	if err != nil {
		return fmt.Errorf("remove the project's settings: %w", err)
	}
	if err := s.place(t); err != nil {
		return fmt.Errorf("write the instructions: %w", err)
	}
	if placed := t.Variant.Path != "" && !strings.HasPrefix(t.Variant.Path, "~/"); t.Prior == nil && (found || settings || placed) {
		// Else the history has the other text.
		if err := workspace.Recommit(s.Workspace); err != nil {
			return fmt.Errorf("make the workspace's repository: %w", err)
		}
	}
	if s.before, err = take(s.Workspace); err != nil {
		return fmt.Errorf("look at workspace: %w", err)
	}
	return nil
}

// own writes the owner's set-up, unless the call is no replay. What is tried comes after it,
// and in its place.
func (s *Stage) own(t eval.Task) error {
	o := s.layout.Owner
	if o == nil || t.Case == nil {
		return nil
	}
	if err := o.Write(s.Home); err != nil {
		return err
	}
	if o.Notes == nil {
		return nil
	}
	s.Notes = filepath.Join(s.Root, "notes")
	project := ""
	if t.Case.Workspace != nil {
		project = t.Case.Workspace.Repo
	}
	return o.WriteNotes(s.Notes, project)
}

// Close removes the stage, even if the agent has removed the right to write to it. It
// follows no symlink and does not touch Task.Workspace. It may be called twice.
func (s *Stage) Close() error {
	if err := workspace.Remove(s.Root); err != nil {
		return fmt.Errorf("remove stage: %w", err)
	}
	return nil
}
