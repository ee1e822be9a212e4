package report

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/plain"
)

func TestDiffMarksChangedWords(t *testing.T) {
	d, err := Between("v0", "v1", parse(t, oldText), parse(t, strings.Replace(oldText, "at most three tags.", "at most five tags.", 1)))
	if err != nil {
		t.Fatal(err)
	}
	got := d.Text(true)
	for _, want := range []string{"\x1b[31m-- Use at most \x1b[7mthree\x1b[27m tags.\x1b[0m\n", "\x1b[32m+- Use at most \x1b[7mfive\x1b[27m tags.\x1b[0m\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if plain.Text(got) != d.Text(false) {
		t.Errorf("colour changes the text: %q", plain.Text(got))
	}
	for _, c := range [][4]string{
		{"Be brief.", "Write long poems.", "", ""}, // nothing in common
		{"Be.", "Be as long as you like.", "", ""}, // too little
		{"one two three", "one two three four", "one two three", "one two three\x1b[7m four\x1b[27m"},
		{"ab cd", "ab cd", "ab cd", "ab cd"},
		{"größe 図 x", "größe 表 x", "größe \x1b[7m図\x1b[27m x", "größe \x1b[7m表\x1b[27m x"},
	} {
		if a, b := emphasised(c[0], c[1]); a != c[2] || b != c[3] {
			t.Errorf("%q, %q: %q, %q", c[0], c[1], a, b)
		}
	}
}

// TestDiffShowsWhatCannotBeSeen: line ends and hidden characters are what differs
// between lines that look the same.
func TestDiffShowsWhatCannotBeSeen(t *testing.T) {
	for change, want := range map[string]string{
		"Be brief.":         "-Be brief.\n+Be brief.\n\\ No newline at end of file\n",
		"Be brief.\r\n":     "-Be brief.\n+Be brief.^M\n",
		"Be\u202e brief.\n": "-Be brief.\n+Be<U+202E> brief.\n",
		"Be\x07 brief.\n":   "+Be brief.\n",
	} {
		d, err := Between("v0", "v1", parse(t, oldText), parse(t, strings.Replace(oldText, "Be brief.\n", change, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Text(false); !strings.Contains(got, want) {
			t.Errorf("%q is shown as\n%s", change, got)
		}
	}
}
