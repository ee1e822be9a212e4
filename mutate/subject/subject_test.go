package subject_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/mutate/subject"
)

func TestKey(t *testing.T) {
	for key, want := range map[string]subject.Ref{
		"dataviz":                   {Kind: subject.Skill, ID: "dataviz"},
		"plugin:dataviz":            {Kind: subject.Skill, ID: "plugin:dataviz"},
		"hook:guard":                {Kind: subject.Hook, ID: "guard"},
		"file:/src/shop:AGENTS.md":  subject.OfFile("/src/shop", "AGENTS.md"),
		"file:~:.claude/CLAUDE.md":  subject.OfFile("~", ".claude/CLAUDE.md"),
		"file:C:/src/a:b/CLAUDE.md": subject.OfFile("C:/src/a", "b/CLAUDE.md"),
	} {
		if got := subject.Parse(key); got != want || got.Key() != key {
			t.Errorf("%s is %+v, key %s", key, got, got.Key())
		}
	}
	if text := subject.Parse("file:~:.claude/CLAUDE.md").Text(); text != "~/.claude/CLAUDE.md" {
		t.Error(text)
	}
	if text := subject.OfFile("/src/shop", "docs/AGENTS.md").Text(); text != "shop/docs/AGENTS.md" {
		t.Error(text)
	}
}

func TestText(t *testing.T) {
	for _, r := range []subject.Ref{{Kind: subject.Skill, ID: "plugin:x"}, subject.OfFile("~", "a.md"), {Kind: subject.Hook, ID: "guard"}} {
		text, err := r.MarshalText()
		var again subject.Ref
		if err != nil || again.UnmarshalText(text) != nil || again != r {
			t.Errorf("%+v is %s, read %+v (%v)", r, text, again, err)
		}
	}
	if new(subject.Ref).UnmarshalText([]byte("dataviz")) == nil {
		t.Error("a text without a kind was read")
	}
}

// Whatever the repository's folder is called, a file is found again by its key.
func TestPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := rapid.StringMatching(`(/[a-z:. ]{1,8}){1,4}`).Draw(t, "root")
		path := rapid.StringMatching(`[a-z.]{1,8}(/[A-Za-z. ]{1,8}){0,2}`).Draw(t, "path")
		gotRoot, gotPath := subject.Parse(subject.OfFile(root, path).Key()).Place()
		if gotRoot != root || gotPath != path {
			t.Fatalf("%q, %q became %q, %q", root, path, gotRoot, gotPath)
		}
	})
}

func TestCut(t *testing.T) {
	for typed, want := range map[string][2]string{
		"dataviz":                     {"dataviz", ""},
		"dataviz@v2":                  {"dataviz", "v2"},
		"AGENTS.md@v2":                {"AGENTS.md", "v2"},
		"./AGENTS.md@3f2a":            {"./AGENTS.md", "3f2a"},
		"/src/me@work/AGENTS.md":      {"/src/me@work/AGENTS.md", ""},
		"/src/me@work/AGENTS.md@live": {"/src/me@work/AGENTS.md", "live"},
		"file:/a@b:CLAUDE.md":         {"file:/a@b:CLAUDE.md", ""},
		"file:~:.claude/CLAUDE.md@v0": {"file:~:.claude/CLAUDE.md", "v0"},
		"a@b.md":                      {"a@b.md", ""},
	} {
		if key, at := subject.Cut(typed); key != want[0] || at != want[1] {
			t.Errorf("%s is cut into %q and %q", typed, key, at)
		}
	}
}

func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		"`evolve promote file:~:.claude/CLAUDE.md@3f2a` installs it":     "`evolve promote ~/.claude/CLAUDE.md@3f2a` installs it",
		"file:/src/shop:docs/AGENTS.md: v1":                              "/src/shop/docs/AGENTS.md: v1",
		"profile:~:x, a file: nothing, file:///etc/x":                    "profile:~:x, a file: nothing, file:///etc/x",
		"file:~: x and file:":                                            "file:~: x and file:",
		"dataviz":                                                        "dataviz",
		"`evolve promote file:/src/it's $(id):docs/AGENTS.md`, file:~:x": "`evolve promote '/src/it'\\''s $(id)/docs/AGENTS.md'`, ~/x",
		"`evolve log file:~:a/(b)/AGENTS.md@3f2a` file:/src:(b).md":      "`evolve log ~/'a/(b)/AGENTS.md@3f2a'` /src/(b).md",
		"`evolve --skill hook:~:hooks/a.sh --anew`, `evolve --skill x`":  "`evolve --hook ~/hooks/a.sh --anew`, `evolve --skill x`",
		"`evolve --skill file:~:AGENTS.md`, --skill hook:/src/x:a.py":    "`evolve --skill ~/AGENTS.md`, --hook /src/x/a.py",
		"`evolve log`: file:/a b:c\nfile:/src/$(id):x":                   "`evolve log`: file:/a b:c\n/src/$(id)/x",
	} {
		if got := subject.Readable(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
