package install

import (
	"os"
	"path/filepath"
	"testing"
)

// tree writes files, named by slash-separated paths, below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRestHash(t *testing.T) {
	files := map[string]string{"SKILL.md": "a", "scripts/run.sh": "echo", "references/SKILL.md": "about skills"}
	hash := func(root string) string {
		t.Helper()
		h, err := RestHash(root)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	root := tree(t, files)
	base := hash(root)
	if base == "" || base != hash(tree(t, files)) {
		t.Fatal("two equal folders differ")
	}
	unchanged := func(what string) {
		t.Helper()
		if hash(root) != base {
			t.Errorf("%s changed the hash", what)
		}
	}
	changed := func(what string) {
		t.Helper()
		h := hash(root)
		if h == base {
			t.Errorf("%s did not change the hash", what)
		}
		base = h
	}
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("SKILL.md", "b")
	unchanged("SKILL.md")
	write(".git/HEAD", "ref")
	unchanged("version control")
	write(tempPrefix+"1", "x")
	unchanged("our temporary file")
	if err := os.MkdirAll(filepath.Join(root, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	unchanged("an empty folder")

	write("scripts/run.sh", "echo 2")
	changed("a byte")
	if err := os.Chmod(filepath.Join(root, "scripts/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	changed("a mode")
	if err := os.Rename(filepath.Join(root, "scripts/run.sh"), filepath.Join(root, "scripts/go.sh")); err != nil {
		t.Fatal(err)
	}
	changed("a name")
	write("references/SKILL.md", "other")
	changed("a SKILL.md that is not the skill's")

	outside := tree(t, map[string]string{"tool.sh": "one"})
	if err := os.Symlink(outside, filepath.Join(root, "tools")); err != nil {
		t.Skip(err)
	}
	changed("a link to a folder")
	if err := os.WriteFile(filepath.Join(outside, "tool.sh"), []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	changed("a byte behind a link")
	if err := os.Symlink(root, filepath.Join(root, "loop")); err != nil {
		t.Fatal(err)
	}
	changed("a link to the folder itself") // and it ends

	if h := hash(tree(t, map[string]string{"SKILL.md": "a", ".git/x": "y"})); h != "" {
		t.Errorf("a folder with nothing else has hash %q", h)
	}
	if _, err := RestHash(filepath.Join(root, "absent")); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}
