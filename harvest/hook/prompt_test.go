package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestMentionVectors plays the vectors of mutate/skill through the hook, with
// their registries as folders: user skills, skills of plugins, disabled ones.
func TestMentionVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "mutate", "skill", "testdata", "mentions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			ID, Input string
			Registry  []json.RawMessage
			Disabled  []string
			Expect    struct {
				Activated *string
				Messages  []string
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, v := range file.Vectors {
		t.Run(v.ID, func(t *testing.T) {
			d := newDesk(t)
			plugins := map[string][]map[string]string{}
			off := map[string]string{}
			var order []string
			for _, raw := range v.Registry {
				var c skill.Callable
				if json.Unmarshal(raw, &c.Name) != nil {
					if err := json.Unmarshal(raw, &c); err != nil {
						t.Fatal(err)
					}
				}
				name := c.Name
				if len(c.Aliases) > 1 {
					t.Skip("a folder gives a skill one alias")
				}
				if len(c.Aliases) == 1 {
					name = c.Aliases[0]
				}
				order = append(order, c.Name)
				if space, plain, ok := strings.Cut(c.Name, ":"); ok {
					dir := filepath.Join(d.Claude, "cache", space)
					d.skill(filepath.Join(dir, "skills"), plain, plain, "body of "+c.Name+"\n")
					plugins[space+"@market"] = []map[string]string{{"installPath": dir}}
				} else {
					d.skill(filepath.Join(d.Claude, "skills"), c.Name, name, "body of "+c.Name+"\n")
				}
			}
			for _, name := range v.Disabled {
				off[name] = "off"
			}
			for name, value := range map[string]any{"settings.json": map[string]any{"skillOverrides": off},
				filepath.Join("plugins", "installed_plugins.json"): map[string]any{"version": 2, "plugins": plugins}} {
				path := filepath.Join(d.Claude, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, must(json.Marshal(value)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			in := must(json.Marshal(map[string]string{"session_id": "s", "prompt_id": "p", "prompt": v.Input}))
			out, _ := d.fire(Go, UserPromptSubmit, string(in))
			played++
			var context string
			if out.Specific != nil {
				context = out.Specific.Context
			}
			if a := v.Expect.Activated; a != nil {
				if !strings.HasPrefix(context, "Using skill: "+*a+"\n") || !strings.Contains(context, "body of "+*a+"\n") {
					t.Errorf("%q: context %q, want that of %s", v.Input, context, *a)
				}
			} else if context != "" {
				t.Errorf("%q: context %q, want none", v.Input, context)
			}
			if v.Expect.Messages == nil {
				return
			}
			want := slices.DeleteFunc(v.Expect.Messages, func(m string) bool { return strings.HasPrefix(m, "Using skill: ") })
			if got := out.Message; got != strings.Join(want, "\n") && !reordered(got, strings.Join(want, "\n")) {
				t.Errorf("%q: says %q, want %q (%v)", v.Input, got, want, order)
			}
		})
	}
	if played < 90 {
		t.Errorf("%d of %d vectors were played", played, len(file.Vectors))
	}
}

// reordered reports whether two messages differ only in the order of the names
// that they list: folders are discovered by name, plugins after them.
func reordered(a, b string) bool {
	letters := func(s string) string {
		at := strings.Index(s, " skills: ")
		if at < 0 {
			return s
		}
		head, rest := s[:at], s[at:]
		rest, use, _ := strings.Cut(rest, " — use ")
		names := strings.Split(strings.TrimPrefix(rest, " skills: "), ", ")
		slices.Sort(names)
		return fmt.Sprint(head, names, strings.Contains(use, "$"))
	}
	return letters(a) == letters(b)
}

// TestLoaded: a text is put into the context as the agent words it; one that is
// too long for that is pointed to.
func TestLoaded(t *testing.T) {
	d := newDesk(t, "dataviz")
	project := filepath.Join(d.Claude, "work", "sub")
	d.skill(filepath.Join(d.Claude, "work", ".claude", "skills"), "local", "local", "In ${CLAUDE_SKILL_DIR}.\n")
	d.skill(filepath.Join(d.Claude, "work", ".claude", "skills"), "dataviz", "dataviz", "The project's.\n")
	d.skill(filepath.Join(d.Claude, "skills"), "long", "long", strings.Repeat("All of it — each word counts.\n", 1000))
	if err := os.MkdirAll(filepath.Join(d.Claude, "work", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	ask := func(prompt string) string {
		t.Helper()
		in := must(json.Marshal(map[string]string{"session_id": "s", "prompt_id": prompt, "prompt": prompt, "cwd": project}))
		out, _ := d.fire(Go, UserPromptSubmit, string(in))
		if out.Specific == nil {
			return out.Message
		}
		return out.Specific.Context
	}
	dir := filepath.Join(d.Claude, "skills", "dataviz")
	if got, want := ask("$dataviz plot the weeks"), "Using skill: dataviz\n\nBase directory for this skill: "+dir+"\n\nDo what dataviz does: plot the weeks.\n"; got != want {
		t.Errorf("%q, want %q: the user's own beats the project's", got, want)
	}
	local := filepath.Join(d.Claude, "work", ".claude", "skills", "local")
	if got, want := ask("$local"), "Using skill: local\n\nBase directory for this skill: "+local+"\n\nIn "+local+".\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got := ask("$long go")
	if len(got) > maxContext || !strings.Contains(got, "read all of "+filepath.Join(d.Claude, "skills", "long", "SKILL.md")) || !strings.HasPrefix(got, "Using skill: long\n") {
		t.Errorf("%d bytes: %.300q", len(got), got)
	}
	// What evolve cannot parse, an agent loads all the same.
	broken := filepath.Join(d.Claude, "skills", "broken")
	if err := os.MkdirAll(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "SKILL.md"), []byte("\xef\xbb\xbf---\r\nname: [\r\n---\r\n<!-- kernel -->\r\nbody"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask("$broken go"); !strings.HasSuffix(got, "\n\n<!-- kernel -->\r\nbody") {
		t.Errorf("%q", got)
	}
	if got := ask("nothing here, $PATH apart"); got != "" {
		t.Errorf("%q", got)
	}
}

func BenchmarkMention(b *testing.B) {
	claude := b.TempDir()
	for i := range 30 {
		dir := filepath.Join(claude, "skills", fmt.Sprintf("skill-%d", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: skill-%d\ndescription: d\n---\n", i) + strings.Repeat("# Part\n\n- do *this* and `that`\n- and more\n\nText goes on.\n\n", 150)
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	h := Host{Home: b.TempDir(), Claude: claude}
	in := &input{event: UserPromptSubmit, session: "s", promptID: "p", prompt: "$skill-7 go", cwd: claude}
	for b.Loop() {
		if r, err := h.mention(in); err != nil || r.context == "" {
			b.Fatal(r, err)
		}
	}
}
