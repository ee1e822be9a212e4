package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
)

const oldText = `---
name: tagger
description: Tags release notes.
---

# Tagger

- Read the notes first.
- Use at most three tags.

<!-- kernel -->
## Contract

Print one line of JSON.
<!-- /kernel -->

Be brief.
`

var newText = strings.NewReplacer("- Use at most three tags.\n", "- Use one tag.\n- Sort them.\n", "Be brief.", "Be \x1b[31mbrief.").Replace(oldText)

func parse(t testing.TB, text string) *skill.Document {
	t.Helper()
	d, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDiffText(t *testing.T) {
	d, err := Between("v0", "v1", parse(t, oldText), parse(t, newText))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.txt", d.Text(false))
	if d.Plus != 3 || d.Minus != 2 || d.KernelChanged {
		t.Errorf("+%d −%d, kernel changed %v", d.Plus, d.Minus, d.KernelChanged)
	}
	coloured := d.Text(true)
	if !strings.Contains(coloured, "\x1b[32m+- Sort them.\x1b[0m\n") || strings.Contains(coloured, "\x1b[31mbrief") {
		t.Errorf("our colours must be there and nobody else's: %q", coloured)
	}
	if bare := plain.Text(coloured); bare != d.Text(false) {
		t.Errorf("colour changes the text: %q", bare)
	}
}

func TestDiffMarksTheKernelAndNothingElse(t *testing.T) {
	d, err := Between("v0", "v1", parse(t, oldText), parse(t, newText))
	if err != nil {
		t.Fatal(err)
	}
	var kernel []string
	for _, l := range d.Lines {
		if l.Kind == Kernel {
			kernel = append(kernel, l.Text)
		}
	}
	if got, want := strings.Join(kernel, "|"), "<!-- kernel -->|## Contract|Print one line of JSON.|<!-- /kernel -->"; got != want {
		t.Errorf("kernel lines are %q, want %q", got, want)
	}
}

func TestDiffSaysThatTheKernelDiffers(t *testing.T) {
	d, err := Between("v0", "v1", parse(t, oldText), parse(t, strings.Replace(oldText, "one line", "two lines", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if !d.KernelChanged || !strings.Contains(d.Text(false), "!!! the kernel differs") {
		t.Errorf("an edited kernel is not named: %+v", d)
	}
}

func TestDiffOfEqualTexts(t *testing.T) {
	d, err := Between("v0", "v1", parse(t, oldText), parse(t, oldText))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Text(false), "v0 and v1 are the same text\n"; got != want || len(d.Lines) != 0 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPatchApplies(t *testing.T) {
	old := strings.SplitAfter(oldText, "\n")
	var got strings.Builder
	at := 0
	for _, l := range strings.SplitAfter(Patch("v0", "v1", parse(t, oldText), parse(t, newText)), "\n") {
		if l == "" || strings.HasPrefix(l, "---") || strings.HasPrefix(l, "+++") {
			continue
		}
		if l[0] == '@' {
			var from int
			if _, err := fmt.Sscanf(l, "@@ -%d", &from); err != nil {
				t.Fatal(err)
			}
			for ; at < from-1; at++ {
				got.WriteString(old[at])
			}
			continue
		}
		if l[0] != '+' {
			if old[at] != l[1:] {
				t.Fatalf("line %d is %q, the patch wants %q", at+1, old[at], l[1:])
			}
			at++
		}
		if l[0] != '-' {
			got.WriteString(l[1:])
		}
	}
	got.WriteString(strings.Join(old[at:], ""))
	if got.String() != newText {
		t.Errorf("the patch makes %q", got.String())
	}
}
