package process

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
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

func TestTailIsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tl := tail{most: rapid.IntRange(1, 20).Draw(t, "most")}
		var all []byte
		for range rapid.IntRange(0, 20).Draw(t, "writes") {
			p := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "p")
			all = append(all, p...)
			_ = tl.write(p)
		}
		if want := all[max(0, len(all)-tl.most):]; !bytes.Equal(tl.bytes(), want) {
			t.Fatalf("%q, want %q", tl.bytes(), want)
		}
	})
}

// Many short lines are what the end of a test's output is made of.
func BenchmarkTail(b *testing.B) {
	tl, line := tail{most: programKept}, []byte("ok  	example.com/x	0.1s\n")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_ = tl.write(line)
	}
	if len(tl.bytes()) == 0 {
		b.Fatal("nothing was kept")
	}
}
