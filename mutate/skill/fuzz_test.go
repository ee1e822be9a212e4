package skill

import (
	"bytes"
	"testing"
)

// FuzzWithDescription replaces the description in any frontmatter: every byte
// outside of the value stays, and the value reads back.
func FuzzWithDescription(f *testing.F) {
	for _, front := range []string{"name: x\ndescription: Old\n", "description: |\n  a\n  ---\n\n# c\nname: x\n", "description: \"a\\\n  b\"\n", "description: 'it''s' # c\n", "description: a\n  b\n  c # d\nmetadata: {kernel: A}\n", "a: &x b\ndescription: *x\n"} {
		f.Add(front, "New: \"text\"")
	}
	f.Fuzz(func(t *testing.T, front, text string) {
		file := "---\n" + front + "---\n# A\n\nBody.\n"
		d, err := Parse([]byte(file), Options{EvolveDescription: true})
		if err != nil {
			return
		}
		child, err := d.WithDescription(text)
		if err != nil {
			return
		}
		start, end, _ := d.DescriptionSpan()
		got := child.Render()
		if child.Description() != text || child.KernelHash() != d.KernelHash() || !bytes.HasPrefix(got, []byte(file[:start])) || !bytes.HasSuffix(got, []byte(file[end:])) {
			t.Fatalf("%q with %q renders %q", file, text, got)
		}
		if child.Name() != d.Name() || !bytes.Equal(child.Body(), d.Body()) {
			t.Fatalf("%q with %q changes more than the description", file, text)
		}
	})
}
