package plain

import (
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// widths counts columns as terminals do: ambiguous characters ("…", "×") are narrow,
// whatever the locale, and an emoji made of several is one.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many columns s takes on a terminal. It must be plain: see Text.
func Width(s string) int { return widths.StringWidth(s) }

// Fit is s cut to at most w columns, with "…" if something was cut.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	return widths.Truncate(s, w, "…")
}

// A Table aligns cells in columns by their width on a terminal. Its input is lines of
// cells separated by tabs, as for a text/tabwriter, which counts runes and so misaligns
// what follows a Chinese word. The zero value is not usable.
type Table struct {
	out io.Writer
	buf strings.Builder
	// Width is the number of columns, 0 for no limit. Longer lines get one blank
	// between columns, and then a shorter last cell if enough of it stays readable.
	Width int
	// Paint, if set, decorates a cell after it was padded: it must add nothing that
	// takes columns. Row 0 is the first line.
	Paint func(row, column int, cell string) string
}

// NewTable returns a table that is written to w by Flush, two blanks between
// columns.
func NewTable(w io.Writer) *Table { return &Table{out: w} }

// leastCell is the least number of columns of a last cell that are worth showing.
const leastCell = 12

// Write keeps p; it never fails.
func (t *Table) Write(p []byte) (int, error) { return t.buf.Write(p) }

// Flush writes the lines, without blanks at their ends, and empties the table. An
// unfinished last line is ended.
func (t *Table) Flush() error {
	text := strings.TrimSuffix(t.buf.String(), "\n")
	t.buf.Reset()
	if text == "" {
		return nil
	}
	var rows [][]string
	var width []int
	for line := range strings.SplitSeq(text, "\n") {
		cells := strings.Split(line, "\t")
		for i, cell := range cells {
			if i == len(width) {
				width = append(width, 0)
			}
			if i < len(cells)-1 { // the last cell needs no padding
				width[i] = max(width[i], Width(cell))
			}
		}
		rows = append(rows, cells)
	}
	gap := "  "
	if t.Width > 0 {
		gap = t.fit(rows, width)
	}
	var b strings.Builder
	for r, cells := range rows {
		last := lastCell(cells)
		for i, cell := range cells[:last+1] {
			pad := ""
			if i < last {
				pad = strings.Repeat(" ", max(0, width[i]-Width(cell))) + gap
			}
			if t.Paint != nil {
				cell = t.Paint(r, i, cell)
			}
			b.WriteString(cell + pad)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// lastCell is the last one that is not empty, or the first.
func lastCell(cells []string) int {
	last := len(cells) - 1
	for last > 0 && cells[last] == "" {
		last--
	}
	return last
}

// fit shortens last cells so that lines fit, and returns the gap between columns.
func (t *Table) fit(rows [][]string, width []int) (gap string) {
	before := func(last int, gap string) (n int) {
		for _, w := range width[:last] {
			n += w + len(gap)
		}
		return n
	}
	gap = "  "
	for _, cells := range rows {
		if last := lastCell(cells); last > 0 && before(last, gap)+Width(cells[last]) > t.Width {
			gap = " "
		}
	}
	for _, cells := range rows {
		last := lastCell(cells)
		if room := t.Width - before(last, gap); last > 0 && room >= leastCell {
			cells[last] = Fit(cells[last], room)
		}
	}
	return gap
}
