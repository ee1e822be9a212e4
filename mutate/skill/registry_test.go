package skill

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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

func valid(name string) string {
	return "---\nname: " + name + "\ndescription: Does one thing.\n---\n# Title\n"
}

func TestDiscover(t *testing.T) {
	project := tree(t, map[string]string{
		"dataviz/SKILL.md":    valid("dataviz"),
		"broken/SKILL.md":     "---\nname: broken\n",
		"lower/skill.md":      valid("lower"),
		"notes/readme.txt":    "no skill",
		".hidden/SKILL.md":    valid("hidden"),
		"dir/SKILL.md/nested": "x",
		"stray.md":            "x",
	})
	user := tree(t, map[string]string{
		"dataviz/SKILL.md": valid("dataviz"),
		"broken/SKILL.md":  valid("broken"),
		"review/SKILL.md":  valid("review"),
	})
	elsewhere := tree(t, map[string]string{"SKILL.md": valid("linked")})
	for link, to := range map[string]string{"linked": elsewhere, "gone": filepath.Join(user, "nothing")} {
		if err := os.Symlink(to, filepath.Join(user, link)); err != nil {
			t.Skip(err)
		}
	}
	r := Discover([]Root{{Dir: project, Scope: "project"}, {Dir: user, Scope: "user"}, {Dir: user, Scope: "user"}, {Dir: filepath.Join(user, "absent"), Scope: "managed"}})

	var names []string
	for _, e := range r.Entries {
		names = append(names, e.Scope+":"+e.Name)
	}
	if got := strings.Join(names, " "); got != "project:dataviz user:linked user:review" {
		t.Errorf("entries %s", got)
	}
	broken := map[string]string{}
	for _, b := range r.Broken {
		broken[b.Name] = b.Reason
	}
	for name, part := range map[string]string{"broken": "line 1", "lower": "must be called SKILL.md", "dir": "not a file", "gone": "symlink to nothing"} {
		if !strings.Contains(broken[name], part) {
			t.Errorf("%s is broken because %q, want %q", name, broken[name], part)
		}
	}
	if len(broken) != 4 {
		t.Errorf("broken %v", broken)
	}
	if len(r.Shadowed) != 2 {
		t.Errorf("shadowed %v", r.Shadowed)
	}

	e, err := r.Lookup("dataviz")
	if err != nil || e.Path != filepath.Join(project, "dataviz", FileName) || e.Managed {
		t.Errorf("dataviz: %+v %v", e, err)
	}
	var be *BrokenSkillError
	if _, err := r.Lookup("broken"); !errors.As(err, &be) {
		t.Errorf("broken: %v", err)
	}
	var ue *UnknownSkillError
	if _, err := r.Lookup("datavis"); !errors.As(err, &ue) || ue.Nearest != "dataviz" {
		t.Errorf("datavis: %v", err)
	}
	for _, name := range []string{"../x", "..", "", "a/b", `a\b`, "/etc", "x\x00"} {
		if _, err := r.Lookup(name); err == nil || errors.As(err, &ue) {
			t.Errorf("Lookup(%q): %v", name, err)
		}
	}
}

func TestManagedScopes(t *testing.T) {
	root := tree(t, map[string]string{"x/SKILL.md": valid("x")})
	for scope, want := range map[string]bool{"user": false, "plugin": true, "managed": true} {
		e, err := Discover([]Root{{Dir: root, Scope: scope}}).Lookup("x")
		if err != nil || e.Managed != want {
			t.Errorf("%s: %+v %v", scope, e, err)
		}
	}
}

func TestNearest(t *testing.T) {
	among := []string{"dataviz", "review", "commit", "pdf"}
	for word, want := range map[string]string{
		"datavis": "dataviz", "Reviwe": "review", "comit": "commit", "pfd": "pdf",
		"kubernetes": "", "x": "", "": "", "review": "review",
	} {
		if got := Nearest(word, among); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// TestFolderNamedAsAVersion: a@v1 is version 1 of a to every command, so a folder of
// that name is shown as one that cannot be used.
func TestFolderNamedAsAVersion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "a@v1"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o700),
			os.WriteFile(filepath.Join(dir, name, FileName), []byte("---\nname: a\ndescription: d\n---\nx\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r := Discover([]Root{{Dir: dir, Scope: "user"}})
	if len(r.Entries) != 1 || r.Entries[0].Name != "a" || len(r.Broken) != 1 || !strings.Contains(r.Broken[0].Error(), "holds an @") {
		t.Errorf("%+v", r)
	}
}

// TestFolderNamedForAShell: a name that a shell or a terminal obeys is shown as one that cannot
// be used, so that no command that is printed to be pasted has it.
func TestFolderNamedForAShell(t *testing.T) {
	for name, usable := range map[string]bool{
		"a": true, "Data_viz-2.0": true, "données": true, "图表": true, "plugin:skill": true,
		"$(id)": false, "`id`": false, "a b": false, "a;b": false, "-rf": false, "a'b": false, "a\nb": false,
		"a\x1b[31m": false, "a\u202eb": false, "a\u061cb": false, "a\u200bb": false, "~": false, "a\xffb": false,
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o700),
			os.WriteFile(filepath.Join(dir, name, FileName), []byte("---\nname: a\ndescription: d\n---\nx\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		r := Discover([]Root{{Dir: dir, Scope: "user"}})
		if len(r.Entries)+len(r.Broken) != 1 || (len(r.Entries) == 1) != usable {
			t.Errorf("%q: %+v", name, r)
		}
	}
}

// TestEmptySkill: a file without a text is none, as long as an editor takes to save it.
func TestEmptySkill(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", FileName)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"": NoText, " \n\t\n": NoText, "---\nname: a\ndescription: d\n---\n": ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := ""
		if r := Discover([]Root{{Dir: dir, Scope: "user"}}); len(r.Broken) > 0 {
			got = r.Broken[0].Reason
		}
		if got != want {
			t.Errorf("%q is broken because %q, want %q", text, got, want)
		}
	}
}

// A SKILL.md that no agent reads whole is not read: Markdown parsers take very long
// for some of them.
func TestLargeSkill(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", FileName)
	const front = "---\nname: a\ndescription: d\n---\n"
	for _, c := range []struct {
		text string
		want string
	}{
		{front + strings.Repeat("Plot.\n\n", (MaxFile-len(front))/7), ""},
		{front + strings.Repeat("*a_", 200<<10), "SKILL.md is larger than 256 KiB: move what it quotes into files beside it"},
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		got := ""
		if r := Discover([]Root{{Dir: dir, Scope: "user"}}); len(r.Broken) > 0 {
			got = r.Broken[0].Reason
		}
		if got != c.want {
			t.Errorf("%d bytes are broken because %q, want %q", len(c.text), got, c.want)
		}
	}
}

func TestManagedSkills(t *testing.T) {
	plugins, user := filepath.Join(t.TempDir(), "plugins"), t.TempDir()
	for _, name := range []string{"theirs", "marked", "signed", "plain", "denied"} {
		dir := filepath.Join(user, name)
		if name == "theirs" {
			dir = filepath.Join(plugins, "pack", "skills", name)
			if err := os.Symlink(dir, filepath.Join(user, name)); err != nil {
				t.Fatal(err)
			}
		}
		meta := map[string]string{"marked": "metadata:\n  managed: true\n", "signed": "metadata: {managed-by: tool}\n", "denied": "metadata:\n  managed: \"false\"\n"}[name]
		text := "---\nname: " + name + "\ndescription: x\n" + meta + "---\n\nText.\n"
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	reg := Discover([]Root{{Dir: user, Scope: "user", Plugins: []string{plugins, filepath.Join(user, "absent")}}})
	for name, scope := range map[string]string{"theirs": "plugin", "marked": "managed", "signed": "managed", "plain": "user", "denied": "user"} {
		e, err := reg.Lookup(name)
		if err != nil || e.Scope != scope || e.Managed != (scope != "user") {
			t.Errorf("%s: %+v, %v; want scope %s", name, e, err, scope)
		}
	}
	if Within(filepath.Join(plugins, "not", "there"), []string{plugins}) != true || Within(plugins+"2", []string{plugins}) {
		t.Error("a folder is told by its name, or a path that is not there yet is not told")
	}
}
