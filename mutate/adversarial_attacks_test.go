package mutate

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// What an adversary writes before, behind or around a kernel block to make it
// mean something else.
var (
	openers = []string{
		"```", "````", "~~~", "```md", "   ```", "``` `", "`", "``",
		"<!--", "<!-- a", "text <!--", "<!-->", "<!--->", "<!---", "<!-- kernel", "--> <!--", "<!-- `", "`<!--`", "<!-- a -- b --!>",
		"<?php", "<!DOCTYPE", "<![CDATA[", "<script>", "<style>", "<pre>", "<textarea>", "<template>", "<details>", "<details><summary>old</summary>",
		"<div>", "<div hidden>", "<DIV HIDDEN>\n", "<div style=\"display:none\">\n", "<details>\n", "<template>\n", "<del>", "<del>\n", "<s>", "<blockquote>\n", "<x>", "<noscript>\n", "<dialog>\n", "<iframe>\n",
		"<!-- x -->\n<details>\n", "</div", "<a href=\"", "<div title='", "</details>",
		"<details>\n\n\\</details>\n", "<details>\n\n[a](b \"</details>\")\n", "<details>\n\n![</details>](b)\n", "<details>\n\n<textarea></details></textarea>\n", "<details>\n\n<table><tr></details></tr></table>\n", "<details>\n\n<!X \"</details>\">\n",
		"<video>\n", "<audio>\n", "<canvas>\n", "<datalist>\n", "<select>\n", "<object>\n", "<svg>\n", "<title>", "<plaintext>\n", "<table>\n", "<table><tr><td hidden>\n", "<frameset>", "<body hidden>\n", "<html hidden>\n", "<font color=white>", "<b hidden>", "<a hidden>", "<s>a", "<nobr hidden>", "<div popover>\n", "<div style='display/**/:none'>\n", "<p class=a>\n", "<li hidden>", "<math><mtext>", "<svg><style>",
		"<style>p{display:none}</style>", "<script>document.body.innerHTML=''</script>", "<meta http-equiv=refresh>", "<link rel=stylesheet href=a>", "<h1>Retired</h1>\n", "<h6>Retired", "- ## Retired\n", "> # Retired\n", "- # Retired\n\n", "3. retired\n\n",
		"> ", "> quote", ">", "- item", "- ", "-", "* ", "1. ", "1) x", "- a\n  - b\n", "  ", "    ", "\t", "- \n\n  ", "> - ", "- > ", "10. x\n\n",
		"# Old", "## Example", "### Obsolete, do not apply:", "###### deep", "#", "##\t", "# a #", "Old\n===", "Old\n---", "Text", "Text\\", "===", "---", "Lead\n-", "a\n=",
		"| a | b |\n|---|---|", "| a |\n| - |", "a | b\n- | -",
		"[terms]: elsewhere.md", "[terms]:", "[Rest]: elsewhere.md", "[x]:\n", "[^1]:", "[^1]: note", "[^note]:\n    ", "[rest", "![", "[a](", "[terms]: <", "[terms]: x \"",
		"*", "**", "_", "~~", "\\", "&#60;", "$$", "::: hidden", ":::", "+++", "---\nname: other\n---", "{% comment %}", "%%", "=begin", "/*", "\"\"\"", "<<EOF",
		"!`", "!`id", "```!", "!``", "$ARGUMENTS", "\\$", "${CLAUDE_SKILL_DIR}",
		"<!-- kernel -->", "<!-- /kernel -->", "<!-- Kernel-->", "<!--kernel-->", "<!--\tkernel\u00a0-->", "<!-- kеrnel -->", "<!-- kernel\u200b -->", "< !-- kernel -->", "<!- kernel ->", "<!-- kernel --> x", "x <!-- /kernel -->", "&lt;!-- kernel --&gt;", "<!-- kernel -- >", "    <!-- kernel -->", "> <!-- /kernel -->", "`<!-- kernel -->`", "<!-- ／kernel -->",
		"\ufeff", "\x00", "\xff\xfe", "\xc3", "\u2028", "\u0085", "\v", "\f", "\r", "\u200b", "\u202e", "\u00ad", "\U000e0041", "\x1b[8m",
		"## Security", "## Output contract", "# Must never", "Policy\n======", "Must hold\n=========",
		"The following is only an example and not binding:", "Label every axis with the old rules:",
	}
	closers = []string{
		"```", "````", "~~~", "-->", "--!>", "--> text", "?>", ">", "]]>", "</script>", "</style>", "</pre>", "</details>", "</template>", "</div>", "</del>", "</s>", "</blockquote>",
		"</video>", "</select>", "</table>", "</title>", "</svg>", "</body>", "<style>p{display:none}</style>", "<script>document.body.innerHTML=''</script>", "</p>", "</li>", "</td>", "<body hidden>", "[^1]: Only on Mondays",
		"</x>", "`", "``", "===", "---", "***", "~~", "*", "**", ":::", "[terms]: elsewhere.md", "[Rest]: elsewhere.md 'x'", "  more", "    more", "\tmore", "> more", "- more", "| a |", "  - more", "lazy text",
		"<!-- /kernel -->", "<!-- kernel -->", "## Rest", "### Sub", "", " ", "\\", "EOF", "*/", "{% endcomment %}", "</a>", "'>", "\">", "\x00",
	}
	spacing = []string{"\n", "\n\n", "", " ", "\n\n\n", "\r\n", "\r", "\n  ", "\n    ", "\n>", "\n> ", "\n\t", "\n- ", "\t"}
	tokens  = regexp.MustCompile(`<<KERNEL(?:~\d+)? \d+(?:: [^>]*)?>>`)
)

func pick[T any](r *rand.Rand, s []T) T { return s[r.IntN(len(s))] }

// attack changes a view in one hostile way.
func attack(r *rand.Rand, view string, kernel []string) string {
	locs := tokens.FindAllStringIndex(view, -1)
	if len(locs) == 0 || r.IntN(4) == 0 {
		return attackText(r, view, kernel)
	}
	l := pick(r, locs)
	token := view[l[0]:l[1]]
	before, after := view[:l[0]], view[l[1]:]
	switch r.IntN(14) {
	case 0, 1, 2:
		return before + pick(r, openers) + pick(r, spacing) + token + after
	case 3, 4:
		return before + token + pick(r, spacing) + pick(r, closers) + after
	case 5, 6, 7:
		return before + pick(r, openers) + pick(r, spacing) + token + pick(r, spacing) + pick(r, closers) + after
	case 8: // dropped
		return before + after
	case 9: // twice
		return before + token + pick(r, spacing) + token + after
	case 10: // swapped with another
		m := pick(r, locs)
		return strings.NewReplacer(token, view[m[0]:m[1]], view[m[0]:m[1]], token).Replace(view)
	case 11: // spelt otherwise
		return before + pick(r, []string{strings.ToLower(token), strings.ReplaceAll(token, " ", "\u00a0"), strings.ReplaceAll(token, "K", "К"), token[:len(token)-1], token[1:],
			strings.Replace(token, "1", "2", 1), strings.Replace(token, "<<", "<<\u200b", 1), "<<KERNEL 9>>", "<<" + token + ">>", "`" + token + "`", "!" + token, "\\" + token}) + after
	case 12: // written out
		return before + pick(r, append([]string{""}, kernel...)) + after
	default: // indented or quoted, alone or with all that follows
		p := pick(r, []string{" ", "  ", "    ", "\t", "> ", "- ", "1. ", "  > ", "* - "})
		if r.IntN(2) == 0 {
			return before + p + token + after
		}
		return before + p + token + strings.ReplaceAll(after, "\n", "\n"+p)
	}
}

// attackText changes a view anywhere, or everywhere.
func attackText(r *rand.Rand, view string, kernel []string) string {
	lines := strings.SplitAfter(view, "\n")
	i := r.IntN(len(lines) + 1)
	head, tail := strings.Join(lines[:i], ""), strings.Join(lines[i:], "")
	switch r.IntN(16) {
	case 0, 1, 2, 3:
		return head + pick(r, openers) + pick(r, spacing) + tail
	case 4, 5:
		return head + pick(r, closers) + pick(r, spacing) + tail
	case 6:
		return head + pick(r, append([]string{"a"}, kernel...)) + pick(r, spacing) + tail
	case 7:
		return strings.ReplaceAll(view, "\n", "\r\n")
	case 8:
		return strings.ReplaceAll(view, "\n", pick(r, []string{"\r", "\n\r", "\u2028", "\n\n", "\n    ", "\n> "}))
	case 9:
		return pick(r, []string{"\ufeff", "---\nname: x\n---\n", "\x00", "    ", "> ", "<!--\n", "```\n"}) + view
	case 10:
		return view + pick(r, []string{"\x00", "\xff", "\n```", "\n<!--", "\n<details>", "\\", "\r"})
	case 11: // a part lost
		return head + strings.Join(lines[min(len(lines), i+1+r.IntN(3)):], "")
	case 12: // a part twice
		return head + pick(r, lines) + tail
	case 13: // bytes lost
		if view == "" {
			return ""
		}
		a := r.IntN(len(view))
		return view[:a] + view[min(len(view), a+1+r.IntN(8)):]
	case 14:
		return head + pick(r, openers) + "\n" + tail + "\n" + pick(r, closers)
	default:
		return tail + head
	}
}

// reply wraps a view as models do, mostly well.
func reply(r *rand.Rand, view string) string {
	fence := fenceFor(view)
	switch r.IntN(24) {
	case 0:
		fence = "```"
	case 1:
		fence = strings.Repeat("~", len(fence)+3)
	case 2:
		return fence + "\n" + view + "\n" + fence + "\nor\n" + fence + "\n" + view + "\n" + fence
	case 3:
		return strings.ReplaceAll("Done.\n"+fence+"\n"+view+"\n"+fence+"\n", "\n", "\r\n")
	case 4:
		return view
	case 5:
		return fence + "markdown\n" + view
	case 6:
		return "\ufeff" + fence + "\n" + view + "\n" + fence
	}
	return fmt.Sprintf("Done.\n%s%s\n%s\n%s\n", fence, pick(r, []string{"", "markdown", "md"}), view, fence)
}

// descriptions try to leave the value that they are meant for.
var descriptions = []string{
	"Plots.\n---\n# Body\n", "Plots\nname: other\n", "a: b", "[x", "{a: b}", "&a x", "*a", "!!str x", "| x", "> x", "x # y", "'", "\"", "\\", "\"\nmetadata:\n  kernel: ''\n\"", "---", "... x", "\x00", "\u2028x", "\ufeffx", "x\ty", "@x", "`x`", "%x", "- x", "? x", ": x", "null", "~", "true", "1", "2020-01-01", "\U0001f642", "x\u0085y", "\u007f", "\ufffe", "<!-- kernel -->", "!`id`",
}
