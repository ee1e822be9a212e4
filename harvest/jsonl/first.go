package jsonl

import (
	"bytes"
	"io"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// maxFirst is how much of a transcript's first line is read, in bytes.
const maxFirst = 256 << 10

// First is the first line of a transcript, compressed or not, or the beginning of it; nil
// if there is none.
func First(path string) []byte {
	f, err := bounded.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := io.Reader(f)
	if Packed(path) {
		u := Unpack(f)
		defer u.Close()
		in = u
	}
	var line []byte
	part := make([]byte, 4<<10)
	for len(line) < maxFirst {
		n, err := in.Read(part)
		line = append(line, part[:n]...)
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			return line[:end]
		}
		if err != nil {
			break
		}
	}
	return line
}
