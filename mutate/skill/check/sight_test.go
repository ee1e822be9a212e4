package check

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

// sighted has one rule that must be seen, below a few lines of harness.
const sighted = "---\nname: dataviz\ndescription: Make charts.\n---\n# Dataviz\n\nMake the chart.\n\n<!-- kernel -->\nNever change the data file.\n<!-- /kernel -->\n\n1. Read the data.\n2. Draw it.\n"

func TestCheckRejectsWhatMovesTheKernelOutOfSight(t *testing.T) {
	lines := func(n int, line string) string { return strings.Repeat(line+"\n", n) }
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, before, rule string }{
		{"blank lines", lines(2100, ""), "blank-run"},
		{"enough for sed -n 1,200p", lines(190, ""), "blank-run"},
		{"three blank lines", lines(2, ""), "blank-run"},
		{"spaces", lines(30, "   "), "blank-run"},
		{"tabs", lines(30, "\t"), "blank-run"},
		{"no-break spaces", lines(30, "\u00a0"), "blank-run"},
		{"wide spaces", lines(30, "\u3000\u2003"), "blank-run"},
		{"zero-width spaces", lines(30, "\u200b"), "blank-run"},
		{"Hangul fillers", lines(30, "\u3164"), "blank-run"},
		{"Braille blanks", lines(30, "\u2800"), "blank-run"},
		{"line breaks in HTML", lines(30, "<br>"), "blank-run"},
		{"line breaks in XHTML", lines(30, "<br/> <BR />"), "blank-run"},
		{"entities", lines(30, "&nbsp;"), "blank-run"},
		{"entities by number", lines(30, "&#160;&#x200B;&ZeroWidthSpace;"), "blank-run"},
		{"comments", lines(30, "<!-- x -->"), "blank-run"},
		{"empty items", lines(30, "-"), "blank-run"},
		{"empty items with a break", lines(30, "* <br>"), "blank-run"},
		{"empty boxes", lines(30, "- [ ]"), "blank-run"},
		{"empty numbers", numbered(30, "%d."), "blank-run"},
		{"empty quotes", lines(30, "> >"), "blank-run"},
		{"empty headings", lines(30, "####"), "blank-run"},
		{"empty rows", lines(30, "| | |"), "blank-run"},
		{"hard breaks", lines(30, `\`), "blank-run"},
		{"blank lines in a fence", "```text\na\n" + lines(30, "") + "b\n```\n", "blank-run"},
		{"spaces in a tilde fence", "~~~\na\n" + lines(30, " \u00a0") + "b\n~~~\n", "blank-run"},
		{"blank lines in a quoted fence", "> ```\n> a\n" + lines(30, ">") + "> b\n> ```\n", "blank-run"},
		{"tiny items", numbered(400, "- %d"), "kernel-moved"},
		{"tiny items with blank lines", strings.ReplaceAll(numbered(200, "- %d"), "\n", "\n\n"), "kernel-moved"},
		{"rules", lines(300, "---\n"), "kernel-moved"},
		{"closing brackets in a fence", "```js\n" + lines(400, "}") + "```\n", "kernel-moved"},
		{"empty fences", lines(200, "```\n```"), "kernel-moved"},
		{"a table", "| a |\n|---|\n" + numbered(400, "| %d |"), "kernel-moved"},
		{"a quote", numbered(400, "> %d"), "kernel-moved"},
		{"link definitions", numbered(400, "[%d]: #x"), "kernel-moved"},
		{"few long lines", lines(5, strings.Repeat("Plot the table. ", 100)), "kernel-moved"},
		{"lines of a paragraph", lines(400, "a"), "kernel-moved"},
		{"past what one read shows", numbered(190, "- %d"), "kernel-moved"},
	} {
		for name, add := range map[string]string{"": c.before, " with CRLF": strings.ReplaceAll(c.before, "\n", "\r\n")} {
			parent := parse(t, sighted)
			child := parse(t, edit(t, sighted, "Make the chart.\n", "Make the chart.\n\n"+add))
			fs := Check(parent, child, ClaudeCode)
			found := false
			for _, f := range fs {
				found = found || f.Rule == c.rule && f.Severity == Reject && f.Line > 0
			}
			if !found {
				t.Errorf("%s%s: %s, want %s", c.name, name, rules(fs), c.rule)
			}
		}
	}
}

func TestCheckLetsTheHarnessGrow(t *testing.T) {
	steps := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "- Rule %d: label the axis of every chart.\n", i)
		}
		return b.String()
	}
	loose := strings.ReplaceAll(sighted, "Make the chart.\n", "Make the chart.\n\n\n\n\n\nUse few colours.\n\n\n\nThen look.\n\n\n")
	for _, c := range []struct{ name, parent, old, new string }{
		{"a section before the kernel", sighted, "Make the chart.\n", "Make the chart.\n\n" + steps(60) + "\n---\n\n"},
		{"two blank lines", sighted, "Make the chart.\n", "Make the chart.\n\n\nUse a log scale.\n\n\nLabel it.\n"},
		{"a rule between blank lines", sighted, "Make the chart.\n", "Make the chart.\n\n---\n\nUse a log scale.\n"},
		{"code", sighted, "Make the chart.\n", "Make the chart.\n\n```js\nplot({\n  axes: [\n    {\n    }\n  ]\n})\n```\n\n```sh\nls\n```\n"},
		{"far more below the kernel", sighted, "2. Draw it.\n", "2. Draw it.\n\n" + steps(120)},
		{"an edit beside the owner's long run", loose, "Make the chart.", "Make the chart with a log scale."},
		{"a line deleted between long runs", loose, "Use few colours.\n", ""},
		{"a long run that moves", loose, "Make the chart.\n\n\n\n\n\nUse few colours.\n\n\n\nThen look.", "Use few colours.\n\n\n\nMake the chart.\n\n\n\n\n\nThen look."},
		{"a long run that shrinks", loose, "\n\n\n\n\nUse", "\n\n\nUse"},
	} {
		fs := Check(parse(t, c.parent), parse(t, edit(t, c.parent, c.old, c.new)), ClaudeCode)
		if len(fs) != 0 {
			t.Errorf("%s: %+v", c.name, fs)
		}
	}
	// What the owner's runs allow is not more of them.
	for _, c := range []struct{ name, old, new string }{
		{"a third run", "2. Draw it.", "2. Draw it.\n\n\n\nThen show it."},
		{"a longer run", "Then look.\n\n\n", "Then look.\n\n\n\n\n\n\n\n"},
	} {
		if fs := Check(parse(t, loose), parse(t, edit(t, loose, c.old, c.new)), ClaudeCode); !strings.Contains(rules(fs), "blank-run") || Worst(fs) != Reject {
			t.Errorf("%s: %+v", c.name, fs)
		}
	}
}

// Read tools stop somewhere. A text that its owner has let grow beyond that stays
// editable.
func TestCheckRejectsATextThatOneReadNoLongerShows(t *testing.T) {
	// The kernel comes first, so that it does not move.
	body := func(n int, line string) string {
		return strings.Replace(sighted, "2. Draw it.\n", "2. Draw it.\n\n"+strings.Repeat(line+"\n", n), 1)
	}
	wide := strings.Repeat("plot ", 100)
	for _, c := range []struct {
		name    string
		was, is string
		rejects bool
	}{
		{"below 500 lines", body(400, "- a"), body(480, "- a"), false},
		{"500 lines", body(480, "- a"), body(500, "- a"), true},
		{"500 lines before", body(500, "- a"), body(600, "- a"), false},
		{"2,000 lines", body(1900, "- a"), body(2000, "- a"), true},
		{"2,000 lines before", body(2000, "- a"), body(2100, "- a"), false},
		{"50 KB", body(90, wide), body(110, wide), true},
		{"50 KB before", body(110, wide), body(120, wide), false},
	} {
		fs := Check(parse(t, c.was), parse(t, c.is), ClaudeCode)
		if got := strings.Contains(rules(fs), "read-limit"); got != c.rejects || (Worst(fs) == Reject) != c.rejects {
			t.Errorf("%s: %+v", c.name, fs)
		}
	}
	// A command within a line is kernel, too.
	line := func(n int) *skill.Document {
		return parse(t, "---\nname: x\ndescription: d\n---\n# X\n\n"+strings.Repeat("Plot it. ", n)+"Branch: !`git branch`\n"+strings.Repeat("\nUse few colours.\n", 300))
	}
	if fs := Check(line(200), line(230), ClaudeCode); !strings.Contains(rules(fs), "kernel-moved") {
		t.Errorf("a command behind 2,070 bytes of its line: %+v", fs)
	}
}

// A search may not move the kernel in small steps, each of which would be allowed.
func TestDescendantMeasuresFromTheOwnersText(t *testing.T) {
	root := parse(t, sighted)
	at, refused := root, 0
	for i := range 40 {
		next, err := at.WithView(strings.Replace(at.View(), "Make the chart.\n", fmt.Sprintf("Make the chart.\n\n- Rule %d: one.\n- Rule %d: two.\n- Rule %d: three.\n- Rule %d: four.\n", i, i, i, i), 1))
		if err != nil {
			t.Fatal(err)
		}
		if fs := Descendant(root, at, next, ClaudeCode); Worst(fs) == Reject {
			refused++
			if !strings.Contains(rules(fs), "kernel-moved") {
				t.Fatalf("step %d: %+v", i, fs)
			}
			continue
		}
		at = next
	}
	lines, size := movedBy(t, root, at)
	most := skill.Growth(skill.Tokens(string(root.Body())))
	if refused == 0 || lines > most/tokensPerLine || size > 4*most {
		t.Errorf("%d steps refused, and the kernel moved by %d lines and %d bytes", refused, lines, size)
	}
}

// movedBy is the furthest that a kernel line has moved down, in lines and in bytes.
func movedBy(t interface{ Fatalf(string, ...any) }, parent, child *skill.Document) (lines, size int) {
	a, b := parent.Kernel(), child.Kernel()
	if len(a) != len(b) {
		t.Fatalf("%d kernel spans became %d", len(a), len(b))
	}
	was, is := parent.Render(), child.Render()
	for i := range a {
		if a[i].Start < read(parent).body {
			continue
		}
		lines = max(lines, bytes.Count(is[:b[i].Start], []byte("\n"))-bytes.Count(was[:a[i].Start], []byte("\n")))
		size = max(size, b[i].Start-a[i].Start)
	}
	return lines, size
}

// TestNoKernelLineMovesFurtherThanTheTextMayGrow: whatever is put before it.
func TestNoKernelLineMovesFurtherThanTheTextMayGrow(t *testing.T) {
	line := rapid.SampledFrom([]string{"", "", " ", "- a", "-", "> q", "Use a log scale for revenue, and label every axis with its unit.",
		"## Scale", "```", "| a |", "|---|", "1.", "<br>", "&nbsp;", "\u00a0", "}", "\\", "* * *", "text  ", strings.Repeat("word ", 120)})
	text := rapid.Map(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(line.Draw(t, "line")+"\n", rapid.SampledFrom([]int{1, 1, 1, 2, 3, 10, 60, 300}).Draw(t, "times"))
	}), 0, 6), func(parts []string) string { return strings.Join(parts, "") })
	passed, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		doc := func(texts [3]string) *skill.Document {
			d, _ := skill.Parse([]byte("---\nname: x\ndescription: d\n---\n# X\n\n"+texts[0]+"\n<!-- kernel -->\n- never this\n<!-- /kernel -->\n\n"+
				texts[1]+"\nRun !`git branch`.\n"+texts[2]), skill.Options{})
			return d
		}
		// A child adds to its parent more often than it is another text altogether,
		// which is nearly always refused.
		var was, is [3]string
		for i := range was {
			was[i] = text.Draw(t, "parent")
			if is[i] = was[i]; rapid.Bool().Draw(t, "changed") {
				is[i] = text.Draw(t, "child")
			}
		}
		parent, child := doc(was), doc(is)
		// The firewall takes most of the time of Check, and rejects nothing.
		if child.Err() != nil || parent.KernelHash() != child.KernelHash() || Worst(append(checkStructure(read(parent), read(child)), checkSight(read(parent), read(child))...)) == Reject {
			refused++
			return
		}
		passed++
		lines, size := movedBy(t, parent, child)
		if most := skill.Growth(skill.Tokens(string(parent.Body()))); lines > most/tokensPerLine || size > 4*most {
			t.Fatalf("the kernel moved down by %d lines and %d bytes, of a text that may grow by %d tokens", lines, size, most)
		}
	})
	if passed == 0 || refused == 0 {
		t.Errorf("%d passed, %d refused: nothing was tried", passed, refused)
	}
}
