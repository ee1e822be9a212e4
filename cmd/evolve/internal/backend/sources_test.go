package backend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/datadir"
)

// auto reads the agents whose folders exist, and in the demo's folder Claude's alone;
// a source that is named is read whether it exists or not.
func TestSources(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(home)
	if err := os.MkdirAll(".pi/agent", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, ".pi/agent/sessions"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".codex", ".claude/skills/dataviz"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	layout := &skill.Layout{Getenv: func(string) string { return "" }}
	for _, c := range []struct {
		o    SourceOptions
		want []string // the places, or the error
	}{
		{SourceOptions{}, []string{".claude", ".codex", ".pi/agent"}},
		{SourceOptions{Name: "auto", Demo: true, Within: home}, []string{".claude"}},
		{SourceOptions{Demo: true}, []string{"not in the demo's folder"}},
		{SourceOptions{Demo: true, Within: other}, []string{"not in the demo's folder"}},
		{SourceOptions{Demo: true, Within: filepath.Join(home, ".claude"), Name: "codex"}, []string{"not in the demo's folder"}},
		{SourceOptions{Demo: true, Within: filepath.Join(home, ".claude"), Repo: "work"}, []string{"not in the demo's folder"}},
		{SourceOptions{Demo: true, Within: filepath.Join(home, ".pi"), Name: "pi"}, []string{"not in the demo's folder"}}, // a link leads out

		{SourceOptions{Name: "pi"}, []string{".pi/agent"}},
		{SourceOptions{Name: "entire", Repo: "work"}, []string{"work"}},
		{SourceOptions{Repo: "work"}, []string{".claude", ".codex", ".pi/agent", "work"}},
		{SourceOptions{Name: "pi", Repo: "work"}, []string{"--repo is for Entire checkpoints"}},
		{SourceOptions{Name: "cluade"}, []string{`unknown source "cluade"`}},
	} {
		c.o.Layout = layout
		got, err := Sources(t.Context(), c.o)
		var places []string
		for _, s := range got {
			rel, e := filepath.Rel(home, s.Where)
			if e != nil {
				t.Fatal(e)
			}
			places = append(places, filepath.ToSlash(rel))
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.want[0]) {
				t.Errorf("%+v: %v, want %q", c.o, err, c.want)
			}
		} else if !slices.Equal(places, c.want) {
			t.Errorf("%+v reads %q, want %q", c.o, places, c.want)
		}
	}
}

// A variable that stands for the user's own folder moves Gemini CLI's sessions.
func TestGeminiHome(t *testing.T) {
	moved := t.TempDir()
	layout := &skill.Layout{Getenv: func(name string) string { return map[string]string{"GEMINI_CLI_HOME": moved}[name] }}
	got, err := Sources(t.Context(), SourceOptions{Name: "gemini", Layout: layout})
	if want := filepath.Join(moved, ".gemini"); err != nil || len(got) != 1 || got[0].Where != want {
		t.Errorf("%+v, %v, want %s", got, err, want)
	}
}

// The demo is recognised by its marked data folder and its own skills: not
// with a user's own skills, and not in a data folder without the mark.
func TestDemo(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	data := datadir.Dir(filepath.Join(root, "evolve"))
	for _, dir := range []string{string(data), filepath.Join(root, "skills")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := func(dir string) *skill.Layout {
		return &skill.Layout{Getenv: func(string) string { return "" }, SkillsDir: dir}
	}
	marked := &Config{Demo: true}
	if marked.IsDemo(data, at(filepath.Join(root, "skills"))) {
		t.Error("a folder that evolve demo did not make is the demo's")
	}
	if err := os.WriteFile(filepath.Join(root, DemoMark), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !marked.IsDemo(data, at(filepath.Join(root, "skills"))) {
		t.Error("the demo is none")
	}
	if marked.IsDemo(data, at(other)) || (&Config{}).IsDemo(data, at(filepath.Join(root, "skills"))) || (&Config{}).DemoFolder(data) != "" {
		t.Error("a person's own folder is the demo's")
	}
	for _, home := range []string{root, filepath.Join(root, "home")} {
		t.Setenv("HOME", home)
		if marked.IsDemo(data, at(filepath.Join(root, "skills"))) {
			t.Errorf("the demo's folder holds the home %s", home)
		}
	}
}

func TestConfirmOver(t *testing.T) {
	two := 2.0
	for _, c := range []struct {
		conf *Config
		flag float64
		want float64
	}{{nil, -1, askOver}, {nil, 0, 0}, {&Config{}, -1, askOver}, {&Config{ConfirmOverUSD: &two}, -1, 2}, {&Config{ConfirmOverUSD: &two}, 9, 9}} {
		if got := c.conf.ConfirmOver(c.flag); got != c.want {
			t.Errorf("%+v with %v: %v, want %v", c.conf, c.flag, got, c.want)
		}
	}
}

// TestHistoryIsLast: checkpoints may have a session of which the history has the prompts.
func TestHistoryIsLast(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, dir := range []string{".codex", ".claude"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".claude", "history.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Sources(t.Context(), SourceOptions{Repo: "work", Layout: &skill.Layout{Getenv: func(string) string { return "" }}})
	if err != nil || len(got) != 4 || got[3].Name() != "claude-history" {
		t.Errorf("%v, %v", got, err)
	}
}
