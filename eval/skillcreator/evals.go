// Package skillcreator reads the eval files and trigger sets of skill-creator as cases, and
// writes cases as its eval files.
package skillcreator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/ondisk"
	"github.com/skill-evolve/evolve/eval/plain"
)

// ErrTriggerSet means that a file is a trigger set ([{query, should_trigger}]), which
// tests whether an agent loads the skill. ReadTriggers reads it.
var ErrTriggerSet = errors.New("a trigger set")

// A foreignEval is one entry of skill-creator's evals.json, both dialects.
type foreignEval struct {
	ID             json.RawMessage   `json:"id"` // a number or a string
	Prompt         string            `json:"prompt"`
	ExpectedOutput string            `json:"expected_output,omitempty"` // a description of the expected result
	Files          []string          `json:"files,omitempty"`
	Expectations   []json.RawMessage `json:"expectations"`         // strings, or objects with a text
	Assertions     []json.RawMessage `json:"assertions,omitempty"` // the other dialect's name for them
	Evolve         *extra            `json:"evolve,omitempty"`
}

// IsEvals reports whether text is an eval file of skill-creator or a trigger
// set, and not cases as JSON Lines.
func IsEvals(text []byte) bool {
	text = bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\ufeff"))
	var first json.RawMessage
	if json.NewDecoder(bytes.NewReader(text)).Decode(&first) != nil {
		return false
	}
	if triggers(first) {
		return true
	}
	var object map[string]json.RawMessage
	return json.Unmarshal(first, &object) == nil && object["evals"] != nil
}

// triggers reports whether raw is an array whose first object has a query.
func triggers(raw json.RawMessage) bool {
	var list []map[string]json.RawMessage
	return json.Unmarshal(raw, &list) == nil && len(list) > 0 && list[0]["query"] != nil
}

// ReadEvals reads skill-creator's evals.json: {skill_name, evals: [{id, prompt,
// expected_output, files, expectations}]}, or assertions for expectations. Each
// expectation becomes a check of its own for the judge; if there are none, the expected
// output becomes one. It never becomes the case's reference, because it describes an
// answer and is none. The files that an eval names are read from dir, the folder of the
// file, and copied into the case; paths may also begin with that folder's name, as in
// skill-creator's own layout. A nil dir has no files.
//
// Nothing is executed and nothing is read outside dir. Fields without a meaning for a
// case are listed in ignored. Faults name the evals; for a trigger set the error wraps
// ErrTriggerSet. Nothing is returned with an error.
func ReadEvals(text []byte, name string, dir fs.FS, folder string) (cases []eval.Case, ignored []string, err error) {
	whole := text // for the numbers of lines
	text = bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\ufeff"))
	if triggers(text) {
		return nil, nil, fmt.Errorf("%s is %w", name, ErrTriggerSet)
	}
	var file struct {
		SkillName string            `json:"skill_name"`
		Evals     []json.RawMessage `json:"evals"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, plain.JSON(err))
	}
	if raw, err := json.Marshal(file.Evals); err == nil && triggers(raw) {
		return nil, nil, fmt.Errorf("%s is %w", name, ErrTriggerSet)
	}
	if file.SkillName == "" {
		return nil, nil, fmt.Errorf("%s: no skill_name", name)
	}
	var faults eval.Faults
	seen := make(map[string]bool)
	for i, raw := range file.Evals {
		c, other, err := readEval(raw, dir, folder)
		if err == nil {
			c.Skill = file.SkillName
			err = c.Validate()
		}
		if err == nil && seen[c.ID] {
			err = fmt.Errorf("id %s stands twice", c.ID)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: evals[%d]: %w", place(whole, name, raw), i, err))
			continue
		}
		seen[c.ID] = true
		cases = append(cases, *c)
		ignored = append(ignored, other...)
	}
	if len(faults) > 0 {
		return nil, nil, faults
	}
	slices.Sort(ignored)
	return cases, slices.Compact(ignored), nil
}

func readEval(raw json.RawMessage, dir fs.FS, folder string) (c *eval.Case, ignored []string, err error) {
	var e foreignEval
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, nil, fmt.Errorf("decode eval: %w", plain.JSON(err))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, nil, fmt.Errorf("decode eval: %w", plain.JSON(err))
	}
	for f := range fields {
		if !slices.Contains([]string{"id", "prompt", "expected_output", "files", "expectations", "assertions", "evolve"}, f) {
			ignored = append(ignored, f)
		}
	}
	c = &eval.Case{Prompt: e.Prompt, Source: &eval.Source{Agent: "skill-creator", Origin: "imported"}}
	if c.ID, err = evalID(e.ID); err != nil {
		return nil, nil, err
	}
	for i, raw := range append(e.Expectations, e.Assertions...) {
		text, err := expectation(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("expectation %d: %w", i+1, err)
		}
		c.Checks = append(c.Checks, eval.Check{Type: eval.Judge, Rubric: text})
	}
	if len(c.Checks) == 0 && e.Evolve == nil && strings.TrimSpace(e.ExpectedOutput) != "" {
		c.Checks = []eval.Check{{Type: eval.Judge, Rubric: "The result is what was expected: " + e.ExpectedOutput}}
	}
	if len(e.Expectations)+len(e.Assertions) > 0 && e.Evolve == nil && strings.TrimSpace(e.ExpectedOutput) != "" {
		ignored = append(ignored, "expected_output beside expectations")
	}
	for _, p := range e.Files {
		text, err := evalFile(dir, folder, p)
		if err != nil {
			return nil, nil, err
		}
		if c.Files == nil {
			c.Files = make(map[string]string)
		}
		c.Files[path.Clean(p)] = text
	}
	if e.Evolve != nil {
		return c, ignored, e.restore(c)
	}
	return c, ignored, nil
}

// evalID makes a case's id of a number or a string.
func evalID(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil && strings.TrimSpace(s) != "" {
		return s, nil
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return "eval-" + string(raw), nil
	}
	return "", fmt.Errorf("id %s, want a number or a word", cmp.Or(string(raw), "missing"))
}

// expectation is a string, or an object that holds one as its text.
func expectation(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		var o struct{ Text, Description string }
		if json.Unmarshal(raw, &o) != nil {
			return "", errors.New("neither a text nor an object with a text")
		}
		s = cmp.Or(o.Text, o.Description)
	}
	if strings.TrimSpace(s) == "" {
		return "", errors.New("empty")
	}
	return s, nil
}

// evalFile reads a file that an eval names.
func evalFile(dir fs.FS, folder, name string) (string, error) {
	clean := path.Clean(name)
	if err := check.ValidPath(clean); err != nil || path.IsAbs(name) {
		return "", fmt.Errorf("file %q does not stay inside the folder of the eval file", name)
	}
	if dir == nil {
		return "", fmt.Errorf("file %q: there is no folder to read it from", name)
	}
	info, err := fs.Stat(dir, clean)
	if rest, ok := strings.CutPrefix(clean, folder+"/"); errors.Is(err, fs.ErrNotExist) && ok {
		clean = rest
		info, err = fs.Stat(dir, clean)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("file %q: there is none beside the eval file", name)
	case err != nil:
		return "", fmt.Errorf("file %q: %w", name, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("file %q is no plain file", name)
	case info.Size() > ondisk.MaxFile:
		return "", fmt.Errorf("file %q: %d bytes, want %d at most: a case holds its files", name, info.Size(), ondisk.MaxFile)
	}
	data, err := fs.ReadFile(dir, clean)
	switch {
	case err != nil:
		return "", fmt.Errorf("file %q: %w", name, err)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", fmt.Errorf("file %q is not text: a case holds text only", name)
	}
	return string(data), nil
}
