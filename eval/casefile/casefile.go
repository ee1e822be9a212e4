// Package casefile reads and writes cases in every format that evolve knows.
package casefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/harbor"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/plugineval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/eval/skillcreator"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// The formats.
const (
	Lines      = "jsonl"
	PluginEval = "plugin-eval"
	EvalsJSON  = "evals-json"
	Harbor     = "harbor"
)

// Formats are all formats; all but the first are folders when they are written.
var Formats = []string{Lines, PluginEval, EvalsJSON, Harbor}

// Known returns an error unless there is a format of that name.
func Known(format string) error {
	if slices.Contains(Formats, format) {
		return nil
	}
	return problem.Inputf(strings.Join(Formats, ", "), "there is no format %q", plain.Line(format))
}

// An Input is a text that cases are read from, or a folder.
type Input struct {
	Text   []byte
	Name   string // for messages
	File   string // its folder holds the files that an evals.json names; "" for none
	Dir    string // in place of Text
	Skill  string // of cases that name no skill
	Format string // "" is found out
}

// A Suite is cases that were read.
type Suite struct {
	Cases   []eval.Case
	Ignored []string           // what a case has no place for
	Where   func(i int) string // the place of the i-th case
}

// MaxText is the largest text that cases are read from, in bytes.
const MaxText = 256 << 20

// Write writes cases of one skill below dir, in another format than Lines, and returns the
// folder or file they are in. notes are what that format cannot carry, one line a kind.
func Write(format, dir string, cases []eval.Case) (at string, written int, notes []string, err error) {
	switch format {
	case PluginEval:
		at = filepath.Join(dir, plugineval.Folder)
		written, notes, err = plugineval.Write(dir, cases)
	case EvalsJSON:
		at = filepath.Join(dir, filepath.FromSlash(skillcreator.File))
		written, notes, err = skillcreator.Write(dir, cases)
	case Harbor:
		at = dir
		written, notes, err = harbor.Write(dir, cases)
	default:
		err = fmt.Errorf("%q is no format of a folder", format)
	}
	return at, written, notes, err
}

// Read reads cases. What is wrong with them is eval.Faults below a problem.Input whose hint
// says what to mend.
func Read(in Input) (*Suite, error) {
	if in.Dir != "" {
		var err error
		if in, err = enter(in); err != nil {
			return nil, err
		}
	} else if in.Format == "" || in.Format == Lines {
		if in.Format = Lines; skillcreator.IsEvals(in.Text) {
			in.Format = EvalsJSON
		}
	}
	s := &Suite{}
	s.Where = func(i int) string { return fmt.Sprintf("%s: case %q", in.Name, s.Cases[i].ID) }
	var err error
	hint := "mend that file and import the folder again"
	switch {
	case in.Format == Lines && in.Dir == "":
		hint = "mend that line and import the file again"
		s.Cases, err = ReadLines(bytes.NewReader(complete(in.Text, in.Skill)), in.Name)
		s.Where = func(i int) string { return fmt.Sprintf("%s:%d: case %q", in.Name, lineOf(in.Text, i), s.Cases[i].ID) }
	case in.Format == EvalsJSON && in.Dir == "":
		hint, err = s.readEvals(in)
	case in.Format == PluginEval && in.Dir != "":
		hint = "mend that file, or name the skill with --skill, and import the folder again"
		s.Cases, s.Ignored, err = plugineval.Read(in.Dir, in.Skill)
	case in.Format == Harbor && in.Dir != "":
		s.Cases, s.Ignored, err = harbor.Read(in.Dir)
	default:
		return nil, problem.Inputf("leave out --format to have it found out", "%s is no suite of the format %s", in.Name, in.Format)
	}
	hint = "nothing was imported; " + hint
	if faults, ok := errors.AsType[eval.Faults](err); ok && len(faults) > 1 {
		hint = fmt.Sprintf("nothing was imported; `evolve cases check` lists the %d errors", len(faults))
	}
	switch {
	case err != nil:
		return nil, &problem.Error{Kind: problem.Input, Err: err, Hint: hint}
	case len(s.Cases) == 0 && len(s.Ignored) > 0:
		return nil, problem.Inputf("nothing was imported", "%s holds no cases for evolve: %s", in.Name, strings.Join(s.Ignored, "; "))
	case len(s.Cases) == 0:
		return nil, problem.Inputf("one case a line, for example from `evolve cases export SKILL`", "%s holds no cases", in.Name)
	}
	return s, nil
}

// enter finds out the format of a folder. An evals.json in it takes its place.
func enter(in Input) (Input, error) {
	var found []string
	file := ""
	for _, name := range []string{filepath.FromSlash(skillcreator.File), filepath.Base(skillcreator.File)} {
		if info, err := os.Lstat(filepath.Join(in.Dir, name)); file == "" && err == nil && info.Mode().IsRegular() {
			file, found = filepath.Join(in.Dir, name), append(found, EvalsJSON)
		}
	}
	for _, mark := range []string{harbor.File, "*/" + harbor.File, "*/*/" + harbor.File} {
		if there, err := fs.Glob(os.DirFS(in.Dir), mark); err == nil && len(there) > 0 && !slices.Contains(found, Harbor) {
			found = append(found, Harbor)
		}
	}
	for _, mark := range []string{"evals/*/prompt.md", "evals/*/case.yaml", "*/prompt.md", "*/case.yaml"} {
		if there, err := fs.Glob(os.DirFS(in.Dir), mark); err == nil && len(there) > 0 && !slices.Contains(found, PluginEval) {
			found = append(found, PluginEval)
		}
	}
	switch {
	case in.Format == "" && len(found) > 1:
		return in, problem.Inputf("--format "+found[0]+", for example", "%s holds cases as %s", in.Name, strings.Join(found, " and as "))
	case in.Format == "" && len(found) == 0:
		in.Format = PluginEval // its cases may be deeper
	case in.Format == "":
		in.Format = found[0]
	}
	if in.Format != EvalsJSON || file == "" {
		return in, nil
	}
	text, err := bounded.ReadFile(file, MaxText)
	if err != nil {
		return in, problem.Inputf("nothing was imported", "read cases: %v", err)
	}
	in.Text, in.Name, in.File, in.Dir = text, file, file, ""
	return in, nil
}

// complete gives the cases that name no id one that is a hash of their content, and those
// that name no skill the given one. Lines keep their places; what is no case stays.
func complete(text []byte, skill string) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		var keys map[string]json.RawMessage
		if json.Unmarshal(line, &keys) != nil || len(keys) == 0 {
			continue
		}
		named := map[string]bool{}
		for f := range keys {
			named[strings.ToLower(f)] = true // as encoding/json reads it
		}
		added := map[string]string{}
		if !named["skill"] && skill != "" {
			added["skill"] = skill
		}
		if !named["id"] {
			delete(keys, "skill") // an id is one of its skill
			delete(keys, "split")
			content, _ := json.Marshal(keys) // sorted by their names; each was decoded
			sum := sha256.Sum256(content)
			added["id"] = "case-" + hex.EncodeToString(sum[:5])
		}
		if len(added) > 0 {
			head, _ := json.Marshal(added)
			lines[i] = slices.Concat(head[:len(head)-1], []byte(","), line[1:])
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// lineOf is the line of the n-th case in a file of JSON Lines.
func lineOf(text []byte, n int) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))) == 0 {
			continue
		}
		if n == 0 {
			return i + 1
		}
		n--
	}
	return 0
}

// readEvals reads an eval file of skill-creator, and the files beside it that it names; or
// a trigger set.
func (s *Suite) readEvals(in Input) (hint string, err error) {
	var dir fs.FS
	folder := ""
	if in.File != "" {
		abs, err := filepath.Abs(in.File)
		if err != nil {
			return "", fmt.Errorf("read evals: %w", err)
		}
		root, err := os.OpenRoot(filepath.Dir(abs)) // links that lead out of it are not followed
		if err != nil {
			return "", fmt.Errorf("read evals: %w", err)
		}
		defer root.Close()
		dir, folder = root.FS(), filepath.Base(filepath.Dir(abs))
	}
	hint = "mend that eval and import the file again"
	s.Cases, s.Ignored, err = skillcreator.ReadEvals(in.Text, in.Name, dir, folder)
	if errors.Is(err, skillcreator.ErrTriggerSet) {
		hint = "a trigger set needs --skill NAME, and each entry a query and should_trigger"
		s.Cases, s.Ignored, err = skillcreator.ReadTriggers(in.Text, in.Name, in.Skill)
	}
	return hint, err
}
