package checking

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

const own = "---\nname: charts\ndescription: d\n---\n\n# Charts\n\n- Label the axes.\n"

func charts(t *testing.T) *skill.Live {
	t.Helper()
	doc, err := skill.Parse([]byte(own), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &skill.Live{Entry: skill.Entry{Name: "charts", Path: "/home/mia/team/skills/charts/SKILL.md"}, Doc: doc}
}

// hunk changes the rule of charts in the file of that name.
func hunk(name string) string {
	return "--- a/" + name + "\n+++ b/" + name + "\n@@ -8 +8 @@\n-- Label the axes.\n+- Label both axes.\n"
}

func TestText(t *testing.T) {
	want := strings.Replace(own, "the axes", "both axes", 1)
	other := "--- a/skills/maps/SKILL.md\n+++ b/skills/maps/SKILL.md\n@@ -1 +1 @@\n-a\n+b\n"
	for name, c := range map[string]struct{ text, want string }{
		"diff":                     {hunk("SKILL.md"), want},
		"diff of another name":     {hunk("x"), want},
		"one of two files":         {other + hunk("skills/charts/SKILL.md"), want},
		"a file that was new":      {"--- /dev/null\n+++ b/SKILL.md\n@@ -0,0 +1 @@\n+# New\n", "# New\n"},
		"whole":                    {"# Whole\n", "# Whole\n"},
		"whole by an editor":       {"\ufeff" + strings.TrimSuffix(strings.ReplaceAll(own, "\n", "\r\n"), "\r\n"), own},
		"whole with mixed ends":    {"# Whole\r\n\n", "# Whole\r\n\n"},
		"whole that quotes a diff": {"# Whole\n\n```diff\n" + hunk("x") + "```\n", "# Whole\n\n```diff\n" + hunk("x") + "```\n"},
		"unclear":                  {other + strings.ReplaceAll(other, "maps", "plots"), "the patch changes skills/maps/SKILL.md, skills/plots/SKILL.md: it is not clear which of them is /home/mia/team/skills/charts/SKILL.md"},
		"gone":                     {"--- a/SKILL.md\n+++ /dev/null\n@@ -8 +0,0 @@\n-- Label the axes.\n", "F leaves nothing of skill charts"},
		"blank":                    {" \n\n", "F leaves nothing of skill charts"},
		"misfit":                   {strings.Replace(hunk("x"), "-- Label the", "-- Draw the", 1), `F: hunk 1 (line 3 of the patch) does not fit: "- Draw the axes." is not there`},
	} {
		path := filepath.Join(t.TempDir(), "F")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, from := range []Source{{Patch: path}, {Patch: "-"}} {
			got, err := from.Text(t.Context(), charts(t), strings.NewReader(c.text))
			if err != nil {
				got = []byte(strings.Replace(err.Error(), from.Name(), "F", 1))
			}
			if string(got) != c.want {
				t.Errorf("%s from %s: %q, want %q", name, from.Patch, got, c.want)
			}
		}
	}
}

// TestEncodedAs: an editor that wrote other line ends has changed nothing, in either direction.
func TestEncodedAs(t *testing.T) {
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	changed := strings.Replace(own, "the axes", "both axes", 1)
	for name, c := range map[string]struct{ live, text, want string }{
		"CRLF for LF":              {own, crlf(changed), changed},
		"LF for CRLF":              {crlf(own), changed, crlf(changed)},
		"CRLF for CRLF":            {crlf(own), crlf(changed), crlf(changed)},
		"LF for CRLF, end lost":    {crlf(own), strings.TrimSuffix(changed, "\n"), crlf(changed)},
		"CRLF for CRLF, end lost":  {crlf(own), strings.TrimSuffix(crlf(changed), "\r\n"), crlf(changed)},
		"mixed live":               {"a\r\nb\n", "a\nc\n", "a\nc\n"},
		"mixed text":               {"a\r\nb\r\n", "a\r\nc\n", "a\r\nc\n"},
		"lines without an end, LF": {"a", "b\n", "b\n"},
	} {
		if got := string(encodedAs([]byte(c.live), []byte(c.text))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
