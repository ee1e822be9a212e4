package term

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// ownColour matches the sequences with which evolve colours its own output.
var ownColour = lazyregexp.New("\x1b\\[(?:0|1|2|7|27|31|32|36)m")

// forTerminal is text made safe for a terminal: whatever it quotes (sessions,
// imported cases, models, servers), the terminal gets no control sequences
// but our colours.
func forTerminal(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range ownColour.FindAllStringIndex(text, -1) {
		b.WriteString(plain.Text(text[at:m[0]]))
		b.WriteString(text[m[0]:m[1]])
		at = m[1]
	}
	b.WriteString(plain.Text(text[at:]))
	return b.String()
}

// writePlain writes p to a terminal.
func writePlain(w io.Writer, p []byte) (int, error) {
	if _, err := io.WriteString(w, forTerminal(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A plainTerminal is a terminal without a console.
type plainTerminal struct{ *os.File }

func (t plainTerminal) Write(p []byte) (int, error)       { return writePlain(t.File, p) }
func (t plainTerminal) WriteString(s string) (int, error) { return t.Write([]byte(s)) }

// ReadFrom keeps io.Copy from bypassing Write.
func (t plainTerminal) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{t}, r)
}

// plainly is w without control sequences, if it is a terminal.
func plainly(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		return plainTerminal{f}
	}
	return w
}

// EscapedJSON writes control characters that JSON does not escape by itself
// as \u escapes; the value stays the same.
func EscapedJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, obeyed) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if obeyed(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// obeyed is true of DEL, of the C1 controls, and of the characters that
// reorder text.
func obeyed(r rune) bool {
	return r >= 0x7f && unicode.IsControl(r) || r >= 0x200e && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
