package term

import (
	"bytes"
	"testing"
)

const sequences = "\x1b]0;PWNED\x07\x1b[31;1m\u009b31m\x1b[2J\u202e"

// A terminal gets our own colours, and nothing that a text tells it.
func TestForTerminal(t *testing.T) {
	if got, want := forTerminal(bold("a")+sequences+"b\tc\n"), bold("a")+"b\tc\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var b bytes.Buffer
	c := &console{Writer: &b}
	if n, err := c.Write([]byte(sequences + "x\n")); n != len(sequences)+2 || err != nil || b.String() != "x\n" {
		t.Errorf("%d, %v: %q", n, err, b.String())
	}
}
