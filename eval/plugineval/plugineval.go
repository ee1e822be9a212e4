// Package plugineval writes and reads cases as `claude plugin eval` has them on disk:
// evals/<case>/ with case.yaml, prompt.md and graders/*.md. What that program has no place
// for is below the key "evolve" of case.yaml, which it ignores.
package plugineval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Folder is the folder of the cases below that of the plugin.
const Folder = "evals"

// The limits of what is read. Claude has the first as well.
const (
	maxFile  = 1 << 20 // bytes of a prompt or a grader
	maxCase  = 64 << 20
	maxCases = 10_000
)

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

// A note counts cases, or checks of one type, that Claude does not see as evolve does.
type note struct {
	checks, cases int
	what          string
}

func (n note) String() string {
	if n.checks > 0 {
		return fmt.Sprintf("%s of %s: claude plugin eval has no grader for them, only evolve reads them", plain.Counted(n.checks, n.what+" check"), plain.Counted(n.cases, "case"))
	}
	return fmt.Sprintf("%s: %s", plain.Counted(n.cases, "case"), n.what)
}

// Write writes cases below dir/evals. It overwrites nothing: a case whose folder exists is
// an error. A case none of whose checks has a grader is left out, because Claude refuses a
// case without graders. notes are what Claude does not see, one line a kind.
func Write(dir string, cases []eval.Case) (written int, notes []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, nil, fmt.Errorf("write evals: %w", err)
	}
	root, err := os.OpenRoot(dir) // a link that leads out of it is not followed
	if err != nil {
		return 0, nil, fmt.Errorf("write evals: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(Folder, 0o755); err != nil && !os.IsExist(err) {
		return 0, nil, fmt.Errorf("write evals: %w", err)
	}
	var t tally
	for i := range cases {
		ok, err := write(root, &cases[i], &t)
		if err != nil {
			return written, nil, fmt.Errorf("write evals: case %q: %w", cases[i].ID, err)
		}
		if ok {
			written++
		}
	}
	notes = []string{}
	for _, n := range t.notes {
		notes = append(notes, n.String())
	}
	return written, notes, nil
}

func write(root *os.Root, c *eval.Case, t *tally) (bool, error) {
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
		t.cases("left out: none of their checks has a grader there")
		return false, nil
	}
	ungraded := map[string]int{}
	for i, name := range names {
		if name == "" {
			ungraded[c.Checks[i].Type]++
		}
	}
	t.ungraded(ungraded)
	if len(c.Context) > 0 {
		t.cases("claude plugin eval does not see what was said before the request")
	}
	if len(c.Files) > 0 || c.Workspace != nil {
		t.cases("claude plugin eval does not place their files")
	}
	rest := *c
	rest.Prompt = ""
	f := caseFile{SchemaVersion: "1.0", Name: c.ID, Evolve: &extra{Case: rest, Graded: names}}
	if tools {
		f.Execution.AllowedTools = []string{"Write", "Edit", "Bash"}
	}
	at := path.Join(Folder, folderOf(c.ID))
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
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return false, err
	}
	if err := root.WriteFile(path.Join(at, "case.yaml"), []byte(b.String()), 0o644); err != nil {
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

// folderOf is the folder of a case: its id if every file system can hold that, else a name
// with a part of the id's hash. Claude looks for no cases in results and mocks.
func folderOf(id string) string {
	var b strings.Builder
	for _, r := range id {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			b.WriteRune(r)
		}
	}
	name := b.String()
	if name == id && len(id) <= 80 && id != "results" && id != "mocks" && id != "node_modules" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return strings.TrimPrefix(name[:min(len(name), 40)]+"-"+hex.EncodeToString(sum[:6]), "-")
}

// A tally counts what Claude does not see, one note a kind.
type tally struct{ notes []note }

func (t *tally) add(n note) {
	for i := range t.notes {
		if t.notes[i].what == n.what {
			t.notes[i].checks += n.checks
			t.notes[i].cases += n.cases
			return
		}
	}
	t.notes = append(t.notes, n)
}

func (t *tally) cases(what string) { t.add(note{cases: 1, what: what}) }

func (t *tally) ungraded(types map[string]int) {
	for _, k := range slices.Sorted(maps.Keys(types)) {
		t.add(note{checks: types[k], cases: 1, what: k})
	}
}
