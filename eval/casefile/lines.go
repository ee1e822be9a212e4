package casefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/skill-evolve/evolve/eval"
)

// ReadLines reads cases as JSON Lines: one object per line, of any length; blank lines
// are skipped. Unknown fields, invalid cases and an id that occurs twice for one skill
// are eval.Faults; each names the line ("cases.jsonl:3: …"; name is what r was opened from).
// Nothing is returned with an error.
//
// Eval files of other programs are another format, with functions of their own.
func ReadLines(r io.Reader, name string) ([]eval.Case, error) {
	var cases []eval.Case
	var faults eval.Faults
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
			c, err := eval.DecodeCase(text)
			wrong, _ := errors.AsType[eval.Faults](err)
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

// WriteLines writes cases as JSON Lines, in their order.
func WriteLines(w io.Writer, cases []eval.Case) error {
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
