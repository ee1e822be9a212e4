package skillcreator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/ondisk"
)

// File is where skill-creator looks for its evals below the folder of a skill.
const File = "evals/evals.json"

// extra is what evolve knows of a case beyond what an eval holds. skill-creator ignores
// the key.
type extra struct {
	Case  eval.Case         `json:"case"`            // without its prompt and files
	Files map[string]string `json:"files,omitempty"` // path of the eval → path of the case
}

// Write writes the cases of one skill as dir/evals/evals.json, which must not exist, and
// their files below dir/evals/files. Every check that words can say is an expectation. notes
// are what skill-creator does not see, one line a kind.
func Write(dir string, cases []eval.Case) (written int, notes []string, err error) {
	root, err := ondisk.Open(dir)
	if err != nil {
		return 0, nil, fmt.Errorf("write evals: %w", err)
	}
	defer root.Close()
	if _, err := root.Lstat(File); err == nil {
		return 0, nil, fmt.Errorf("write evals: %s: %w", File, os.ErrExist)
	}
	t := ondisk.Tally{Cannot: "skill-creator has no expectation for them, only evolve reads them"}
	var file struct {
		SkillName string        `json:"skill_name"`
		Evals     []foreignEval `json:"evals"`
	}
	for i := range cases {
		e, err := write(root, &cases[i], &t)
		if err != nil {
			return 0, nil, fmt.Errorf("write evals: case %q: %w", cases[i].ID, err)
		}
		if e != nil {
			file.SkillName, file.Evals = cases[i].Skill, append(file.Evals, *e)
		}
	}
	if len(file.Evals) == 0 {
		return 0, t.Notes(), nil
	}
	text, err := ondisk.JSON(file)
	if err == nil {
		err = ondisk.Put(root, File, text, 0o644)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("write evals: %w", err)
	}
	return len(file.Evals), t.Notes(), nil
}

func write(root *os.Root, c *eval.Case, t *ondisk.Tally) (*foreignEval, error) {
	e := &foreignEval{Prompt: c.Prompt, ExpectedOutput: c.Reference, Evolve: &extra{Case: *c}}
	unsaid, weighed := map[string]int{}, false
	for i := range c.Checks {
		k := &c.Checks[i]
		if said := expectationOf(k); said == "" {
			unsaid[k.Type]++
		} else {
			raw, err := json.Marshal(said)
			if err != nil {
				return nil, err
			}
			e.Expectations = append(e.Expectations, raw)
		}
		weighed = weighed || k.Relative() != c.Checks[0].Relative()
	}
	switch {
	case len(e.Expectations) == 0 && c.IsTrigger():
		t.Case("left out: trigger cases are no evals there, but a set of their own")
		return nil, nil
	case len(e.Expectations) == 0:
		t.Case("left out: none of their checks is an expectation")
		return nil, nil
	case !ondisk.Portable(c):
		t.Case("left out: a file of theirs is no text, or larger than 1 MiB")
		return nil, nil
	}
	t.Checks(unsaid)
	if weighed {
		t.Case("skill-creator counts their expectations alike, whatever their weight")
	}
	if len(c.Context) > 0 {
		t.Case("skill-creator does not see what was said before the request")
	}
	if c.Workspace != nil {
		t.Case("skill-creator does not check out their repository")
	}
	var err error
	if e.ID, err = json.Marshal(c.ID); err != nil {
		return nil, err
	}
	e.Evolve.Case.Prompt, e.Evolve.Case.Files = "", nil
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		at := path.Join("evals/files", ondisk.Name(c.ID), name)
		if err := ondisk.Put(root, at, []byte(c.Files[name]), 0o644); err != nil {
			return nil, err
		}
		if e.Evolve.Files == nil {
			e.Evolve.Files = map[string]string{}
		}
		e.Files, e.Evolve.Files[at] = append(e.Files, at), name
	}
	return e, nil
}

// expectationOf says what a check asks for, "" if only a program decides it.
func expectationOf(k *eval.Check) string {
	in := ""
	if k.Path != "" {
		in = fmt.Sprintf(" in a file that %q matches", k.Path)
	}
	after := ""
	if k.After != "" {
		after = " after its last edit"
	}
	switch k.Type {
	case eval.Judge:
		return k.Rubric
	case eval.Contains:
		return fmt.Sprintf("The answer contains the text %q.", k.Value)
	case eval.NotContains:
		return fmt.Sprintf("The answer does not contain the text %q.", k.Value)
	case eval.Regex:
		return fmt.Sprintf("The regular expression %q matches in the answer.", k.Value)
	case eval.NotRegex:
		return fmt.Sprintf("The regular expression %q matches nowhere in the answer.", k.Value)
	case eval.Equals:
		return fmt.Sprintf("The answer is %q and nothing else.", k.Value)
	case eval.JSONSchema:
		return "The answer is JSON that this schema accepts: " + string(k.Schema)
	case eval.MaxChars:
		return fmt.Sprintf("The answer has at most %d characters.", k.Max)
	case eval.ToolCalled:
		return fmt.Sprintf("The agent called the tool %q.", k.Value)
	case eval.SkillInvoked:
		return fmt.Sprintf("The agent loaded the skill %q.", k.Value)
	case eval.SkillNotInvoked:
		return fmt.Sprintf("The agent did not load the skill %q.", k.Value)
	case eval.FileExists:
		return fmt.Sprintf("The file %q is in the working folder.", k.Path)
	case eval.FileContains:
		return fmt.Sprintf("The file %q contains the text %q.", k.Path, k.Value)
	case eval.Ran:
		return fmt.Sprintf("The agent ran the command %q%s.", k.Value, after)
	case eval.NotRan:
		return fmt.Sprintf("The agent did not run the command %q%s.", k.Value, after)
	case eval.Changed:
		return fmt.Sprintf("The agent made, changed or removed a file that %q matches.", k.Path)
	case eval.NotChanged:
		return fmt.Sprintf("The agent made, changed or removed no file that %q matches.", k.Path)
	case eval.Added:
		return fmt.Sprintf("The agent added a line that the regular expression %q matches%s.", k.Value, in)
	case eval.NotAdded:
		return fmt.Sprintf("The agent added no line that the regular expression %q matches%s.", k.Value, in)
	}
	return ""
}

// restore makes the case of an eval that evolve wrote. An expectation that is as evolve wrote
// it is the check that it was written of, another one is for a judge, and a check whose
// expectation was removed goes.
func (e *foreignEval) restore(c *eval.Case) error {
	was := e.Evolve.Case
	was.ID, was.Prompt, was.Files = c.ID, c.Prompt, nil
	if err := ondisk.Compact(was.Checks); err != nil {
		return err
	}
	said := c.Checks // all are rubrics
	before := was.Checks
	was.Checks = nil
	for _, k := range before {
		text := expectationOf(&k)
		i := slices.IndexFunc(said, func(s eval.Check) bool { return s.Rubric == text })
		if text != "" && i < 0 {
			continue
		}
		if i >= 0 {
			said = slices.Delete(said, i, i+1)
		}
		was.Checks = append(was.Checks, k)
	}
	was.Checks = append(was.Checks, said...)
	for name, text := range c.Files {
		if was.Files == nil {
			was.Files = make(map[string]string)
		}
		was.Files[cmp.Or(e.Evolve.Files[name], name)] = text
	}
	*c = was
	return nil
}

// place is the line of an entry of a file.
func place(text []byte, name string, raw json.RawMessage) string {
	before, _, _ := strings.Cut(string(text), string(raw))
	return fmt.Sprintf("%s:%d", name, 1+strings.Count(before, "\n"))
}
