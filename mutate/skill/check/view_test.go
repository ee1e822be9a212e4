package check

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

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

// The same bytes pass, and no child of any text makes the check panic.
func TestCheckOfDrawnTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, err := skill.Parse([]byte(drawText(t, "text")), skill.Options{EvolveDescription: rapid.Bool().Draw(t, "description")})
		if err != nil {
			return
		}
		if fs := Check(d, d, ClaudeCode); d.HasFrontmatter() && Worst(fs) > Worst(Validate(d, ClaudeCode, "")) {
			t.Fatalf("the same bytes do not pass: %+v", fs)
		}
		if child, err := d.WithView(drawText(t, "view")); err == nil {
			Check(d, child, ClaudeCode)
		}
	})
}
