package skill

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const costly = "---\nname: x\ndescription: d\n---\n# A\n\n"

// Each of these takes some parser of Markdown many seconds, some of them minutes. Ours
// reads those without a message in one pass.
func TestParseRefusesWhatTakesTooLong(t *testing.T) {
	const size = 128 << 10
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	var ticks strings.Builder
	for i := 1; ticks.Len() < size; i++ {
		ticks.WriteString("a" + strings.Repeat("`", i%9+1) + "b")
	}
	for name, c := range map[string]struct{ text, want string }{
		"emphasis":                {fill("*a_"), "markup"},
		"emphasis over lines":     {fill(strings.Repeat("*a_", 20) + "\n"), "markup"},
		"strong":                  {fill("a**b "), ""},
		"struck out":              {fill("~a"), ""},
		"brackets":                {fill("["), ""},
		"brackets within others":  {strings.Repeat("[", size/2) + strings.Repeat("]", size/2), "markup"},
		"links that do not end":   {fill("[a]("), "markup"},
		"images":                  {fill("!["), ""},
		"tags":                    {fill("<"), ""},
		"tags that do not end":    {fill("<a "), ""},
		"declarations":            {fill("a <!A "), ""},
		"instructions":            {fill("a <?"), ""},
		"comments in a line":      {fill("a <!-- "), ""},
		"backquotes":              {ticks.String(), ""},
		"entities":                {fill("&a"), ""},
		"a long link":             {"[a]: " + strings.Repeat("x", size/2) + "\n\n" + strings.Repeat("[a] ", size/8), "markup"},
		"a wide table":            {"|" + strings.Repeat("a|", size/6) + "\n|" + strings.Repeat("-|", size/6) + "\n" + strings.Repeat("|\n", size/6), "markup"},
		"a wide table in quotes":  {"> |" + strings.Repeat("a|", size/8) + "\n> |" + strings.Repeat("-|", size/8) + "\n" + strings.Repeat("> |\n", size/16), "markup"},
		"in an item":              {"- " + fill("*a_"), "markup"},
		"in a heading":            {"# " + fill("*a_"), "markup"},
		"in a short line":         {fill("*a_") + "\n\nb\n", "markup"},
		"closers of another kind": {strings.Repeat("_a ", size/6) + strings.Repeat("a* ", size/6), "markup"},
		"emphasis in links":       {fill("[_]() "), "markup"},
		"escaped bars":            {"|a|\n|-|\n" + fill("|`\\|`\n"), "markup"},
		"footnotes":               {strings.Repeat("[^1] ", size/10) + "\n\n" + strings.Repeat("[^2]: a\n\n", size/10), "markup"},
		"quotes":                  {fill(">"), "within each other"},
		"items":                   {fill("- ") + "a", "within each other"},
		"numbers":                 {fill("1. ") + "a", "within each other"},
		"items in quotes":         {fill("> - ") + "a", "within each other"},
	} {
		d, err := Parse([]byte(costly+c.text+"\n"), Options{})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(syntax.Msg, c.want) || syntax.Line < 7 {
			t.Errorf("%s: error %v", name, err)
		}
		if string(d.Render()) != costly+c.text+"\n" || d.View() != "" {
			t.Errorf("%s: the document is not whole", name)
		}
	}
}

// The message fits what is refused: blank lines would break a table.
func TestParseSaysHowToDivideATable(t *testing.T) {
	table := "|" + strings.Repeat("a|", 20000) + "\n|" + strings.Repeat("-|", 20000) + "\n" + strings.Repeat("|\n", 20000)
	_, err := Parse([]byte(costly+table), Options{})
	if err == nil || !strings.Contains(err.Error(), "several tables") || strings.Contains(err.Error(), "blank lines") {
		t.Errorf("error %v", err)
	}
}

// What is only long is read.
func TestParseReadsLongTexts(t *testing.T) {
	const size = 128 << 10
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"items":             fill("- Prefer **few** colours, and `label` every [axis](axis.md) with its *unit*.\n"),
		"paragraphs":        fill("Prefer **few** colours, <br> and `label` every [axis](axis.md)\nwith its *unit*.\n\n"),
		"a table":           "| a | b | c |\n|---|---|---|\n" + fill("| **few** | `label_of_the_axis` of every axis that is drawn | [axis](axis.md) |\n"),
		"markup in a fence": "```\n" + fill("*a_[a](<!A `") + "\n```",
		"quotes in a fence": "```\n" + fill(strings.Repeat(">", 100)+"\n") + "```",
		"sections":          fill("## Steps\n\n1. Read.\n2. Draw `it`.\n\n"),
		"lists in lists":    fill("- a\n  - b\n    - c\n      - d\n"),
		"link definitions":  numbered("[a%d]: <https://example.com/> 'T'\n\n[a%[1]d]\n\n"),
		"one long word":     fill("a"),
		"comments":          fill("<!-- a -->\n\n"),
		"blank lines":       fill("\n"),
	} {
		if _, err := Parse([]byte(costly+text+"\n"), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
