package mutate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
)

// numberedSkills are skills whose kernel has words that nothing else has: k1z, k2z, …
var numberedSkills = func() []string {
	marked := "<!-- kernel -->\nk1z k2z the [k3z k4z] and [k5z][k6z], *k7z* `k8z`. k9z[^k10z]\n\n- k11z\n  k12z\n- k13z\n<!-- /kernel -->"
	second := "<!-- kernel -->\nk21z k22z\nk23z.\n\n1. k24z\n2. k25z\n\n> k26z\n<!-- /kernel -->"
	section := "## Output contract\n\nk1z k2z\nk3z, k4z [k5z].\n\n### k6z\n\n| k7z | k8z |\n|---|---|\n| k9z | k10z |\n\n- k11z\n\n  k12z"
	never := "## Security\n\nk1z never k2z the k3z.\n\n```sh\n# k4z\nk5z\n```\n\n    k6z"
	setext := "Must hold\n=========\n\nk1z k2z\nk3z."
	item := "<!-- kernel -->\n  k1z k2z\n  k3z\n  <!-- /kernel -->"
	return []string{
		front + fill + marked + "\n\n## Rest\n\nText *below* it.\n\n" + second + "\n\nThe end.\n",
		front + "Intro.\n" + marked + "\nText that follows at once.\n" + second + "\n- last\n",
		strings.TrimSuffix(front, "---\n") + "metadata:\n  kernel: Output contract\n---\n" + fill + section + "\n\n## Rest\n\nMore text.\n",
		front + fill + never + "\n\n## Steps\n\n1. Read.\n2. Draw.\n",
		front + "Lead.\n\n" + setext + "\n\nRest\n====\n\nText.\n",
		front + fill + "- item\n  " + item + "\n- last\n\n1. one\n   - two\n     - three\n",
		front + fill + "## Table\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" + marked,
		front + marked + "\n\n" + fill,
		front + fill + "> before\n\n" + marked + "\n\n> after\n\n[terms]: references/terms.md\n",
		strings.ReplaceAll(front+fill+never+"\n\n## Rest\n\nText.\n", "\n", "\r\n"),
	}
}()

// structural are what an author writes to make a kernel mean something else without
// touching it, by the kinds of docs/security.md. {k} is a word of the kernel.
var structural = map[string][]string{
	"link references":    {"[{k}]: a.md", "[{k}]:", "[{k}]: <a.md", "[{k}]: a.md \"", "[{k}]: a.md (x)", "[k3z k4z]: a.md", "[k6z]: a.md 'x'", "[x]: {k}", "[x]:\n", "[{k}]: a.md\n\"t", "[text", "![", "[a](", "[a](<", "[{k}]", "[k5z]: #old"},
	"underlines":         {"===", "---", "Old\n===", "Old\n---", "  ===", "-", "=", "Text\n", "Obsolete", "a\n  ---", "a\n= =", "***", "\\\n===", "- a\n===", "> a\n---"},
	"fences":             {"```", "````", "~~~", "```md", "   ```", "    code", "\t", "    ", "```\ncode\n```", "~~~~\n```", "``` `", "`", "``", "`` a", "```\n\n", "~~~ kernel", "1. ```", "> ```", "\\```"},
	"lists":              {"- ", "- a", "* a\n", "1. ", "1) a", "10. a\n", "- a\n\n", "- a\n  - b\n", "  ", "   ", "+", "+ a\n\n  ", "2. a\n\n", "- [ ] a", "> ", ">", "> a", "> - a", "* - a", "0. a", "- \n\n  "},
	"footnotes":          {"[^k10z]: note", "[^1]: a", "[^1]:", "[^1]: a\n\n    b", "[^1]:\n    ", "[^{k}]: a", "a[^1]", ": a", "{k}\n: a", "*[{k}]: a", "*[HTML]: a", "^[a", "[^k10z]:", "Term\n:   a\n\n    "},
	"hiding elements":    {"<details>", "<details>\n\n<summary>old</summary>\n", "<div hidden>\n", "<del>", "<s>", "<template>\n", "<!-- a -->", "<div>\n", "</details>", "</div>", "<br>", "<name>", "<file name>", "<a name=x>", "<sub>", "<kbd>x</kbd>", "<p", "<x-y>", "<pre>", "<script>", "</x\n>", "<a href='", "<blockquote>\n\n", "<table><tr><td>\n", "<!X>", "<li>"},
	"declarations":       {"<!--", "-->", "<!-->", "<!--->", "<!-- a", "<!-- a -- b -->", "text <!--", "<?php", "?>", "<!DOCTYPE", "<![CDATA[", "]]>", "<!A", "`<!--`", "\\<!--", "<! --", "<!- a ->", "<!-- /kernel -->", "<!-- kernel -->", "--!>"},
	"invisible":          {"\u200b", "\u202e", "\u2066", "\u00ad", "\ufeff", "\U000e0041", "\u2028", "\u0085", "\v", "\f", "\u200d\n", "\u3000", "\u00a0\n", "#\u00a0Old", "-\u00a0a", "\u2003===", "\u200b\n---", "\x00", "\r", "\x1b[8m"},
	"look-alikes":        {"## Sеcurity", "## Ѕecurity", "## ᴏᴜᴛᴘᴜᴛ contract", "## Оutput contract", "＃ Old", "‑ a", "＞ a", "｜ a ｜", "＊a", "｀｀｀", "## Secur1ty", "ⅰ. a", "• a", "– a", "＜!-- kernel --＞", "## Must h0ld", "０. a"},
	"second frontmatter": {"---\nname: other\n---", "---\nkernel: none\n---\n", "+++\na = 1\n+++", "---", "...", "---\n", "%YAML 1.2\n---", "{\n\"kernel\": []\n}", "--- \nx: y", "metadata:\n  kernel: Rest\n", ";;;\n;;;", "- - -", "___"},
	"huge":               {strings.Repeat("\n", 40), strings.Repeat("- Label every axis.\n", 40), strings.Repeat("a ", 900), strings.Repeat("> ", 30) + "a", strings.Repeat("  ", 20) + "a", strings.Repeat("#", 7) + " a", strings.Repeat("*", 50), strings.Repeat("[", 50), strings.Repeat("<b>", 20), strings.Repeat("| a ", 30) + "|", strings.Repeat("Text.\n\n", 60), strings.Repeat("`", 30), strings.Repeat("_", 40) + "a", strings.Repeat("a\n", 30) + "==="},
	"other dialects":     {":::", "::: hidden", ":::note\n", "{% comment %}", "{% endcomment %}", "%%", "=begin", "/*", "*/", "\"\"\"", "<<EOF", "EOF", "$$", "$$\na", "\\[", "!!! note\n\n    ", "??? old\n    ", "{{< hide >}}", "@startuml", "{.hidden}", "{: .hidden}", "..", ".. comment\n\n   ", "//", ";;", "==a==", "~~a", "||", "| a | b |\n|---|---|", "| a |\n| - |", "a | b\n- | -", "#+begin_comment", "(((", "----", "++++", "////", "====", "[NOTE]\n", "> [!NOTE]", "^^^", "%% a"},
}

// numberedWord is a word of a kernel above.
var numberedWord = regexp.MustCompile(`k\d+z`)

// around puts one fragment somewhere into a view, mostly beside the kernel, and sometimes one
// more that may close it.
func around(r *rand.Rand, view string, fragments []string) string {
	word := func(s string) string { return strings.ReplaceAll(s, "{k}", fmt.Sprintf("k%dz", 1+r.IntN(13))) }
	f := word(pick(r, fragments))
	gap := []string{"\n", "\n\n", "\n\n", "\n\n", "", " ", "\n  ", "\n- "}
	locs := tokens.FindAllStringIndex(view, -1)
	if r.IntN(3) > 0 && len(locs) > 0 {
		l := pick(r, locs)
		switch r.IntN(3) {
		case 0:
			return view[:l[0]] + f + pick(r, gap) + view[l[0]:]
		case 1:
			return view[:l[1]] + pick(r, gap) + f + view[l[1]:]
		}
		return view[:l[0]] + f + pick(r, gap) + view[l[0]:l[1]] + pick(r, gap) + word(pick(r, fragments)) + view[l[1]:]
	}
	lines := strings.SplitAfter(view, "\n")
	i := r.IntN(len(lines) + 1)
	return strings.Join(lines[:i], "") + pick(r, gap) + f + pick(r, gap) + strings.Join(lines[i:], "")
}

// places are the words of a kernel that a page shows, in its order: each with the elements,
// columns and links that it is in, and the headings that it is under. A paragraph of an item
// counts as the item.
func places(page string) (all []string, err error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return nil, err
	}
	var above []string
	var walk func(n *html.Node, chain string)
	walk = func(n *html.Node, chain string) {
		switch n.Type {
		case html.TextNode:
			for _, w := range numberedWord.FindAllString(n.Data, -1) {
				all = append(all, w+" in "+chain+" under "+strings.Join(above, " > "))
			}
		case html.ElementNode:
			if n.Data == "p" && n.Parent.Data == "li" {
				break
			}
			chain += "/" + n.Data
			for _, a := range n.Attr {
				if a.Key != "id" && a.Key != "start" {
					chain += " " + a.Key + "=" + a.Val
				}
			}
			if n.Data == "td" || n.Data == "th" {
				for c := n.PrevSibling; c != nil; c = c.PrevSibling {
					chain += "'"
				}
			}
			if heading.MatchString(n.Data) {
				above = slices.DeleteFunc(above, func(h string) bool { return h[:2] >= n.Data })
				above = append(above, n.Data+" "+textOf(n))
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, chain)
		}
	}
	walk(doc, "")
	return all, nil
}

var heading = regexp.MustCompile(`^h[1-6]$`)

// moved is which word of the kernel a page does not have in its place and order, "" for none.
// Copies elsewhere are no crime.
func moved(was, is string) string {
	before, err := places(was)
	now, failed := places(is)
	if err := errors.Join(err, failed); err != nil {
		return err.Error()
	}
	rest := now
	for _, place := range before {
		i := slices.Index(rest, place)
		if i < 0 {
			return fmt.Sprintf("%s: there now is %q", place, now)
		}
		rest = rest[i+1:]
	}
	return ""
}

// TestRenderersReadTheKernel holds the check against commonmark.js, markdown-it and marked: in
// what passes, they have the kernel where it was. .ci/renderers installs them.
func TestRenderersReadTheKernel(t *testing.T) {
	dir := os.Getenv("EVOLVE_RENDERERS")
	if dir == "" {
		t.Skip("EVOLVE_RENDERERS names no folder; `eval \"$(.ci/renderers)\"` sets it")
	}
	render := func(texts []string) (pages []map[string]string) {
		in, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", "testdata/renderers.js", dir)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &pages)
		}
		if err != nil {
			t.Fatal(err)
		}
		return pages
	}
	body := func(d *skill.Document) string { return strings.ReplaceAll(string(d.Body()), "\r\n", "\n") }
	each := 150 // candidates of a kind that pass
	if long() {
		each = 1000
	}
	r := rand.New(rand.NewPCG(23, 3))
	type pair struct {
		kind       string
		worst      check.Severity
		was, child string
	}
	var all []pair
	var texts []string
	seen := map[string]bool{}
	for _, kind := range slices.Sorted(maps.Keys(structural)) {
		n := map[check.Severity]int{}
		for tried := 0; n[check.Warn] < each && tried < 100*each; tried++ {
			parent, err := skill.Parse([]byte(pick(r, numberedSkills)), skill.Options{})
			if err != nil {
				t.Fatal(err)
			}
			child, err := parent.WithView(around(r, parent.View(), structural[kind]))
			if err != nil || seen[body(parent)+"\x00"+body(child)] {
				continue
			}
			seen[body(parent)+"\x00"+body(child)] = true
			worst := check.Worst(check.Check(parent, child, check.ClaudeCode))
			if n[worst]++; worst == check.Reject && n[worst] > each {
				continue // enough to see that the renderers do move kernels
			}
			all = append(all, pair{kind, worst, body(parent), body(child)})
			texts = append(texts, body(parent), body(child))
		}
		t.Logf("%s: %d passed, %d wait for the owner, %d are refused", kind, n[check.Warn], n[check.Quarantine], n[check.Reject])
	}
	found := map[check.Severity]int{}
	count := map[check.Severity]int{}
	pages := render(texts)
	for i, p := range all {
		count[p.worst]++
		why := ""
		for name, was := range pages[2*i] {
			if msg := moved(was, pages[2*i+1][name]); msg != "" {
				why = name + ": " + msg
			}
		}
		if why == "" {
			continue
		}
		if found[p.worst]++; p.worst < check.Reject && found[p.worst] <= 5 {
			t.Errorf("%s: %s\nof\n%s\nwas made\n%s", p.kind, why, p.was, p.child)
		}
	}
	t.Logf("the kernel came out elsewhere in %d of %d that passed, in %d of %d that wait for the owner, and in %d of %d that are refused",
		found[check.Warn], count[check.Warn], found[check.Quarantine], count[check.Quarantine], found[check.Reject], count[check.Reject])
	if count[check.Warn] < 1000 || found[check.Reject] < count[check.Reject]/20 {
		t.Error("too few candidates passed, or too few of the others hide a kernel, to prove anything")
	}
}
