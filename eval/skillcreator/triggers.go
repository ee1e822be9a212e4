package skillcreator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// A foreignTrigger is one entry of a trigger set.
type foreignTrigger struct {
	ID            json.RawMessage `json:"id"` // a number or a string; mostly absent
	Query         string          `json:"query"`
	ShouldTrigger *bool           `json:"should_trigger"`
	Neighbour     string          `json:"neighbour"`
}

// ReadTriggers reads a trigger set as trigger cases: [{query, should_trigger}], bare or
// as the evals of an object, which may contain the skill_name. A bare set does not name
// its skill: skill does, and if both do they must agree.
//
// A query without an id gets one that does not depend on its place in the file. Fields
// without a meaning for a case are listed in ignored. Faults name the entries;
// nothing is returned with them.
func ReadTriggers(text []byte, name, skill string) (cases []eval.Case, ignored []string, err error) {
	whole := text // for the numbers of lines
	text = bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\ufeff"))
	fail := func(format string, args ...any) ([]eval.Case, []string, error) {
		return nil, nil, fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
	}
	var entries []json.RawMessage
	if bytes.HasPrefix(text, []byte("[")) {
		if err := json.Unmarshal(text, &entries); err != nil {
			return fail("%w", plain.JSON(err))
		}
	} else {
		var file struct {
			SkillName string            `json:"skill_name"`
			Evals     []json.RawMessage `json:"evals"`
		}
		if err := json.Unmarshal(text, &file); err != nil {
			return fail("%w", plain.JSON(err))
		}
		if skill != "" && file.SkillName != "" && skill != file.SkillName {
			return fail("it is of the skill %s, not of %s", file.SkillName, skill)
		}
		entries = file.Evals
		if file.SkillName != "" {
			skill = file.SkillName
		}
	}
	if skill == "" {
		return fail("it names no skill")
	}
	var faults eval.Faults
	seen := make(map[string]bool)
	for i, raw := range entries {
		c, other, err := readTrigger(raw)
		if err == nil {
			c.Skill = skill
			err = c.Validate()
		}
		if err == nil && seen[c.ID] {
			err = fmt.Errorf("%q stands twice", plain.Excerpt(c.Prompt, 80))
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: entry %d: %w", place(whole, name, raw), i, err))
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

func readTrigger(raw json.RawMessage) (c *eval.Case, ignored []string, err error) {
	var e foreignTrigger
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, nil, fmt.Errorf("decode: %w", plain.JSON(err))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, nil, fmt.Errorf("decode: %w", plain.JSON(err))
	}
	for f := range fields {
		if !slices.Contains([]string{"id", "query", "should_trigger", "neighbour"}, f) {
			ignored = append(ignored, f)
		}
	}
	switch {
	case strings.TrimSpace(e.Query) == "":
		return nil, nil, errors.New("no query")
	case e.ShouldTrigger == nil:
		return nil, nil, errors.New("no should_trigger")
	}
	c = &eval.Case{Prompt: e.Query, ShouldTrigger: e.ShouldTrigger, Neighbour: e.Neighbour,
		Source: &eval.Source{Agent: "skill-creator", Origin: "imported"}}
	c.Checks = []eval.Check{{Type: eval.Trigger}}
	if len(e.ID) > 0 && string(e.ID) != "null" {
		id, err := evalID(e.ID)
		c.ID = "trigger-" + strings.TrimPrefix(id, "eval-")
		return c, ignored, err
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(e.Query)))
	c.ID = "trigger-" + hex.EncodeToString(sum[:5])
	return c, ignored, nil
}
