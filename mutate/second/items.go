// Package second asks a model that did not write a candidate what each of its changes does
// to the owner's locked lines, before an agent reads the candidate. A pattern sees words;
// this sees what they mean, as well as that model does.
package second

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// An Item is one change of a text: a sentence, heading or line that is new or has another
// meaning where it is now, or a restraint that is gone. All fields are single lines.
type Item struct {
	Kind    string // "sentence", "heading", "line" of code, table or frontmatter, "locked part", "removed"
	Text    string
	Section string // the headings above it
	LeadIn  string // the sentence above its list, table or code
	Above   string // what is directly before it
	Below   string // what is directly after it
	Moved   bool   // the words are old; what they are under or next to is not
}

// A unit is a piece of a text, with what gives it its meaning.
type unit struct{ kind, text, section, lead, above, below string }

func (u unit) words() string { return u.kind + "\x00" + u.text }
func (u unit) under() string { return u.words() + "\x00" + u.section + "\x00" + u.lead }

// near is which of the kernel's parts are next to a unit, "" for none. Other neighbours may
// change without a change of meaning.
func (u unit) near() string {
	var out string
	for _, s := range []string{u.above, u.below} {
		if part.MatchString(s) {
			out += s
		}
		out += "\x00"
	}
	return strings.Trim(out, "\x00")
}

// item is u as an Item. What is around it may be cut: it is an item of its own, or old.
func (u unit) item(kind string) Item {
	i := Item{Kind: kind, Text: u.text, Section: clipped(u.section, maxAround), LeadIn: clipped(u.lead, maxAround)}
	if kind != "removed" {
		i.Above, i.Below = clipped(u.above, maxAround), clipped(u.below, maxAround)
	}
	return i
}

// Items returns how child differs from root, the owner's text, in the order of child;
// removed restraints come last. A sentence under another heading or lead-in than in root is
// an item, and so is a part of the kernel, and what has come next to one. What approved
// texts have is no item either.
func Items(root, child *skill.Document, approved ...*skill.Document) []Item {
	was, is := cut(root), cut(child)
	same, known, next := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, old := range append([][]unit{was}, cuts(approved)...) {
		n, m := map[string]int{}, map[string]int{}
		for _, u := range old {
			n[u.under()]++
			m[u.words()]++
			same[u.under()] = max(same[u.under()], n[u.under()])
			known[u.words()] = max(known[u.words()], m[u.words()])
			next[u.under()+u.near()] = true
		}
	}
	var out []Item
	has := map[string]bool{}
	for _, u := range is {
		has[u.words()] = true
		if same[u.under()] > 0 && (u.near() == "" || next[u.under()+u.near()]) {
			same[u.under()]--
			known[u.words()]--
			continue
		}
		out = append(out, u.item(u.kind))
	}
	for i := range out { // an old place that no unit of the same words has kept
		if key := out[i].Kind + "\x00" + out[i].Text; known[key] > 0 {
			known[key]--
			out[i].Moved = true
		}
	}
	for _, u := range was {
		if u.kind != kernelKind && !has[u.words()] && check.Restrains(u.text) {
			out = append(out, u.item("removed"))
		}
	}
	return slices.DeleteFunc(out, func(i Item) bool { return i.Kind == "line" && mere.MatchString(i.Text) })
}

const kernelKind = "locked part"

var (
	part     = lazyregexp.New(`^\[locked part \d+\]$`)
	mere     = lazyregexp.New(`^(?:\|[|: -]*|[[:punct:]]{1,3})$`) // a table's frame, a closing bracket
	claims   = lazyregexp.New(`(?i)\[([^\pL]*locked[^\pL]+part)`)
	marker   = lazyregexp.New(`^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)`)
	heading  = lazyregexp.New(`^#{1,6}[ \t]+|[ \t]+#+[ \t]*$`)
	sentence = lazyregexp.New("[.!?][\"'”’)\\]*_`]*[ \t\n]+|[。！？]+")
)

// label is how a prompt names the kernel's part i, from 0.
func label(i int) string { return fmt.Sprintf("[locked part %d]", i+1) }

// labelled is part of a view, inert, with the labels of the kernel's parts in place of their
// tokens. Nothing else in it looks like a label.
func labelled(text string, kernel []skill.Placeholder) string {
	for i, k := range kernel {
		if head, tail, ok := strings.Cut(text, k.Token); ok {
			return labelled(head, kernel) + label(i) + labelled(tail, kernel)
		}
	}
	return claims.ReplaceAllString(eval.Inert(text), "($1")
}

func cuts(docs []*skill.Document) (out [][]unit) {
	for _, d := range docs {
		out = append(out, cut(d))
	}
	return out
}

// cut divides a text into its units, the frontmatter first.
func cut(d *skill.Document) []unit {
	c := cutter{kernel: d.KernelText()}
	front := d.Render()
	front = front[:len(front)-len(d.Body())]
	for line := range strings.Lines(string(front)) {
		c.section = "frontmatter"
		c.add("line", line)
	}
	view := d.View()
	for _, b := range skill.Blocks(view) {
		c.block(b, strings.TrimRight(view[b.Start:b.End], " \t\r\n"))
	}
	for i := range c.out {
		if i > 0 {
			c.out[i].above = c.out[i-1].text
		}
		if i+1 < len(c.out) {
			c.out[i].below = c.out[i+1].text
		}
	}
	return c.out
}

type cutter struct {
	kernel        []skill.Placeholder
	out           []unit
	section, lead string
}

func (c *cutter) add(kind, text string) {
	if text = strings.Join(strings.Fields(labelled(text, c.kernel)), " "); text != "" {
		if part.MatchString(text) {
			kind = kernelKind
		}
		c.out = append(c.out, unit{kind: kind, text: text, section: c.section, lead: c.lead})
	}
}

// oneLine is a text as a prompt quotes it.
func oneLine(s string) string { return strings.Join(strings.Fields(eval.Inert(s)), " ") }

func (c *cutter) block(b skill.Block, text string) {
	c.section = oneLine(labelled(b.Section, nil))
	switch b.Kind {
	case "heading":
		above := strings.TrimSuffix(b.Section, lastOf(b.Section))
		c.section, c.lead = oneLine(labelled(strings.TrimSuffix(above, " > "), nil)), ""
		first, _, _ := strings.Cut(text, "\n") // without the line below a setext heading
		level := len(first) - len(strings.TrimLeft(strings.TrimSpace(first), "#"))
		c.add("heading", strings.Repeat("#", max(1, level))+" "+heading.ReplaceAllString(strings.TrimSpace(text), ""))
	case "paragraph":
		c.lead = ""
		c.sentences(text)
		if n := len(c.out); n > 0 {
			c.lead = c.out[n-1].text
		}
	case "item":
		c.item(text)
	case "kernel":
		c.add(kernelKind, text)
	default:
		for line := range strings.Lines(text) {
			c.add("line", line)
		}
	}
}

// lastOf is the last heading of a path. A heading may have " > " of its own; then the rest
// of it counts as a heading above, in both texts alike.
func lastOf(section string) string { return section[strings.LastIndex(section, " > ")+1:] }

// item cuts a list item with what is indented under it: items of its own have its first
// sentence as their lead-in.
func (c *cutter) item(text string) {
	lead := c.lead
	var paragraph strings.Builder
	flush := func() {
		n := len(c.out)
		c.sentences(paragraph.String())
		if c.lead == lead && len(c.out) > n {
			c.lead = c.out[n].text
		}
		paragraph.Reset()
	}
	code := false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		fence := strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")
		switch {
		case code || fence:
			flush()
			c.add("line", bare)
			code = code != fence
		case bare == "", marker.MatchString(bare) && paragraph.Len() > 0:
			flush()
			paragraph.WriteString(marker.ReplaceAllString(bare, "") + "\n")
		default:
			paragraph.WriteString(marker.ReplaceAllString(bare, "") + "\n")
		}
	}
	flush()
	c.lead = lead
}

func (c *cutter) sentences(text string) {
	at := 0
	for _, m := range sentence.FindAllStringIndex(text, -1) {
		c.add("sentence", text[at:m[1]])
		at = m[1]
	}
	c.add("sentence", text[at:])
}

// String is an item for people.
func (i Item) String() string {
	switch {
	case i.Kind == "removed":
		return fmt.Sprintf("%q is gone", i.Text)
	case i.Moved:
		return fmt.Sprintf("%q has another place", i.Text)
	}
	return fmt.Sprintf("%q", i.Text)
}
