package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// DecodeStrict decodes text, one JSON object and nothing else, into the struct that v
// points to. An unknown field is an error that names the nearest known one, because
// input from people and programs is never guessed at.
func DecodeStrict(text []byte, v any) error {
	switch first := bytes.TrimSpace(text); {
	case len(first) == 0:
		return errors.New("nothing, want one JSON object")
	case first[0] != '{':
		return errors.New("not a JSON object")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if strict := unknownField(text, reflect.TypeOf(v), ""); strict != nil {
			return strict
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("a JSON object that does not end")
		}
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("text after the JSON object")
	}
	return nil
}

// didYouMean is the end of an error message: ` (did you mean "x"?)`, or the whole list
// if nothing is near.
func didYouMean(got string, words []string) string {
	if w := skill.Nearest(got, words); w != "" {
		return ` (did you mean "` + w + `"?)`
	}
	return " (known: " + strings.Join(words, ", ") + ")"
}
