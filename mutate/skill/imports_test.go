package skill_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"pgregory.net/rapid"
)

func TestImports(t *testing.T) {
	for text, want := range map[string][]string{
		"See @docs/a.md and @~/b.md\n":     {"docs/a.md", "~/b.md"},
		"- @./x.md\n- @/abs/y.md\n":        {"./x.md", "/abs/y.md"},
		"mail me@example.org\n":            nil,
		"`@code.md` and ``@two.md``\n":     nil,
		"```\n@fenced.md\n```\n":           nil,
		"    @indented.md\n":               nil,
		"a @my\\ notes.md b\n":             {"my notes.md"},
		"@a.md#part\n":                     {"a.md"},
		"@\n@#\n":                          nil,
		"---\npaths: '@no.md'\n---\n@b.md": {"b.md"},
	} {
		d, err := skill.Parse([]byte(text), skill.Options{Instructions: true})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for _, i := range d.Imports() {
			got = append(got, i.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q imports %q, want %q", text, got, want)
		}
	}
}

// A file of instructions needs no frontmatter, and may begin as one does.
func TestInstructionsBegin(t *testing.T) {
	for _, text := range []string{"# Rules\n", "---\nno frontmatter\n", "---\n- a\n---\n", "---\nnever: closed\n"} {
		d, err := skill.Parse([]byte(text), skill.Options{Instructions: true})
		if err != nil || string(d.Body()) != text || len(d.Kernel()) > 0 {
			t.Errorf("%q: body %q, kernel %v (%v)", text, d.Body(), d.Kernel(), err)
		}
	}
	d, err := skill.Parse([]byte("---\npaths: src/**\n---\n# Rules\n"), skill.Options{Instructions: true})
	if err != nil || string(d.Body()) != "# Rules\n" || d.Kernel()[0].Reason != "frontmatter" {
		t.Errorf("a rule's paths: body %q, kernel %v (%v)", d.Body(), d.Kernel(), err)
	}
}

// Whatever a mutator does to the text around it, an import stays as it is, and none is added.
func TestImportsAreKernel(t *testing.T) {
	lines := []string{"# Rules", "- be brief", "See @docs/a.md.", "plain @b.md here", "```", "`@c.md`", "", "> @d.md"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 1, 8).Draw(t, label), "\n") + "\n"
		}
		d, err := skill.Parse([]byte(draw("text")), skill.Options{Instructions: true})
		if err != nil {
			t.Skip("no document")
		}
		next, err := d.WithView(d.View() + draw("more"))
		if err != nil {
			return // refused
		}
		if was, is := d.Imports(), next.Imports(); len(was) != len(is) {
			t.Fatalf("%q has imports %v, with more text %v", d.Render(), was, is)
		}
		if d.KernelHash() != next.KernelHash() {
			t.Fatalf("the kernel of %q changed", d.Render())
		}
	})
}

func TestOptionsOfFollowTheKey(t *testing.T) {
	if !skill.OptionsOf(subject.OfFile("~", ".claude/CLAUDE.md").Key()).Instructions || skill.OptionsOf("plugin:x").Instructions {
		t.Error("a file is read as a skill, or the other way round")
	}
}
