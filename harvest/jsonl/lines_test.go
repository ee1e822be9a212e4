package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func all(t *testing.T, r io.Reader) (lines []string, long int, whole bool) {
	t.Helper()
	l := NewLines(r)
	for {
		line, err := l.Next()
		switch {
		case err == io.EOF:
			return lines, long, l.Whole()
		case errors.Is(err, ErrLongLine):
			long++
		case err != nil:
			t.Fatal(err)
		default:
			lines = append(lines, string(line))
		}
		if l.Line() != len(lines)+long-1 {
			t.Fatalf("line number %d after %d lines and %d long ones", l.Line(), len(lines), long)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		in    string
		want  int
		whole bool
	}{
		{"", 0, true}, {"\n", 1, true}, {"a", 1, false}, {"a\n", 1, true}, {"a\nb", 2, false}, {"\n\n", 2, true},
		{strings.Repeat("x", 1<<20) + "\ny\n", 2, true},
	} {
		got, long, whole := all(t, iotest.HalfReader(strings.NewReader(c.in)))
		if len(got) != c.want || long != 0 || whole != c.whole || strings.Join(got, "\n") != strings.TrimSuffix(c.in, "\n") && c.in != "" {
			t.Errorf("%.20q: %d lines, %d long, whole %v; want %d, 0, %v", c.in, len(got), long, whole, c.want, c.whole)
		}
	}
}

// Two entries that were written on one line are two, of one number.
func TestGluedLines(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}{"b":2}` + "\n" + `{"c":3}` + "\n": `0 {"a":1} | 0 {"b":2} | 1 {"c":3}, whole true`,
		`{"a":1}{"b":2}{"c":3}`:                    `0 {"a":1} | 0 {"b":2} | 0 {"c":3}, whole false`,
		`{"a":"}{\"b"}` + "\n":                     `0 {"a":"}{\"b"}, whole true`,
		`{"a":"}{","b":"}{\""}` + "\n":             `0 {"a":"}{","b":"}{\""}, whole true`,
		`not JSON }{" at all` + "\n":               `0 not JSON }{" at all, whole true`,
		`{"a":{}}` + "\n" + `{}` + "\n":            `0 {"a":{}} | 1 {}, whole true`,
	} {
		l := NewLines(iotest.HalfReader(strings.NewReader(in)))
		var got []string
		for line, err := l.Next(); err == nil; line, err = l.Next() {
			got = append(got, fmt.Sprint(l.Line(), " ", string(line)))
		}
		if got := fmt.Sprintf("%s, whole %v", strings.Join(got, " | "), l.Whole()); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// zeros is an endless line.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A line above the limit is passed over while streaming, and what follows it is
// read.
func TestLongLine(t *testing.T) {
	for _, size := range []int64{MaxLine + 1<<17, 3 * MaxLine} {
		r := io.MultiReader(strings.NewReader("first\n"), io.LimitReader(zeros{}, size), strings.NewReader("\nlast\n"), io.LimitReader(zeros{}, size))
		got, long, whole := all(t, r)
		if strings.Join(got, ",") != "first,last" || long != 2 || whole {
			t.Errorf("%d: lines %.60q, %d long, whole %v", size, got, long, whole)
		}
	}
}

func TestLongestLine(t *testing.T) {
	got, long, _ := all(t, io.MultiReader(io.LimitReader(zeros{}, MaxLine), strings.NewReader("\n")))
	if long != 0 || len(got) != 1 || len(got[0]) != MaxLine {
		t.Errorf("%d lines, %d long", len(got), long)
	}
}

func TestLinesError(t *testing.T) {
	broken := errors.New("disk on fire")
	l := NewLines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if line, err := l.Next(); string(line) != "a" || err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	if line, err := l.Next(); string(line) != "b" || err != nil || l.Whole() {
		t.Errorf("%q, %v, whole %v", line, err, l.Whole())
	}
	if _, err := l.Next(); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), uint8(1))
	f.Add([]byte("\r\n\x00\n"), uint8(3))
	f.Add([]byte(`{}{"a":1}{"`), uint8(4))
	f.Fuzz(func(t *testing.T, data []byte, chunk uint8) {
		l := NewLines(&chunks{data, int(chunk) + 1})
		var got []byte
		for {
			line, err := l.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, line...); !l.more {
				got = append(got, '\n')
			}
		}
		want := data
		if len(want) > 0 && !bytes.HasSuffix(want, []byte("\n")) {
			want = append(bytes.Clone(want), '\n')
		}
		if !bytes.Equal(got, want) {
			t.Errorf("read %q of %q", got, data)
		}
	})
}

// chunks hands out at most n bytes a read.
type chunks struct {
	data []byte
	n    int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.data[:min(c.n, len(c.data))])
	c.data = c.data[n:]
	return n, nil
}
