package skill

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A ViewError is why a view cannot be made into a document.
type ViewError struct {
	Line int    // 1-based in the view, 0 if none applies
	Msg  string // one sentence
}

func (e *ViewError) Error() string {
	if e.Line == 0 {
		return "rebuild document from view: " + e.Msg
	}
	return fmt.Sprintf("rebuild document from view: line %d: %s", e.Line, e.Msg)
}

// A Placeholder represents one kernel span in a View.
type Placeholder struct{ Token, Text string }

// A hole is one kernel span of the body with its placeholder.
type hole struct {
	Span
	token   string
	ownLine bool // nothing else was on its lines
}

// View is the harness as a mutator sees it and returns it: the body with a
// placeholder for every kernel span (see KernelText), on a line of its own if
// the span filled whole lines. Without kernel in the body the view is the
// body. A file whose line breaks are all CRLF is shown with LF; WithView puts
// them back. The view of a document that did not parse is "".
func (d *Document) View() string {
	if d.err != nil {
		return ""
	}
	var b strings.Builder
	at := d.body
	for _, h := range d.holes() {
		b.Write(d.raw[at:h.Start])
		b.WriteString(h.token)
		at = h.End
	}
	b.Write(d.raw[at:])
	if d.crlf() {
		return strings.ReplaceAll(b.String(), "\r\n", "\n")
	}
	return b.String()
}

// KernelText lists placeholder → kernel bytes, in order, for use as read-only
// context in a prompt. The frontmatter has no placeholder.
func (d *Document) KernelText() []Placeholder {
	if d.err != nil {
		return nil
	}
	var out []Placeholder
	for _, h := range d.holes() {
		out = append(out, Placeholder{h.token, string(d.raw[h.Start:h.End])})
	}
	return out
}

// WithView rebuilds the document from the original's kernel bytes and a new
// view: every placeholder must occur exactly once and in the original order,
// on lines as before. Line breaks, the blank lines before the text and the
// end of the file follow the original. d is unchanged, and
// d.WithView(d.View()) renders the same bytes as d.
//
// The view may not make or unmake kernel: a heading that would become kernel,
// a marker line or a new shell command is an error. So is a view far larger
// than any skill, or nested too deeply to read.
//
// The error is a *ViewError, or a *SyntaxError if d itself did not parse; the
// result then is nil.
func (d *Document) WithView(view string) (*Document, error) {
	if d.err != nil {
		return nil, d.err
	}
	if err := d.tooLarge(view); err != nil {
		return nil, err
	}
	holes := d.holes()
	pieces, err := splitView(view, d.tokenPrefix(), holes)
	if err != nil {
		return nil, err
	}
	for i := range pieces {
		pieces[i] = d.lineBreaks(pieces[i])
	}
	d.keepEdges(pieces, holes)
	var b bytes.Buffer
	b.Write(d.raw[:d.body])
	for i, h := range holes {
		b.WriteString(pieces[i])
		b.Write(d.raw[h.Start:h.End])
	}
	b.WriteString(pieces[len(holes)])

	child, perr := Parse(b.Bytes(), d.opts)
	if perr != nil {
		return nil, &ViewError{Msg: "the result does not parse: " + perr.(*SyntaxError).Msg}
	}
	if msg := SameKernel(d, child); msg != "" {
		return nil, &ViewError{Msg: msg}
	}
	return child, nil
}

// holes gives every kernel span of the body its placeholder.
func (d *Document) holes() []hole {
	prefix := d.tokenPrefix()
	var out []hole
	for i, s := range d.bodySpans() {
		h := hole{Span: s}
		lineStart := s.Start == d.body || d.raw[s.Start-1] == '\n'
		rest := d.raw[s.End:]
		h.ownLine = lineStart && (len(rest) == 0 || rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n")))
		h.token = fmt.Sprintf("%s %d>>", prefix, i+1)
		if label := tokenLabel(d.labelOf(s)); h.ownLine && label != "" {
			h.token = fmt.Sprintf("%s %d: %s>>", prefix, i+1, label)
		}
		out = append(out, h)
	}
	return out
}

// labelOf names the subject of a span: the first heading in it, or the last
// one above it.
func (d *Document) labelOf(s Span) string {
	if s.Reason == ShellReason {
		return "shell"
	}
	label := ""
	for _, h := range d.md.Headings {
		if h.Start >= s.End {
			break
		}
		label = h.Text
		if h.Start >= s.Start {
			break
		}
	}
	return label
}

// tokenLabel shortens a heading to text that cannot be mistaken for markup.
func tokenLabel(heading string) string {
	var b strings.Builder
	n := 0
	for _, r := range heading {
		if n++; n > 40 {
			break
		}
		if r == ' ' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xc0 && r < 0x2000 {
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// tokenPrefix is how placeholders begin: <<KERNEL, or if the harness itself
// holds that, <<KERNEL~2, <<KERNEL~3 and so on: the first that it does not hold.
func (d *Document) tokenPrefix() string {
	var harness bytes.Buffer
	at := d.body
	for _, s := range d.bodySpans() {
		harness.Write(d.raw[at:s.Start])
		harness.WriteByte('\n')
		at = s.End
	}
	harness.Write(d.raw[at:])
	text := upperBytes(harness.String())
	if !strings.Contains(text, "<<KERNEL") {
		return "<<KERNEL"
	}
	for n := 2; ; n++ {
		if p := fmt.Sprintf("<<KERNEL~%d", n); !strings.Contains(text, p) {
			return p
		}
	}
}

// crlf reports whether every line break of the file is CRLF and there is no
// other carriage return; only then can a view be shown with LF and restored
// without loss.
func (d *Document) crlf() bool {
	n := bytes.Count(d.raw, []byte("\r\n"))
	return n > 0 && n == bytes.Count(d.raw, []byte("\n")) && n == bytes.Count(d.raw, []byte("\r"))
}

// returns matches the carriage returns of a line break, doubled ones too:
// otherwise "\r\r\n" would keep one.
var returns = lazyregexp.New(`\r+\n`)

// lineBreaks gives a piece of a view the line breaks of the original. If a
// file mixes them, the piece is unchanged.
func (d *Document) lineBreaks(s string) string {
	switch {
	case d.crlf():
		return strings.ReplaceAll(returns.ReplaceAllString(s, "\n"), "\n", "\r\n")
	case !bytes.Contains(d.raw, []byte("\r\n")):
		return returns.ReplaceAllString(s, "\n")
	}
	return s
}

// keepEdges gives the pieces of a new view the original's blank lines at the
// beginning and line breaks at the end: a mutator that trims its output has
// changed nothing.
func (d *Document) keepEdges(pieces []string, holes []hole) {
	const breaks = "\r\n"
	first, last := d.raw[d.body:], d.raw[d.body:]
	if n := len(holes); n > 0 {
		first, last = d.raw[d.body:holes[0].Start], d.raw[holes[n-1].End:]
	}
	n := len(pieces) - 1
	tail := string(last[len(bytes.TrimRight(last, breaks)):])
	pieces[n] = strings.TrimRight(pieces[n], breaks) + tail
	if n == 0 && len(tail) == len(last) {
		return // nothing but line breaks: they are counted already
	}
	lead := string(first[:len(first)-len(bytes.TrimLeft(first, breaks))])
	if n == 0 && strings.Trim(pieces[0], breaks) == "" {
		return // the view was emptied: the line breaks at its end remain
	}
	pieces[0] = lead + strings.TrimLeft(pieces[0], breaks)
}

// splitView cuts a view at its placeholders: len(holes)+1 pieces.
func splitView(view, prefix string, holes []hole) ([]string, error) {
	if len(holes) == 0 {
		return []string{view}, nil
	}
	folded := upperBytes(view)
	var pieces []string
	done := 0 // up to here the view is cut
	for {
		i := strings.Index(folded[done:], prefix)
		if i < 0 {
			break
		}
		i += done
		line := 1 + strings.Count(view[:i], "\n")
		k := len(pieces)
		if k < len(holes) && strings.HasPrefix(view[i:], holes[k].token) {
			end := i + len(holes[k].token)
			piece := view[done:i]
			if holes[k].ownLine {
				var ok bool
				if piece, end, ok = aloneOnLine(view, done, i, end); !ok {
					return nil, &ViewError{line, fmt.Sprintf("placeholder %s no longer stands alone on its line", holes[k].token)}
				}
			}
			pieces, done = append(pieces, piece), end
			continue
		}
		return nil, &ViewError{line, misplaced(view[i:], k, holes)}
	}
	if k := len(pieces); k < len(holes) {
		return nil, &ViewError{0, fmt.Sprintf("placeholder %s is missing", holes[k].token)}
	}
	return append(pieces, view[done:]), nil
}

// misplaced returns what is wrong with a placeholder at the start of text, at
// which that of hole k was expected.
func misplaced(text string, k int, holes []hole) string {
	for j, h := range holes {
		switch {
		case !strings.HasPrefix(text, h.token):
		case j < k:
			return fmt.Sprintf("placeholder %s stands twice", h.token)
		default:
			return fmt.Sprintf("placeholder %s stands before %s", h.token, holes[k].token)
		}
	}
	return "a placeholder was altered; they must stay exactly as given"
}

// aloneOnLine checks that view[start:end] has a line to itself. Blanks around
// it are allowed and dropped, because they would indent the kernel.
func aloneOnLine(view string, done, start, end int) (piece string, newEnd int, ok bool) {
	piece = strings.TrimRight(view[done:start], " \t")
	if piece == "" && done > 0 || piece != "" && piece[len(piece)-1] != '\n' {
		return "", 0, false
	}
	rest := strings.TrimLeft(view[end:], " \t")
	if rest != "" && rest[0] != '\n' && !strings.HasPrefix(rest, "\r\n") {
		return "", 0, false
	}
	return piece, len(view) - len(rest), true
}

// upperBytes folds ASCII letters and keeps every byte offset.
func upperBytes(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// SameKernel compares the kernel of a document with that of its child, "" if
// equal byte for byte.
func SameKernel(parent, child *Document) string {
	a, b := parent.spans, child.spans
	for i := 0; i < len(a) && i < len(b); i++ {
		if string(parent.raw[a[i].Start:a[i].End]) != string(child.raw[b[i].Start:b[i].End]) {
			return fmt.Sprintf("the kernel on line %d (%s) would no longer be what it was on line %d (%s)", b[i].Line, b[i].Reason, a[i].Line, a[i].Reason)
		}
	}
	switch {
	case len(b) > len(a):
		s := b[len(a)]
		return fmt.Sprintf("line %d would become kernel: %s", s.Line, s.Reason)
	case len(b) < len(a):
		s := a[len(b)]
		return fmt.Sprintf("the kernel of line %d (%s) would no longer be kernel", s.Line, s.Reason)
	}
	return ""
}
