package generated

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest/fenced"
)

// Bounds on one generated case, in bytes.
const (
	maxPrompt    = 4000
	maxFiles     = 6
	maxFile      = 8000
	maxFilesSize = 24000
)

// kinds are the ways in which a case may vary another.
var kinds = []string{"persona", "harder", "near_miss"}

// A draft is a case as the model writes it.
type draft struct {
	From   int               `json:"from"` // number of the case that it varies, from 1
	Kind   string            `json:"kind"`
	Prompt string            `json:"prompt"`
	Files  map[string]string `json:"files"`
	Checks []eval.Check      `json:"checks"`
}

// parseCases parses the one fenced block of a reply to so many shown cases. An unknown
// field, or a reference to a case that was not shown, makes the whole reply unusable: a
// model that ignores the form has not read the task.
func parseCases(text string, shown int) ([]draft, error) {
	var got struct {
		Cases []draft `json:"cases"`
	}
	if err := fenced.Block(text, &got); err != nil {
		return nil, fmt.Errorf("parse cases: %w", err)
	}
	if len(got.Cases) == 0 || len(got.Cases) > 4*casesACall {
		return nil, fmt.Errorf("parse cases: %d cases", len(got.Cases))
	}
	for i, d := range got.Cases {
		switch {
		case d.From < 1 || d.From > shown:
			return nil, fmt.Errorf("parse cases: case %d varies case %d of %d", i+1, d.From, shown)
		case !slices.Contains(kinds, d.Kind):
			return nil, fmt.Errorf("parse cases: case %d is of kind %q", i+1, d.Kind)
		}
	}
	return got.Cases, nil
}

// tidy returns an error for what is allowed in a case by a person but not in a
// generated one: a check type that no model may use, text longer than anybody would
// type, and hidden characters.
func tidy(c eval.Case) error {
	if len(c.Prompt) > maxPrompt || hides(c.Prompt) {
		return errors.New("the prompt is too long, or hides something")
	}
	if len(c.Checks) > fenced.MaxChecks || len(c.Files) > maxFiles {
		return errors.New("too many checks or files")
	}
	size := 0
	for _, text := range c.Files {
		size += len(text)
		if len(text) > maxFile || size > maxFilesSize || hides(text) {
			return errors.New("a file is too long, or hides something")
		}
	}
	for _, k := range c.Checks {
		switch {
		case !slices.Contains(check.Writable(false), k.Type):
			return fmt.Errorf("type %q is not for models to write", k.Type)
		case len(k.Value) > fenced.MaxText || len(k.Rubric) > fenced.MaxText || len(k.Feedback) > fenced.MaxText:
			return errors.New("a check is too long")
		case k.Weight != 0:
			return errors.New("weights are not for models to write")
		}
	}
	return nil
}

// hides reports whether text holds invisible characters.
func hides(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r'
	})
}
