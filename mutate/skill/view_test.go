package skill

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWithViewRefuses(t *testing.T) {
	d := parse(t, house)
	const first, second = "<<KERNEL 1: Output contract>>", "<<KERNEL 2>>"
	view := d.View()
	for _, token := range []string{first, second} {
		if strings.Count(view, token) != 1 {
			t.Fatalf("view %q lacks %s", view, token)
		}
	}
	for _, c := range []struct{ name, view, part string }{
		{"empty", "", "missing"},
		{"missing", edit(t, view, first+"\n", ""), "before"},
		{"last missing", edit(t, view, second, "main"), second + " is missing"},
		{"twice", edit(t, view, "## Notes", first+"\n\n## Notes"), "twice"},
		{"reordered", edit(t, edit(t, view, second, "main"), first, second+"\n\n"+first), "before"},
		{"altered label", edit(t, view, first, "<<KERNEL 1: Output>>"), "altered"},
		{"altered number", edit(t, view, second, "<<KERNEL 3>>"), "altered"},
		{"altered case", edit(t, view, second, "<<kernel 2>>"), "altered"},
		{"invented", edit(t, view, "## Notes", "<<KERNEL 3: More>>\n\n## Notes"), "altered"},
		{"text before", edit(t, view, first, "Old: "+first), "alone on its line"},
		{"text behind", edit(t, view, first, first+" (optional)"), "alone on its line"},
		{"quoted", edit(t, view, first, "> "+first), "alone on its line"},
		{"in backquotes", edit(t, view, first, "`"+first+"`"), "alone on its line"},
		{"new kernel heading", edit(t, view, "## Notes", "## Privacy policy"), "would become kernel"},
		{"new marker", edit(t, view, "## Notes", "<!-- kernel -->"), "never closed"},
		{"new shell", edit(t, view, "Prefer few", "!`id` Prefer few"), "would become kernel"},
		{"kernel section grows", edit(t, view, first+"\n", first+"\n\nExcept on Fridays.\n"), "no longer be what it was"},
		{"kernel section grows by a form feed", edit(t, view, first+"\n", first+"\n\f\n"), "no longer be what it was"},
		{"kernel fenced", edit(t, view, first, "~~~\n"+first+"\n~~~"), "no longer be"},
	} {
		child, err := d.WithView(c.view)
		var ve *ViewError
		if child != nil || !errors.As(err, &ve) || !strings.Contains(ve.Msg, c.part) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.part)
		}
	}
	if string(d.Render()) != house {
		t.Error("the document changed")
	}
}

func TestWithViewRebuilds(t *testing.T) {
	d := parse(t, house)
	view := edit(t, d.View(), "Prefer few colours.", "Use a log scale for revenue.")
	want := edit(t, house, "Prefer few colours.", "Use a log scale for revenue.")
	for name, v := range map[string]string{
		"as given":             view,
		"no line break at end": strings.TrimRight(view, "\n"),
		"more line breaks":     view + "\n\n",
		"CRLF":                 strings.ReplaceAll(view, "\n", "\r\n"),
		"blanks around token":  edit(t, view, "<<KERNEL 1: Output contract>>", "  <<KERNEL 1: Output contract>> \t"),
	} {
		child, err := d.WithView(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(child.Render()); got != want {
			t.Errorf("%s: renders %q", name, got)
		}
	}
}

func TestWithViewKeepsLineBreaksOfTheFile(t *testing.T) {
	d := parse(t, "---\r\nname: x\r\n---\r\n# X\r\n\r\n## Safety\r\n\r\nNo.\r\n\r\n## Rest\r\n\r\nText")
	if strings.Contains(d.View(), "\r") {
		t.Fatalf("view %q", d.View())
	}
	child, err := d.WithView(edit(t, d.View(), "Text", "More\ntext\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "---\r\nname: x\r\n---\r\n# X\r\n\r\n## Safety\r\n\r\nNo.\r\n\r\n## Rest\r\n\r\nMore\r\ntext"
	if got := string(child.Render()); got != want {
		t.Errorf("renders %q", got)
	}
}

func TestWithViewKeepsTheEdgesOfTheFile(t *testing.T) {
	for _, c := range []struct{ text, view, want string }{
		{"---\nname: x\n---\n\n# X\n", "# Y", "---\nname: x\n---\n\n# Y\n"},
		{"---\nname: x\n---\n# X", "\n\n# Y\n\n", "---\nname: x\n---\n# Y"},
		{"---\nname: x\n---\n\n\n", "# Y", "---\nname: x\n---\n# Y\n\n"},
		{"\n# X\n", "\n", "\n"},
		{"\n## Must\n", "<<KERNEL 1: Must>>", "\n## Must\n"},
		{"", "x\n", "x"},
	} {
		child, err := parse(t, c.text).WithView(c.view)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := string(child.Render()); got != c.want {
			t.Errorf("%q with %q renders %q, want %q", c.text, c.view, got, c.want)
		}
	}
}

func TestKernelTextExplainsTheView(t *testing.T) {
	d := parse(t, house)
	text := d.View()
	for _, p := range d.KernelText() {
		text = edit(t, text, p.Token, p.Text)
	}
	if text != string(d.Body()) {
		t.Errorf("the view with its placeholders filled is %q", text)
	}
}

// pieces that make documents with every kind of trouble.
var pieces = []string{
	"# Title\n", "## Security\n", "### Sub\n", "Must\n===\n", "text\n", "\n", "  indented\n", "\ttab\n", "> quote\n", "- item\n", "  - nested\n",
	"1. one\n", "```\n", "~~~\n", "```!\nls\n```\n", "!`cmd`", "x !`cmd` y\n", "<!-- kernel -->\n", "<!-- /kernel -->\n", "<!-- kernel -->\nk\n<!-- /kernel -->\n",
	"<!--", "-->\n", "<div>\n", "<<KERNEL 1>>\n", "<<KERNEL", "<<KERNEL~2 1", "<<kernel 1: Security>>", "\r\n", "\r", "$ARGUMENTS", "---\n", "\ufeff", "\xff", "🙂\n", "<", ">>",
	"---\nname: x\n---\n", "---\r\nname: x\r\n---\r\n", "---\nname: x\ndescription: d # c\nmetadata:\n  kernel: Sub; Title\n---\n",
}

func drawText(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, label), "")
}

func TestViewRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, "text")
		d, err := Parse([]byte(text), Options{EvolveDescription: rapid.Bool().Draw(t, "description")})
		if string(d.Render()) != text {
			t.Fatalf("renders %q", d.Render())
		}
		if err != nil {
			return
		}
		child, err := d.WithView(d.View())
		if err != nil {
			t.Fatalf("%v; view %q", err, d.View())
		}
		if string(child.Render()) != text {
			t.Fatalf("renders %q; view %q", child.Render(), d.View())
		}
	})
}

func TestBlocksAreThePartsOfTheView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := drawText(t, "view")
		at := 0
		for _, b := range Blocks(view) {
			if b.Start != at || b.End <= b.Start {
				t.Fatalf("blocks %+v", Blocks(view))
			}
			at = b.End
		}
		if at != len(view) {
			t.Fatalf("blocks end at %d of %d", at, len(view))
		}
	})
}

func TestBlocks(t *testing.T) {
	view := "lead\n\n# A `b`\ntext\nmore\n\n- one\n  two\n\n  three\n- four\n5) five\n\n## C\n\n```py\n# no heading\n```\n    code\n\n<<KERNEL 1: Safety>>\n| a | b |\n|---|---|\n\nTwo\nlines\n---\n\n***\nend"
	want := []string{
		"paragraph||lead\n\n", "heading|A b|# A `b`\n", "paragraph|A b|text\nmore\n\n",
		"item|A b|- one\n  two\n\n  three\n", "item|A b|- four\n", "item|A b|5) five\n\n",
		"heading|A b > C|## C\n\n", "code|A b > C|```py\n# no heading\n```\n    code\n\n",
		"kernel|A b > C|<<KERNEL 1: Safety>>\n", "other|A b > C|| a | b |\n|---|---|\n\n",
		"heading|A b > Two lines|Two\nlines\n---\n\n", "other|A b > Two lines|***\n", "paragraph|A b > Two lines|end",
	}
	var got []string
	for _, b := range Blocks(view) {
		got = append(got, b.Kind+"|"+b.Section+"|"+view[b.Start:b.End])
	}
	if strings.Join(got, "¶") != strings.Join(want, "¶") {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func FuzzWithView(f *testing.F) {
	f.Add(house, "x")
	f.Add(tagger, "<<KERNEL 1: Security>>\n<<KERNEL 2>>")
	f.Add("<!-- kernel -->\nk\n<!-- /kernel -->", "<<KERNEL 1>>\n```\n")
	f.Add("## Must\nx\r\n\r\n", "\r\n<<KERNEL 1: Must>>\n===")
	f.Fuzz(func(t *testing.T, text, view string) {
		d, err := Parse([]byte(text), Options{})
		if err != nil {
			return
		}
		child, err := d.WithView(view)
		if (child == nil) != (err != nil) {
			t.Fatalf("child %v, error %v", child, err)
		}
		if string(d.Render()) != text {
			t.Fatal("the parent changed")
		}
		if err != nil {
			return
		}
		if child.KernelHash() != d.KernelHash() {
			t.Fatalf("the kernel of %q changed in %q", text, child.Render())
		}
		a, b := d.Kernel(), child.Kernel()
		for i := range a {
			if !bytes.Equal(d.raw[a[i].Start:a[i].End], child.raw[b[i].Start:b[i].End]) {
				t.Fatalf("span %d changed", i)
			}
		}
		again, err := child.WithView(child.View())
		if err != nil || !bytes.Equal(again.Render(), child.Render()) {
			t.Fatalf("the child does not round-trip: %v", err)
		}
	})
}

func TestWithViewRefusesWhatNoSkillIs(t *testing.T) {
	d := parse(t, house)
	for name, c := range map[string]struct{ add, part string }{
		"huge":   {strings.Repeat("text\n", 20000), "limit"},
		"line":   {strings.Repeat("[a", 5000), "line of"},
		"quotes": {strings.Repeat("> ", 100), "within each other"},
		"lists":  {strings.Repeat("- 1. ", 50), "within each other"},
		"tight":  {strings.Repeat(">", 100), "within each other"},
	} {
		_, err := d.WithView(d.View() + c.add)
		var ve *ViewError
		if !errors.As(err, &ve) || !strings.Contains(ve.Msg, c.part) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// A document that is so itself can still be rebuilt.
	large := parse(t, house+strings.Repeat("text\n", 30000)+strings.Repeat(">", 100)+strings.Repeat("x", 20000))
	if _, err := large.WithView(large.View() + "more\n"); err != nil {
		t.Error(err)
	}
}
