package status

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
)

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

const (
	LogNewest = 10 // versions that are shown without --all
	logWidth  = 80 // columns that a line has at most
)

// A logRow is one text in the tree.
type logRow struct {
	id, parent string // "v3", or a candidate's SHA-256
	mark       string
	head       string
	lines      []string
}

// Tree draws the versions and the candidates on trial, the newest first. newest
// bounds the versions, 0 for all.
func (l *Log) Tree(newest int, fine bool) string {
	narrow := runewidth.Condition{} // the same in every locale
	end := "..."
	if fine {
		end = "…"
	}
	var b strings.Builder
	line := func(before, s string) {
		s = plain.Text(strings.TrimRight(before+s, " "))
		b.WriteString(narrow.Truncate(s, logWidth, end) + "\n")
	}
	switch {
	case l.Live == "":
		line("", l.Skill+" is not installed any more")
	case !l.Recorded && len(l.Versions) > 0:
		line("", fmt.Sprintf("%s was edited since: the live text %s is not recorded yet", l.Skill, plain.Short(l.Live)))
	}
	for _, t := range l.Edited {
		line("", fmt.Sprintf("the copy in %s was edited since: the next promote or rollback records that", t))
	}
	if len(l.Versions) == 0 {
		line("", fmt.Sprintf("no versions of %s yet; the first run records what is there", l.Skill))
	}
	rows, lost := l.rows(fine)
	older := 0
	if newest > 0 {
		shown := 0
		for i := range rows {
			if strings.HasPrefix(rows[i].id, "v") {
				shown++
			}
			if shown > newest {
				older = len(rows) - i
				rows = rows[:i]
				break
			}
		}
	}
	g := lanes{fine: fine}
	for _, r := range rows {
		join, first := g.enter(r.id, r.parent, r.mark)
		if join != "" {
			line(join, "")
		}
		line(first, r.head)
		for _, s := range r.lines {
			line(g.rest(), "  "+s)
		}
	}
	if older > 0 {
		line("", fmt.Sprintf("%s older: --all shows them", plain.Counted(older, "version")))
	}
	if lost > 0 {
		line("", fmt.Sprintf("%s lost or withdrawn: --json lists them", plain.Counted(lost, "candidate")))
	}
	return b.String()
}

// rows are what the tree shows, and how many candidates it leaves out because
// they have lost.
func (l *Log) rows(fine bool) (rows []logRow, lost int) {
	live, old, gone, trial := "*", "o", "x", "?"
	if fine {
		live, old, gone, trial = "●", "○", "×", "◌"
	}
	parent := func(n int) string {
		if n < 0 {
			return ""
		}
		return fmt.Sprintf("v%d", n)
	}
	for i := range l.Candidates {
		t := &l.Candidates[i]
		if t.Decision == pareto.Reject || t.Decision == store.Withdrawn {
			lost++
			continue
		}
		r := logRow{id: t.SHA, parent: parent(t.parent), mark: trial}
		r.head = fmt.Sprintf("%s  %s  %s", plain.Short(t.SHA), t.Updated.UTC().Format("2006-01-02"), t.describe())
		r.lines = append(r.lines, t.Evidence.Phrase())
		if t.Decision != pareto.Promote && t.Evidence.Reason != "" {
			r.lines = append(r.lines, t.Evidence.Reason)
		}
		if t.Refused != "" {
			r.lines = append(r.lines, "promote refuses it: "+t.Refused)
		}
		rows = append(rows, r.with(t.words(nil)))
	}
	for i := range l.Versions {
		v := &l.Versions[i]
		r := logRow{id: parent(v.Version), parent: parent(v.parent), mark: old}
		switch {
		case v.Live:
			r.mark = live
		case v.RolledBack != nil:
			r.mark = gone
		}
		r.head = fmt.Sprintf("v%-2d %s  %s  %s", v.Version, plain.Short(v.SHA), v.Created.UTC().Format("2006-01-02"), v.describe())
		if narrow := (runewidth.Condition{}); narrow.StringWidth(r.head+v.Note) < logWidth-8 { // room for a few columns of lines
			r.head += note(v)
		} else {
			r = r.with(v.Note)
		}
		if v.Evidence != nil {
			r.lines = append(r.lines, v.Evidence.Phrase())
		}
		for _, c := range v.Compared {
			r.lines = append(r.lines, c.String())
		}
		rows = append(rows, r.with(v.words(v.Targets)))
	}
	return rows, lost
}

// with adds a line, where there is one.
func (r logRow) with(line string) logRow {
	if line != "" {
		r.lines = append(r.lines, line)
	}
	return r
}

// words say where a text is, what it was made from, and what that cost.
func (o *Origin) words(targets []string) string {
	var parts []string
	if len(targets) > 0 {
		parts = append(parts, "in "+strings.Join(targets, ", "))
	}
	if n := len(o.Cases); n > 0 {
		s := "taught by " + plain.Counted(n, "case")
		if k := len(o.Sessions); k > 0 {
			s += " of " + plain.Counted(k, "session")
		}
		parts = append(parts, s)
	}
	switch {
	case o.CostUSD != nil && *o.CostUSD > 0:
		parts = append(parts, fmt.Sprintf("run %s, %s", eval.FormatUSD(*o.CostUSD), plain.Counted(int(o.Rollouts), "rollout")))
	case o.Rollouts > 0:
		parts = append(parts, "run "+plain.Counted(int(o.Rollouts), "rollout"))
	}
	return strings.Join(parts, "; ")
}

// describe says how a version stands, who made it, and whether it is proven: what
// matters most first, for narrow lines.
func (v *Version) describe() string {
	var s []string
	if v.Live {
		s = append(s, "live")
	}
	if v.Pinned {
		s = append(s, "pinned")
	}
	if v.Alarm {
		s = append(s, "ALARM")
	}
	if v.RolledBack != nil {
		s = append(s, "rolled back "+v.RolledBack.UTC().Format("01-02"))
	}
	if v.Again != nil {
		s = append(s, fmt.Sprintf("again as v%d", *v.Again))
	}
	switch {
	case v.Author != "evolve":
	case v.Proven:
		s = append(s, "proven")
	default:
		s = append(s, "NOT proven")
	}
	if v.Simulated {
		s = append(s, "SIMULATED")
	}
	if v.SameText != nil {
		s = append(s, fmt.Sprintf("the text of v%d", *v.SameText))
	}
	switch {
	case v.Author == "evolve":
		s = append(s, v.Operator)
	case v.Note == "":
		s = append(s, v.Author, v.Operator)
	default:
		s = append(s, v.Author)
	}
	return strings.Join(s, ", ")
}

// note is a version's note behind its description.
func note(v *Version) string {
	if v.Note == "" {
		return ""
	}
	return ", " + v.Note
}

func (t *Trial) describe() string {
	s := []string{string(t.Decision)}
	switch {
	case t.Offer != "":
		s[0] = "proven: `" + t.Offer + "`"
	case t.Decision == pareto.Promote:
		s[0] = "proven"
	}
	if t.Simulated {
		s = append(s, "SIMULATED")
	}
	if !t.Current {
		s = append(s, "against an older text")
	}
	if t.Operator != "" {
		s = append(s, t.Operator)
	}
	return strings.Join(s, ", ")
}
