package main

import "strings"

// A lanes draws a history beside its rows, as git log --graph does: a column per
// line of descent, the newest row first.
type lanes struct {
	waits []string // what each column leads down to, "" for a free one
	fine  bool     // box drawings, else ASCII
}

// enter begins a row. It returns the line in which other columns join that of
// the row ("" where none does), and what stands before the row's first line, with
// mark at its column. parent is what the column leads to from here, "" for
// nothing: it ends.
func (l *lanes) enter(id, parent, mark string) (join, first string) {
	col := -1
	var joining []int
	for i, w := range l.waits {
		switch {
		case w != id || id == "":
		case col < 0:
			col = i
		default:
			joining = append(joining, i)
		}
	}
	if len(joining) > 0 {
		join = l.join(col, joining)
	}
	for _, i := range joining {
		l.waits[i] = ""
	}
	if col < 0 {
		for i, w := range l.waits {
			if w == "" {
				col = i
				break
			}
		}
		if col < 0 {
			col, l.waits = len(l.waits), append(l.waits, "")
		}
	}
	l.waits[col] = "\x00" // something, for the row itself
	first = l.draw(col, mark)
	l.waits[col] = parent
	for n := len(l.waits); n > 0 && l.waits[n-1] == ""; n-- {
		l.waits = l.waits[:n-1]
	}
	return join, first
}

// rest stands before the other lines of a row.
func (l *lanes) rest() string { return l.draw(-1, "") }

func (l *lanes) bar() string {
	if l.fine {
		return "│"
	}
	return "|"
}

func (l *lanes) draw(at int, mark string) string {
	var b strings.Builder
	for i, w := range l.waits {
		switch {
		case i == at:
			b.WriteString(mark + " ")
		case w != "":
			b.WriteString(l.bar() + " ")
		default:
			b.WriteString("  ")
		}
	}
	return b.String()
}

func (l *lanes) join(col int, joining []int) string {
	tee, dash, cross, turn, last := "|", "-", "+", "+", "'"
	if l.fine {
		tee, dash, cross, turn, last = "├", "─", "┼", "┴", "╯"
	}
	end := joining[len(joining)-1]
	in := map[int]bool{}
	for _, i := range joining {
		in[i] = true
	}
	var b strings.Builder
	for i, w := range l.waits {
		gap := " "
		if i >= col && i < end {
			gap = dash
		}
		switch {
		case i == col:
			b.WriteString(tee)
		case i == end:
			b.WriteString(last)
		case in[i]:
			b.WriteString(turn)
		case w != "" && i > col && i < end:
			b.WriteString(cross)
		case w != "":
			b.WriteString(l.bar())
		case i > col && i < end:
			b.WriteString(dash)
		default:
			b.WriteString(" ")
		}
		b.WriteString(gap)
	}
	return strings.TrimRight(b.String(), " ")
}
