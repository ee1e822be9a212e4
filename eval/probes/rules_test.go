package probes

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

func parse(t testing.TB, text string) *skill.Document {
	t.Helper()
	d, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const front = "---\nname: tagger\ndescription: Tags notes.\n---\n\n# Tagger\n\nTag them.\n\n"

func TestRules(t *testing.T) {
	d := parse(t, front+`<!-- kernel -->
## Never

Never do any of this:

- delete a file,
  not even an empty one
  - nor a folder
- print a key

Answer
in one line.

Reply in this form:

`+"```"+`
{"tags": []}
`+"```"+`

Setext
------

1. Ask before a push.

Last line:
<!-- /kernel -->

Run !`+"`date`"+` first.
`)
	var got []string
	for _, r := range Rules(d) {
		got = append(got, strings.Join([]string{r.Heading, r.Lead, r.Text}, "|"))
		if line := strings.Split(string(d.Render()), "\n")[r.Line-1]; !strings.Contains(line, strings.Fields(r.Text)[0]) {
			t.Errorf("line %d is %q, the rule %q", r.Line, line, r.Text)
		}
	}
	want := []string{
		"Tagger > Never|Never do any of this:|delete a file, not even an empty one - nor a folder",
		"Tagger > Never|Never do any of this:|print a key",
		"Tagger > Never||Answer in one line.",
		"Tagger > Never|Reply in this form:|``` {\"tags\": []} ```",
		"Tagger > Setext||Ask before a push.",
		"Tagger > Setext||Last line:",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rules:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := Rules(parse(t, front)); len(r) != 0 {
		t.Errorf("without a kernel: %+v", r)
	}
}

// A paragraph that introduces another such paragraph introduces what that one does.
func TestLeadOfALead(t *testing.T) {
	got := Rules(parse(t, front+"<!-- kernel -->\nBefore a push:\n\nNever:\n- force\n<!-- /kernel -->\n"))
	if len(got) != 1 || got[0].Lead != "Before a push: Never:" || got[0].Text != "force" {
		t.Errorf("%+v", got)
	}
}

// Every word of a kernel is in a rule, a heading or a lead; another heading or lead is another
// rule for each item below it, and a change of the harness none.
func TestRulesOfAnyKernel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"- never one", "- never two", "  three", "four five", "", "All of:", "```", "1. six", "\tseven"}), 1, 12).Draw(t, "kernel")
		heading := rapid.SampledFrom([]string{"Never", "Always"}).Draw(t, "heading")
		text := func(heading, harness string) *skill.Document {
			body := front + harness + "\n\n<!-- kernel -->\n## " + heading + "\n\n" + strings.Join(lines, "\n") + "\n<!-- /kernel -->\n"
			d, err := skill.Parse([]byte(body), skill.Options{})
			if err != nil {
				t.Skip(err) // a fence may hide the marker
			}
			return d
		}
		d := text(heading, "Be brief.")
		rules := Rules(d)
		all := ""
		for _, r := range rules {
			all += " " + r.Lead + " " + r.Text
		}
		for _, w := range []string{"one", "two", "three", "four", "All", "six", "seven"} {
			if strings.Contains(strings.Join(lines, "\n"), w) && !strings.Contains(all, w) {
				t.Fatalf("%q is in no rule of %q: %q", w, lines, all)
			}
		}
		same, other := Rules(text(heading, "Be very brief.")), Rules(text("Sometimes", "Be brief."))
		if len(same) != len(rules) || len(other) != len(rules) {
			t.Fatalf("%d rules, %d and %d", len(rules), len(same), len(other))
		}
		for i, r := range rules {
			if same[i].ID != r.ID || other[i].ID == r.ID {
				t.Fatalf("%+v is %+v after an edit of the harness, and %+v below another heading", r, same[i], other[i])
			}
		}
	})
}
