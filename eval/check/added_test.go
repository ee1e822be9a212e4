package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// words is a type of check that exists in this file alone: the answer has at least Max
// words.
type words struct{}

func (words) Spec() Spec {
	return Spec{Name: "words", Fields: []string{"max"}, Text: "words at least", Example: `"max":3`, Means: "the answer has at least so many words"}
}

func (words) Validate(k *Check) error {
	if k.Max < 1 {
		return fmt.Errorf("max %d, want 1 or more", k.Max)
	}
	return nil
}

func (words) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	return k.pass(len(strings.Fields(s.Answer)) >= k.Max), nil
}

func (words) Explain(k *Check) string {
	return fmt.Sprintf("The answer has fewer than %d words.", k.Max)
}

func init() { types = append(types, words{}) }

// A type is added by a file like this and one line.
func TestAddedType(t *testing.T) {
	k := &Check{Type: "words", Max: 3}
	if err := k.Validate(); err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]Result{"one two three": {Score: 1}, "one": {Feedback: "The answer has fewer than 3 words."}} {
		if got, err := k.Grade(t.Context(), &Subject{Answer: answer}); err != nil || got != want {
			t.Errorf("%q: %+v, %v", answer, got, err)
		}
	}
	for want, k := range map[string]Check{
		"words: no max":                              {Type: "words"},
		"words: max -1, want 1 or more":              {Type: "words", Max: -1},
		"words: has no use for value (it takes max)": {Type: "words", Max: 1, Value: "x"},
	} {
		if err := k.Validate(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if !slices.Contains(Names(nil), "words") || !strings.Contains(ListTypes("{{check types}}\n", false), `{"type":"words","max":3}`) {
		t.Error("the type is not listed")
	}
}

// Every type grades an empty subject, explains itself and has fields that exist.
func TestTypes(t *testing.T) {
	for _, s := range Specs() {
		k := &Check{Type: s.Name, Value: "x", Path: "x", After: LastEdit, Max: 1, Schema: []byte("{}"), Rubric: "x", Command: []string{"x"}}
		if k.Blame() == "" || !k.Known() || k.Spec().Name != s.Name {
			t.Errorf("%s: %+v", s.Name, s)
		}
		for _, f := range slices.Concat(s.Fields, s.Optional) {
			if !slices.Contains([]string{"value", "path", "max", "schema", "rubric", "command", "after"}, f) {
				t.Errorf("%s: no field %s", s.Name, f)
			}
		}
		if s.Runs || s.Asks {
			continue
		}
		if _, err := k.Grade(t.Context(), &Subject{}); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if k := (&Check{Type: "no"}); k.Known() || k.Validate() == nil || k.Spec().Name != "no" || k.Blame() == "" {
		t.Error("an unknown type")
	}
}
