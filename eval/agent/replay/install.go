package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/skillcreator"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Limits of what is copied for one skill, because it is copied for every
// attempt.
const (
	maxSkillBytes = 64 << 20
	maxSkillFiles = 10_000
)

// install writes the skills that t offers.
func (s *Stage) install(t eval.Task) error {
	if v := t.Variant; v.Doc != nil && v.Path == "" {
		dir := filepath.Join(s.Skills, v.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("install skill %s: %w", v.Name, err)
		}
		if v.Dir != "" {
			left, err := CopySkill(dir, v.Dir, false)
			if err != nil {
				return fmt.Errorf("install skill %s: %w", v.Name, err)
			}
			s.LeftOut = left
		}
		if err := os.WriteFile(filepath.Join(dir, skill.FileName), v.Doc.Render(), 0o600); err != nil {
			return fmt.Errorf("install skill %s: %w", v.Name, err)
		}
		s.Skill = dir
	}
	for _, o := range t.Others {
		dir := filepath.Join(s.Skills, o.Name)
		if !plainName(o.Name) || o.Name == t.Variant.Name {
			return eval.Infraf(eval.BadRequest, "install skill %q beside %s: the name will not do", o.Name, t.Variant.Name)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("install skill %s: %w", o.Name, err)
		}
		err := CopyOffer(dir, o)
		if err == nil && o.Text != nil {
			err = os.WriteFile(filepath.Join(dir, skill.FileName), o.Text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("install skill %s: %w", o.Name, err)
		}
	}
	return nil
}

// CopyOffer copies the folder of an offered skill into an empty one, its SKILL.md alone if the
// rest is too large. An offer with a text of its own has no SKILL.md there.
func CopyOffer(to string, o eval.Offer) error {
	_, err := CopySkill(to, o.Dir, o.Text == nil)
	if errors.Is(err, errLarge) { // its offer, which every session loads, is what matters
		err = offerAlone(to, o.Dir)
	}
	return err
}

// offerAlone leaves nothing but the SKILL.md of from in dir.
func offerAlone(dir, from string) error {
	text, err := skill.ReadFile(filepath.Join(from, skill.FileName))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, skill.FileName), text, 0o600)
}

// errLarge means that a skill is too large to be copied for every attempt.
var errLarge = errors.New("what is no part of the skill belongs elsewhere")

// Path is where t has its instructions: Variant.Path, but below the workspace if that is a
// folder of the repository alone. What an agent would load from a folder above it is at its
// top then.
func Path(t eval.Task) string {
	path := t.Variant.Path
	if path == "" || strings.HasPrefix(path, "~/") || t.Case == nil || t.Case.Workspace == nil {
		return path
	}
	top := skill.Repository(t.Case.Workspace.Repo)
	rel, err := filepath.Rel(top, t.Case.Workspace.Repo)
	if top == "" || err != nil {
		return path
	}
	for folder := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		below, ok := strings.CutPrefix(path, folder+"/")
		if !ok {
			break
		}
		path = below
	}
	return path
}

// place writes the instructions that t tries over those that are there, and removes them if
// it tries none. A work retry goes on in the workspace that the agent left, with what it
// made of them; the home is a new one.
func (s *Stage) place(t eval.Task) error {
	v := t.Variant
	dir, name := s.Workspace, v.Path
	below, home := strings.CutPrefix(v.Path, "~/")
	switch {
	case v.Path == "" || !home && t.Prior != nil:
		return nil
	case home:
		dir, name = s.Home, below
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if v.Doc == nil {
		return nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	return root.WriteFile(name, v.Doc.Render(), 0o600)
}

// A copier copies one skill's folder.
type copier struct {
	from, to *os.Root
	skillMD  bool     // its SKILL.md too
	left     []string // what was not copied
	files    int
	bytes    int64
}

// CopySkill copies what belongs to a skill from one folder to another, with
// permissions, and returns what it left out: eval files, links that lead out of it,
// repositories. Its SKILL.md is copied if skillMD. Nothing outside from is read. A folder that
// is too large is an error of kind eval.BadRequest.
func CopySkill(to, from string, skillMD bool) (left []string, err error) {
	src, err := os.OpenRoot(from) // from itself may be a link, as skills often are
	if err != nil {
		return nil, err
	}
	defer src.Close()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer dst.Close()
	c := &copier{from: src, to: dst, skillMD: skillMD}
	if err := c.folder("."); err != nil {
		return nil, err
	}
	slices.Sort(c.left)
	return c.left, nil
}

func (c *copier) folder(dir string) error {
	entries, err := fs.ReadDir(c.from.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if dir == "." && e.Name() == skill.FileName && !c.skillMD {
			continue
		}
		if secret(e.Name(), e.IsDir()) {
			c.left = append(c.left, name)
			continue
		}
		if err := c.entry(name, e); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) entry(name string, e fs.DirEntry) error {
	if c.files++; c.files > maxSkillFiles {
		return eval.Infraf(eval.BadRequest, "its folder has more than %d files; %w", maxSkillFiles, errLarge)
	}
	switch {
	case e.IsDir():
		if err := c.to.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return c.folder(name)
	case e.Type()&fs.ModeSymlink != 0:
		return c.link(name)
	case e.Type().IsRegular():
		return c.file(name)
	}
	c.left = append(c.left, name) // a pipe or a device
	return nil
}

// link copies a link that stays inside, as a link. A link to what is left out would
// reveal it, so the target is tested as well.
func (c *copier) link(name string) error {
	target, err := c.from.Readlink(name)
	if err != nil {
		return err
	}
	at := path.Join(path.Dir(name), filepath.ToSlash(target))
	hidden := slices.ContainsFunc(strings.Split(at, "/"), func(part string) bool { return secret(part, true) })
	// Stat follows the link and refuses to leave the folder.
	if _, err := c.from.Stat(name); err != nil || filepath.IsAbs(target) || hidden {
		c.left = append(c.left, name)
		return nil
	}
	return c.to.Symlink(target, name)
}

func (c *copier) file(name string) error {
	in, err := bounded.OpenIn(c.from, name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if c.bytes += info.Size(); c.bytes > maxSkillBytes {
		return eval.Infraf(eval.BadRequest, "its folder has more than %d MiB; %w", maxSkillBytes>>20, errLarge)
	}
	if strings.HasSuffix(name, ".json") && info.Size() < maxEvalFile {
		text, err := bounded.ReadAll(in, maxEvalFile)
		if err != nil {
			return err
		}
		if evals(text) {
			c.left = append(c.left, name)
			return nil
		}
		return c.to.WriteFile(name, text, info.Mode().Perm()|0o600)
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, io.LimitReader(in, maxSkillBytes)); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// maxEvalFile limits the files that are searched for evals, in bytes.
const maxEvalFile = 4 << 20

// evals reports whether a JSON file holds the questions and answers that a
// skill is measured by.
func evals(text []byte) bool {
	return json.Valid(text) && skillcreator.IsEvals(text)
}

// secret reports whether an entry of a skill's folder may hold the answers: its
// history, its evals.
func secret(name string, dir bool) bool {
	name = strings.ToLower(name)
	if dir && slices.Contains([]string{".git", ".hg", ".svn", ".jj", "evals"}, name) {
		return true
	}
	// In a worktree and in a submodule .git is a file.
	return name == ".git" || evalFile(name)
}

// evalFile reports whether a file has a name that eval files have.
func evalFile(name string) bool {
	name = strings.ToLower(name)
	return name == "evals.json" || name == "evals.jsonl" || strings.Contains(name, ".eval.") || strings.Contains(name, ".evals.")
}
