package skill

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzCheck compares any two texts: no panic, and nothing that it does not
// reject has another kernel, or moved it down by more than a text may grow.
func FuzzCheck(f *testing.F) {
	f.Add(house, house)
	f.Add(tagger, tagger+"\n<details>\n")
	f.Add("---\nname: x\ndescription: d\n---\n<!-- kernel -->\n[a]\n<!-- /kernel -->\n", "---\nname: x\ndescription: d\n---\n<!-- kernel -->\n[a]\n<!-- /kernel -->\n[a]: b\n")
	f.Add(sighted, strings.Replace(sighted, "Make", strings.Repeat("- a\n", 160)+"\nMake", 1))
	f.Add("---\nname: x\n---\n- a\n  ## Must\n", "---\nname: x\n---\n[^1]: <s>\n")
	f.Fuzz(func(t *testing.T, was, is string) {
		for _, o := range []Options{{}, {EvolveDescription: true}} {
			parent, _ := Parse([]byte(was), o)
			child, _ := Parse([]byte(is), o)
			for _, p := range []Profile{ClaudeCode, Portable} {
				fs := Check(parent, child, p)
				for _, x := range fs {
					if x.Rule == "" || x.Message == "" || x.Line < 0 || x.Line > 1+bytes.Count([]byte(is), []byte("\n")) {
						t.Fatalf("finding %+v", x)
					}
				}
				if Worst(fs) < Reject && child.KernelHash() != parent.KernelHash() {
					t.Fatalf("not rejected: %q became %q", was, is)
				}
				if Worst(fs) < Reject {
					lines, size := movedBy(t, parent, child)
					if most := Growth(Tokens(string(parent.Body()))); lines > most/tokensPerLine || size > 4*most {
						t.Fatalf("not rejected: the kernel of %q moved by %d lines and %d bytes in %q", was, lines, size, is)
					}
				}
			}
		}
	})
}

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
