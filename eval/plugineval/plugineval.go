// Package plugineval writes and reads cases as `claude plugin eval` has them on disk:
// evals/<case>/ with case.yaml, prompt.md and graders/*.md. What that program has no place
// for is below the key "evolve" of case.yaml, which it ignores.
package plugineval

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/ondisk"
)

// Folder is the folder of the cases below that of the plugin.
const Folder = "evals"

// A caseFile is case.yaml, written as JSON, which is YAML.
type caseFile struct {
	SchemaVersion string    `json:"schema_version"`
	Name          string    `json:"name"`
	Execution     execution `json:"execution,omitzero"`
	Graders       []grader  `json:"graders,omitempty"` // of others; evolve writes graders/*.md
	Evolve        *extra    `json:"evolve,omitempty"`
}

type execution struct {
	Prompt       string   `json:"prompt,omitempty"`
	AllowedTools []string `json:"allowed_tools,omitempty"`
}

// extra is what evolve knows of a case beyond what the layout holds.
type extra struct {
	Case   eval.Case `json:"case"`    // without its prompt
	Graded []string  `json:"graders"` // of each check the name of its grader, "" for none
}

// Write writes cases below dir/evals. It overwrites nothing: a case whose folder exists is
// an error. A case none of whose checks has a grader is left out, because Claude refuses a
// case without graders. notes are what Claude does not see, one line a kind.
func Write(dir string, cases []eval.Case) (written int, notes []string, err error) {
	root, err := ondisk.Open(dir)
	if err != nil {
		return 0, nil, fmt.Errorf("write evals: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(Folder, 0o755); err != nil && !os.IsExist(err) {
		return 0, nil, fmt.Errorf("write evals: %w", err)
	}
	t := ondisk.Tally{Cannot: "claude plugin eval has no grader for them, only evolve reads them"}
	for i := range cases {
		ok, err := write(root, &cases[i], &t)
		if err != nil {
			return written, nil, fmt.Errorf("write evals: case %q: %w", cases[i].ID, err)
		}
		if ok {
			written++
		}
	}
	return written, t.Notes(), nil
}

func write(root *os.Root, c *eval.Case, t *ondisk.Tally) (bool, error) {
	made, names := make(map[string][]byte), make([]string, len(c.Checks))
	tools := false
	for i := range c.Checks {
		g, ok := graderOf(c, &c.Checks[i])
		if !ok {
			continue
		}
		tools = tools || c.Checks[i].Spec().Files
		name := fmt.Sprintf("%02d-%s", i+1, strings.ReplaceAll(c.Checks[i].Type, "_", "-"))
		text, err := g.markdown()
		if err != nil {
			return false, err
		}
		made[name], names[i] = text, name
	}
	if len(made) == 0 {
		t.Case("left out: none of their checks has a grader there")
		return false, nil
	}
	ungraded := map[string]int{}
	for i, name := range names {
		if name == "" {
			ungraded[c.Checks[i].Type]++
		}
	}
	t.Checks(ungraded)
	if len(c.Context) > 0 {
		t.Case("claude plugin eval does not see what was said before the request")
	}
	if len(c.Files) > 0 || c.Workspace != nil {
		t.Case("claude plugin eval does not place their files")
	}
	rest := *c
	rest.Prompt = ""
	f := caseFile{SchemaVersion: "1.0", Name: c.ID, Evolve: &extra{Case: rest, Graded: names}}
	if tools {
		f.Execution.AllowedTools = []string{"Write", "Edit", "Bash"}
	}
	// Claude looks for no cases in the reserved folders.
	at := path.Join(Folder, ondisk.Name(c.ID, "results", "mocks", "node_modules"))
	if err := root.Mkdir(at, 0o755); err != nil {
		return false, err
	}
	if err := root.Mkdir(path.Join(at, "graders"), 0o755); err != nil {
		return false, err
	}
	if bodied(c.Prompt) {
		if err := root.WriteFile(path.Join(at, "prompt.md"), []byte(c.Prompt+"\n"), 0o644); err != nil {
			return false, err
		}
	} else {
		f.Execution.Prompt = c.Prompt
	}
	text, err := ondisk.JSON(f)
	if err != nil {
		return false, err
	}
	if err := root.WriteFile(path.Join(at, "case.yaml"), text, 0o644); err != nil {
		return false, err
	}
	for name, text := range made {
		if err := root.WriteFile(path.Join(at, "graders", name+".md"), text, 0o644); err != nil {
			return false, err
		}
	}
	return true, nil
}

// bodied reports whether a text is the same after it was the body of a Markdown file,
// which Claude trims and whose beginning may be frontmatter.
func bodied(s string) bool {
	return s != "" && strings.Trim(s, " \t\n\v\f\u0085\u00a0\ufeff\u2028\u2029") == s && strings.TrimSpace(s) == s &&
		!strings.HasPrefix(s, "---") && !strings.ContainsAny(s, "\r\ufeff")
}
