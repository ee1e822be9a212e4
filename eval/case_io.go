package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/skill-evolve/evolve/eval/fields"
	"github.com/skill-evolve/evolve/eval/plain"
)

// ReadCases reads cases as JSON Lines: one object per line, of any length; blank lines
// are skipped. Unknown fields, invalid cases and an id that occurs twice for one skill
// are Faults; each names the line ("cases.jsonl:3: …"; name is what r was opened from).
// Nothing is returned with an error.
//
// Eval files of other programs are another format, with functions of their own.
func ReadCases(r io.Reader, name string) ([]Case, error) {
	var cases []Case
	var faults Faults
	seen := make(map[[2]string]int) // skill, id → line
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read cases: %s:%d: %w", name, n, err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			c, wrong := decodeCase(text)
			for _, f := range wrong {
				faults = append(faults, fmt.Errorf("%s:%d: %w", name, n, f))
			}
			id := [2]string{c.Skill, c.ID}
			if first, dup := seen[id]; dup && len(wrong) == 0 {
				faults = append(faults, fmt.Errorf("%s:%d: case %q of skill %q is on line %d already", name, n, c.ID, c.Skill, first))
			} else if !dup {
				seen[id] = n
			}
			cases = append(cases, *c)
		}
		if err == io.EOF && len(faults) > 0 {
			return nil, faults
		}
		if err == io.EOF {
			return cases, nil
		}
	}
}

// Faults are all that is wrong with a text, in its order; as an error they are the first.
type Faults []error

func (f Faults) Error() string   { return f[0].Error() }
func (f Faults) Unwrap() []error { return f }

// DecodeCase decodes one case from one JSON object and validates it. A trigger case
// without checks gets the check that it implies. Errors are Faults.
func DecodeCase(text []byte) (*Case, error) {
	c, faults := decodeCase(text)
	if len(faults) > 0 {
		return nil, faults
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

// WriteCases writes cases as JSON Lines, in their order.
func WriteCases(w io.Writer, cases []Case) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // the file is read by people
	for i := range cases {
		if err := enc.Encode(&cases[i]); err != nil {
			return fmt.Errorf("write case %q: %w", cases[i].ID, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write cases: %w", err)
	}
	return nil
}
