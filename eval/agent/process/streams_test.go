package process

import (
	"bytes"
	"errors"
	"testing"
)

// However a stream comes in, its lines are the same, and none is lost.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("one\n\ntwo\r\nlast"), 3, 1000)
	f.Add([]byte("\n"), 1, 1)
	f.Add([]byte("over the limit\n"), 4, 5)
	f.Fuzz(func(t *testing.T, text []byte, step, limit int) {
		if step < 1 || limit < 0 {
			return
		}
		var got [][]byte
		s := splitter{left: int64(limit), line: func(line []byte) error {
			got = append(got, bytes.Clone(line))
			return nil
		}}
		var err error
		for rest := text; len(rest) > 0 && err == nil; {
			n := min(step, len(rest))
			err = s.write(rest[:n])
			rest = rest[n:]
		}
		if over := len(text) > limit; over != errors.Is(err, errOverflow) {
			t.Fatalf("%d bytes of %d: %v", len(text), limit, err)
		}
		if end := s.end(); end != err {
			t.Fatalf("end: %v, want %v", end, err)
		}
		want := bytes.Split(text[:min(len(text), limit)], []byte("\n"))
		if last := len(want) - 1; err != nil || len(want[last]) == 0 {
			want = want[:last] // what has no end yet, and what is none
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines of %q, want %d", len(got), got, len(want))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("line %d is %q, want %q", i, got[i], want[i])
			}
		}
	})
}

func TestTail(t *testing.T) {
	for _, parts := range [][]string{{"abcdef"}, {"ab", "cdef"}, {"abcde", "f"}, {"x", "y", "abcdef"}, {"", "cd", "ef"}} {
		tl := tail{most: 4}
		for _, p := range parts {
			_ = tl.write([]byte(p))
		}
		if tl.String() != "cdef" {
			t.Errorf("%q leave %q", parts, tl.String())
		}
	}
	cut := tail{most: 5}
	_ = cut.write([]byte("ääö")) // two bytes each: half of the first is lost
	if cut.String() != "äö" {
		t.Errorf("%q", cut.String())
	}
}
