package setup

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// homeOf makes a home with these files; a text that begins with "->" is a link to the rest.
func homeOf(t *testing.T, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		at := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(text, "->"); link {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func collect(t *testing.T, agent, home string, env map[string]string) *Set {
	t.Helper()
	s, err := Collect(agent, Where{Home: home, Getenv: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func paths(files []File) (out []string) {
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

func TestCollect(t *testing.T) {
	for _, c := range []struct {
		name, agent string
		files       map[string]string
		want        []string
		without     string
	}{
		{"nothing", "claude", nil, nil, ""},
		{"a person's own", "claude", map[string]string{".claude/CLAUDE.md": "be brief", ".claude/rules/a/b.md": "x",
			".claude/rules/notes.txt": "x", ".claude/settings.json": "{}", ".claude/commands/c.md": "x"},
			[]string{".claude/CLAUDE.md", ".claude/rules/a/b.md"}, ""},
		{"a link to dotfiles", "claude", map[string]string{"dotfiles/claude.md": "be brief", ".claude/CLAUDE.md": "->../dotfiles/claude.md"},
			[]string{".claude/CLAUDE.md"}, ""},
		{"a link out of the home", "claude", map[string]string{".claude/CLAUDE.md": "->/etc/hostname"},
			nil, "1 instruction file (.claude/CLAUDE.md)"},
		{"a folder of shared rules", "claude", map[string]string{"shared/r.md": "x", "shared/round": "->../.claude/rules", ".claude/rules/shared": "->../../shared",
			".claude/rules/system": "->/etc"}, []string{".claude/rules/shared/r.md"}, ""},
		{"imports in a circle", "claude", map[string]string{".claude/CLAUDE.md": "@a.md and @~/b.md @gone.md", ".claude/a.md": "@CLAUDE.md", "b.md": "@b.md"},
			[]string{".claude/CLAUDE.md", ".claude/a.md", "b.md"}, ""},
		{"imports that are no text, or elsewhere", "claude", map[string]string{".claude/CLAUDE.md": "@~/.env @~/id_rsa @/etc/hostname @../../etc/hostname",
			".env": "KEY=1", "id_rsa": "key"}, []string{".claude/CLAUDE.md"}, "3 instruction files (/etc/hostname, ~/.env, ~/id_rsa)"},
		{"what runs is named", "claude", map[string]string{".claude.json": `{"mcpServers":{"linear":{},"github":{}}}`,
			".claude/settings.json": `{"hooks":{"Stop":[]},"enabledPlugins":{"x@y":true,"off@y":false}}`},
			nil, "2 MCP servers (github, linear); 1 hook (Stop); 1 plugin (x@y)"},
		{"many are counted", "claude", map[string]string{".claude.json": `{"mcpServers":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}}`, ".claude/x": ""},
			nil, "6 MCP servers (a, b, c, d, e, …)"},
		{"an override replaces", "codex", map[string]string{".codex/AGENTS.md": "a", ".codex/AGENTS.override.md": "b"},
			[]string{".codex/AGENTS.override.md"}, ""},
		{"an empty override does not", "codex", map[string]string{".codex/AGENTS.md": "a", ".codex/AGENTS.override.md": "\n"},
			[]string{".codex/AGENTS.md"}, ""},
		{"memories that are off", "codex", map[string]string{".codex/memories/memory_summary.md": "a",
			".codex/config.toml": "[mcp_servers.github]\ncommand = \"x\"\n[mcp_servers.github.env]\nKEY = \"secret\"\n"}, nil, "1 MCP server (github)"},
		{"memories that are on", "codex", map[string]string{".codex/memories/memory_summary.md": "a", ".codex/config.toml": "[features]\nmemories = true # yes\n"},
			nil, "1 memory (memories/memory_summary.md)"},
		{"settings of instructions", "codex", map[string]string{".codex/config.toml": "developer_instructions = \"x\"\n# personality = \"x\"\n"},
			nil, "1 setting (developer_instructions)"},
		{"the first of pi's", "pi", map[string]string{".pi/agent/CLAUDE.md": "a", ".pi/agent/AGENTS.md": "b", ".pi/agent/APPEND_SYSTEM.md": "c",
			".pi/agent/settings.json": `{"packages":["npm:tools",{"source":"git:x"}]}`, ".pi/agent/extensions/gate.ts": "x"},
			[]string{".pi/agent/AGENTS.md", ".pi/agent/APPEND_SYSTEM.md"}, "3 extensions (gate.ts, git:x, npm:tools)"},
		{"Copilot's", "copilot", map[string]string{".copilot/copilot-instructions.md": "a", ".copilot/instructions/x/y.instructions.md": "b",
			".copilot/instructions/other.md": "c", ".copilot/mcp-config.json": `{"mcpServers":{"db":{}}}`},
			[]string{".copilot/copilot-instructions.md", ".copilot/instructions/x/y.instructions.md"}, "1 MCP server (db)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := collect(t, c.agent, homeOf(t, c.files), nil)
			if got := paths(s.Files); !slices.Equal(got, c.want) {
				t.Errorf("files = %q, want %q", got, c.want)
			}
			if got := strings.Join(s.Without, "; "); got != c.without {
				t.Errorf("without %q, want %q", got, c.without)
			}
			for _, f := range s.Files {
				if strings.Contains(string(f.Text), "secret") {
					t.Errorf("%s holds a secret", f.Path)
				}
			}
		})
	}
	if s := collect(t, "openai", t.TempDir(), nil); s != nil || s.Tokens() != 0 {
		t.Errorf("a backend without a program of its own has %+v", s)
	}
}

// A folder of Claude Code's that a variable names is the one that is read, and stands where
// the private home has it.
func TestCollectElsewhere(t *testing.T) {
	home := homeOf(t, map[string]string{".claude/CLAUDE.md": "not this", "conf/CLAUDE.md": "this @near.md", "conf/near.md": "near",
		"conf/.claude.json": `{"mcpServers":{"x":{}}}`})
	s := collect(t, "claude", home, map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "conf")})
	if got := paths(s.Files); !slices.Equal(got, []string{".claude/CLAUDE.md", ".claude/near.md"}) || string(s.Files[0].Text) != "this @near.md" ||
		!slices.Equal(s.Without, []string{"1 MCP server (x)"}) {
		t.Errorf("set = %+v", s)
	}
}

// Notes whose folder may be another project's go nowhere: Claude Code has one name for
// h/be/ta and h/be-ta.
func TestNotesOfTwoFolders(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string // below the folder of both projects
		cwd   string            // in a transcript beside the notes
		deny  bool
		want  int
		held  string
	}{
		"one folder":              {map[string]string{"be-ta/x": "x", "be/x": "x"}, "be-ta", false, 1, ""},
		"two folders":             {map[string]string{"be-ta/x": "x", "be/ta/x": "x"}, "be-ta", false, 0, "they may be those of another folder"},
		"a session of a lost one": {map[string]string{"be-ta/x": "x"}, "be/ta", false, 0, "they may be those of another folder"},
		"it may not go along":     {map[string]string{"be-ta/x": "x"}, "be-ta", true, 0, "their text may not be sent, see `evolve privacy`"},
	} {
		t.Run(name, func(t *testing.T) {
			top := homeOf(t, c.files)
			project := filepath.Join(top, "be-ta")
			s := collect(t, "claude", homeOf(t, map[string]string{
				".claude/projects/" + flat(project) + "/memory/MEMORY.md": "index",
				".claude/projects/" + flat(project) + "/1.jsonl":          `{"type":"user","cwd":"` + filepath.Join(top, c.cwd) + `"}` + "\n"}), nil)
			if c.deny {
				s.May = func(at string) bool { return at != project }
			}
			if got := s.NotesOf(project); len(got) != c.want {
				t.Errorf("notes = %q, want %d", got, c.want)
			}
			var want []string
			if c.held != "" {
				want = []string{"the agent's notes of be-ta (" + c.held + ")"}
			}
			if got := s.Held([]string{project, filepath.Join(top, "without-notes"), project}); !slices.Equal(got, want) {
				t.Errorf("held: %q, want %q", got, want)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	files := map[string]string{".claude/projects/-src-my-shop/memory/MEMORY.md": "index", ".claude/projects/-src-my-shop/memory/a/topic.md": "topic",
		".claude/projects/-src-my-shop/1.jsonl": "{}", ".claude/projects/-src-other/memory/MEMORY.md": "other"}
	s := collect(t, "claude", homeOf(t, files), nil)
	dir := filepath.Join(t.TempDir(), "notes")
	if err := s.WriteNotes(dir, "/src/my.shop"); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			got = append(got, name)
		}
		return err
	})
	if err != nil || !slices.Equal(got, []string{"MEMORY.md", "a/topic.md"}) {
		t.Errorf("notes = %q, %v", got, err)
	}
	for name, change := range map[string]struct {
		env map[string]string
		set string
	}{
		"variable": {env: map[string]string{"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}},
		"setting":  {set: `{"autoMemoryEnabled":false}`},
	} {
		files[".claude/settings.json"] = change.set
		if s := collect(t, "claude", homeOf(t, files), change.env); s.Notes != nil {
			t.Errorf("%s: notes that are switched off are taken: %v", name, s.Notes)
		}
	}
}

// A pipe would be waited for, and a large text copied for every attempt.
func TestBounds(t *testing.T) {
	home := homeOf(t, map[string]string{".claude/CLAUDE.md": "x", ".claude/rules/large.md": strings.Repeat("x", maxFile+1),
		".claude/rules/pipe.md": "->/dev/zero", ".claude/rules/round": "->../rules"})
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(home, ".claude", "rules", fmt.Sprint(i)+".md"), make([]byte, maxFile), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := collect(t, "claude", home, nil)
	size := 0
	for _, f := range s.Files {
		size += len(f.Text)
	}
	if size > maxBytes || len(s.Without) != 1 || !strings.HasPrefix(s.Without[0], "5 instruction files (") {
		t.Errorf("%d bytes of %q, without %q", size, paths(s.Files), s.Without)
	}
}

// Whatever imports whatever, each text is taken once, as it is, and the set written is the
// set that was collected.
func TestImportsAnyGraph(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		names := []string{".claude/CLAUDE.md", ".claude/a.md", "b.md", "d/c.md", ".claude/rules/e.md"}
		files := map[string]string{}
		for _, n := range names {
			text := "about " + n
			for _, to := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 4).Draw(r, n) {
				text += " @~/" + to
			}
			files[n] = text
		}
		home := homeOf(t, files)
		s := collect(t, "claude", home, nil)
		if !slices.IsSortedFunc(s.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
			r.Fatalf("not sorted: %q", paths(s.Files))
		}
		to := t.TempDir()
		if err := s.Write(to); err != nil {
			r.Fatal(err)
		}
		taken := map[string]bool{}
		for _, f := range s.Files {
			if taken[f.Path] {
				r.Fatalf("%s is there twice", f.Path)
			}
			taken[f.Path] = true
			if got, err := os.ReadFile(filepath.Join(to, f.Path)); err != nil || string(got) != files[f.Path] {
				r.Fatalf("%s = %q, %v", f.Path, got, err)
			}
			for _, word := range strings.Fields(string(f.Text)) { // five files are never too deep
				if p, ok := strings.CutPrefix(word, "@~/"); ok && !slices.Contains(paths(s.Files), p) {
					r.Fatalf("%s imports %s, which is missing", f.Path, p)
				}
			}
		}
		if again := collect(t, "claude", home, nil); again.Hash() != s.Hash() {
			r.Fatal("the same files have two hashes")
		}
		name := rapid.SampledFrom(paths(s.Files)).Draw(r, "changed")
		if err := os.WriteFile(filepath.Join(home, name), []byte(files[name]+"!"), 0o600); err != nil {
			r.Fatal(err)
		}
		if changed := collect(t, "claude", home, nil); changed.Hash() == s.Hash() {
			r.Fatalf("%s has changed, and the hash has not", name)
		}
	})
}

func TestTokens(t *testing.T) {
	s := &Set{Files: []File{{".claude/CLAUDE.md", make([]byte, 400)}},
		Notes: map[string][]File{"a": {{"MEMORY.md", make([]byte, 80)}, {"topic.md", make([]byte, 4000)}}, "b": {{"MEMORY.md", make([]byte, 40)}}}}
	if n := s.Tokens(); n != 100+20 {
		t.Errorf("%d tokens", n)
	}
}
