package skill

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/skill-evolve/evolve/eval/problem"
)

// A Live skill is the text of a skill on disk, cut into kernel and harness.
type Live struct {
	Entry
	Doc *Document
}

// ReadEntry reads a skill that was found.
func ReadEntry(e Entry) (*Live, error) {
	text, err := ReadFile(e.Path)
	if err != nil {
		return nil, fmt.Errorf("read skill %s: %w", e.Name, err)
	}
	doc, err := Parse(text, Options{})
	if len(bytes.TrimSpace(text)) == 0 { // an editor is half way through a save
		err = &SyntaxError{Line: 1, Msg: NoText}
	}
	if err != nil {
		return nil, fmt.Errorf("read skill %s: %w", e.Name, err)
	}
	return &Live{e, doc}, nil
}

// Home is the skill's place, as the store names it.
func (s *Live) Home() (string, error) {
	path, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return "", fmt.Errorf("find skill %s: %w", s.Name, err)
	}
	return path, nil
}

// HalfSaved reports whether the live text is empty or broken: nothing can be
// tried against it or made from it.
func (l *Live) HalfSaved() bool {
	text := l.Doc.Render()
	_, err := Parse(text, Options{})
	return err != nil || len(bytes.TrimSpace(text)) == 0
}

// The parts of a skill, of which one may change at a time.
const (
	Harness     = "harness"
	Description = "description"

	Shorten = "shorten" // the harness, by deletions alone: a way to search, no part
)

// OptionsFor are the options for reading a skill whose given part evolves.
func OptionsFor(part string) Options {
	return Options{EvolveDescription: part == Description}
}

// Evolve reads the live text again with the options for that part.
func (l *Live) Evolve(part string) error {
	doc, err := Parse(l.Doc.Render(), OptionsFor(part))
	if err != nil {
		return fmt.Errorf("read skill %s: %w", l.Name, err)
	}
	if _, _, ok := doc.DescriptionSpan(); part == Description && !ok {
		return problem.Inputf("write it as one plain scalar: `description: …`", "the description of %s is not written so that it could be replaced", l.Name)
	}
	l.Doc = doc
	return nil
}

// Stored parses a stored text.
func Stored(text []byte) (*Document, error) {
	doc, err := Parse(text, Options{})
	if err != nil {
		return nil, fmt.Errorf("read stored text: %w", err)
	}
	return doc, nil
}
