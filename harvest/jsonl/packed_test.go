package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// pack compresses text as one frame.
func pack(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Frames one behind the other are one text. Of what is cut off, what comes before
// the cut is there, and the cut is a problem.
func TestUnpack(t *testing.T) {
	one, two := bytes.Repeat([]byte("{\"a\":1}\n"), 300), []byte("{\"b\":2}\n")
	frames := append(pack(t, one), pack(t, two)...)
	text := append(bytes.Clone(one), two...)
	if got, err := io.ReadAll(Unpack(bytes.NewReader(frames))); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
	// What is long because there is much in it is no bomb.
	u := &unpacker{r: bytes.NewReader(frames), limit: 10}
	if got, err := io.ReadAll(u); err != nil || !bytes.Equal(got, text) {
		t.Errorf("above the limit: %d bytes of %d, error %v", len(got), len(text), err)
	}
	for cut := range frames {
		whole := cut == 0 || cut == len(pack(t, one))
		got, err := io.ReadAll(Unpack(bytes.NewReader(frames[:cut])))
		if whole != (err == nil) || !whole && !errors.Is(err, errCut) || !bytes.HasPrefix(text, got) {
			t.Errorf("cut at %d: %d bytes, error %v", cut, len(got), err)
		}
		lines := 0
		problems, err := Scan(context.Background(), Unpack(bytes.NewReader(frames[:cut])), "f", func([]byte) bool { return true }, func(int, []byte) bool { lines++; return true })
		if whole != (len(problems) == 0) || err != nil || lines > 301 {
			t.Errorf("cut at %d: %d lines, problems %v, error %v", cut, lines, problems, err)
		}
	}
	// Of its only frame too.
	random := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(random)
	var long bytes.Buffer
	for piece := range slices.Chunk(random, 48) {
		fmt.Fprintf(&long, "{\"a\":\"%x\"}\n", piece)
	}
	packed := pack(t, long.Bytes())
	lines := 0
	problems, err := Scan(context.Background(), Unpack(bytes.NewReader(packed[:len(packed)/2])), "f", func([]byte) bool { return true }, func(int, []byte) bool { lines++; return true })
	if len(problems) != 1 || problems[0].Reason != "read: "+errCut.Error() || err != nil || lines < 5000 {
		t.Errorf("cut in the middle: %d lines, problems %v, error %v", lines, problems, err)
	}
}

// A few kilobytes of line feeds are not a night's work.
func TestUnpackOfLineFeeds(t *testing.T) {
	packed := pack(t, bytes.Repeat([]byte("\n"), 300<<20))
	u := &unpacker{r: bytes.NewReader(packed), limit: maxUnpacked}
	problems, err := Scan(context.Background(), u, "f", nil, nil)
	if err != nil || len(problems) != 1 || problems[0].Reason != "read: "+errUnpacked.Error() || problems[0].Line < 100<<20 {
		t.Errorf("problems %v, error %v", problems, err)
	}
	if u.out > 128<<20 {
		t.Errorf("%d bytes were unpacked of %d", u.out, len(packed))
	}
	// They are not returned one by one.
	l := NewLines(bytes.NewReader([]byte("\n" + strings.Repeat("\n", 1000) + "{}\n\n")))
	for i, want := range []string{"", "{}"} {
		if line, err := l.Next(); string(line) != want || err != nil {
			t.Errorf("line %d is %q, error %v", i, line, err)
		}
		l.skipEmpty()
	}
	if l.Line() != 1002 {
		t.Errorf("at line %d", l.Line())
	}
}

// What is damaged, what would fill the memory, and what would not end is read up to
// there, and a problem.
func TestUnpackRefuses(t *testing.T) {
	text := bytes.Repeat([]byte("{\"a\":1}\n"), 1000)
	damaged := pack(t, text)
	damaged[len(damaged)-1]++ // its checksum
	// One frame with a window of 64 MiB, and in it a block of one byte as it is.
	wide := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 16 << 3, 1<<3 | 1, 0, 0, '{'}
	for name, c := range map[string]struct {
		packed []byte
		limit  int64
		want   string
	}{
		"damaged":         {damaged, maxUnpacked, "read: unpack: "},
		"no such file":    {[]byte("{\"type\":\"user\"}\n"), maxUnpacked, "read: unpack: invalid input: magic number mismatch"},
		"a wide window":   {wide, maxUnpacked, "read: unpack: window size exceeded"},
		"a bomb":          {pack(t, make([]byte, 64<<20)), 1 << 20, "read: " + errUnpacked.Error()},
		"a bomb of lines": {pack(t, bytes.Repeat([]byte("{\"a\":1}\n"), 1<<20)), 1 << 20, "read: " + errUnpacked.Error()},
	} {
		lines := 0
		u := &unpacker{r: bytes.NewReader(c.packed), limit: c.limit}
		problems, err := Scan(context.Background(), u, "f", func([]byte) bool { return true }, func(int, []byte) bool { lines++; return true })
		if err != nil || len(problems) == 0 || !strings.HasPrefix(problems[len(problems)-1].Reason, c.want) {
			t.Errorf("%s: problems %v, error %v", name, problems, err)
		}
		if most := max(int(c.limit), maxRatio*len(c.packed)) / len("{\"a\":1}\n"); lines > most || name == "a bomb of lines" && lines != most {
			t.Errorf("%s: %d lines, %d would be allowed", name, lines, most)
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
		if n, err := u.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("%s: read %d bytes after the end", name, n)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n"), 5, false)
	f.Add(pack(f, bytes.Repeat([]byte("ab"), 1000)), 3, true)
	f.Add(pack(f, make([]byte, 1<<20)), 0, true)
	f.Fuzz(func(t *testing.T, data []byte, cut int, raw bool) {
		const limit = 1 << 16
		if raw { // whatever it holds
			u := &unpacker{r: bytes.NewReader(data), limit: limit}
			got, err := io.ReadAll(u)
			if len(got) > max(limit, maxRatio*len(data)) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d bytes, error %v", len(got), err)
			}
			_ = u.Close()
			return
		}
		packed := pack(t, data)
		if cut < 0 || cut > len(packed) {
			cut = len(packed)
		}
		got, err := io.ReadAll(Unpack(bytes.NewReader(packed[:cut])))
		if err != nil && !errors.Is(err, errCut) || err != nil && cut == len(packed) || !bytes.HasPrefix(data, got) || cut == len(packed) && len(got) != len(data) {
			t.Errorf("%d bytes of %d, cut at %d of %d: %v", len(got), len(data), cut, len(packed), err)
		}
	})
}
