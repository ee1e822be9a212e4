// Package harbor writes and reads cases as tasks of Harbor, whose layout Terminal-Bench
// has: a folder with task.toml, instruction.md, environment/ and tests/. What a task has
// no place for is in evolve.json beside them, which Harbor does not read.
package harbor

import (
	"crypto/sha256"
	_ "embed" // check.py
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fields"
	"github.com/skill-evolve/evolve/eval/ondisk"
	"github.com/skill-evolve/evolve/eval/plain"
)

// File is the file by which a folder is known to be a task.
const File = "task.toml"

const (
	ours    = "evolve.json"
	placed  = "environment/files"
	request = "instruction.md"
)

//go:embed check.py
var grader string

const (
	settings = `version = "1.0"

[metadata]
generator = "evolve"

[verifier]
timeout_sec = 600.0

[agent]
timeout_sec = 1800.0

[environment]
build_timeout_sec = 600.0
`
	image = "FROM python:3.13-slim\nWORKDIR /app\n"
	test  = "#!/bin/bash\npython3 /tests/check.py /tests/checks.json /app /logs/agent/trajectory.json > /logs/verifier/reward.txt\n"
)

// extra is what evolve knows of a case.
type extra struct {
	Case  eval.Case `json:"case"`  // without its prompt and files
	Tests string    `json:"tests"` // hash of the folder tests as it was written
}

// foreign are constructs of RE2 that a pattern of Python lacks or reads otherwise.
var foreign = []string{"(?", "$", "{,", "[[:", `\A`, `\z`, `\Q`, `\C`, `\p`, `\P`, `\x{`}

// decides reports whether check.py decides the check as evolve does.
func decides(k *eval.Check) bool {
	switch k.Type {
	case eval.FileExists, eval.FileContains, eval.Command, eval.Contains, eval.NotContains, eval.Equals, eval.MaxChars:
		return true
	case eval.Regex, eval.NotRegex:
		pattern := k.Value
		if lead, rest, found := strings.Cut(pattern, ")"); found && len(lead) > 2 && strings.HasPrefix(lead, "(?") && strings.Trim(lead[2:], "ims") == "" {
			pattern = rest
		}
		pattern = strings.ReplaceAll(pattern, "(?:", "(")
		return pattern != "" && strings.IndexFunc(pattern, func(r rune) bool { return r > 126 }) < 0 &&
			!slices.ContainsFunc(foreign, func(s string) bool { return strings.Contains(pattern, s) })
	}
	return false
}

// Write writes each case as a task, a folder below dir; what exists is an error. A case
// none of whose checks Harbor can decide is left out. notes are what Harbor does not see, one
// line a kind.
func Write(dir string, cases []eval.Case) (written int, notes []string, err error) {
	root, err := ondisk.Open(dir)
	if err != nil {
		return 0, nil, fmt.Errorf("write tasks: %w", err)
	}
	defer root.Close()
	t := ondisk.Tally{Cannot: "tests of Harbor do not decide them, only evolve reads them"}
	for i := range cases {
		ok, err := write(root, &cases[i], &t)
		if err != nil {
			return written, nil, fmt.Errorf("write tasks: case %q: %w", cases[i].ID, err)
		}
		if ok {
			written++
		}
	}
	return written, t.Notes(), nil
}

func write(root *os.Root, c *eval.Case, t *ondisk.Tally) (bool, error) {
	var decided []eval.Check
	rest := map[string]int{}
	for _, k := range c.Checks {
		if decides(&k) {
			k.Feedback = ""
			decided = append(decided, k)
		} else {
			rest[k.Type]++
		}
	}
	switch {
	case len(decided) == 0:
		t.Case("left out: tests of Harbor decide none of their checks")
		return false, nil
	case !ondisk.Portable(c):
		t.Case("left out: a file of theirs is no text, or larger than 1 MiB")
		return false, nil
	}
	t.Checks(rest)
	if len(c.Context) > 0 {
		t.Case("Harbor does not say what was said before the request")
	}
	if c.Workspace != nil {
		t.Case("Harbor does not check out their repository")
	}
	checks, err := ondisk.JSON(decided)
	if err != nil {
		return false, err
	}
	files := map[string]string{request: c.Prompt + "\n", File: settings, "environment/Dockerfile": image,
		"tests/test.sh": test, "tests/check.py": grader, "tests/checks.json": string(checks)}
	for name, text := range c.Files {
		files[path.Join(placed, name)] = text
	}
	if len(c.Files) > 0 {
		files["environment/Dockerfile"] += "COPY files/ ./\n"
	}
	e := extra{Case: *c}
	e.Case.Prompt, e.Case.Files = "", nil
	e.Tests = hash(func(yield func(name, text string) bool) {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.HasPrefix(name, "tests/") && !yield(name, files[name]) {
				return
			}
		}
	})
	text, err := ondisk.JSON(e)
	if err != nil {
		return false, err
	}
	files[ours] = string(text)
	at := ondisk.Name(c.ID)
	if err := root.Mkdir(at, 0o755); err != nil {
		return false, err
	}
	for name, text := range files {
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := ondisk.Put(root, path.Join(at, name), []byte(text), mode); err != nil {
			return false, err
		}
	}
	return true, nil
}

// hash is that of files in their order.
func hash(files func(yield func(name, text string) bool)) string {
	h := sha256.New()
	for name, text := range files {
		fmt.Fprintf(h, "%d %s %d %s", len(name), name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Read reads the tasks in dir, or dir itself, that Write wrote, with requests and files as
// they are now. Tasks of others, and those whose tests were edited, are counted in ignored:
// their tests need the container. Faults name their files; nothing is returned with them.
func Read(dir string) (cases []eval.Case, ignored []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read tasks: %w", err)
	}
	defer root.Close()
	var faults eval.Faults
	others, edited, seen := 0, 0, map[string]string{}
	err = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case d.Name() == ".git" || d.Name() == "node_modules":
			return fs.SkipDir
		}
		if _, err := fs.Lstat(root.FS(), path.Join(at, File)); err != nil {
			return nil
		}
		c, same, err := read(root.FS(), at)
		switch {
		case err != nil:
			faults = append(faults, err)
		case c == nil:
			others++
		case !same:
			edited++
		case seen[c.Skill+"\x00"+c.ID] != "":
			faults = append(faults, fmt.Errorf("%s: case %q is in %s already", at, c.ID, seen[c.Skill+"\x00"+c.ID]))
		case len(cases) == ondisk.MaxCases:
			return fmt.Errorf("%s: more than %d tasks", at, ondisk.MaxCases)
		default:
			seen[c.Skill+"\x00"+c.ID] = at
			cases = append(cases, *c)
		}
		return fs.SkipDir
	})
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read tasks: %w", err)
	case len(faults) > 0:
		return nil, nil, faults
	}
	if others > 0 {
		ignored = append(ignored, plain.Counted(others, "task")+" of others: their tests need Harbor's container")
	}
	if edited > 0 {
		ignored = append(ignored, plain.Counted(edited, "task")+" whose tests were edited: evolve reads checks from its own files only")
	}
	return cases, ignored, nil
}

// read reads one task; c is nil if evolve did not write it, and same is whether its tests
// are as they were written.
func read(dir fs.FS, at string) (c *eval.Case, same bool, err error) {
	text, err := ondisk.Read(dir, path.Join(at, ours), ondisk.MaxCase)
	if text == nil || err != nil {
		return nil, false, err
	}
	var e extra
	if err := fields.Decode(text, &e); err != nil {
		return nil, false, fmt.Errorf("%s: %w", path.Join(at, ours), plain.JSON(err))
	}
	if err := ondisk.Compact(e.Case.Checks); err != nil {
		return nil, false, err
	}
	prompt, err := ondisk.Read(dir, path.Join(at, request), ondisk.MaxCase)
	if err != nil {
		return nil, false, err
	}
	e.Case.Prompt = strings.TrimSuffix(string(prompt), "\n")
	tests, err := below(dir, path.Join(at, "tests"))
	if err != nil {
		return nil, false, err
	}
	same = e.Tests == hash(func(yield func(name, text string) bool) {
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			if !yield("tests/"+name, tests[name]) {
				return
			}
		}
	})
	if e.Case.Files, err = below(dir, path.Join(at, placed)); err != nil {
		return nil, false, err
	}
	if err := e.Case.Validate(); err != nil {
		return nil, false, fmt.Errorf("%s: %w", at, err)
	}
	return &e.Case, same, nil
}

// below are the files of a folder by their paths in it, nil if there are none.
func below(dir fs.FS, folder string) (map[string]string, error) {
	var files map[string]string
	err := fs.WalkDir(dir, folder, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && at == folder {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		text, err := ondisk.Read(dir, at, ondisk.MaxFile)
		if err != nil {
			return err
		}
		if files == nil {
			files = make(map[string]string)
		}
		files[strings.TrimPrefix(at, folder+"/")] = string(text)
		return nil
	})
	return files, err
}
