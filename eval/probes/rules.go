package probes

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A Rule is one rule of a kernel: an item of a list, or a paragraph.
type Rule struct {
	// ID is from Heading, Lead and Text: a rule under another heading is another rule.
	ID      string `json:"id"`
	Heading string `json:"heading,omitempty"` // path of the headings above it
	Lead    string `json:"lead,omitempty"`    // the line that introduces its list; all of them if several follow each other
	Text    string `json:"text"`              // in one line
	Line    int    `json:"line"`              // of the file
}

var (
	listItem = lazyregexp.New(`^(\s*)(?:[-*+]|\d+[.)])\s+(.*)$`)
	ruleless = lazyregexp.New(`^\s*(?:<!--.*-->|[-*_=\s]*)\s*$`)
)

// Rules lists the rules in the kernel of a text. The frontmatter, commands that run as the
// skill is loaded, and lines that import files are none: an agent does not follow them. A text
// whose kernel has no rule needs no probes.
func Rules(d *skill.Document) []Rule {
	var out []Rule
	raw := d.Render()
	body := len(raw) - len(d.Body())
	for _, s := range d.Kernel() {
		if s.Start < body || s.Reason == skill.ShellReason || s.Reason == skill.ImportReason {
			continue
		}
		r := reader{headings: d.Outline().Headings, line: s.Line, at: s.Start, indent: -1}
		for text := range strings.SplitAfterSeq(string(raw[s.Start:s.End]), "\n") {
			r.read(strings.TrimRight(text, "\r\n"))
			r.line++
			r.at += len(text)
		}
		r.end()
		r.follow(nil)
		out = append(out, r.rules...)
	}
	for i := range out { // the same words twice under one heading are one rule
		h := sha256.Sum256([]byte(out[i].Heading + "\n" + out[i].Lead + "\n" + out[i].Text))
		out[i].ID = hex.EncodeToString(h[:6])
	}
	return unique(out)
}

func unique(rules []Rule) (out []Rule) {
	for _, r := range rules {
		if !slices.ContainsFunc(out, func(o Rule) bool { return o.ID == r.ID }) {
			out = append(out, r)
		}
	}
	return out
}

// A reader divides a part of a kernel into rules, line by line.
type reader struct {
	headings []skill.Heading
	line, at int // of the line that is read
	rules    []Rule
	open     *Rule  // that the next line may continue
	indent   int    // of the item that is open, -1 for a paragraph
	lead     *Rule  // the paragraph with a colon at its end that introduces what follows
	leads    bool   // lead has introduced something
	blank    bool   // the line before is blank
	fence    string // that ends the code block, "" outside
}

func (r *reader) read(line string) {
	text, blank := strings.Join(strings.Fields(line), " "), r.blank
	r.blank = text == ""
	item := listItem.FindStringSubmatch(line)
	switch {
	case r.fence != "":
		if r.more(text); strings.HasPrefix(text, r.fence) {
			r.fence = ""
		}
	case strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"): // what it shows belongs to what introduces it
		r.fence = text[:3]
		r.more(text)
	case ruleless.MatchString(line) || slices.ContainsFunc(r.headings, func(h skill.Heading) bool { return h.Start == r.at }):
		if text != "" || r.indent < 0 {
			r.end()
		}
		if text != "" {
			r.follow(nil)
		}
	case item != nil && r.open != nil && r.indent >= 0 && len(item[1]) > r.indent+1: // an item below an item
		r.more(text)
	case item != nil:
		r.end()
		r.begin(strings.Join(strings.Fields(item[2]), " "), len(item[1]))
	case r.open != nil && r.indent >= 0 && blank && line[0] != ' ' && line[0] != '\t': // a paragraph after the list
		r.end()
		r.follow(nil)
		r.begin(text, -1)
	default:
		r.more(text)
	}
}

func (r *reader) begin(text string, indent int) {
	var path []string
	for _, h := range skill.Above(r.headings, r.at) {
		path = append(path, h.Text)
	}
	r.open, r.indent = &Rule{Heading: strings.Join(path, " > "), Text: text, Line: r.line}, indent
	if r.lead != nil {
		r.open.Lead, r.leads = strings.TrimSpace(r.lead.Lead+" "+r.lead.Text), true
	}
}

// more continues the open rule, or begins one.
func (r *reader) more(text string) {
	if r.open == nil {
		r.begin(text, -1)
		return
	}
	r.open.Text += " " + text
}

// end ends the open rule.
func (r *reader) end() {
	o := r.open
	if r.open = nil; o == nil {
		return
	}
	if r.indent < 0 && strings.HasSuffix(o.Text, ":") {
		r.follow(o)
	} else {
		r.rules = append(r.rules, *o)
	}
	r.indent = -1
}

// follow has a paragraph introduce what comes, nil for none. One that introduced nothing is a
// rule itself.
func (r *reader) follow(lead *Rule) {
	if r.lead != nil && !r.leads {
		r.rules = append(r.rules, *r.lead)
	}
	r.lead, r.leads = lead, false
}
