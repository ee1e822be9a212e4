package replay

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill"
)

const stonesMD = "---\nname: stones\ndescription: Names gemstones.\n---\n# Stones\nName the stone.\n"

func stones(t testing.TB, dir string) eval.Variant {
	t.Helper()
	d, err := skill.Parse([]byte(stonesMD), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eval.Variant{Name: "stones", Doc: d, Dir: dir}
}

// tree writes files below a new folder; a name that ends in "@" is a link with
// that text, one that ends in "*" is executable.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(strings.TrimRight(name, "@*")))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o600)
		if strings.HasSuffix(name, "*") {
			mode = 0o755
		}
		err := os.WriteFile(at, []byte(text), mode)
		if strings.HasSuffix(name, "@") {
			err = errors.Join(os.Remove(at), os.Symlink(text, at))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// list names what is no folder below dir, sorted.
func list(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func open(t testing.TB, task eval.Task, l Layout) *Stage {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	if l.Config == "" {
		l.Config = ".claude"
	}
	s, err := Open(task, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(s.Root); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the stage is still there: %v", err)
		}
	})
	return s
}

func TestOpenInstalls(t *testing.T) {
	dir := tree(t, map[string]string{
		"SKILL.md": "the live text, not the candidate", "scripts/run.sh*": "#!/bin/sh\n", "ref/a.md": "a",
		"ref/inside@": "a.md", "out@": "/etc/passwd", "up@": "../x", "evals/evals.json": "{}", "Evals/x": "x",
		"my.eval.yaml": "x", "set.json": `[{"query":"q","should_trigger":true}]`, "data.json": `{"a":1}`,
		".git/config": "x", "sub/.git": "gitdir: elsewhere", "to-evals@": "evals/evals.json", "evals.json": "{}",
	})
	other := tree(t, map[string]string{"SKILL.md": "---\nname: maps\ndescription: d\n---\n", "b.txt": "b", "evals/x": "x"})
	s := open(t, eval.Task{Variant: stones(t, dir), Case: &eval.Case{Files: map[string]string{"in/a.csv": "1"}},
		Others: []eval.Offer{{Name: "maps", Dir: other}}}, Layout{Config: ".pi/agent"})

	want := []string{".pi/agent/skills/maps/SKILL.md", ".pi/agent/skills/maps/b.txt",
		".pi/agent/skills/stones/SKILL.md", ".pi/agent/skills/stones/data.json", ".pi/agent/skills/stones/ref/a.md",
		".pi/agent/skills/stones/ref/inside", ".pi/agent/skills/stones/scripts/run.sh"}
	if got := list(t, s.Home); !slices.Equal(got, want) {
		t.Errorf("the home holds %q\nwant %q", got, want)
	}
	left := []string{".git", "Evals", "evals", "evals.json", "my.eval.yaml", "out", "set.json", "sub/.git", "to-evals", "up"}
	if !slices.Equal(s.LeftOut, left) {
		t.Errorf("left out %q, want %q", s.LeftOut, left)
	}
	if text, err := os.ReadFile(filepath.Join(s.Skill, "SKILL.md")); err != nil || string(text) != stonesMD {
		t.Errorf("installed %q (%v), want the candidate", text, err)
	}
	if info, err := os.Stat(filepath.Join(s.Skill, "scripts", "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("script: %v, %v", info.Mode(), err)
	}
	if got := list(t, s.Workspace); !slices.Equal(got, []string{"in/a.csv"}) {
		t.Errorf("its own workspace holds %q", got)
	}
	if info, err := os.Stat(s.Root); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("stage: %v, %v", info.Mode(), err)
	}
}

func TestOpenNoSkill(t *testing.T) {
	s := open(t, eval.Task{Variant: eval.Variant{Name: "stones", Dir: tree(t, map[string]string{"a": "a"})}, Case: &eval.Case{}}, Layout{})
	if got := list(t, s.Root); len(got) != 0 || s.Skill != "" {
		t.Errorf("without a skill the stage holds %q, %q", got, s.Skill)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	parse := func(text string) *skill.Document {
		d, _ := skill.Parse([]byte(text), skill.Options{})
		return d
	}
	for _, c := range []struct {
		v    eval.Variant
		want string
	}{
		{eval.Variant{Name: "stones", Doc: parse("---\nname: [\n---\n")}, "SKILL.md:"},
		{eval.Variant{Name: "stones", Doc: parse("# no frontmatter\n")}, "no frontmatter"},
		{eval.Variant{Name: "stones", Doc: parse("---\nname: stones\n---\n")}, "no description"},
		{eval.Variant{Name: "../x", Doc: parse(stonesMD)}, "folder's name"},
	} {
		_, err := Open(eval.Task{Variant: c.v, Case: &eval.Case{}}, Layout{Config: ".claude"})
		var infra *eval.InfraError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &infra) || infra.Kind != eval.BadRequest {
			t.Errorf("%q: %v, want %q", c.v.Name, err, c.want)
		}
	}
	v := stones(t, tree(t, map[string]string{"big": ""}))
	if err := os.Truncate(filepath.Join(v.Dir, "big"), maxSkillBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(eval.Task{Variant: v, Case: &eval.Case{}}, Layout{Config: ".claude"}); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("a huge skill: %v", err)
	}
	if got := list(t, os.TempDir()); len(got) != 0 {
		t.Errorf("left behind %q", got)
	}
	if dirs, err := os.ReadDir(os.TempDir()); err != nil || len(dirs) != 0 {
		t.Errorf("left behind %v (%v)", dirs, err)
	}
}

func TestOpenRemovesCopies(t *testing.T) {
	ws := tree(t, map[string]string{
		".claude/skills/stones/SKILL.md": stonesMD, ".claude/skills/maps/SKILL.md": "---\nname: maps\ndescription: d\n---\n",
		".agents/skills/gems/SKILL.md":            stonesMD, // another folder, the same name in the frontmatter
		".codex/skills/stones/note":               "x",      // no SKILL.md
		".pi/skills/stones@":                      "../../elsewhere/stones",
		"elsewhere/stones/SKILL.md":               stonesMD,
		".github/skills/stones/x":                 "x",
		".copilot/skills@":                        "../shared/skills",
		"shared/skills/stones/SKILL.md":           stonesMD,
		"deep/pkg/.claude/skills/stones/SKILL.md": stonesMD,
		"plugin/skills/stones/SKILL.md":           stonesMD,
		"skills/stones/readme.md":                 "a folder that is no skill",
		"AGENTS.md":                               "a", "CLAUDE.md": "c", "evals/evals.json": `{"skill_name":"stones","evals":[]}`, "evals/data.json": "[]",
		"mine/evals.json": `{"skill_name":"stones","evals":[]}`,
	})
	s := open(t, eval.Task{Variant: eval.Variant{Name: "stones"}, Workspace: ws,
		Case: &eval.Case{Files: map[string]string{"mine/evals.json": "{}"}}}, Layout{})
	want := []string{".claude/skills/maps/SKILL.md", ".copilot/skills", "AGENTS.md", "CLAUDE.md", "elsewhere/stones/SKILL.md",
		"evals/data.json", "mine/evals.json", "skills/stones/readme.md"}
	if got := list(t, ws); !slices.Equal(got, want) {
		t.Errorf("the workspace holds %q\nwant %q", got, want)
	}
	if got, err := s.Changed(); err != nil || len(got) != 0 {
		t.Errorf("what Open removed counts as the agent's: %q (%v)", got, err)
	}
}

func TestChanged(t *testing.T) {
	ws := tree(t, map[string]string{"same": "1", "again": "2", "edit": "3", "gone": "4", "sub/mode": "5", "link@": "same", "sub/typed": "x", "k/l": "k"})
	s := open(t, eval.Task{Case: &eval.Case{}, Workspace: ws}, Layout{})
	if got, err := s.Changed(); err != nil || len(got) != 0 {
		t.Fatalf("at once: %q (%v)", got, err)
	}
	at := func(name string) string { return filepath.Join(ws, name) }
	for _, err := range []error{
		os.WriteFile(at("again"), []byte("2"), 0o600),
		os.WriteFile(at("edit"), []byte("E"), 0o600), // as long, within the clock's tick
		os.Remove(at("gone")),
		os.Chmod(at("sub/mode"), 0o700),
		os.WriteFile(at("new"), nil, 0o600),
		os.Remove(at("link")), os.Symlink("edit", at("link")),
		os.Symlink("/etc", at("etc")), // not walked into
		os.Remove(at("sub/typed")), os.Mkdir(at("sub/typed"), 0o700), os.WriteFile(at("sub/typed/in"), nil, 0o600),
		os.MkdirAll(at(".git/objects"), 0o700), os.WriteFile(at(".git/HEAD"), nil, 0o600),
		os.Mkdir(at("empty"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"edit", "etc", "gone", "link", "new", "sub/mode", "sub/typed", "sub/typed/in"}
	got, err := s.Changed()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("changed %q (%v)\nwant    %q", got, err, want)
	}
	for i := range maxChanged + 5 {
		if err := os.WriteFile(at("many-"+string(rune('a'+i%26))+strings.Repeat("x", i/26)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Changed(); err != nil || len(got) != maxChanged {
		t.Errorf("%d changes (%v), want %d", len(got), err, maxChanged)
	}
}

// An agent that locks its folders, and plants a link, cannot keep the stage
// alive nor have anything else removed.
func TestCloseLocked(t *testing.T) {
	outside := tree(t, map[string]string{"keep": "x"})
	s := open(t, eval.Task{Case: &eval.Case{}}, Layout{})
	dir := filepath.Join(s.Workspace, "a", "b")
	for _, err := range []error{
		os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "f"), nil, 0o400),
		os.Symlink(outside, filepath.Join(dir, "out")),
		os.Chmod(dir, 0o500), os.Chmod(filepath.Dir(dir), 0), os.Chmod(s.Root, 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(s.Root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
	if got := list(t, outside); !slices.Equal(got, []string{"keep"}) {
		t.Errorf("what a link led to: %q", got)
	}
}

func TestEnv(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ours")
	t.Setenv("LANG", "de_DE.UTF-8")
	s := open(t, eval.Task{Case: &eval.Case{}}, Layout{Program: Program{Dirs: []string{"/node/bin"}}})
	env := s.Env(Config{Credentials: []string{"KEY=1"}, Env: []string{"TERM=xterm", "KEY=2"}}, "CONF="+s.Config)
	got := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if _, twice := got[k]; twice {
			t.Errorf("%s stands twice", k)
		}
		got[k] = v
	}
	for k, v := range map[string]string{"HOME": s.Home, "TMPDIR": s.Temp, "LANG": "de_DE.UTF-8", "TERM": "xterm", "KEY": "2", "CONF": s.Config} {
		if got[k] != v {
			t.Errorf("%s = %q, want %q", k, got[k], v)
		}
	}
	if _, leaked := got["ANTHROPIC_API_KEY"]; leaked {
		t.Error("a variable of ours was inherited")
	}
	if path := got["PATH"]; !strings.HasPrefix(path, "/node/bin:") || strings.Contains(path, "::") || !strings.Contains(path, "/usr/bin") {
		t.Errorf("PATH = %q", path)
	}
}

func BenchmarkStage(b *testing.B) {
	files := map[string]string{}
	for i := range 50 {
		files["src/f"+strings.Repeat("x", i)+".go"] = strings.Repeat("package x\n", 400)
	}
	ws := tree(b, files)
	v := stones(b, tree(b, map[string]string{"SKILL.md": "x", "ref/a.md": strings.Repeat("a", 20_000), "scripts/run.py*": "x"}))
	task := eval.Task{Variant: v, Case: &eval.Case{Prompt: "p"}, Workspace: ws}
	for b.Loop() {
		s, err := Open(task, Layout{Config: ".claude"})
		if err != nil {
			b.Fatal(err)
		}
		s.Env(Config{})
		if _, err := s.Changed(); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// A text that no attempt may see is not in the history of the workspace either.
func TestHistoryHasNoCopy(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	git := func(dir string, args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	const secret = "the text that is live"
	skill := ".claude/skills/stones/SKILL.md"
	instructions := eval.Variant{Name: "AGENTS.md", Path: "docs/AGENTS.md"}
	for name, c := range map[string]struct {
		files   map[string]string
		variant eval.Variant
		owner   *setup.Set
	}{
		"skill":        {map[string]string{skill: "---\nname: stones\n---\n" + secret, "a.go": "package a"}, eval.Variant{Name: "stones"}, nil},
		"instructions": {map[string]string{"docs/AGENTS.md": secret, "a.go": "package a"}, instructions, nil},
		"settings":     {map[string]string{".claude/settings.json": `{"env": {"A": "` + secret + `"}}`, "a.go": "package a"}, eval.Variant{Name: "stones"}, &setup.Set{}},
	} {
		dir := tree(t, c.files)
		git(dir, "init", "-q")
		if err := workspace.Recommit(dir); err != nil {
			t.Fatal(err)
		}
		task := eval.Task{Variant: c.variant, Case: &eval.Case{}, Workspace: dir}
		open(t, task, Layout{Config: ".claude", Owner: c.owner})
		all := git(dir, "cat-file", "--batch-all-objects", "--batch")
		if strings.Contains(all, secret) || !strings.Contains(all, "package a") || git(dir, "status", "--porcelain") != "" {
			t.Errorf("%s: %s\n%s", name, git(dir, "status", "--porcelain"), all)
		}
		// A further attempt finds what the agent has committed.
		git(dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "the agent's")
		task.Prior = &eval.Prior{}
		open(t, task, Layout{Config: ".claude"})
		if got := git(dir, "log", "-1", "--format=%s"); got != "the agent's\n" {
			t.Errorf("%s: the last commit is %q", name, got)
		}
	}
}

// What was prepared for a workspace can be read, wherever it is.
func TestPrepared(t *testing.T) {
	data := t.TempDir()
	t.Setenv("EVOLVE_HOME", data)
	root := filepath.Join(data, "setup", "x")
	s := open(t, eval.Task{Case: &eval.Case{}, Prepared: &eval.Prepared{Root: root, Env: []string{"GOMODCACHE=" + root + "/mod"}}}, Layout{})
	if !slices.Contains(s.Sandbox().Readable, root) || slices.Contains(s.Sandbox().Writable, root) {
		t.Errorf("the sandbox shows %+v", s.Sandbox())
	}
	if !slices.Contains(s.Env(Config{}), "GOMODCACHE="+root+"/mod") {
		t.Errorf("variables %q", s.Env(Config{}))
	}
	for name, want := range map[string]eval.Audit{filepath.Join(root, "tree", "node_modules", "a.js"): eval.Clean, filepath.Join(data, "evolve.db"): eval.Tainted} {
		if got, reason := s.Audit(true, Access{Tool: "Read", Path: name}); got != want {
			t.Errorf("%s: %s (%s), want %s", name, got, reason, want)
		}
	}
}

// A skill beside the one that is tried can have another text than the installed one.
func TestOpenInstallsTheTextOfAnOffer(t *testing.T) {
	other := tree(t, map[string]string{"SKILL.md": "the live text", "b.txt": "b"})
	if err := os.Chmod(filepath.Join(other, "SKILL.md"), 0o400); err != nil {
		t.Fatal(err)
	}
	s := open(t, eval.Task{Variant: stones(t, ""), Case: &eval.Case{}, Others: []eval.Offer{{Name: "maps", Dir: other, Text: []byte("the new text")}}}, Layout{Config: ".pi/agent"})
	for name, want := range map[string]string{"SKILL.md": "the new text", "b.txt": "b"} {
		if text, err := os.ReadFile(filepath.Join(s.Skills, "maps", name)); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
}
