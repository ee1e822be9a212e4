package work_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/work"
)

// ran is what is kept of a command line in a session of root.
func ran(root, line string) work.Act {
	r := work.New(work.All, plain, plain)
	r.Ran(0, "", line, "")
	return r.Finish(root)[0][0]
}

// TestHiddenWrites has text written to secret-named files in other ways than "echo X > .env".
func TestHiddenWrites(t *testing.T) {
	long := strings.Repeat("PADDING=x\n", 2000)
	for _, line := range []string{
		"echo PASS=s3same | cat > .env",
		"echo PASS=s3same | sudo tee .env",
		"echo PASS=s3same | sudo tee -a /etc/app/.env > /dev/null",
		"{ echo A=1; echo PASS=s3same; } > .env",
		"(echo A=1; echo PASS=s3same) >> .env",
		"for i in 1; do echo PASS=s3same; done > .env",
		"printf 'PASS=s3same' | base64 -d > .env",
		"echo PASS=s3same | dd of=.env",
		"cat > .env <<EOF\nPASS=s3same\n" + long + "EOF",
		"cat > .env <<'EOF'\nPASS=s3same\nEOF\nfor x in a; do (",
		"git apply <<'EOF'\n--- a/.env\n+++ b/.env\n@@ -0,0 +1 @@\n+PASS=s3same\nEOF",
		"patch -p1 <<'EOF'\n--- a/.env\n+++ b/.env\n@@ -0,0 +1 @@\n+PASS=s3same\nEOF",
		"cat > .en\"$v\" <<EOF\nPASS=s3same\nEOF",
		"cat <<EOF > \"$HOME/.aws/credentials\"\nPASS=s3same\nEOF",
		"cat <<EOF | tee .env > /dev/null\nPASS=s3same\nEOF",
		"bash -c 'echo PASS=s3same > .env'",
		"bash -c \"echo PASS=s3same > .env; $X\"",
		"echo s3same >| .env", "echo s3same &>> .env", "echo PASS=s3same 1> .env",
		"cat <<< PASS=s3same > .env", "sed -e s/a/s3same/ -i.bak .env", "perl -pi -e 's/a/s3same/' .env", "sed -ie 's/a/s3same/' .env",
		"python3 - <<'EOF'\nopen('.env','w').write('s3same')\nEOF",
		"python3 -c \"open('.env','w').write('s3same')\"",
		"node -e \"fs.writeFileSync('.env','s3same')\"",
		"sqlite3 x '.once .env' \"select 's3same'\"",
		"echo s3same > secrets/../.env", "install -m600 /dev/stdin .env <<< s3same", "cp /dev/stdin .env <<< s3same",
	} {
		if a := ran("/home/a/project", line); strings.Contains(a.Line, "s3same") {
			t.Errorf("kept: %.120q", a.Line)
		}
	}
}

// TestNestedRepositories is a session in a folder that holds repositories and is none.
func TestNestedRepositories(t *testing.T) {
	root := t.TempDir()
	repo := filepath.Join(root, "shop")
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if err := os.WriteFile(filepath.Join(repo, ".gitignore"), []byte("local.yml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := changed(root, filepath.Join(repo, "local.yml")); got != "" {
		t.Errorf("an ignored file is kept as %q", got)
	}
	if got := changed(root, filepath.Join(repo, "a.go")); got != "shop/a.go" {
		t.Errorf("a.go is kept as %q", got)
	}
	if got := changed(root, filepath.Join(root, "notes.md")); got != "notes.md" {
		t.Errorf("notes.md is kept as %q", got)
	}
	// a nested one in a repository
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if got := changed(root, filepath.Join(repo, "local.yml")); got != "" {
		t.Errorf("nested: an ignored file is kept as %q", got)
	}
}
