package skill_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

func init() {
	skill.Register(skill.Agent{Name: "claude", Agent: "claude-code", HomeEnv: "CLAUDE_CONFIG_DIR", HomeDefault: ".claude"})
}

func TestKeyOfAFile(t *testing.T) {
	home, src := t.TempDir(), t.TempDir()
	home, _ = filepath.EvalSymlinks(home)
	src, _ = filepath.EvalSymlinks(src)
	t.Setenv("HOME", home)
	for _, dir := range []string{filepath.Join(src, "shop", ".git"), filepath.Join(src, "shop", "docs"), filepath.Join(src, "loose"), filepath.Join(home, "conf")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"further/.git": "gitdir: " + src + "/shop/.git/worktrees/further\n", "shop/AGENTS.md": "a",
		"module/.git": "gitdir: ../shop/.git/modules/module\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(src, name)), 0o700), os.WriteFile(filepath.Join(src, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"shop/CLAUDE.md": "AGENTS.md", "shop/.claude/CLAUDE.md": "../AGENTS.md", "shop/docs/CLAUDE.md": "../AGENTS.md",
		"shop/out.md": "../loose/a.md", "shop/GEMINI.md": "gone.md", "loose/link.md": "a.md", "loose/a.md": ""} {
		name = filepath.Join(src, name)
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if to == "" {
			err = errors.Join(err, os.WriteFile(name, nil, 0o600))
		} else {
			err = errors.Join(err, os.Symlink(to, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l := &skill.Layout{Getenv: func(string) string { return "" }, ClaudeHome: filepath.Join(home, "conf")}
	for typed, want := range map[string]string{
		filepath.Join(src, "shop", "docs", "AGENTS.md"): "file:" + src + "/shop:docs/AGENTS.md",
		filepath.Join(src, "further", "AGENTS.md"):      "file:" + src + "/shop:AGENTS.md",
		filepath.Join(src, "further", "own.md"):         "file:" + src + "/further:own.md",
		filepath.Join(src, "module", "AGENTS.md"):       "file:" + src + "/module:AGENTS.md",
		filepath.Join(src, "loose", "CLAUDE.md"):        "file:" + src + "/loose:CLAUDE.md",
		filepath.Join(home, "conf", "CLAUDE.md"):        "file:~:.claude/CLAUDE.md", // wherever the folder is
		"~/.claude/CLAUDE.md":                           "file:~:.claude/CLAUDE.md",
		"~/conf/rules/a.md":                             "file:~:.claude/rules/a.md",
		filepath.Join(home, "AGENTS.md"):                "file:~:AGENTS.md",
		"file:~:.claude/CLAUDE.md":                      "file:~:.claude/CLAUDE.md",
		filepath.Join(src, "shop", "CLAUDE.md"):         "file:" + src + "/shop:AGENTS.md",
		filepath.Join(src, "shop/.claude/CLAUDE.md"):    "file:" + src + "/shop:AGENTS.md",
		filepath.Join(src, "shop/docs/CLAUDE.md"):       "file:" + src + "/shop:docs/CLAUDE.md", // an agent in docs loads it, and none at the top
		filepath.Join(src, "shop", "out.md"):            "file:" + src + "/shop:out.md",
		filepath.Join(src, "shop", "GEMINI.md"):         "file:" + src + "/shop:GEMINI.md",
		filepath.Join(src, "loose", "link.md"):          "file:" + src + "/loose:link.md",
	} {
		key, err := l.Key(typed)
		if err != nil || key != want {
			t.Errorf("%s is %s (%v), want %s", typed, key, err, want)
			continue
		}
		path, err := l.FilePath(key)
		if again, e := l.Key(path); err != nil || e != nil || again != key {
			t.Errorf("%s is at %s, whose key is %s (%v, %v)", key, path, again, err, e)
		}
	}
}

func TestLiveFile(t *testing.T) {
	dir := t.TempDir()
	l := &skill.Layout{Getenv: func(string) string { return "" }, ClaudeHome: dir}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("CLAUDE.md", "Be brief.\n")
	write("rules/binary.md", "a\x00b")
	write("rules/latin.md", "caf\xe9\n")
	write("rules/empty.md", " \n")
	write("rules/large.md", strings.Repeat("x", skill.MaxFile+1))
	write("plugins/a/CLAUDE.md", "Be a plugin.\n")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "rules", "dir.md"), 0o700),
		os.Symlink("CLAUDE.md", filepath.Join(dir, "AGENTS.md")), os.Symlink("gone.md", filepath.Join(dir, "dangling.md"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"rules/binary.md": "no text", "rules/latin.md": "no text", "rules/empty.md": "empty",
		"rules/large.md": "move what it quotes", "rules/dir.md": "not a file", "dangling.md": "symlink to nothing"} {
		_, err := l.Live("file:~:.claude/" + name)
		var broken *skill.BrokenSkillError
		if !errors.As(err, &broken) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	var unknown *skill.UnknownSkillError
	if _, err := l.Live("file:~:.claude/none.md"); !errors.As(err, &unknown) {
		t.Errorf("no such file: %v", err)
	}
	live, err := l.Live("file:~:.claude/AGENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	if home, err := live.Home(); err != nil || filepath.Base(home) != "CLAUDE.md" || live.Managed {
		t.Errorf("a link to %s (%v), managed %t", home, err, live.Managed)
	}
	if live, err := l.Live("file:~:.claude/plugins/a/CLAUDE.md"); err != nil || !live.Managed || skill.Keeper(live.Entry) != skill.OfPlugin {
		t.Errorf("a plugin's: %+v (%v)", live, err)
	}
}
