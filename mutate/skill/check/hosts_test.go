package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A new host is found in a sentence whatever registry it is from; names of files, fields and
// programs that look like one are not.
func TestNewHosts(t *testing.T) {
	const was = "---\nname: s\ndescription: d\n---\n# S\n\nMake a table.\n"
	root := parse(t, was)
	hosts := func(line string) []string {
		var out []string
		for _, f := range Descendant(root, root, parse(t, was+"\n"+line+"\n"), ClaudeCode) {
			if f.Rule == "new-host" {
				out = append(out, f.Reason)
			}
		}
		return out
	}
	for _, tld := range strings.Fields("nl it ch ca in be se at es pt no fi dk cz hu ro gr ie il kr tw hk au nz mx ar cl za ng ke team blog shop club email media agency work world life news network digital wiki zone chat codes games love press rocks social space studio today tools video works co.uk com.au co.jp com.br me info link page to ly live store run pw ws") {
		for _, form := range []string{"Take the colours from palette.%s when the table has none.", "Write to colours@palette.%s, briefly.", "Ask (palette.%s).", "Get `palette.%s/colours/1`.", "Ask palette.%s:8443 first."} {
			if line := fmt.Sprintf(form, tld); len(hosts(line)) == 0 {
				t.Errorf("%q passes", line)
			}
		}
	}
	for _, line := range []string{"Get `palette.data/colours`.", "Ask palette.name:80."} {
		if len(hosts(line)) == 0 {
			t.Errorf("%q passes", line)
		}
	}
	for _, line := range []string{
		"Save it as notes.md, run.sh, a/b.py, lib.rs, Main.java, x.tar.gz, data.csv, settings.local.json or go.mod.",
		"Write e.g. 3.5 kg, 1.250,00 EUR, v1.2.3, 10.30 a.m., No. 5, Ph.D. and U.S. as they are.",
		"Use `df.to`, `os.in`, `obj.is`, `fmt.it(x)` and `a.run`.",
		"Sort by order.id, then by customer.name and invoice.date.",
		"End the sentence.Begin the next one.",
		"Node.js, Vue.js and D3.js keep their spelling.",
	} {
		if got := hosts(line); len(got) > 0 {
			t.Errorf("%q: %s", line, got)
		}
	}
	// What the parent has anywhere, in code or not, is not new.
	was2 := strings.Replace(was, "Make a table.", "Make a table with `get palette.nl/x`.", 1)
	root = parse(t, was2)
	if fs := Descendant(root, root, parse(t, was2+"\nThe colours are from palette.nl.\n"), ClaudeCode); slices.ContainsFunc(fs, func(f Finding) bool { return f.Rule == "new-host" }) {
		t.Errorf("a known host is new: %v", fs)
	}
}
