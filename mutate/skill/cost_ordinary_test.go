package skill

import (
	"fmt"
	"strings"
	"testing"
)

// ordinaryTexts are long texts of common kinds, of about size bytes each.
func ordinaryTexts(size int) map[string]string {
	repeat := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	table := func(columns int, cell func(row, column int) string) string {
		head, rule := strings.Repeat("| name ", columns)+"|\n", strings.Repeat("|---", columns)+"|\n"
		return head + rule + repeat(func(i int) string {
			var b strings.Builder
			for c := range columns {
				fmt.Fprintf(&b, "| %s ", cell(i, c))
			}
			return b.String() + "|\n"
		})
	}
	cells := []string{"`get_user_%d`", "**required**", "`int` \\| _null_", "See [the users](api/users_%d.md) and `x[%d]`."}
	return map[string]string{
		"a table of 4 columns":  table(4, func(i, c int) string { return strings.ReplaceAll(cells[c], "%d", fmt.Sprint(i)) }),
		"a table of 30 columns": table(30, func(i, c int) string { return fmt.Sprintf("`f_%d`", (i*c)%97) }),
		"a table of names":      table(12, func(i, c int) string { return fmt.Sprintf("col_%d_%d", i%100, c) }),
		"prose in one paragraph": repeat(func(i int) string {
			return fmt.Sprintf("The *second* rule is **strict**: call `draw_%d()` once, and see [axes](axes.md) (5* of 10).\n", i)
		}),
		"a glossary": repeat(func(i int) string {
			return fmt.Sprintf("**term_%d**: a _short_ word for `long_name_%d` & more\n", i, i)
		}),
		"a glossary of C": repeat(func(i int) string { return fmt.Sprintf("char *name_%d, **argv: copy int* to_%d <size_t>\n", i, i) }),
		"CSV":             repeat(func(i int) string { return fmt.Sprintf("%d,user_name_%d,\"a, b\",2026-01-01,,x@example.com\n", i, i) }),
		"a log": repeat(func(i int) string {
			return fmt.Sprintf("[2026-01-01 10:00:%02d] <info> worker_%d: done [ok] in 5ms\n", i%60, i)
		}),
		"links":            repeat(func(i int) string { return fmt.Sprintf("- [page %d](https://example.com/a_b/%d) - `x`\n", i, i) }),
		"links in a line":  repeat(func(i int) string { return fmt.Sprintf("[page %d](https://example.com/a_b/%d),\n", i, i) }),
		"definitions":      repeat(func(i int) string { return fmt.Sprintf("[p%d]: https://example.com/a_b/%d \"Page\"\n", i, i) }),
		"nested lists":     repeat(func(i int) string { return strings.Repeat("  ", i%6) + "- **item** `i` of _many_\n" }),
		"numbered steps":   repeat(func(i int) string { return fmt.Sprintf("%d. Run `make step_%d`, then *wait*.\n", i+1, i) }),
		"nested arrays":    "[" + repeat(func(i int) string { return fmt.Sprintf("[%d, [%d, %d]],\n", i, i, i) }) + "]",
		"JSON":             repeat(func(i int) string { return fmt.Sprintf("{\"id_%d\": [1, 2], \"b\": \"<b>\"},\n", i) }),
		"shell":            repeat(func(i int) string { return fmt.Sprintf("run_%d <in >out && ls *.txt | grep -v _old_ # `pwd`\n", i) }),
		"HTML":             repeat(func(i int) string { return fmt.Sprintf("a <br> b <span class=\"c_%d\">x</span>\n", i) }),
		"a quoted letter":  repeat(func(i int) string { return fmt.Sprintf("> It's *not* line %d, \"he said\", it's `x`.\n", i) }),
		"unpaired markers": repeat(func(i int) string { return fmt.Sprintf("footnote* on item %d, _private and 2 * 3\n", i) }),
	}
}

// What people write is read at any size up to that of a large SKILL.md.
func TestParseReadsLargeOrdinaryTexts(t *testing.T) {
	for _, size := range []int{120 << 10, 250_000} {
		for name, text := range ordinaryTexts(size) {
			if len(text) < size {
				t.Fatalf("%s: %d bytes", name, len(text))
			}
			if _, err := Parse([]byte(costly+text+"\n"), Options{}); err != nil {
				t.Errorf("%s of %d bytes: %v", name, len(text), err)
			}
		}
	}
}
