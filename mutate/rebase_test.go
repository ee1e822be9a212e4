package mutate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

const plotter = `---
name: plotter
description: Make charts from tables.
---

# plotter

Read the file first.

## Axes

- Label both axes.

## Colours

Use few colours.

<!-- kernel -->
Never overwrite the data file.
<!-- /kernel -->

## Output

Save as SVG.
`

func replaced(t *testing.T, text string, oldnew ...string) string {
	t.Helper()
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(text, oldnew[i]) {
			t.Fatalf("no %q to replace", oldnew[i])
		}
		text = strings.Replace(text, oldnew[i], oldnew[i+1], 1)
	}
	return text
}

func parsed(t interface{ Fatalf(string, ...any) }, text string, o skill.Options) *skill.Document {
	doc, err := skill.Parse([]byte(text), o)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return doc
}

func TestRebase(t *testing.T) {
	axes := []string{"Label both axes.", "Label both axes with units."} // what the challenger changed
	for _, c := range []struct {
		name         string
		ours, theirs []string // replacements
		want         []string // in what the owner wrote; nil: a conflict
		conflict     string
	}{
		{"another section", []string{"Save as SVG.", "Save as PDF."}, axes, axes, ""},
		{"the same section", []string{"both axes", "the axes"}, axes, nil, `section "plotter > Axes"`},
		{"the change itself, by hand", axes, axes, []string{}, ""},
		{"blanks", []string{"both axes.\n", "both axes.  \n\n\n"}, axes, []string{"Label both axes.  \n\n\n", "Label both axes with units.\n"}, ""},
		{"the kernel", []string{"data file.\n<!--", "input.\n<!--"}, []string{"few colours", "two colours"}, []string{"few colours", "two colours"}, ""},
		{"a new kernel elsewhere", []string{"Save as SVG.", "<!-- kernel -->\nSave as SVG.\n<!-- /kernel -->"}, axes, axes, ""},
		{"a new kernel in the same section", []string{"- Label both axes.", "<!-- kernel -->\n- Label both axes.\n<!-- /kernel -->"}, axes, nil, `section "plotter > Axes"`},
		{"the kernel taken out", []string{"<!-- kernel -->\nNever overwrite the data file.\n<!-- /kernel -->\n", ""}, axes, axes, ""},
		{"the kernel taken out of the same section", []string{"<!-- kernel -->\nNever overwrite the data file.\n<!-- /kernel -->\n", ""},
			[]string{"few colours", "two colours"}, nil, `section "plotter > Colours"`},
		{"the frontmatter", []string{"description: Make", "license: MIT\ndescription: Make"}, axes, axes, ""},
		{"the description", []string{"from tables.", "from any table."}, axes, axes, ""},
		{"both append a section", []string{"Save as SVG.\n", "Save as SVG.\n\n## Size\n\nA4.\n"}, []string{"Save as SVG.\n", "Save as SVG.\n\n## Fonts\n\nOne.\n"},
			[]string{"Save as SVG.\n", "Save as SVG.\n\n## Fonts\n\nOne.\n"}, ""},
		{"both append that section", []string{"Save as SVG.\n", "Save as SVG.\n\n## Size\n\nA4.\n"}, []string{"Save as SVG.\n", "Save as SVG.\n\n## Size\n\nA5.\n"},
			nil, `section "plotter > Size"`},
		{"a section removed by its owner", []string{"## Axes\n\n- Label both axes.\n\n", ""}, axes, nil, `section "plotter > Axes"`},
		{"another section removed by its owner", []string{"## Output\n\nSave as SVG.\n", ""}, axes, axes, ""},
		{"a section removed by the challenger", []string{"Save as SVG.", "Save as PDF."}, []string{"## Axes\n\n- Label both axes.\n\n", ""},
			[]string{"## Axes\n\n- Label both axes.\n\n", ""}, ""},
		{"an edit of what the challenger removed", []string{"both axes", "the axes"}, []string{"## Axes\n\n- Label both axes.\n\n", ""}, nil, `section "plotter > Axes"`},
		{"a heading above", []string{"# plotter\n", "# Plotter\n"}, axes, axes, ""},
		{"a subsection below a heading that is gone", []string{"## Output\n\nSave as SVG.\n", ""}, []string{"Save as SVG.\n", "Save as SVG.\n\n### Size\n\nA4.\n"},
			nil, "where a section that the new text added stands"},
		{"below another's new heading", []string{"Save as SVG.\n", "Save as SVG.\n\n### Name\n\nchart.svg\n"}, []string{"Save as SVG.\n", "Save as SVG.\n\n## Size\n\nA4.\n"},
			[]string{"chart.svg\n", "chart.svg\n\n## Size\n\nA4.\n"}, ""},
		{"a section that its owner deleted, renamed by the challenger", []string{"## Axes\n\n- Label both axes.\n\n", ""}, []string{"## Axes", "## Scales"},
			nil, `section "plotter > Axes"`},
		{"deleted, moved and renamed", []string{"## Axes\n\n- Label both axes.\n\n", ""}, []string{"## Axes\n\n- Label both axes.\n\n", "", "Save as SVG.\n", "Save as SVG.\n\n## Scales\n\n- Label both axes.\n"},
			nil, `section "plotter > Axes"`},
		{"deleted, its heading taken out by the challenger", []string{"## Axes\n\n- Label both axes.\n\n", ""}, []string{"## Axes\n\n", ""}, nil, `section "plotter > Axes"`},
		{"both rename one heading", []string{"## Axes", "## Scales"}, []string{"## Axes", "## Lines"}, nil, `section "plotter > Axes"`},
		{"both rename an empty one", []string{"## Axes\n\n- Label both axes.\n", "## Scales\n"}, []string{"## Axes\n\n- Label both axes.\n", "## Lines\n"}, nil, `section "plotter > Axes"`},
		{"both rename it alike", []string{"## Axes", "## Scales"}, []string{"## Axes", "## Scales", "as SVG", "as PDF"}, []string{"as SVG", "as PDF"}, ""},
		{"both delete it", []string{"## Axes\n\n- Label both axes.\n\n", ""}, []string{"## Axes\n\n- Label both axes.\n\n", "", "as SVG", "as PDF"}, []string{"as SVG", "as PDF"}, ""},
		{"moved by its owner, renamed by the challenger", []string{"## Axes\n\n- Label both axes.\n\n", "", "Save as SVG.\n", "Save as SVG.\n\n## Axes\n\n- Label both axes.\n"}, []string{"## Axes", "## Scales"},
			nil, `section "plotter > Axes"`},
		{"moved by its owner, deleted by the challenger", []string{"## Axes\n\n- Label both axes.\n\n", "", "Save as SVG.\n", "Save as SVG.\n\n## Axes\n\n- Label both axes.\n"},
			[]string{"## Axes\n\n- Label both axes.\n\n", ""}, nil, `section "plotter > Axes"`},
		{"moved by its owner, and nothing else", []string{"## Axes\n\n- Label both axes.\n\n", "", "Save as SVG.\n", "Save as SVG.\n\n## Axes\n\n- Label both axes.\n"},
			[]string{"few colours", "two colours"}, []string{"few colours", "two colours"}, ""},
		{"renamed by its owner, deleted by the challenger", []string{"## Axes", "## Scales"}, []string{"## Axes\n\n- Label both axes.\n\n", ""}, nil, `section "plotter > Axes"`},
		{"a line that both add in different places", []string{"Save as SVG.", "Save as SVG.\nName the file."}, []string{"Read the file first.", "Read the file first.\nName the file."},
			nil, `section "plotter > Output"`},
		{"a line that one adds twice", []string{"Save as SVG.", "Save as SVG.\nName the file.", "few colours.", "few colours.\nName the file."}, []string{"Read the file first.", "Read the file first.\nName the file."},
			nil, `section "plotter > Colours"`},
		{"a line that its owner deleted, moved by the challenger", []string{"- Label both axes.\n", ""}, []string{"- Label both axes.\n", "", "Save as SVG.\n", "Save as SVG.\n- Label both axes.\n"},
			nil, `section "plotter > Axes"`},
		{"code that both add, with blank lines", []string{"Save as SVG.\n", "Save as SVG.\n\n```sh\na\n\nb\n```\n"}, []string{"both axes.\n", "both axes.\n\n```sh\nc\n\nd\n```\n"},
			[]string{"both axes.\n", "both axes.\n\n```sh\nc\n\nd\n```\n"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours := replaced(t, plotter, c.ours...)
			base, mine, theirs := parsed(t, plotter, skill.Options{}), parsed(t, ours, skill.Options{}), parsed(t, replaced(t, plotter, c.theirs...), skill.Options{})
			got, err := Rebase(base, mine, theirs)
			var clash *ConflictError
			switch {
			case c.want == nil && !errors.As(err, &clash):
				t.Fatalf("got %v and\n%s, want a conflict", err, got.Render())
			case c.want == nil:
				if !slices.ContainsFunc(clash.What, func(w string) bool { return strings.Contains(w, c.conflict) }) {
					t.Errorf("conflict about %q, want %q", clash.What, c.conflict)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if want := replaced(t, ours, c.want...); string(got.Render()) != want {
				t.Errorf("got\n%s\nwant\n%s", got.Render(), want)
			}
			if got.KernelHash() != mine.KernelHash() {
				t.Error("the kernel is not the owner's")
			}
		})
	}
}

// An editor that saves with other line ends changes nothing, and stays.
func TestRebaseLineEnds(t *testing.T) {
	crlf := strings.ReplaceAll(replaced(t, plotter, "SVG", "PDF"), "\n", "\r\n")
	base, ours := parsed(t, plotter, skill.Options{}), parsed(t, crlf, skill.Options{})
	got, err := Rebase(base, ours, parsed(t, replaced(t, plotter, "both axes", "all axes"), skill.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if want := replaced(t, crlf, "both axes", "all axes"); string(got.Render()) != want {
		t.Errorf("got\n%q\nwant\n%q", got.Render(), want)
	}
}

func TestRebaseDescription(t *testing.T) {
	opts := skill.Options{EvolveDescription: true}
	base := parsed(t, plotter, opts)
	theirs, err := base.WithDescription("Draw charts.")
	if err != nil {
		t.Fatal(err)
	}
	ours := replaced(t, plotter, "Save as SVG.", "Save as PDF.")
	got, err := Rebase(base, parsed(t, ours, opts), theirs)
	if err != nil {
		t.Fatal(err)
	}
	if want := replaced(t, ours, "Make charts from tables.", "Draw charts."); string(got.Render()) != want {
		t.Errorf("got\n%s\nwant\n%s", got.Render(), want)
	}
	var clash *ConflictError
	if _, err := Rebase(base, parsed(t, replaced(t, ours, "from tables", "from lists"), opts), theirs); !errors.As(err, &clash) || clash.What[0] != "the description" {
		t.Errorf("both changed the description: %v", err)
	}
}

// drawSkill makes a skill with a kernel, of few words, so that texts meet.
func drawSkill(t *rapid.T) string {
	word := rapid.SampledFrom([]string{"alpha", "beta", "gamma", "delta"})
	var b strings.Builder
	b.WriteString("---\nname: s\ndescription: d\n---\n")
	for i := range rapid.IntRange(1, 5).Draw(t, "sections") {
		if i > 0 || rapid.Bool().Draw(t, "headed") {
			fmt.Fprintf(&b, "%s %s %d\n\n", strings.Repeat("#", rapid.IntRange(1, 3).Draw(t, "depth")), word.Draw(t, "title"), i)
		}
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			fmt.Fprintf(&b, "- %s %s\n", word.Draw(t, "a"), word.Draw(t, "b"))
		}
		if rapid.Bool().Draw(t, "kernel") {
			fmt.Fprintf(&b, "\n<!-- kernel -->\nkeep %s\n<!-- /kernel -->\n", word.Draw(t, "k"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// mangle edits a text: it removes, adds and changes lines; kernel only if
// allowed.
func mangle(t *rapid.T, text string, kernel bool) string {
	word := rapid.SampledFrom([]string{"alpha", "beta", "gamma", "omega", "sigma"})
	head, body, _ := strings.Cut(text[4:], "---\n")
	lines := strings.SplitAfter(body, "\n")
	lines = lines[:len(lines)-1] // all end in a line feed
	inside := false
	var out []string
	for i, l := range lines {
		inside = inside || strings.HasPrefix(l, "<!-- kernel")
		held := inside
		inside = inside && !strings.HasPrefix(l, "<!-- /kernel")
		keep := func() { out = append(out, l) }
		if held && (!kernel || !strings.HasPrefix(l, "keep")) {
			keep()
			continue
		}
		switch rapid.IntRange(0, 19).Draw(t, fmt.Sprintf("edit %d", i)) {
		case 0:
			if held {
				keep()
			}
		case 1:
			keep()
			if !held {
				fmt.Fprintf(sink{&out}, "- %s new\n", word.Draw(t, "added"))
			}
		case 2:
			keep()
			if !held {
				fmt.Fprintf(sink{&out}, "\n## %s more\n\n", word.Draw(t, "heading"))
			}
		case 3:
			if strings.HasPrefix(l, "- ") || held {
				fmt.Fprintf(sink{&out}, "%s %s changed\n", strings.Fields(l)[0], word.Draw(t, "changed"))
			} else {
				keep()
			}
		default:
			keep()
		}
	}
	return "---\n" + head + "---\n" + strings.Join(out, "")
}

type sink struct{ out *[]string }

func (s sink) Write(b []byte) (int, error) { *s.out = append(*s.out, string(b)); return len(b), nil }

// title is the last heading of a path: the challenger may have taken out one above.
func title(path string) string { return strings.TrimSpace(path[strings.LastIndex(path, ">")+1:]) }

// Whatever the edits: the owner's kernel, and every line of hers outside the
// sections that the challenger changed; an unchanged side gives the other one.
func TestRebaseProperties(t *testing.T) {
	merged, clashed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawSkill(t)
		base := parsed(t, text, skill.Options{})
		ours, err := skill.Parse([]byte(mangle(t, text, true)), skill.Options{})
		if err != nil {
			t.Skip("her text is broken")
		}
		edited := parsed(t, mangle(t, text, false), skill.Options{})
		theirs, err := base.WithView(edited.View())
		if err != nil {
			t.Skip("no challenger is like that")
		}
		if got, err := Rebase(base, ours, base); err != nil || got.Hash() != ours.Hash() {
			t.Fatalf("an unchanged challenger gives %v and %q", err, got.Render())
		}
		if got, err := Rebase(base, base, theirs); err != nil || got.Hash() != theirs.Hash() {
			t.Fatalf("an unchanged owner gives %v and %q", err, got.Render())
		}
		got, err := Rebase(base, ours, theirs)
		if err != nil {
			clashed++
			return
		}
		merged++
		if got.KernelHash() != ours.KernelHash() {
			t.Fatalf("another kernel:\n%s\nowner's:\n%s", got.Render(), ours.Render())
		}
		ofBase, ofOurs := markKernel(base, ours)
		was, mine, new := sectionsOf(base, ofBase), sectionsOf(ours, ofOurs), sectionsOf(theirs, ofBase)
		touched := map[string]bool{} // paths of sections that the challenger changed
		inTheirs := pairs(was, new)
		for i, k := range inTheirs {
			if k < 0 || new[k].text != was[i].text {
				touched[was[i].path] = true
			}
		}
		for k := range new {
			if !slices.Contains(inTheirs, k) {
				touched[new[k].path] = true
			}
		}
		have := map[string]int{}
		for _, s := range sectionsOf(got, ofOurs) {
			for line := range strings.Lines(s.text) {
				have[title(s.path)+"\x00"+strings.TrimSpace(line)]++
			}
		}
		inOurs := pairs(was, mine)
		for j, s := range mine {
			if i := slices.Index(inOurs, j); i >= 0 && touched[was[i].path] || touched[s.path] {
				continue
			}
			for line := range strings.Lines(s.text) {
				if key := title(s.path) + "\x00" + strings.TrimSpace(line); strings.TrimSpace(line) != "" && have[key] == 0 {
					t.Fatalf("line %q of section %q is lost:\n%s\nowner's:\n%s\nchallenger's:\n%s", line, s.path, got.Render(), ours.Render(), theirs.Render())
				}
			}
		}
	})
	if merged == 0 || clashed == 0 {
		t.Errorf("%d merges and %d conflicts: the draws test nothing", merged, clashed)
	}
}

// FuzzRebase merges any three texts: no panic, the owner's kernel, no deletion undone,
// no line lost or doubled, and an unchanged side gives the other one.
func FuzzRebase(f *testing.F) {
	f.Add(plotter, strings.Replace(plotter, "SVG", "PDF", 1), strings.Replace(plotter, "both axes", "all axes", 1))
	f.Add(plotter, strings.ReplaceAll(plotter, "\n", "\r\n"), strings.Replace(plotter, "## Axes\n", "Axes\n----\n", 1))
	f.Add("# a\n```\n# b\n", "# a\n```\n# b\n```\n# c", "x\n# a\n~~~\n<<KERNEL 1>>\n")
	f.Add("---\nname: s\ndescription: d\n---\n## Must\nx\n## B\ny\n", "---\nname: s\n---\n## B\ny\n## Must\nz\n", "---\nname: s\ndescription: d\n---\n## Must\nx\n## B\nq\n")
	f.Fuzz(func(t *testing.T, b, o, c string) {
		base, err := skill.Parse([]byte(b), skill.Options{})
		if err != nil {
			return
		}
		ours, err := skill.Parse([]byte(o), skill.Options{})
		if err != nil {
			return
		}
		theirs, err := skill.Parse([]byte(c), skill.Options{})
		if err != nil {
			return
		}
		if theirs, err = base.WithView(theirs.View()); err != nil { // as a mutator would make it
			return
		}
		if got, err := Rebase(base, ours, base); err != nil || got.Hash() != ours.Hash() {
			t.Fatalf("an unchanged challenger gives %v", err)
		}
		if got, err := Rebase(base, base, theirs); err != nil || got.Hash() != theirs.Hash() {
			t.Fatalf("an unchanged owner gives %v", err)
		}
		got, err := Rebase(base, ours, theirs)
		if err != nil {
			return
		}
		if got.KernelHash() != ours.KernelHash() {
			t.Fatalf("another kernel:\n%q\nowner's:\n%q", got.Render(), o)
		}
		if len(base.KernelText())+len(ours.KernelText()) > 0 {
			return // a line of the kernel is not the challenger's to delete
		}
		if wrong := unfaithful(base.View(), ours.View(), theirs.View(), got.View()); wrong != "" {
			t.Fatalf("%s\nbase:\n%q\nowner's:\n%q\nchallenger's:\n%q\nmerged:\n%q", wrong, base.View(), ours.View(), theirs.View(), got.View())
		}
	})
}
