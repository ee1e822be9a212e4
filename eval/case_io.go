package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
)

// ReadCases reads cases as JSON Lines: one object per line, of any length; blank lines
// are skipped. Unknown fields, invalid cases and an id that occurs twice for one skill
// are errors; each names the line ("cases.jsonl:3: …"; name is what r was opened from).
// Nothing is returned with an error.
//
// Eval files of other programs are another format, with functions of their own.
func ReadCases(r io.Reader, name string) ([]Case, error) {
	var cases []Case
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
			c, cerr := DecodeCase(text)
			if cerr != nil {
				return nil, fmt.Errorf("read cases: %s:%d: %w", name, n, cerr)
			}
			id := [2]string{c.Skill, c.ID}
			if first, dup := seen[id]; dup {
				return nil, fmt.Errorf("read cases: %s:%d: case %q of skill %q is on line %d already",
					name, n, c.ID, c.Skill, first)
			}
			seen[id] = n
			cases = append(cases, *c)
		}
		if err == io.EOF {
			return cases, nil
		}
	}
}

// DecodeCase decodes one case from one JSON object and validates it. A trigger case
// without checks gets the check that it implies.
func DecodeCase(text []byte) (*Case, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return nil, errors.New("decode case: an array, want JSON Lines (one object a line)")
	}
	var c Case
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("decode case: %w", cmp.Or(unknownField(text, reflect.TypeFor[Case](), ""), plain.JSON(err)))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("decode case: text after the object (one object a line)")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Checks = c.checks()
	return &c, nil
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

// unknownField searches for the first object key in text that t has no field for: the
// error of encoding/json gives neither its place nor the nearest known name.
func unknownField(text []byte, t reflect.Type, at string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return nil
	case t.Kind() == reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(text, &items) != nil {
			return nil
		}
		for i, item := range items {
			if err := unknownField(item, t.Elem(), fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	case t.Kind() != reflect.Struct:
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	fields := make(map[string]reflect.Type)
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = f.Type
		names = append(names, name)
	}
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		path := strings.TrimPrefix(at+"."+k, ".")
		ft, known := fields[strings.ToLower(k)] // encoding/json ignores case too
		if !known {
			return fmt.Errorf("unknown field %q%s", path, didYouMean(k, names))
		}
		if err := unknownField(object[k], ft, path); err != nil {
			return err
		}
	}
	return nil
}
