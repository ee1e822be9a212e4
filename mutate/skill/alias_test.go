package skill

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAliases: two names for one file in one root are one skill, by the folder's own
// name; in another root they are what they were.
func TestAliases(t *testing.T) {
	dir := t.TempDir()
	text := []byte("---\nname: labels\ndescription: Label a text.\n---\n# Labels\n")
	for _, d := range []string{"skills/labels", "skills/other", "elsewhere/style"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, FileName), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, "skills", name)); err != nil {
			t.Skip("no symlinks here")
		}
	}
	link("labels", "a-tagger") // sorts before the folder
	link("labels", "tagger")
	link("../elsewhere/style", "format")
	link("../elsewhere/style", "style")
	link("../elsewhere/style", "zebra")
	r := Discover([]Root{{Dir: filepath.Join(dir, "skills"), Scope: "user"}})
	var names []string
	for _, e := range r.Entries {
		names = append(names, e.Name)
	}
	if want := []string{"labels", "other", "style"}; !slices.Equal(names, want) {
		t.Errorf("the skills are %v, want %v", names, want)
	}
	if got := r.AliasesOf("labels"); !slices.Equal(got, []string{"a-tagger", "tagger"}) {
		t.Errorf("labels is also %v", got)
	}
	if got := r.AliasesOf("style"); !slices.Equal(got, []string{"format", "zebra"}) {
		t.Errorf("style is also %v", got)
	}
	_, err := r.Lookup("tagger")
	var alias *AliasError
	if !errors.As(err, &alias) || alias.Of != "labels" || err.Error() != "tagger is labels: two names for one file" {
		t.Errorf("tagger: %v", err)
	}
	if e, err := r.Lookup("labels"); err != nil || e.Dir != filepath.Join(dir, "skills", "labels") {
		t.Errorf("labels: %+v, %v", e, err)
	}
}
