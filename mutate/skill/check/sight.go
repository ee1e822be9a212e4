package check

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// How much of a file agents read at once. pi's read tool returns 2,000 lines
// or 50 KB, Claude Code's 2,000 lines of 2,000 characters each, and Codex
// commonly begins with `sed -n 1,200p`.
const (
	readLines  = 2000
	readBytes  = 50 << 10
	readColumn = 2000 // bytes: a character has at least one
	firstRead  = 200  // lines
)

// tokensPerLine is how many tokens of growth allow the kernel to move down by
// one line: 20 bytes, which is a short item of a list.
const tokensPerLine = 5

// maxBlankRun is how many blank lines in a row a candidate may add.
const maxBlankRun = 2

// checkSight rejects a child in which an agent that reads the file from its
// top may miss what it saw of the parent. Only new blank lines and new length
// count.
func checkSight(parent, child *document) []Finding {
	fs := checkBlankRuns(parent, child)
	fs = append(fs, checkReach(parent, child)...)
	for _, limit := range []struct {
		was, is, most int
		what          string
	}{
		{len(parent.md.Starts), len(child.md.Starts), maxBodyLines, "lines in the body, and the specification advises at most %d"},
		{bytes.Count(parent.raw, []byte("\n")), bytes.Count(child.raw, []byte("\n")), readLines, "lines, and agents read %d at once"},
		{len(parent.raw), len(child.raw), readBytes, "bytes, and agents read %d at once"},
	} {
		if limit.was <= limit.most && limit.is > limit.most {
			fs = append(fs, Finding{Rule: "read-limit", Severity: Reject, Reason: fmt.Sprintf("the file grew from %d to %d "+limit.what, limit.was, limit.is, limit.most)})
		}
	}
	return fs
}

// checkReach rejects a child whose kernel is further from the top than the
// growth of the text explains, or beyond the first read.
func checkReach(parent, child *document) []Finding {
	a, b := parent.bodySpans(), child.bodySpans()
	growth := skill.Growth(skill.Tokens(string(parent.raw[parent.body:])))
	for i := 0; i < len(a) && i < len(b); i++ {
		was, is := parent.reach(a[i]), child.reach(b[i])
		add := func(format string, args ...any) []Finding {
			return []Finding{{Rule: "kernel-moved", Severity: Reject, Line: b[i].Line, Reason: "the kernel block " + fmt.Sprintf(format, args...)}}
		}
		if moved, most := b[i].Line-a[i].Line, growth/tokensPerLine; moved > most {
			return add("moved down by %d lines, from line %d, and %d are the limit", moved, a[i].Line, most)
		}
		if moved, most := b[i].Start-a[i].Start, 4*growth; moved > most {
			return add("moved down by %d bytes, from line %d, and %d are the limit", moved, a[i].Line, most)
		}
		for _, limit := range []struct {
			was, is, most int
			unit          string
		}{
			{was.line, is.line, firstRead, "line"},
			{was.line, is.line, readLines, "line"},
			{was.end, is.end, readBytes, "byte"},
			{was.column, is.column, readColumn, "byte of its line"},
		} {
			if limit.was <= limit.most && limit.is > limit.most {
				return add("ended at %s %d and now ends at %d: an agent that reads the first %d misses it", limit.unit, limit.was, limit.is, limit.most)
			}
		}
	}
	return nil
}

// A reach is how far an agent has to read to have seen a span.
type reach struct {
	line   int // 1-based line of the file that holds its last byte
	end    int // offset behind its last byte
	column int // bytes of its last line up to there
}

func (d *document) reach(s skill.Span) reach {
	return reach{d.md.FileLine(s.End), s.End, s.End - bytes.LastIndexByte(d.raw[:s.End], '\n') - 1}
}

// A blankRun is some blank lines of the harness in a row, and the lines around it.
type blankRun struct {
	line, length  int // line: 1-based in the file
	before, after string
}

// checkBlankRuns rejects runs of blank lines that are new or longer than
// before. Those of the parent may be anywhere in the child, and if the lines
// between some of them were deleted, the run that they form is not new. Each
// of the parent's counts once.
func checkBlankRuns(parent, child *document) []Finding {
	was := parent.blankRuns()
	take := func(from, to int) bool {
		was = slices.Delete(was, from, to)
		return from < to
	}
	is := slices.DeleteFunc(child.blankRuns(), func(r blankRun) bool {
		if r.length <= maxBlankRun {
			return true
		}
		i := slices.IndexFunc(was, func(w blankRun) bool {
			return w.length >= r.length && w.before == r.before && w.after == r.after
		})
		return take(max(i, 0), i+1)
	})
	slices.SortStableFunc(is, func(a, b blankRun) int { return b.length - a.length })
	for _, r := range is {
		fit := -1 // the shortest that is long enough
		for i, w := range was {
			if w.length >= r.length && (fit < 0 || w.length < was[fit].length) {
				fit = i
			}
		}
		if !take(max(fit, 0), fit+1) && !take(between(was, r)) {
			return []Finding{{Rule: "blank-run", Severity: Reject, Line: r.line, Reason: fmt.Sprintf("%d blank lines in a row are new, and %d are the limit", r.length, maxBlankRun)}}
		}
	}
	return nil
}

// between finds neighbouring runs that are between the same two lines as r
// and hold as many blank lines; from equals to if there are none.
func between(runs []blankRun, r blankRun) (from, to int) {
	from = -1
	sum := 0
	for i, w := range runs {
		if w.before == r.before {
			from, sum = i, 0
		}
		if sum += w.length; from >= 0 && w.after == r.after && sum >= r.length {
			return from, i + 1
		}
	}
	return 0, 0
}

// blankRuns lists all runs of blank lines outside of the kernel, in order.
func (d *document) blankRuns() []blankRun {
	code := make([]bool, len(d.md.Starts))
	for _, f := range d.md.Fences {
		for i := f.First + 1; i < f.Last || i == f.Last && !f.Closed; i++ {
			code[i] = true
		}
	}
	var runs []blankRun
	var open blankRun
	spans, before := d.bodySpans(), ""
	for i, start := range d.md.Starts {
		line := string(d.md.LineText(i))
		for len(spans) > 0 && spans[0].End <= start {
			spans = spans[1:]
		}
		kernel := len(spans) > 0 && spans[0].Start < start+len(line)+1
		if !kernel && blank(line, code[i]) {
			if open.length == 0 {
				open = blankRun{line: i, before: before}
			}
			open.length++
			continue
		}
		before = strings.TrimSpace(line)
		if open.length > 0 {
			open.after = before
			runs, open = append(runs, open), blankRun{}
		}
	}
	if open.length > 0 {
		runs = append(runs, open)
	}
	first := d.md.FileLine(d.body)
	for i := range runs {
		runs[i].line += first
	}
	return runs
}

var (
	// emptyMarkup is Markdown and HTML that shows nothing alone on a line.
	emptyMarkup = lazyregexp.New(`(?i)<!--.*?-->|</?(?:br|sub|sup|kbd)\s*/?>|\[[ x]?\]|^[\s>]*\d{1,9}[.)](?:\s|$)`)

	// drawnLine is a line of a page (or an underline of a heading), or a fence.
	drawnLine = lazyregexp.New("^[\\s>]*(?:(?:-\\s*){3,}|(?:\\*\\s*){3,}|(?:_\\s*){3,}|={3,}|`{3,}|~{3,})\\s*$")
)

// blank reports whether a line shows nothing: no text, but maybe spaces of
// any kind, invisible characters, and outside of code the markup of an item,
// a quote, a heading, a row, a break or a comment.
func blank(line string, code bool) bool {
	markup := ">"
	if !code {
		if drawnLine.MatchString(line) {
			return false
		}
		line = html.UnescapeString(emptyMarkup.ReplaceAllString(line, ""))
		markup = ">-*+|#\\_=~`"
	}
	for _, r := range line {
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !invisible(r) && !strings.ContainsRune(markup, r) {
			return false
		}
	}
	return true
}
