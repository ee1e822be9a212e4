package skill

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// A Live skill is the text of a skill on disk, cut into kernel and harness. A file of
// standing instructions, and the script of a hook, is read as one too; its Name is the key of
// a subject.Ref.
type Live struct {
	Entry
	Doc *Document
	// Tracked: others get the file through git. Doc is then the text that they have, that
	// of the default branch, if it is there; what is on disk may be another one.
	Tracked bool
}

// Read reads a skill that was found. The error is a *SyntaxError, a *BrokenSkillError if
// git cannot tell its text, or the file system's.
func (l *Layout) Read(e Entry) (*Live, error) {
	text, err := ReadFile(e.Path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", Called(e.Name), err)
	}
	live := &Live{Entry: e}
	if l.Tracked != nil {
		tracked, theirs, err := l.Tracked(e.Path)
		if err != nil {
			return nil, &BrokenSkillError{e, err.Error()}
		}
		if live.Tracked = tracked; theirs != nil {
			text = theirs
		}
	}
	live.Doc, err = Parse(text, OptionsOf(e.Name))
	if len(bytes.TrimSpace(text)) == 0 { // an editor is half way through a save
		err = &SyntaxError{Line: 1, Msg: NoText}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", Called(e.Name), err)
	}
	return live, nil
}

// Home is the skill's place, as the store names it.
func (s *Live) Home() (string, error) {
	path, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", Called(s.Name), err)
	}
	return path, nil
}

// HalfSaved reports whether the live text is empty or broken: nothing can be
// tried against it or made from it.
func (l *Live) HalfSaved() bool {
	text := l.Doc.Render()
	_, err := Parse(text, l.Doc.Options())
	return err != nil || len(bytes.TrimSpace(text)) == 0
}

// The parts of a skill, of which one may change at a time.
const (
	Harness     = "harness"
	Description = "description"

	Shorten = "shorten" // the harness, by deletions alone: a way to search, no part
)

// OptionsOf are the options for reading texts of the subject with that key.
func OptionsOf(key string) Options {
	r := subject.Parse(key)
	o := Options{Instructions: r.Kind == subject.File}
	if _, at := r.Place(); r.Kind == subject.Hook {
		o.Script = path.Base(at)
	}
	return o
}

// Evolving are the options for reading a text whose given part evolves.
func (o Options) Evolving(part string) Options {
	o.EvolveDescription = part == Description
	return o
}

// Evolve reads the live text again with the options for that part.
func (l *Live) Evolve(part string) error {
	if part == Description && subject.Parse(l.Name).IsFile() {
		return problem.Inputf("leave --evolve out, or use --evolve shorten", "%s has no description: agents load it whole", Called(l.Name))
	}
	doc, err := Parse(l.Doc.Render(), l.Doc.Options().Evolving(part))
	if err != nil {
		return fmt.Errorf("read %s: %w", Called(l.Name), err)
	}
	if _, _, ok := doc.DescriptionSpan(); part == Description && !ok {
		return problem.Inputf("write it as one plain scalar: `description: …`", "the description of %s is not written so that it could be replaced", l.Name)
	}
	l.Doc = doc
	return nil
}

// Stored parses a stored text of the subject with that key.
func Stored(key string, text []byte) (*Document, error) {
	doc, err := Parse(text, OptionsOf(key))
	if err != nil {
		return nil, fmt.Errorf("read stored text: %w", err)
	}
	return doc, nil
}

// Called is the subject with that key in a sentence: "skill dataviz", "~/.claude/CLAUDE.md".
func Called(key string) string {
	if r := subject.Parse(key); r.Kind != subject.Skill {
		return r.Text()
	}
	return "skill " + key
}

// noun is what kind of text d is.
func (d *Document) noun() string {
	if d.opts.Instructions {
		return "the file"
	}
	if d.opts.Script != "" {
		return "the script"
	}
	return "the skill"
}
