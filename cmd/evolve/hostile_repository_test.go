package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostileConfigs are ways, by name, in which a repository's own files make
// git run a program. RUN is replaced by a shell command that leaves a mark.
var hostileConfigs = map[string]string{
	"filter":           "[filter \"x\"]\n\tsmudge = \"RUN; cat\"\n\trequired = true\n",
	"filter a=b":       "[filter \"a=b\"]\n\tsmudge = \"RUN; cat\"\n",
	"filter process":   "[filter \"a=b\"]\n\tprocess = \"RUN\"\n",
	"filter with NBSP": "[filter \"a\u00a0b\"]\n\tsmudge = \"RUN; cat\"\n",
	"filter with NEL":  "[filter \"a\u0085b\"]\n\tsmudge = \"RUN; cat\"\n",
	"filter with VT":   "[filter \"a\vb\"]\n\tsmudge = \"RUN; cat\"\n",
	"include":          "[include]\n\tpath = included\n",
	"includeIf":        "[includeIf \"gitdir:**\"]\n\tpath = included\n",
	"worktree config":  "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tworktreeConfig = true\n",
	"fsmonitor":        "[core]\n\tfsmonitor = \"RUN\"\n",
	"hooks":            "[core]\n\thooksPath = hostile-hooks\n",
	"pager":            "[core]\n\tpager = \"RUN; cat\"\n[pager]\n\tlog = \"RUN; cat\"\n\tarchive = \"RUN; cat\"\n\tcat-file = \"RUN; cat\"\n\tfor-each-ref = \"RUN; cat\"\n",
	"editor":           "[core]\n\teditor = \"RUN\"\n[sequence]\n\teditor = \"RUN\"\n",
	"diff":             "[diff]\n\texternal = \"RUN\"\n[diff \"x\"]\n\ttextconv = \"RUN; cat\"\n\tcommand = \"RUN\"\n[log]\n\tdiffMerges = on\n",
	"gpg":              "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = \"PROGRAM\"\n[gpg \"openpgp\"]\n\tprogram = \"PROGRAM\"\n",
	"alias":            "[alias]\n\tlog = \"!RUN\"\n\tfor-each-ref = \"!RUN\"\n\tarchive = \"!RUN\"\n\tcat-file = \"!RUN\"\n\trev-parse = \"!RUN\"\n\tls-tree = \"!RUN\"\n",
	"tar":              "[tar \"tar\"]\n\tcommand = \"RUN; cat\"\n[tar]\n\tumask = 0\n",
	"trailer":          "[trailer \"Entire-Checkpoint\"]\n\tcommand = \"RUN\"\n\tcmd = \"RUN\"\n",
	"trace2":           "[trace2]\n\teventTarget = MARK\n\tnormalTarget = MARK\n",
	"alternate refs":   "[core]\n\talternateRefsCommand = \"RUN\"\n",
	"fetch by ext":     promisor + "\turl = \"ext::sh -c RUN%20\"\n[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n",
	"fetch by ssh":     promisor + "\turl = ssh://host.invalid/x\n[core]\n\tsshCommand = \"RUN;\"\n[protocol \"ssh\"]\n\tallow = always\n",
	"fetch by git":     promisor + "\turl = git://host.invalid/x\n[core]\n\tgitProxy = \"PROGRAM\"\n[protocol \"git\"]\n\tallow = always\n",
	"fetch by file":    promisor + "\turl = /\n\tuploadPack = \"RUN;\"\n[protocol \"file\"]\n\tallow = always\n",
	"fetch by https":   promisor + "\turl = https://127.0.0.1:1/x\n[credential]\n\thelper = \"!RUN\"\n[core]\n\taskPass = \"PROGRAM\"\n[protocol \"https\"]\n\tallow = always\n",
}

const promisor = "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\tpromisor = true\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"

// hostileAttributes attach the drivers above to files of the commit.
const hostileAttributes = "plain.txt filter=x diff=x\nequals.txt filter=a=b\nnbsp.txt filter=a\u00a0b\nnel.txt filter=a\u0085b\nvt.txt filter=a\vb\nsubst.txt export-subst\n"

// A hostile repository has a whole commit, one with an object that is not there,
// and a checkpoint of Entire's with another.
type hostileRepository struct{ dir, whole, partial string }

func newHostileRepository(t *testing.T, git string) hostileRepository {
	t.Helper()
	r := hostileRepository{dir: filepath.Join(t.TempDir(), "base")}
	run := func(stdin string, args ...string) string {
		t.Helper()
		c := exec.Command(git, append([]string{"-C", r.dir}, args...)...)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
		c.Stdin = strings.NewReader(stdin)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	run("", "init", "-q", "-b", "main")
	blob := func(text string) string { return run(text, "hash-object", "-w", "--stdin") }
	tree := func(lines ...string) string {
		return run(strings.Join(lines, "\n")+"\n", "mktree", "--missing")
	}
	files := []string{"100644 blob " + blob(hostileAttributes) + "\t.gitattributes"}
	for _, name := range []string{"plain.txt", "equals.txt", "nbsp.txt", "nel.txt", "vt.txt"} {
		files = append(files, "100644 blob "+blob(name+"\n")+"\t"+name)
	}
	files = append(files, "100644 blob "+blob("$Format:%G?%GS$\n")+"\tsubst.txt")
	absent := strings.Repeat("12", 20)
	signed := func(tree, parent string) string {
		text := "tree " + tree + "\n" + parent + "author a <a@b> 1795197857 +0000\ncommitter a <a@b> 1795197857 +0000\n" +
			"gpgsig -----BEGIN PGP SIGNATURE-----\n \n bm8=\n -----END PGP SIGNATURE-----\n\nx\n\nEntire-Checkpoint: aabbccddee11\n"
		return run(text, "hash-object", "-t", "commit", "-w", "--stdin")
	}
	r.whole = signed(tree(files...), "")
	r.partial = signed(tree(append(files, "100644 blob "+absent+"\tabsent.bin")...), "parent "+r.whole+"\n")
	run("", "update-ref", "refs/heads/main", r.partial)
	session := tree("100644 blob "+blob(`{"session_id":"s1","agent":"Claude Code","created_at":"2026-11-20T18:01:00Z"}`)+"\tmetadata.json",
		"100644 blob "+blob(`{"isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":"chart the revenue"},"uuid":"u","timestamp":"2026-11-20T18:01:00Z","sessionId":"s1","cwd":"/home/dev/shop"}`+"\n")+"\tfull.jsonl",
		"100644 blob "+absent+"\tfull.jsonl.001")
	checkpoint := tree("040000 tree " + tree("040000 tree "+tree("040000 tree "+session+"\t0")+"\tbbccddee11") + "\taa")
	run("", "update-ref", "refs/heads/entire/checkpoints/v1", run("", "commit-tree", "-m", "x", checkpoint))
	return r
}

// copy makes a copy of the repository that has a hostile configuration, and
// returns what the configuration's programs would make.
func (r hostileRepository) copy(t *testing.T, parent, name string) (dir, mark string) {
	t.Helper()
	dir = filepath.Join(parent, name)
	if err := os.CopyFS(dir, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	mark = filepath.Join(parent, "PWNED-"+strings.ReplaceAll(name, " ", "-"))
	program := mark + ".sh"
	config := strings.NewReplacer("RUN%20", "touch% "+mark, "RUN", "touch "+mark, "MARK", mark, "PROGRAM", program).Replace(hostileConfigs[name])
	filter := "[filter \"a=b\"]\n\tsmudge = \"touch " + mark + "; cat\"\n"
	write := func(at, text string, mode os.FileMode) {
		t.Helper()
		f, err := os.OpenFile(at, os.O_APPEND|os.O_CREATE|os.O_WRONLY, mode)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	script := "#!/bin/sh\ntouch " + mark + "\ncat\n"
	write(program, script, 0o700)
	git := filepath.Join(dir, ".git")
	write(filepath.Join(git, "config"), config, 0o600)
	write(filepath.Join(git, "included"), filter, 0o600)
	write(filepath.Join(git, "config.worktree"), filter, 0o600)
	for _, at := range []string{filepath.Join(git, "hooks"), filepath.Join(dir, "hostile-hooks")} {
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"} {
			write(filepath.Join(at, hook), script, 0o700)
		}
	}
	return dir, mark
}

// A repository's own files run nothing when it is read: neither by a harvest of
// its checkpoints, nor by --dry-run, nor in a run that brings back its commits.
// git is one that does not know GIT_NO_LAZY_FETCH, as those before 2024.
func TestHostileRepositories(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	home, data, parent := t.TempDir(), t.TempDir(), t.TempDir()
	bin, skills := filepath.Join(home, "bin"), filepath.Join(home, ".claude", "skills", "plot")
	for _, dir := range []string{bin, skills} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	agent := filepath.Join(home, "agent.sh")
	for at, text := range map[string]string{
		filepath.Join(bin, "git"):         "#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec " + git + " \"$@\"\n",
		filepath.Join(skills, "SKILL.md"): "---\nname: plot\ndescription: Draws charts.\n---\n\n# Charts\n\n- Draw what is asked for.\n",
		agent: `#!/bin/sh
IN=$(cat)
case $IN in *'"ping"'*) echo '{"ok":true,"name":"reader","version":"1"}'; exit ;; esac
echo "{\"answer\":\"$(cat plain.txt equals.txt | tr '\n' ' ')\"}"
`,
	} {
		if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	allowEverything(t, data)
	evolve := func(stdin string, args ...string) (stdout, stderr string) {
		t.Helper()
		c, temp := exec.Command(os.Args[0], args...), t.TempDir()
		c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + data, "HOME=" + home, "TMPDIR=" + temp, "PATH=" + bin + ":" + os.Getenv("PATH"), "OPENAI_API_KEY=sk-test-not-a-key"}
		c.Stdin = strings.NewReader(stdin)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil {
			t.Fatalf("evolve %s: %v: %s", args[0], err, errs.String())
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("evolve %s left %v behind (%v)", args[0], left, err)
		}
		return out.String(), errs.String()
	}
	marks := map[string]string{}
	ran := func(what string) {
		t.Helper()
		for name, mark := range marks {
			if _, err := os.Stat(mark); err == nil {
				t.Errorf("%s ran a program of a repository: %s", what, name)
				_ = os.Remove(mark)
			}
		}
	}
	base := newHostileRepository(t, git)
	names := make([]string, 0, len(hostileConfigs))
	for name := range hostileConfigs {
		names = append(names, name)
	}
	slices.Sort(names)
	var cases strings.Builder
	for i, name := range names {
		var dir string
		dir, marks[name] = base.copy(t, parent, name)
		text, _ := evolve("", "harvest", "--source", "entire", "--repo", dir, "--json")
		ran("harvest")
		var report struct{ Sessions int }
		if err := json.Unmarshal([]byte(text), &report); err != nil || report.Sessions != 1 {
			t.Errorf("%s: harvest found %d sessions, want 1 (%v): %s", name, report.Sessions, err, text)
		}
		for j, commit := range []string{base.whole, base.partial} {
			line, err := json.Marshal(map[string]any{"id": fmt.Sprintf("c%d-%d", i, j), "skill": "plot", "split": []string{"train", "val", "test"}[i%3],
				"prompt": fmt.Sprintf("%s: draw chart number %d of %s", name, i, commit), "workspace": map[string]string{"repo": dir, "commit": commit},
				"checks": []map[string]any{{"type": "contains", "value": "plain.txt equals.txt"}, {"type": "contains", "value": "equals.txt"}}})
			if err != nil {
				t.Fatal(err)
			}
			cases.Write(append(line, '\n'))
		}
	}
	evolve(cases.String(), "cases", "import", "-")
	evolve("", "privacy", "agree", "command:"+filepath.Base(agent))
	command := []string{"--agent", "command", "--command", "sh " + agent, "--sandbox", "none", "--max-retries", "1", "--no-harvest"}
	stdout, stderr := evolve("", append([]string{"--skill", "plot", "--dry-run"}, command...)...)
	ran("--dry-run")
	// The commits that are whole are all brought back, and no other.
	if want := fmt.Sprintf("%d cases left out: their recorded tree cannot be brought back", len(names)); !strings.Contains(stdout+stderr, want) {
		t.Errorf("--dry-run does not say %q: %s%s", want, stdout, stderr)
	}
	text, _ := evolve("", append([]string{"compare", "plot", "none", "--split", "all", "--json"}, command[:len(command)-1]...)...)
	ran("compare")
	var result struct {
		Cases      int
		Objectives []struct {
			Objective string
			A, B      float64
		}
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil || len(result.Objectives) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	// Every answer had the files.
	if q := result.Objectives[0]; result.Cases != len(names) || q.Objective != "quality" || q.A != 1 || q.B != 1 {
		t.Errorf("compare: %+v, want %d cases that all pass", result, len(names))
	}
}
