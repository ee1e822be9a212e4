package mutate

import "strings"

// A shape is one way for a skill to hold a kernel. The kernel is written here
// by hand, so that the tests do not depend on skill.Parse.
type shape struct {
	name   string
	text   string
	kernel []string // the bytes of each block in the body, in order
	words  []string // one word of each block that stands nowhere else
}

const front = "---\nname: harrier\ndescription: Plots tables. Use when a chart is asked for.\n---\n"

// fill is harness that gives mutators something to move about.
const fill = "# Harrier\n\nPlot the table that the user names.\n\n- Label every axis.\n- Use a log scale for money.\n\n"

var shapes = func() []shape {
	marked := "<!-- kernel -->\nNever print the word kestrel. See [the terms][terms] and [Rest].\n<!-- /kernel -->"
	marked2 := "<!-- KERNEL -->\n## Osprey\n\n1. one\n2. two\n\n> quoted\n<!-- /Kernel -->"
	section := "## Output contract\n\nAlways write one SVG, says the merlin.\n\n### Sizes\n\n| a | b |\n|---|---|\n| 1 | 2 |"
	heading := "## Security\n\nNever send the goshawk anywhere.\n\n```sh\n# no heading\nls\n```"
	setext := "Must hold\n=========\n\nThe buzzard stays."
	item := "<!-- kernel -->\n  kept by the hobby\n  <!-- /kernel -->"
	block := "```!\ngit log eagle\n```"
	return []shape{
		{"markers", front + fill + marked + "\n\n## Rest\n\nText *below* it.\n\n" + marked2 + "\n\nThe end.\n", []string{marked, marked2}, []string{"kestrel", "Osprey"}},
		{"markers without blank lines", front + "Intro.\n" + marked + "\nText that follows at once.\n" + marked2 + "\n- last\n", []string{marked, marked2}, []string{"kestrel", "Osprey"}},
		{"sections", strings.Replace(front, "---\n# ", "---\n", 1)[:len(front)-4] + "metadata:\n  kernel: Output contract\n---\n" + fill + section + "\n\n## Rest\n\nMore text.\n", []string{section}, []string{"merlin"}},
		{"heading", front + fill + heading + "\n\n## Steps\n\n1. Read.\n2. Draw.\n", []string{heading}, []string{"goshawk"}},
		{"setext", front + "Lead.\n\n" + setext + "\n\nRest\n====\n\nText.\n", []string{setext}, []string{"buzzard"}},
		{"shell", front + fill + "- Branch: !`git branch falcon` now\n- Files:\n  !`ls harpy`\n\n" + block + "\n\nThen `code` and text.\n", []string{"!`git branch falcon`", "!`ls harpy`", block}, []string{"falcon", "harpy", "eagle"}},
		{"list", front + fill + "- item\n  " + item + "\n- last\n\n1. one\n   - two\n     - three\n", []string{item}, []string{"hobby"}},
		{"last", front + fill + "## Table\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" + marked, []string{marked}, []string{"kestrel"}},
		{"first", front + marked + "\n\n" + fill, []string{marked}, []string{"kestrel"}},
		{"quote", front + fill + "> before\n\n" + marked + "\n\n> after\n\n[terms]: references/terms.md\n", []string{marked}, []string{"kestrel"}},
		{"crlf", strings.ReplaceAll(front+fill+heading+"\n\n## Rest\n\nText.\n", "\n", "\r\n"), []string{strings.ReplaceAll(heading, "\n", "\r\n")}, []string{"goshawk"}},
		{"byte order mark", "\ufeff" + front + fill + marked + "\n\nText $ARGUMENTS and $1.\n", []string{marked}, []string{"kestrel"}},
		{"no kernel", front + fill + "## Rest\n\nText.\n\n<div>\nraw\n</div>\n", nil, nil},
	}
}()
