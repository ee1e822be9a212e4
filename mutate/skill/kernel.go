package skill

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"go.yaml.in/yaml/v3"
)

var (
	// A kernel marker, alone on its line. Spacing and case are free: a near
	// miss that silently protected nothing would be worse.
	markerLine  = lazyregexp.New(`(?i)^\s*<!--\s*(/?)kernel\s*-->\s*$`)
	markerStart = lazyregexp.New(`(?i)^\s*<!--\s*/?kernel\s*-->`)

	// Agents find !`command` with a regular expression, not with a Markdown
	// parser: it runs inside fences and comments too. This is the widest form
	// that any known version accepts.
	inlineShell = lazyregexp.New("(?:^|[^`])(!`[^`]+`)")

	invariantHeading = lazyregexp.New(`(?i)\b(security|safety|contracts?|polic(?:y|ies)|compliance|invariants?|guardrails?|must|never)\b`)
)

// ShellReason is the Reason of a span that an agent runs while it loads the skill.
const ShellReason = "shell command that runs without asking"

// findKernel lists the kernel spans of a document whose frontmatter and outline
// are known.
func findKernel(d *Document) ([]Span, *SyntaxError) {
	var spans []Span
	add := func(start, end int, reason string) {
		spans = append(spans, Span{Start: start, End: end, Reason: reason})
	}
	markers, err := markerRegions(d.md)
	if err != nil {
		return nil, err
	}
	for _, m := range markers {
		add(m[0], m[1], "stands between <!-- kernel --> markers")
	}
	names, line, declared, err := declaredSections(d.front)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		found := false
		for i, h := range d.md.Headings {
			if strings.EqualFold(h.Text, name) || strings.EqualFold(d.md.path(h.Start), name) {
				start, end := d.md.section(i)
				add(start, end, fmt.Sprintf("section %q is named in metadata.kernel", h.Text))
				found = true
			}
		}
		if !found {
			return nil, &SyntaxError{Line: line, Msg: missingSection(name, d.md.Headings)}
		}
	}
	if !declared && len(markers) == 0 {
		for i, h := range d.md.Headings {
			if word := invariantHeading.FindString(h.Text); word != "" {
				start, end := d.md.section(i)
				add(start, end, fmt.Sprintf("heading %q reads like an invariant (%s), and %s declares no kernel", h.Text, strings.ToLower(word), d.noun()))
			}
		}
	}
	for _, r := range ShellSpans(d.md) {
		add(r[0], r[1], ShellReason)
	}

	if d.opts.Instructions {
		for _, i := range d.Imports() {
			n := d.md.Line(i.Start)
			add(d.md.Starts[n], d.md.lineEnd(n), ImportReason)
		}
	}
	spans = mergeSpans(spans)
	for i := range spans {
		spans[i].Heading = d.md.path(d.md.Opening(d.md.Headings, spans[i]))
	}
	spans = append(frontmatterSpans(d.front), spans...)
	for i := range spans {
		spans[i].Line = d.md.FileLine(spans[i].Start)
	}
	return spans, nil
}

// frontmatterSpans is the frontmatter as one span, or as two around a
// description that may evolve.
func frontmatterSpans(f frontmatter) []Span {
	if !f.present {
		return nil
	}
	if v := f.description; v[1] > 0 {
		return []Span{
			{Start: 0, End: v[0], Reason: "frontmatter before the description"},
			{Start: v[1], End: f.end, Reason: "frontmatter after the description"},
		}
	}
	return []Span{{Start: 0, End: f.end, Reason: "frontmatter"}}
}

// markerRegions pairs the marker lines of a body. Markers inside a fenced code
// block are text about markers, not markers.
func markerRegions(o *Outline) ([][2]int, *SyntaxError) {
	var regions [][2]int
	open := -1
	for i := range o.Starts {
		line := o.LineText(i)
		if !bytes.Contains(line, []byte("<!--")) || o.inFence(i) {
			continue
		}
		at := o.FileLine(o.Starts[i])
		m := markerLine.FindSubmatch(line)
		switch {
		case m == nil && markerStart.Match(line):
			return nil, &SyntaxError{Line: at, Msg: "a kernel marker must stand alone on its line"}
		case m == nil:
		case len(m[1]) == 0 && open >= 0:
			return nil, &SyntaxError{Line: at, Msg: fmt.Sprintf("<!-- kernel --> inside the kernel region opened on line %d: regions do not nest", o.FileLine(o.Starts[open]))}
		case len(m[1]) == 0:
			open = i
		case open < 0:
			return nil, &SyntaxError{Line: at, Msg: "<!-- /kernel --> without <!-- kernel --> before it"}
		default:
			regions = append(regions, [2]int{o.Starts[open], o.lineEnd(i)})
			open = -1
		}
	}
	if open >= 0 {
		return nil, &SyntaxError{Line: o.FileLine(o.Starts[open]), Msg: "<!-- kernel --> is never closed by <!-- /kernel -->"}
	}
	return regions, nil
}

// declaredSections reads metadata.kernel: names divided by semicolons, or a
// list of names. An empty value declares that no section is kernel.
func declaredSections(f frontmatter) (names []string, line int, declared bool, err *SyntaxError) {
	meta := f.value("metadata")
	if meta == nil || meta.Kind != yaml.MappingNode {
		return nil, 0, false, nil
	}
	v := MapValue(meta, "kernel")
	if v == nil {
		return nil, 0, false, nil
	}
	line = v.Line + 1
	items := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		items = v.Content
	}
	for _, n := range items {
		n = Follow(n)
		if n.Kind != yaml.ScalarNode {
			return nil, line, true, &SyntaxError{Line: line, Msg: `metadata.kernel is not a text of section names ("Output contract; Security")`}
		}
		if n.Tag == "!!null" {
			continue
		}
		for name := range strings.SplitSeq(n.Value, ";") {
			if name = strings.Join(strings.Fields(name), " "); name != "" {
				names = append(names, name)
			}
		}
	}
	return names, line, true, nil
}

func missingSection(name string, headings []Heading) string {
	msg := fmt.Sprintf("metadata.kernel names the section %q, and no heading has that text", name)
	var texts []string
	for _, h := range headings {
		texts = append(texts, h.Text)
	}
	if near := Nearest(name, texts); near != "" {
		msg += fmt.Sprintf("; the nearest is %q", near)
	}
	return msg
}

// ShellSpans finds what an agent would run while it loads the skill: inline
// !`command` and ```! blocks, the latter as whole lines.
func ShellSpans(o *Outline) [][2]int {
	var spans [][2]int
	body := o.raw[o.body:]
	for at := 0; at < len(body); {
		m := inlineShell.FindSubmatchIndex(body[at:])
		if m == nil {
			break
		}
		spans = append(spans, [2]int{o.body + at + m[2], o.body + at + m[3]})
		at += m[3]
	}
	for _, f := range o.Fences {
		if strings.HasPrefix(f.Info, "!") {
			spans = append(spans, [2]int{o.Starts[f.First], o.lineEnd(f.Last)})
		}
	}
	// The same block for a regular expression: from ```! to the next ```,
	// anywhere.
	for at := 0; ; {
		i := bytes.Index(body[at:], []byte("```!"))
		if i < 0 {
			break
		}
		start := at + i
		end := len(body)
		if j := bytes.Index(body[start+4:], []byte("```")); j >= 0 {
			end = start + 4 + j + 3
		}
		first, last := o.Line(o.body+start), o.Line(o.body+end-1)
		spans = append(spans, [2]int{o.Starts[first], o.lineEnd(last)})
		at = end
	}
	return spans
}

// mergeSpans sorts spans and joins those that overlap; the reasons add up.
func mergeSpans(spans []Span) []Span {
	sort.SliceStable(spans, func(i, j int) bool {
		if spans[i].Start != spans[j].Start {
			return spans[i].Start < spans[j].Start
		}
		return spans[i].End > spans[j].End
	})
	var out []Span
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			if s.End > out[n-1].End {
				out[n-1].End = s.End
				out[n-1].Reason += "; " + s.Reason
			}
			continue
		}
		out = append(out, s)
	}
	return out
}
