package work_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/harvest/work"
)

// changed is the file that is kept of a change of file, "" if none is.
func changed(root, file string) string {
	r := work.New(work.All, plain, plain)
	r.Changed(0, "", file, "x", "")
	for _, a := range r.Finish(root)[0] {
		return a.File
	}
	return ""
}

func TestFiles(t *testing.T) {
	const root = "/home/a/project"
	for file, want := range map[string]string{
		"/home/a/project/src/main.go": "src/main.go", "src/main.go": "src/main.go", "./a/../b.go": "b.go", "/home/a/project/a/../b.go": "b.go",
		"environment.go": "environment.go", "keys.go": "keys.go", "identity.go": "identity.go", "secrets.go": "secrets.go", ".github/ci.yml": ".github/ci.yml",
		"": "", ".": "", root: "", "/etc/hosts": "", "../b.go": "", "/home/a/project2/b.go": "", "/home/a/project/../x": "", "~/x": "", "a\x00b": "", "a\nb": "",
		`C:\x\y.go`: "", "/home/a/.claude/CLAUDE.md": "", "\xff.go": "", strings.Repeat("a/", 3000): "",
		".env": "", ".env.local": "", "web/.envrc": "", "prod.env": "", "cert.pem": "", "CERT.PEM": "", "id_rsa": "", "deploy/id_ed25519.pub": "", "a.tfvars": "", "a.auto.tfvars.json": "",
		"tls.key": "", "kubeconfig": "", "kubeconfig.yaml": "", "credentials": "", "credentials.json": "", "gcp-credentials.json": "", ".netrc": "", ".npmrc": "", ".pypirc": "", "a.p12": "", "a.kdbx": "",
		"config/secrets.yml": "", ".aws/config": "", ".ssh/config": "", ".git/config": "", "sub/.git/hooks/x": "", ".docker/config.json": "", "terraform.tfstate.backup": "",
	} {
		if got := changed(root, file); got != want {
			t.Errorf("%q is kept as %q, want %q", file, got, want)
		}
	}
	for _, c := range [][3]string{
		{"", "a.go", "a.go"}, {"", "/a.go", ""}, {"/", "/a.go", "a.go"}, {`C:\p`, `C:\p\src\a.go`, "src/a.go"}, {`C:\p`, `C:\q\a.go`, ""}, {`C:\p`, `src\a.go`, "src/a.go"},
	} {
		if got := changed(c[0], c[1]); got != c[2] {
			t.Errorf("%q of %q is kept as %q, want %q", c[1], c[0], got, c[2])
		}
	}
}

func TestEnvironments(t *testing.T) {
	for line, want := range map[string]string{
		"env": "env", "env | sort": "env; sort", "printenv": "printenv", "set": "set", "export -p | cat": "export; cat",
		"export A=1 B=2": "export", "export A=1; export B=2": "=", "export A=1 && make": "=", "A=1 B=2": "…", "declare -x A=1 B=2; make all": "declare; make",
		"GOOS=linux GOARCH=arm64 go build": "=", "A=1 B=2 C=3 D=4 ./run x": "run", "docker run -e A=1 -e B=2 -e C=3 -e D=4 img": "docker", "env A=1 go test ./...": "=",
		"set -euo pipefail; make": "=", "bash -c 'export A=1 B=2; make'": "bash; export; make", "export A=1 B=2; cat <<EOF": "…",
		"cat > .env <<EOF\nA=1\nEOF": "cat", "echo A=1 >> .env": "echo", "printf x | tee -a config/.env": "printf; tee", "cat .env": "=", "git add .env": "=",
		"sed -i s/a/b/ .env": "sed", "sed -n 1p .env": "=", "cat > /tmp/x.py <<EOF\nx\nEOF": "cat", "echo x > /dev/null": "=", "echo x >&2": "=", "make > /tmp/log 2>&1": "=",
		"cat > a.go <<EOF\nx\nEOF": "=", "go test | tee /tmp/log": "=", "cd /etc && echo x > a.go": "cd; echo",
	} {
		r := work.New(work.Commands, plain, plain)
		r.Ran(0, "", line, "")
		acts := r.Finish("/home/a/project")[0]
		if want == "=" {
			want = line
		} else if want == "…" {
			want = acts[0].Line
			if strings.Contains(want, "=1") {
				t.Errorf("%q is kept as %q", line, want)
			}
		}
		if len(acts) != 1 || acts[0].Line != want || acts[0].Cut != (want != line && want != "") && line != want {
			t.Errorf("%q is kept as %+v, want %q", line, acts, want)
		}
	}
}

func TestRunners(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./...": "go test", "cd x && GOFLAGS=-v go -C y test .": "go test", "gotestsum -- ./...": "gotestsum", "pytest -q": "pytest", "python3 -m pytest tests": "pytest", "uv run pytest": "pytest",
		".venv/bin/py.test": "pytest", "npm test": "npm test", "npm run test:unit": "npm run test", "npm --prefix web test": "npm test", "pnpm -F web test": "pnpm test", "yarn run test": "yarn run test",
		"npx jest a": "jest", "npx vitest run": "vitest", "cargo +nightly test": "cargo test", "make -j4 test": "make test", "make -C x unit-test": "make test", "make check": "make check", "mise run test:ci": "mise run test",
		"just test": "just test", "bundle exec rspec": "rspec", "bundle exec rake spec": "rake spec", "./gradlew :app:test": "gradlew test", "./mvnw -q test": "mvnw test", "ctest --output-on-failure": "ctest",
		"vendor/bin/phpunit": "phpunit", "dotnet test": "dotnet test", "bats tests": "bats", "tox -e py3": "tox", "deno test": "deno test", "bun test": "bun test", "timeout 60 go test .": "go test",
		"bash -c 'cd x && npm t'": "npm t", "sudo make test": "make test", "docker compose exec web pytest": "pytest", "make lint test": "make test", "node --test": "node --test",
		"go build ./...": "", "echo go test": "", "git commit -m 'go test'": "", "npm run build": "", "make": "", "cat test.sh": "", "ls tests": "", "cargo build": "", "mise run lint": "", "make latest": "", "go vet": "",
		"grep -r pytest .": "", "npm install jest": "", "pip install pytest": "", "make contest": "", "kubectl get pods": "",
	} {
		r := work.New(work.Commands, plain, plain)
		r.Ran(0, "", line, "")
		if got := r.Finish("")[0][0].Tests; got != want {
			t.Errorf("%q tests with %q, want %q", line, got, want)
		}
	}
}

func TestPatch(t *testing.T) {
	r := work.New(work.All, plain, plain)
	r.Patch(0, "p", "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: src/b.go\n@@ func x\n same\n-old\n+new\n*** End of File\n*** Update File: c.go\n*** Move to: d.go\n@@\n-c\n+d\n"+
		"*** Delete File: e.go\n*** Update File: .env\n*** Move to: notes.txt\n@@\n-secret\n+other\n*** End Patch\n+behind\n")
	r.Ended("p", nil, false)
	want := []work.Act{
		{Kind: work.Changed, File: "a.txt", Added: "one\ntwo"},
		{Kind: work.Changed, File: "src/b.go", Added: "new", Removed: "old"},
		{Kind: work.Changed, File: "c.go"},
		{Kind: work.Changed, File: "d.go", Added: "d", Removed: "c"},
		{Kind: work.Changed, File: "e.go"},
	}
	if got := r.Finish("/x")[0]; !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// FuzzPatch: nothing of a patch is kept but its added and removed lines and its files.
func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch")
	f.Add("*** Add File: a\n+x\n*** Delete File: \n")
	f.Add("*** Move to: b\n+x")
	f.Fuzz(func(t *testing.T, patch string) {
		r := work.New(work.All, plain, plain)
		r.Patch(0, "p", patch)
		for _, a := range r.Finish("/x")[0] {
			if !strings.Contains(patch, "*** ") || filepath.IsAbs(a.File) || strings.HasPrefix(a.File, "../") {
				t.Errorf("%q gives %+v", patch, a)
			}
			for _, side := range []struct{ mark, text string }{{"+", a.Added}, {"-", a.Removed}} {
				for line := range strings.SplitSeq(side.text, "\n") {
					if line != "" && !strings.Contains(strings.ReplaceAll(patch, "hunter2", "[secret]"), side.mark+line) {
						t.Errorf("%q gives the line %q", patch, line)
					}
				}
			}
		}
	})
}

// TestBounds: whatever the calls and their order, the limits hold, no secret is kept, and
// no change that failed, that was refused, or that is of a file of which nothing may be
// kept.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := work.New(rapid.SampledFrom([]work.Level{work.Commands, work.All}).Draw(t, "level"), plain, plain)
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"ä line\n", "hunter2\n", "x", "a\nb\n", "NEVER\n", ""}).Draw(t, "part"), rapid.IntRange(0, 4000).Draw(t, "times"))
		})
		file := rapid.SampledFrom([]string{"/x/a.go", "b/c.go", "/x/.env", "/y/z.go", "id_rsa", "/x/hunter2.go"})
		turn, ids := 0, 0
		for range rapid.IntRange(0, 40).Draw(t, "calls") {
			turn += rapid.IntRange(0, 1).Draw(t, "next")
			ids++
			id := string(rune('a' + ids%26))
			switch rapid.IntRange(0, 3).Draw(t, "call") {
			case 0:
				r.Ran(turn, id, "echo "+text.Draw(t, "line"), "")
			case 1:
				r.Changed(turn, id, file.Draw(t, "file"), text.Draw(t, "added"), text.Draw(t, "removed"))
			case 2:
				r.Patch(turn, id, "*** Begin Patch\n*** Add File: "+file.Draw(t, "file")+"\n+"+strings.ReplaceAll(text.Draw(t, "added"), "\n", "\n+"))
			case 3:
				r.Changed(turn, id, "failed.go", "x", "")
				r.Ended(id, nil, true)
				r.Changed(turn, "r", "refused.go", "x", "")
				r.Refused(turn, "r", "Edit", text.Draw(t, "said"))
			}
			r.Ended(id, nil, false)
		}
		for turn, acts := range r.Finish("/x") {
			lines := 0
			for _, a := range acts {
				lines += len(a.Added) + len(a.Removed)
				all := a.Line + a.File + a.Added + a.Removed + a.Said
				switch {
				case len(a.Line) > work.MaxLine, len(a.Said) > work.MaxLine, strings.Contains(all, "hunter2"), !utf8.ValidString(all):
					t.Fatalf("turn %d: %.200q", turn, all)
				case a.Kind == work.Changed && a.File != "a.go" && a.File != "b/c.go":
					t.Fatalf("turn %d: %s is kept", turn, a.File)
				case a.Kind == work.Refused && a.Added+a.Removed != "":
					t.Fatalf("turn %d: a refused change has lines", turn)
				}
			}
			if lines > work.MaxTurn {
				t.Fatalf("turn %d: %d bytes", turn, lines)
			}
		}
	})
}

// TestIgnored: nothing is kept of files that git ignores, if the repository is there, and
// files elsewhere in it are kept.
func TestIgnored(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	top := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", top).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root := filepath.Join(top, "web")
	for name, text := range map[string]string{".gitignore": "*.log\n/private/\n", "web/.gitignore": "local.yml\n", ".git/info/exclude": "mine.txt\n"} {
		name = filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root, "away")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"a.go": "a.go", root + "/sub/a.go": "sub/a.go", top + "/b.go": "../b.go", "../c.go": "../c.go", "-x": "-x", ":(top)y": ":(top)y", "*.go": "*.go",
		"x.log": "", top + "/private/a.go": "", "local.yml": "", "sub/local.yml": "", "mine.txt": "", "away/a.go": "", "../../a.go": "", filepath.Dir(top) + "/a.go": "",
	} {
		if got := changed(root, file); got != want {
			t.Errorf("%q is kept as %q, want %q", file, got, want)
		}
	}
	r := work.New(work.Commands, plain, plain)
	r.Ran(0, "", "cat > local.yml <<EOF\nx\nEOF", "")
	if got := r.Finish(root)[0][0].Line; got != "cat" {
		t.Errorf("kept as %q", got)
	}
	// Without an answer of git's, no file is kept.
	t.Setenv("PATH", "")
	if got := changed(root, "a.go"); got != "" {
		t.Errorf("a.go is kept as %q", got)
	}
}
