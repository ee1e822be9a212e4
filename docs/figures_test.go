package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestFiguresHaveOneForm: pages and recorded output write percentages, differences,
// intervals, times and dollars as numbers.md says.
func TestFiguresHaveOneForm(t *testing.T) {
	var files []string
	for _, glob := range []string{"*.md", "../README.md", "../CHANGELOG.md", "../cmd/evolve/testdata/transcript/*.txt", "../tournament/report/testdata/*.*"} {
		found, err := filepath.Glob(glob)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", glob, len(found), err)
		}
		files = append(files, found...)
	}
	for _, other := range []struct{ form, instead string }{
		{`\d%(?:[ )]| interval)`, "5 %"},
		{`−\d`, "-0.10"},
		{`[-+]\d[\d.]*(?:…|\.\.)[-+]\d`, "+0.02 to +0.80"},
		{`\d(?:ms|min)\b`, "664 ms, 45 min"},
		{`\$(?:\d+\.\d\b|[1-9]\d*\.\d{3}|\d{4})`, "$1.35"},
	} {
		re := regexp.MustCompile(other.form)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := re.Find(text); got != nil {
				t.Errorf("%s has %q; the form is %s", file, got, other.instead)
			}
		}
	}
}
