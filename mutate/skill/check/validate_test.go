package check

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

func TestValidate(t *testing.T) {
	front := func(lines string) string { return "---\n" + lines + "\n---\n# Body\n" }
	const ok = "name: dataviz\ndescription: Plots data."
	for _, c := range []struct {
		name, text       string
		claude, portable string // rules found, in order
		worst            Severity
	}{
		{"minimal", front(ok), "", "", Warn},
		{"all portable keys", front(ok + "\nlicense: MIT\ncompatibility: any\nmetadata:\n  a: b\nallowed-tools: Read Bash"), "", "", Warn},
		{"Claude Code keys", front(ok + "\nmodel: opus\nargument-hint: \"[x]\""), "", "unknown-key unknown-key", Warn},
		{"unknown key", front(ok + "\ntrigger: charts"), "unknown-key", "unknown-key", Warn},
		{"list of tools", front(ok + "\nallowed-tools: [Read]"), "value-type", "value-type", Warn},
		{"metadata not text", front(ok + "\nmetadata:\n  a: [b]"), "value-type", "value-type", Warn},
		{"metadata no mapping", front(ok + "\nmetadata: x"), "value-type", "value-type", Warn},
		{"metadata empty", front(ok + "\nmetadata:"), "", "", Warn},
		{"no frontmatter", "# Body\n", "no-frontmatter", "no-frontmatter", Reject},
		{"no name", front("description: d"), "name-missing", "name-missing", Reject},
		{"no description", front("name: dataviz"), "description-missing", "description-missing", Reject},
		{"blank description", front("name: dataviz\ndescription: \"  \""), "description-missing", "description-missing", Reject},
		{"upper case", front("name: DataViz\ndescription: d"), "name-form", "name-form", Reject},
		{"two hyphens", front("name: data--viz\ndescription: d"), "name-form", "name-form", Reject},
		{"hyphen first", front("name: -dataviz\ndescription: d"), "name-form", "name-form", Reject},
		{"long name", front("name: " + strings.Repeat("a", 65) + "\ndescription: d"), "name-length", "name-length", Reject},
		{"other folder", front("name: other\ndescription: d"), "name-folder", "name-folder", Reject},
		{"longest description", front("name: dataviz\ndescription: " + strings.Repeat("é", 1024)), "", "", Warn},
		{"long description", front("name: dataviz\ndescription: " + strings.Repeat("é", 1025)), "description-length", "description-length", Reject},
		{"long compatibility", front(ok + "\ncompatibility: " + strings.Repeat("a", 501)), "compatibility-length", "compatibility-length", Reject},
		{"description a list", front("name: dataviz\ndescription: [a]"), "description-missing value-type", "description-missing value-type", Reject},
		{"empty body", "---\n" + ok + "\n---\n\n", "body-empty", "body-empty", Warn},
		{"long body", front(ok) + strings.Repeat("a\n", 501), "body-lines", "body-lines", Warn},
		{"large body", front(ok) + strings.Repeat("a", 20001), "body-tokens", "body-tokens", Warn},
		{"bytes that are no text", front(ok) + "\xff", "not-utf8", "not-utf8", Reject},
	} {
		d := parse(t, c.text)
		claude, portable := Validate(d, ClaudeCode, "dataviz"), Validate(d, Portable, "dataviz")
		if c.name == "long name" {
			claude, portable = Validate(d, ClaudeCode, ""), Validate(d, Portable, "")
		}
		if rules(claude) != c.claude || Worst(claude) != c.worst {
			t.Errorf("%s: claude-code finds %+v, want %q", c.name, claude, c.claude)
		}
		if rules(portable) != c.portable {
			t.Errorf("%s: portable finds %+v, want %q", c.name, portable, c.portable)
		}
		if c.claude != "" && strings.HasPrefix(c.claude, "unknown-key") && Worst(portable) != Reject {
			t.Errorf("%s: portable does not reject", c.name)
		}
	}
}

func TestValidateNamesTheNearestKey(t *testing.T) {
	d := parse(t, "---\nname: x\ndescription: d\nalowed-tools: Read\n---\nbody\n")
	fs := Validate(d, ClaudeCode, "x")
	if len(fs) != 1 || fs[0].Line != 4 || !strings.Contains(fs[0].Reason, `"allowed-tools"`) {
		t.Errorf("findings %+v", fs)
	}
}

func TestValidateReportsSyntax(t *testing.T) {
	d, _ := skill.Parse([]byte("a\n<!-- kernel -->\n"), skill.Options{})
	fs := Validate(d, Portable, "")
	if len(fs) != 1 || fs[0].Rule != "syntax" || fs[0].Severity != Reject || fs[0].Line != 2 {
		t.Errorf("findings %+v", fs)
	}
}
