// Package fenced reads the one fenced block of what a model replies about recorded text, and the
// checks in it.
package fenced

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Bounds on the checks of one case.
const (
	MaxChecks = 6
	MaxText   = 1000 // characters of one value or rubric
)

// Why a model writes no checks of a turn that was corrected. Then it is no case.
const (
	OnlyTalk = "only talk"         // nothing was asked for that can be right or wrong
	Unseen   = "no check can tell" // what the user wanted shows in no answer and no work
)

var block = lazyregexp.New("(?s)```[a-z]*[ \t]*\n(.*?)\n?[ \t]*```")

// Block reads the JSON in the one fenced block of a reply. A field that into
// does not have makes all of it unusable.
func Block(text string, into any) error {
	blocks := block.FindAllStringSubmatch(text, -1)
	if len(blocks) != 1 || strings.Count(text, "```") != 2 {
		return errors.New("not one fenced block")
	}
	dec := json.NewDecoder(strings.NewReader(blocks[0][1]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more than one JSON value")
	}
	return nil
}

// Entries reads the list under field in the one fenced block of a reply, by the ids of its
// entries. What is wrong with an entry voids that one, and two with one id are none.
func Entries[T any](text, field string, id func(T) string) map[string]T {
	var got map[string][]json.RawMessage
	out, twice := map[string]T{}, map[string]bool{}
	if Block(text, &got) != nil || len(got) > 1 {
		return out
	}
	for _, raw := range got[field] {
		var entry T
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if dec.Decode(&entry) != nil {
			continue
		}
		if _, ok := out[id(entry)]; ok {
			twice[id(entry)] = true
		}
		out[id(entry)] = entry
	}
	for id := range twice {
		delete(out, id)
	}
	return out
}

// Checks reads the one fenced block of a reply, with checks of these types, or why there
// can be none.
func Checks(text string, types []string) (checks []eval.Check, none string, err error) {
	var got struct {
		Checks []eval.Check `json:"checks"`
		None   string       `json:"none"`
	}
	if err := Block(text, &got); err != nil {
		return nil, "", fmt.Errorf("parse checks: %w", err)
	}
	if none = map[string]string{"talk": OnlyTalk, "unseen": Unseen}[got.None]; none != "" && len(got.Checks) == 0 {
		return nil, none, nil
	}
	if len(got.Checks) == 0 || len(got.Checks) > MaxChecks {
		return nil, "", fmt.Errorf("parse checks: %d checks, want 1 to %d", len(got.Checks), MaxChecks)
	}
	for _, k := range got.Checks {
		if !slices.Contains(types, k.Type) {
			return nil, "", fmt.Errorf("parse checks: type %q is not for models to write", k.Type)
		}
		if len(k.Value)+len(k.Path)+len(k.Rubric)+len(k.Feedback) > 3*MaxText {
			return nil, "", errors.New("parse checks: text too long")
		}
	}
	whole := eval.Case{ID: "x", Skill: "x", Prompt: "x", Checks: got.Checks}
	if err := whole.Validate(); err != nil {
		return nil, "", fmt.Errorf("parse checks: %w", err)
	}
	return got.Checks, "", nil
}

// Kept is what is remembered of a reply: its checks, or why there are none. Only the former
// has words of the session, and is JSON.
func Kept(checks []eval.Check, why string) []byte {
	if why != "" {
		return []byte(why)
	}
	data, err := json.Marshal(kept{checks})
	if err != nil {
		panic(err) // they were parsed
	}
	return data
}

type kept struct {
	Checks []eval.Check `json:"checks"`
}

// Recalled are checks that were kept, or why the turn is no case. There are neither if the
// reply could not be used.
func Recalled(data []byte) (checks []eval.Check, why string) {
	var k kept
	if json.Unmarshal(data, &k) == nil {
		return k.Checks, ""
	}
	if why = string(data); NoCase(why) {
		return nil, why
	}
	return nil, ""
}

// NoCase reports whether a reason for no checks says that the turn is no case.
func NoCase(why string) bool { return why == OnlyTalk || why == Unseen }
