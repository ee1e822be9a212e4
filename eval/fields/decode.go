package fields

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
)

// Decode decodes text, one JSON object and nothing else, into the struct that v
// points to. An unknown field is an error that names the nearest known one, because
// input from people and programs is never guessed at.
func Decode(text []byte, v any) error {
	switch first := bytes.TrimSpace(text); {
	case len(first) == 0:
		return errors.New("nothing, want one JSON object")
	case first[0] != '{':
		return errors.New("not a JSON object")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if unknown := Unknown(text, reflect.TypeOf(v)); len(unknown) > 0 {
			return unknown[0]
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
