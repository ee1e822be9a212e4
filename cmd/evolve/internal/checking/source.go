// Package checking is what evolve check does before and after its run: it finds the text,
// shows what speaks against trying it, and says what the trial came to.
package checking

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/patch"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A Source is where the text comes from: a file, or a commit.
type Source struct{ Patch, Against string }

// largest is the largest text or patch that is read.
const largest = 4 << 20

// Check refuses a source that is none, or two.
func (s Source) Check() error {
	const hint = "--patch FILE (a diff, or the whole text; - reads it from stdin), or --against REF (a branch or commit of its repository)"
	switch {
	case s.Patch == "" && s.Against == "":
		return problem.Inputf(hint, "there is no text to try")
	case s.Patch != "" && s.Against != "":
		return problem.Inputf(hint, "--patch and --against are two texts")
	}
	return nil
}

// Name is the source in a sentence.
func (s Source) Name() string {
	switch {
	case s.Against != "":
		return s.Against
	case s.Patch == "-":
		return "the text from stdin"
	}
	return s.Patch
}

// Text is the text that is to be tried beside the live one.
func (s Source) Text(ctx context.Context, live *skill.Live, stdin io.Reader) ([]byte, error) {
	if s.Against != "" {
		return s.ofCommit(ctx, live)
	}
	var text []byte
	var err error
	if s.Patch == "-" {
		text, err = bounded.ReadAll(stdin, largest)
	} else {
		text, err = bounded.ReadFile(s.Patch, largest)
	}
	if err != nil {
		return nil, problem.Inputf("a unified diff or a whole text, of at most 4 MiB", "%s cannot be read: %w", s.Name(), cause(err))
	}
	if patch.Is(string(text)) {
		if text, err = s.patched(live, string(text)); err != nil {
			return nil, err
		}
	} else {
		text = encodedAs(live.Doc.Render(), text)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, removed(live, s.Name())
	}
	return text, nil
}

// encodedAs is a text with the byte order mark, the line ends and the last line end of the live
// one: an editor that wrote others has changed nothing.
func encodedAs(live, text []byte) []byte {
	const mark = "\ufeff"
	if !bytes.HasPrefix(live, []byte(mark)) {
		text = bytes.TrimPrefix(text, []byte(mark))
	}
	lf, crlf := []byte("\n"), []byte("\r\n")
	switch {
	case isCRLF(text) && !bytes.Contains(live, []byte("\r")):
		text = bytes.ReplaceAll(text, crlf, lf)
	case isCRLF(live) && !bytes.Contains(text, []byte("\r")):
		text = bytes.ReplaceAll(text, lf, crlf)
	}
	if bytes.HasSuffix(live, lf) && len(text) > 0 && !bytes.HasSuffix(text, lf) {
		if isCRLF(live) && (isCRLF(text) || !bytes.Contains(text, lf)) {
			lf = crlf
		}
		text = append(bytes.Clone(text), lf...)
	}
	return text
}

// isCRLF reports whether each line of a text ends with CRLF.
func isCRLF(text []byte) bool {
	n := bytes.Count(text, []byte("\n"))
	return n > 0 && n == bytes.Count(text, []byte("\r\n"))
}

// cause is an error of the file system without the name of the file.
func cause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

func removed(live *skill.Live, by string) error {
	return problem.Inputf(fmt.Sprintf("`evolve compare %s none` measures what it is worth", live.Name), "%s leaves nothing of %s", by, skill.Called(live.Name))
}

// patched is the live text with the changes of a diff.
func (s Source) patched(live *skill.Live, diff string) ([]byte, error) {
	files, err := patch.Parse(diff)
	if err != nil {
		return nil, problem.Inputf("", "%s is broken: %v", s.Name(), err)
	}
	f, err := fileOf(files, live.Path)
	if err != nil {
		return nil, err
	}
	switch {
	case f.New == patch.Nothing:
		return nil, removed(live, s.Name())
	case f.Old == patch.Nothing && len(f.Hunks) == 1: // it was made where the file was not there yet
		return []byte(strings.Join(f.Hunks[0].New, "")), nil
	}
	text, err := f.Apply(string(live.Doc.Render()))
	var no *patch.MismatchError
	if errors.As(err, &no) {
		hint := fmt.Sprintf("`evolve show %s` prints the text that it has to fit", live.Name)
		if live.Tracked {
			hint += ", which is that of the default branch"
		}
		return nil, problem.Inputf(hint, "%s: %v", s.Name(), no)
	}
	return []byte(text), err
}

// fileOf is the file of a diff whose name ends most as path does.
func fileOf(files []patch.File, path string) (*patch.File, error) {
	if len(files) == 1 {
		return &files[0], nil
	}
	var best *patch.File
	most, tie := 0, false
	var names []string
	for i := range files {
		name := files[i].New
		if name == patch.Nothing {
			name = files[i].Old
		}
		names = append(names, name)
		if n := alike(name, path); n > most {
			best, most, tie = &files[i], n, false
		} else if n == most {
			tie = true
		}
	}
	if best == nil || tie {
		return nil, problem.Inputf("take the other files out of it", "the patch changes %s: it is not clear which of them is %s", strings.Join(names, ", "), path)
	}
	return best, nil
}

// alike is how many parts at the end of two paths are the same.
func alike(a, b string) (n int) {
	x, y := strings.Split(filepath.ToSlash(a), "/"), strings.Split(filepath.ToSlash(b), "/")
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// ofCommit is the text that a commit has. What the live text has got since that commit's
// branch began stays.
func (s Source) ofCommit(ctx context.Context, live *skill.Live) ([]byte, error) {
	f, err := git.FindFile(ctx, live.Path)
	if errors.Is(err, git.ErrNone) {
		return nil, problem.Inputf("--patch FILE takes a text from anywhere", "%s is in no git repository, which --against needs", skill.Called(live.Name))
	}
	if err != nil {
		return nil, err
	}
	side, err := f.At(ctx, s.Against)
	switch {
	case errors.Is(err, git.ErrNoCommit):
		return nil, problem.Inputf(fmt.Sprintf("evolve fetches nothing; a pull request: `git -C %s fetch origin pull/12/head`, then --against FETCH_HEAD", f.Top),
			"%s has no commit %q", f.Root, s.Against)
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(side.Text)) == 0:
		return nil, removed(live, s.Against)
	}
	own := live.Doc.Render()
	if side.Base == nil || bytes.Equal(side.Base, own) {
		return side.Text, nil
	}
	base, err := skill.Parse(side.Base, live.Doc.Options())
	if err != nil { // then nothing tells what was changed
		return side.Text, nil
	}
	theirs, err := skill.Parse(side.Text, live.Doc.Options())
	if err != nil || base.KernelHash() != theirs.KernelHash() { // which is refused, with the reason
		return side.Text, nil
	}
	next, err := mutate.Rebase(base, live.Doc, theirs)
	var both *mutate.ConflictError
	if errors.As(err, &both) {
		return nil, problem.Inputf(fmt.Sprintf("bring %s up to date first", s.Against), "%s and the live text both changed %s", s.Against, strings.Join(both.What, " and "))
	}
	if err != nil {
		return nil, problem.Inputf(fmt.Sprintf("bring %s up to date first", s.Against), "%s: %v", s.Against, err)
	}
	return next.Render(), nil
}
