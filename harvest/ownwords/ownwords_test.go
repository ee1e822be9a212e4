package ownwords

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// enclosures are the ways to quote a text whose end has a mark. The text may hold
// such marks, too.
var enclosures = []func(text string) string{
	func(s string) string { return "```\n" + s + "\n```" },
	func(s string) string { return "```go\n" + s + "\n```" },
	func(s string) string { return "~~~~\n" + s + "\n~~~~" },
	func(s string) string { return "\"\"\"\n" + s + "\n\"\"\"" },
	func(s string) string { return "<document index=\"1\">" + s + "</document>" },
	func(s string) string { return "<DOCUMENT>\n" + s + "\n</document >" },
	func(s string) string { return "<anything-else>" + s + "</anything-else>" },
	func(s string) string {
		return "\n\n<pasted_content id=\"4f2a\">\n" + s + "\n</pasted_content id=\"4f2a\">\n"
	},
	func(s string) string { return "<system-reminder>" + s + "</system-reminder>" },
	func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
	func(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") },
}

// foreign are pieces of quotations: another author's text, and everything that may end
// a quotation.
var foreign = []string{"ZZZ", "no, ZZZ is wrong", "```", "```sh", "````", "~~~", `"""`, "<document>", "</document>", "</DOCUMENT>", "</anything-else>",
	"<anything-else>", "</pasted_content>", "</pasted_content id=\"0000\">", "</system-reminder>", "<system-reminder>", "</ide_selection>", "<ide_selection>",
	"> ZZZ", "    ZZZ", "- ZZZ", "Error: ZZZ", "ZZZ:", "[Pasted text #1 +2 lines]", "<b>", "</b>", "ZZZ   ZZZ", "$ ZZZ", "@@ -1 +1 @@"}

func TestQuotedIsNeverOwn(t *testing.T) {
	own := rapid.SampledFrom([]string{"", "no, use a log scale", "you forgot the unit", "thanks"})
	rapid.Check(t, func(r *rapid.T) {
		quoted := strings.Join(rapid.SliceOfN(rapid.SampledFrom(foreign), 1, 8).Draw(r, "quoted"), rapid.SampledFrom([]string{"\n", " \n"}).Draw(r, "break"))
		before, after := own.Draw(r, "before"), own.Draw(r, "after")
		text := before + "\n\n" + rapid.SampledFrom(enclosures).Draw(r, "enclosure")(quoted) + "\n\n" + after
		got := Of(text)
		if strings.Contains(got, "ZZZ") {
			t.Fatalf("own words of %q: %q", text, got)
		}
	})
}

// A quotation that holds no quotation mark ends at its own mark.
func TestOwnWordsAfterAQuotation(t *testing.T) {
	for i, quote := range append(enclosures,
		func(s string) string { return "the log says:\n" + s },
		func(s string) string { return "Traceback (most recent call last):\n" + s },
		func(s string) string { return "[Pasted text #1 +1 lines]\n" + s }) {
		text := "no, use a log scale\n\n" + quote("ZZZ is wrong\nand ZZZ") + "\n\nas I said"
		if got := strings.Fields(Of(text)); strings.Join(got[len(got)-3:], " ") != "as I said" || got[0] != "no," {
			t.Errorf("%d: %q of %q", i, got, text)
		}
	}
}

// The parts are the text, and own words keep their order.
func checkParts(t *testing.T, text string) {
	t.Helper()
	var all, own strings.Builder
	for _, p := range Parts(text) {
		if p.Text == "" {
			t.Fatalf("an empty part of %q", text)
		}
		all.WriteString(p.Text)
		if p.Own {
			own.WriteString(p.Text)
		}
	}
	if all.String() != text {
		t.Fatalf("the parts of %q are %q", text, all.String())
	}
	dense := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(s, ""))
	}
	if dense(Of(text)) != dense(own.String()) {
		t.Fatalf("own words of %q are %q, its own parts %q", text, Of(text), own.String())
	}
}

func TestParts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		checkParts(t, strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(foreign), rapid.String())).Draw(r, "pieces"), rapid.SampledFrom([]string{"", " ", "\n", "\n\n"}).Draw(r, "break")))
	})
}

func FuzzParts(f *testing.F) {
	for name := range corpora {
		for _, m := range messages(f, name) {
			f.Add(m.text)
		}
	}
	for _, text := range foreign {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkParts(t, text)
		if cut := CutInjected(text); len(cut) > len(text)+strings.Count(text, ">") {
			t.Fatalf("%q became longer: %q", text, cut)
		}
		BeginsInjected(text)
	})
}

func TestCutInjected(t *testing.T) {
	for text, want := range map[string]string{
		"draw it": "draw it",
		"<ide_selection>a</ide_selection>draw it":                                          "draw it",
		"<ide_selection>a</ide_selection> no, wrong <ide_selection></ide_selection>thanks": "thanks",
		"<system-reminder>a<system-reminder>b</system-reminder>no</system-reminder>ok":     "ok",
		"ok<system-reminder>a</ide_selection>no, wrong":                                    "",
		"ok <system-reminder>no, wrong":                                                    "ok ",
		"no, wrong</ide_selection>thanks":                                                  "thanks",
		"<IDE_Selection lines=\"3\" >no, wrong</ ide_selection >thanks":                    "thanks",
		"<ide\u200b_selection>no</ide_selection>wrong</ide_sel\u2060ection>thanks":         "thanks",
		"<ide_opened_file>a</ide_opened_file><ide_selection>b</ide_selection>draw it":      "draw it",
		"a<system-reminder>x</system-reminder>b":                                           "a b",
		"draw <b>it</b>, and <document>this</document>":                                    "draw <b>it</b>, and <document>this</document>",
		"a < b > c": "a < b > c",
	} {
		if got := CutInjected(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Nothing takes long on a text that is all marks.
func BenchmarkPartsOfMarks(b *testing.B) {
	for _, mark := range []string{"<a>", "</document>", "<document>\n", "```\n", "[Pasted text #1 +1 lines]\n", "Error: x\n", "> x\n", "x:\n"} {
		text := strings.Repeat(mark, (64<<10)/len(mark))
		b.Run(strings.TrimSpace(mark), func(b *testing.B) {
			for b.Loop() {
				Parts(text)
			}
		})
	}
}
