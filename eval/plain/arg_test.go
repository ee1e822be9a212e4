package plain

import (
	"os/exec"
	"testing"

	"pgregory.net/rapid"
)

// TestArg: a shell reads an argument back as it was.
func TestArg(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell is installed")
	}
	for _, s := range []string{"", "dataviz", "$(id)", "it's", "a b", "`id`", "a\nb", `a\b"c`} {
		if out, err := exec.Command(shell, "-c", "printf %s "+Arg(s)).Output(); err != nil || string(out) != s {
			t.Errorf("%q: a shell reads %q, %v", s, out, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-z$()'"\x60 ;|&<>*?~#\\-]{1,12}`).Draw(t, "s")
		if out, err := exec.Command(shell, "-c", "printf %s x"+Arg(s)).Output(); err != nil || string(out) != "x"+s {
			t.Fatalf("%q: a shell reads %q, %v", s, out, err)
		}
	})
}
