package main

import (
	"strings"
	"testing"
)

func TestShownIsPlainAndShort(t *testing.T) {
	long := "\x1b]0;title\x07\x1b[31mred\x1b[0m\n" + strings.Repeat("line\n", 100) + strings.Repeat("x", 5000)
	got := shown(long, "")
	if strings.ContainsRune(got, '\x1b') || !strings.HasPrefix(got, "red\n") || !strings.HasSuffix(got, "… (cut)") ||
		strings.Count(got, "\n") > shownLines || len(shown(strings.Repeat("x", 5000), "")) > shownRunes+20 {
		t.Errorf("%q", got)
	}
	if got := shown("  short\n", ""); got != "short" {
		t.Errorf("%q", got)
	}
	if got := shown("short\n", "ran \x1b[31mls\n"); got != "short\n── what was done ──\nran ls" {
		t.Errorf("%q", got)
	}
}
