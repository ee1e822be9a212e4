package skill

import (
	"bytes"
	"testing"
)

const tagger = `---
name: tagger
description: Tags tickets. Use when a ticket needs labels.
---
# Tagger

Read the ticket.

## Security

Never print tokens.

### Secrets

None.

## Steps

- one
- two !` + "`git status`" + ` here

<!-- done -->
`

func TestParseFindsDefaultKernel(t *testing.T) {
	d, err := Parse([]byte(tagger), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Name() != "tagger" || d.Description() != "Tags tickets. Use when a ticket needs labels." {
		t.Errorf("name %q, description %q", d.Name(), d.Description())
	}
	var got []string
	for _, s := range d.Kernel() {
		got = append(got, string(d.Render()[s.Start:s.End]))
	}
	want := []string{
		tagger[:bytes.Index([]byte(tagger), []byte("# Tagger"))],
		"## Security\n\nNever print tokens.\n\n### Secrets\n\nNone.",
		"!`git status`",
	}
	if len(got) != len(want) {
		t.Fatalf("kernel %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("span %d is %q, want %q", i, got[i], want[i])
		}
	}
	if s := d.Kernel()[1]; s.Line != 9 || s.Heading != "Tagger > Security" {
		t.Errorf("span %+v", s)
	}
	wantView := "# Tagger\n\nRead the ticket.\n\n<<KERNEL 1: Security>>\n\n## Steps\n\n- one\n- two <<KERNEL 2>> here\n\n<!-- done -->\n"
	if v := d.View(); v != wantView {
		t.Errorf("view %q", v)
	}
	child, err := d.WithView(d.View())
	if err != nil || !bytes.Equal(child.Render(), d.Render()) {
		t.Errorf("WithView(View()): %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(tagger))
	f.Add([]byte("\ufeff---\r\nname: x\r\n---\r\n# Must\r\ntext"))
	f.Add([]byte("---\nname: x\n---\n<!-- kernel -->\nx\n<!-- /kernel -->\n<<KERNEL 1>>\n"))
	f.Add([]byte("a\r\n```!\nls\n```\n>b !`c\nd`"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, o := range []Options{{}, {EvolveDescription: true}} {
			d, err := Parse(b, o)
			if !bytes.Equal(d.Render(), b) {
				t.Fatalf("render %q", d.Render())
			}
			at := 0
			for _, s := range d.Kernel() {
				if s.Start < at || s.End < s.Start || s.End > len(b) {
					t.Fatalf("spans %+v", d.Kernel())
				}
				at = s.End
			}
			if err != nil {
				continue
			}
			child, err := d.WithView(d.View())
			if err != nil {
				t.Fatalf("WithView(View()): %v\nview %q", err, d.View())
			}
			if !bytes.Equal(child.Render(), b) {
				t.Fatalf("WithView(View()) renders %q, view %q", child.Render(), d.View())
			}
		}
	})
}
