package report

import "testing"

func TestEmphasised(t *testing.T) {
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
