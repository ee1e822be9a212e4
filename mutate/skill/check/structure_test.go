package check

import (
	"strings"
	"testing"
)

// What the harness can do to a kernel without touching a byte of it.
func TestStructureRejectsWhatMakesTheKernelInert(t *testing.T) {
	const front = "---\nname: x\ndescription: d\n---\n"
	const kernel = "<!-- kernel -->\nNever send it. See [rules].\n<!-- /kernel -->\n"
	d := parse(t, front+"# A\n\n- item\n\n"+kernel+"\n## B\n\nRest.\n")
	token := d.KernelText()[0].Token
	for _, c := range []struct{ name, before, behind, rule string }{
		{"details", "<details>\n\n", "\n</details>\n", "kernel-in-html"},
		{"details, never closed", "<details><summary>Old</summary>\n\n", "", "kernel-in-html"},
		{"struck out", "<DEL>\n\n", "\n</del>\n", "kernel-in-html"},
		{"hidden", "<div class=\"a\" hidden>\n\n", "\n</div>\n", "kernel-in-html"},
		{"hidden by style", "<p style='display: none'>\n\n", "", "kernel-in-html"},
		{"an element of a prompt", "<outdated>\n\n", "\n</outdated>\n", "kernel-in-html"},
		{"in an attribute", "<div title='\n\n", "\n'>\n", "kernel-in-html"},
		{"in an attribute without end", "<div title='\n\n", "", "new-html"},
		{"closed in a comment only", "<s>\n<!-- </s> -->\n\n", "", "kernel-in-html"},
		{"a link's target", "", "\n[rules]: elsewhere.md\n", "kernel-link"},
		{"a heading without text", "#\n\n", "", "kernel-heading"},
		{"a heading like a path", "# A > B\n\n", "", "kernel-heading"},
		{"a comment to patterns", "<!-->\n\n", "", "kernel-in-comment"},
		{"a comment to patterns, longer", "<!--->\n\n", "", "kernel-in-comment"},
		{"a link's target after a footnote", "", "\n[^1]:\n[rules]: elsewhere.md\n", "kernel-"},
		{"a heading after a footnote", "[^note]:\nLead\n-\n\n", "", "kernel-"},
		{"script", "<script>\n\n", "\n</script>\n", "kernel-node"},
		{"CDATA", "<![CDATA[\n\n", "\n]]>\n", "kernel-node"},
		{"a list that goes on", "- more\n\n  ", "", ""}, // the blanks are taken away
		{"footnote before", "[^1]: note\n\n", "", ""},
		{"balanced before", "<details>\nold\n</details>\n\n", "", "new-html"},
		{"a word to be filled in", "Save as <name>.svg or <the slug>.\n\n", "", ""},
		{"a word that hides in a browser", "Save as <title>.svg.\n\n", "", "kernel-in-html"},
		{"the same in code", "`<details>`\n\n", "", ""},
		{"void", "a<br>\n\n", "", ""},
	} {
		child, err := d.WithView(strings.Replace(d.View(), token+"\n", c.before+token+"\n"+c.behind, 1))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := ""
		for _, f := range checkStructure(read(d), read(child)) {
			if f.Severity == Reject {
				got += f.Rule + " "
			}
		}
		if c.rule == "" && got != "" || !strings.Contains(got, c.rule) {
			t.Errorf("%s: rejected by %q, want %q", c.name, got, c.rule)
		}
	}
}

// A kernel in a list item is taken out of it by a footnote, for who knows
// footnotes.
func TestStructureReadsGitHubToo(t *testing.T) {
	const text = "---\nname: x\ndescription: d\n---\n- item\n  <!-- kernel -->\n  kept\n  <!-- /kernel -->\n- last\n"
	d := parse(t, text)
	child := parse(t, edit(t, text, "- item\n", "- item\n[^1]: note\n"))
	if fs := checkStructure(read(d), read(child)); Worst(fs) != Reject {
		t.Errorf("findings %+v", fs)
	}
	if fs := checkStructure(read(d), read(parse(t, edit(t, text, "- last", "- the last")))); len(fs) != 0 {
		t.Errorf("findings %+v", fs)
	}
}
