package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/skill-evolve/evolve/eval/fields"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Faults are all that is wrong with a text, in its order; as an error they are the first.
type Faults []error

func (f Faults) Error() string   { return f[0].Error() }
func (f Faults) Unwrap() []error { return f }

// DecodeCase decodes one case from one JSON object and validates it. A trigger case
// without checks gets the check that it implies. Errors are Faults; the case is never nil,
// and beside them it is what could be read.
func DecodeCase(text []byte) (*Case, error) {
	c, faults := decodeCase(text)
	if len(faults) > 0 {
		return c, faults
	}
	return c, nil
}

func decodeCase(text []byte) (*Case, Faults) {
	c := new(Case)
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return c, Faults{errors.New("decode case: an array, want JSON Lines (one object a line)")}
	}
	var faults Faults
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(c)
	if err != nil {
		for _, f := range fields.Unknown(text, reflect.TypeFor[Case]()) {
			faults = append(faults, fmt.Errorf("decode case: %w", f))
		}
		if len(faults) > 0 { // the fields that are known may be wrong, too
			*c, dec = Case{}, json.NewDecoder(bytes.NewReader(text))
			err = dec.Decode(c)
		}
	}
	if err != nil {
		return c, append(faults, fmt.Errorf("decode case: %w", plain.JSON(err)))
	}
	if _, err := dec.Token(); err != io.EOF {
		faults = append(faults, errors.New("decode case: text after the object (one object a line)"))
	}
	faults = append(faults, c.faults()...)
	c.Checks = c.checks()
	return c, faults
}
