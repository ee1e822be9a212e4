package skill

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// show renders what Parse made of a document, for golden files.
func show(d *Document) string {
	var b strings.Builder
	raw := d.Render()
	for _, s := range d.Kernel() {
		fmt.Fprintf(&b, "kernel line %d under %q: %s\n%q\n", s.Line, s.Heading, s.Reason, raw[s.Start:s.End])
	}
	fmt.Fprintf(&b, "view\n%s\n", strings.ReplaceAll(d.View(), "\r", "␍"))
	for _, bl := range Blocks(d.View()) {
		fmt.Fprintf(&b, "block %s under %q %q\n", bl.Kind, bl.Section, d.View()[bl.Start:bl.End])
	}
	return b.String()
}

func TestDocumentsGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/documents/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Parse(raw, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, golden := show(d), strings.TrimSuffix(file, ".md")+".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestParseErrorsNameTheLine(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int
		part       string
	}{
		{"not closed", "---\nname: x\n", 1, "never closed"},
		{"not closed, no line break", "---", 1, "never closed"},
		{"closing line with a blank", "---\nname: x\n--- \n", 1, "never closed"},
		{"not YAML", "---\nname: x\ndescription: a: b\n---\n", 3, "not YAML"},
		{"tab", "---\nname: x\nmetadata:\n\tkernel: y\n---\n", 4, "not YAML"},
		{"a list", "---\n- name\n---\n", 2, "not a mapping"},
		{"twice", "---\nname: x\nname: y\n---\n", 3, "twice"},
		{"two documents", "---\nname: x\n...\nname: y\n---\n", 2, "more than one"},
		{"marker not closed", "a\n<!-- kernel -->\nb\n", 2, "never closed"},
		{"marker not opened", "a\n<!-- /kernel -->\n", 2, "without"},
		{"markers nested", "<!-- kernel -->\n<!-- kernel -->\n<!-- /kernel -->\n", 2, "line 1"},
		{"marker not alone", "<!-- kernel --> never do x <!-- /kernel -->\n", 1, "alone on its line"},
		{"marker closed in a fence", "<!-- kernel -->\n```\n<!-- /kernel -->\n```\n", 1, "never closed"},
		{"no such section", "---\nname: x\nmetadata:\n  kernel: Securty\n---\n# Security\n", 4, `the nearest is "Security"`},
		{"kernel is a mapping", "---\nname: x\nmetadata:\n  kernel: {a: b}\n---\n", 4, "not a text"},
	} {
		d, err := Parse([]byte(c.text), Options{})
		var se *SyntaxError
		if !errors.As(err, &se) || se.Line != c.line || !strings.Contains(se.Msg, c.part) {
			t.Errorf("%s: error %v, want line %d and %q", c.name, err, c.line, c.part)
			continue
		}
		if string(d.Render()) != c.text {
			t.Errorf("%s: renders %q", c.name, d.Render())
		}
		if d.View() != "" || d.KernelText() != nil {
			t.Errorf("%s: a broken document has a view", c.name)
		}
		if _, err := d.WithView("x"); err == nil {
			t.Errorf("%s: a broken document was rebuilt", c.name)
		}
		if k := d.Kernel(); len(k) != 1 || k[0].End != len(c.text) {
			t.Errorf("%s: not all of a broken document is kernel: %+v", c.name, k)
		}
	}
}

func TestFrontmatterEdges(t *testing.T) {
	for _, c := range []struct{ name, text, skill, body string }{
		{"empty", "---\n---\nbody", "", "body"},
		{"only comments", "---\n# nothing\n---\nbody", "", "body"},
		{"dashes in a value", "---\nname: x\ndescription: |\n  a\n  ---\n  b\n---\nbody", "x", "body"},
		{"not on line 1", "\n---\nname: x\n---\n", "", "\n---\nname: x\n---\n"},
		{"byte order mark", "\ufeff---\nname: x\n---\nbody", "x", "body"},
		{"byte order mark alone", "\ufeffbody", "", "body"},
		{"no line break at the end", "---\nname: x\n---", "x", ""},
		{"alias", "---\nlicense: &a x\nname: *a\n---\n", "x", ""},
		{"null", "---\nname:\n---\n", "", ""},
		{"nothing", "", "", ""},
	} {
		d, err := Parse([]byte(c.text), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d.Name() != c.skill || string(d.Body()) != c.body {
			t.Errorf("%s: name %q body %q", c.name, d.Name(), d.Body())
		}
	}
}

func TestNoKernelDeclaredOnPurpose(t *testing.T) {
	for _, text := range []string{
		"---\nname: x\nmetadata:\n  kernel: \"\"\n---\n# Security\n",
		"---\nname: x\nmetadata:\n  kernel:\n---\n# Security\n",
		"---\nname: x\n---\n> # Security\n\n- # Policy\n\n# Insecure, musty, nevertheless\n",
	} {
		d := parse(t, text)
		if n := len(d.Kernel()); n != 1 {
			t.Errorf("%q: kernel %+v", text, d.Kernel())
		}
	}
	d := parse(t, "---\nname: x\nmetadata:\n  kernel: [One, Two]\n---\n# One\n\n# Two\n\n# Security\n")
	if n := len(d.Kernel()); n != 3 {
		t.Errorf("a list of names: kernel %+v", d.Kernel())
	}
}

func TestKernelHashSeesMovedBytes(t *testing.T) {
	a := parse(t, "<!-- kernel -->\na\n<!-- /kernel -->\n\n<!-- kernel -->\nb\n<!-- /kernel -->\n")
	b := parse(t, "<!-- kernel -->\na\n<!-- /kernel -->\nharness\n<!-- kernel -->\nb\n<!-- /kernel -->\n")
	c := parse(t, "<!-- kernel -->\nb\n<!-- /kernel -->\n\n<!-- kernel -->\na\n<!-- /kernel -->\n")
	if a.KernelHash() != b.KernelHash() {
		t.Error("a harness edit changes the kernel hash")
	}
	if a.KernelHash() == c.KernelHash() {
		t.Error("swapped kernel blocks keep the hash")
	}
	if a.Hash() == b.Hash() || len(a.Hash()) != 64 {
		t.Error("the hash of the file does not tell two files apart")
	}
}
