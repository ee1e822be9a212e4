package plugineval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/ondisk"
	"github.com/skill-evolve/evolve/eval/plain"
	"go.yaml.in/yaml/v3"
)

// Read reads the cases below dir/evals, or below dir itself if that is called so. skill is
// the skill of cases that name none. Graders that no check stands for are counted in
// ignored. Nothing outside dir is read and nothing is run. Faults name their files; nothing
// is returned with them.
func Read(dir, skill string) (cases []eval.Case, ignored []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read evals: %w", err)
	}
	defer root.Close()
	r := &reader{dir: root.FS(), skill: skill, left: map[string]int{}, seen: map[string]string{}}
	top := Folder
	if info, err := fs.Lstat(r.dir, Folder); errors.Is(err, fs.ErrNotExist) {
		top = "."
	} else if err == nil && !info.IsDir() {
		return nil, nil, fmt.Errorf("read evals: %s is no folder", Folder)
	}
	var faults eval.Faults
	err = fs.WalkDir(r.dir, top, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case slices.Contains([]string{"results", "mocks", "node_modules", ".claude", ".git"}, d.Name()):
			return fs.SkipDir
		}
		if err := r.read(at); err != nil {
			faults = append(faults, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read evals: %w", err)
	case len(faults) > 0:
		return nil, nil, faults
	}
	for what, n := range r.left {
		ignored = append(ignored, plain.Counted(n, "grader")+" of the type "+what+", which no check stands for")
	}
	slices.Sort(ignored)
	return r.cases, ignored, nil
}

type reader struct {
	dir   fs.FS
	skill string
	cases []eval.Case
	left  map[string]int    // type of a grader → how many
	seen  map[string]string // skill and id → folder
}

// read reads one folder, if it holds a case.
func (r *reader) read(at string) error {
	text, err := ondisk.Read(r.dir, path.Join(at, "case.yaml"), ondisk.MaxCase)
	if err != nil {
		return err
	}
	prompt, err := ondisk.Read(r.dir, path.Join(at, "prompt.md"), ondisk.MaxFile)
	if err != nil || text == nil && prompt == nil {
		return err
	}
	if len(r.cases) == ondisk.MaxCases {
		return fmt.Errorf("%s: more than %d cases", at, ondisk.MaxCases)
	}
	var f caseFile
	if text != nil {
		if err := decode(text, &f); err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, "case.yaml"), err)
		}
	}
	c := eval.Case{ID: path.Base(at), Source: &eval.Source{Agent: "claude plugin eval", Origin: "imported"}}
	if f.Name != "" {
		c.ID = f.Name
	}
	var before []eval.Check
	var graded []string
	if f.Evolve != nil {
		c, before, graded = f.Evolve.Case, f.Evolve.Case.Checks, f.Evolve.Graded
		if len(before) != len(graded) {
			return fmt.Errorf("%s: evolve: %d checks and %d graders", path.Join(at, "case.yaml"), len(before), len(graded))
		}
	}
	if c.Skill == "" {
		c.Skill = r.skill
	}
	c.Prompt = f.Execution.Prompt
	if _, body, _ := frontmatter(prompt); len(bytes.TrimSpace(body)) > 0 {
		c.Prompt = strings.TrimSpace(string(body))
	}
	if c.Checks, err = r.checks(at, &c, before, graded, f.Graders); err != nil {
		return err
	}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	key := c.Skill + "\x00" + c.ID
	if first, twice := r.seen[key]; twice {
		return fmt.Errorf("%s: case %q is in %s already", at, c.ID, first)
	}
	r.seen[key] = at
	r.cases = append(r.cases, c)
	return nil
}

// checks joins the checks that evolve wrote with the graders as they are now: a grader that
// is as evolve wrote it is the check it was written of, one that was edited or added is
// read, and a check whose grader was removed goes.
func (r *reader) checks(at string, c *eval.Case, before []eval.Check, graded []string, inline []grader) ([]eval.Check, error) {
	files, err := fs.ReadDir(r.dir, path.Join(at, "graders"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	texts := map[string][]byte{}
	var names []string
	for _, d := range files {
		name, md := strings.CutSuffix(d.Name(), ".md")
		if !md || d.IsDir() {
			continue
		}
		if texts[name], err = ondisk.Read(r.dir, path.Join(at, "graders", d.Name()), ondisk.MaxFile); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if err := ondisk.Compact(before); err != nil {
		return nil, err
	}
	var list []eval.Check
	add := func(g *grader, feedback string) {
		k, ok := g.check()
		if !ok {
			r.left[g.Type]++
			return
		}
		k.Feedback = feedback
		list = append(list, k)
	}
	read := func(name, feedback string) error {
		g, err := parse(texts[name])
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, "graders", name+".md"), err)
		}
		if g != nil {
			add(g, feedback)
		}
		return nil
	}
	for i, k := range before {
		name := graded[i]
		if name == "" {
			list = append(list, k)
			continue
		}
		text, there := texts[name]
		if !there {
			continue
		}
		if g, ok := graderOf(c, &k); ok {
			if same, err := g.markdown(); err == nil && bytes.Equal(same, text) {
				list = append(list, k)
				continue
			}
		}
		if err := read(name, k.Feedback); err != nil {
			return nil, err
		}
	}
	for i := range inline {
		add(&inline[i], "")
	}
	for _, name := range names {
		if !slices.Contains(graded, name) {
			if err := read(name, ""); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// decode reads case.yaml: JSON as evolve writes it, or any YAML.
func decode(text []byte, f *caseFile) error {
	if !json.Valid(text) {
		var any map[string]any
		if err := yaml.Unmarshal(text, &any); err != nil {
			return fmt.Errorf("no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		var err error
		if text, err = json.Marshal(any); err != nil {
			return errors.New("no YAML object whose keys are words")
		}
	}
	if err := json.Unmarshal(text, f); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("%s: is a %s", wrong.Field, wrong.Value)
		}
		return errors.New("no case")
	}
	return nil
}
