package charts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// lineageRows is how many texts the tree shows one by one. If there are more,
// refused texts are counted at their parent; if that is not enough, the page
// shows the challenger's ancestors. The list in words has all.
const lineageRows = 60

// A branch is one row of the tree.
type branch struct {
	*report.Candidate
	depth    int
	parent   int // row, -1 for none
	others   []string
	children []*branch
	losers   map[string]int // refused children that have no row, by state
	more     int            // other children that have no row
}

// Lineage draws the parents and the operator of each text: a row a text, the
// children below their parent in the order of their proposal; if there are
// too many, the challenger's ancestors alone. nil for one text only.
func Lineage(m *report.Model) *Plot {
	rows := lineage(m.Candidates)
	if len(rows) > lineageRows {
		rows = ancestry(rows)
	}
	if len(rows) < 2 {
		return nil
	}
	return lineagePlot(m, rows)
}

// ancestry keeps the row of the challenger (else of the best) and those above it.
func ancestry(rows []*branch) (out []*branch) {
	at := slices.IndexFunc(rows, func(b *branch) bool { return b.Role == "challenger" })
	for i, b := range rows {
		if at < 0 || rows[at].Role != "challenger" && b.Full && b.Metrics.Quality > rows[at].Metrics.Quality {
			at = i
		}
	}
	for i := at; i >= 0; i = rows[i].parent {
		b := *rows[i]
		b.losers = nil
		if n := len(b.children); n > 1 {
			b.more = n - 1
		}
		out = append(out, &b)
	}
	slices.Reverse(out)
	for i, b := range out {
		b.parent = i - 1
	}
	return out
}

func lineagePlot(m *report.Model, rows []*branch) *Plot {
	deepest := 0
	for _, b := range rows {
		deepest = max(deepest, b.depth)
	}
	const left, pitch = 10.0, 19.0
	step := min(16, 110/float64(max(1, deepest)))
	p := &Plot{ID: "plot-lineage", Width: plotWidth, Height: float64(len(rows))*pitch + 8, Title: "Lineage",
		Desc: fmt.Sprintf("%s in %d generations; the list below has all of them in words.", plain.Counted(len(rows), "text"), deepest+1)}
	x := func(b *branch) float64 { return left + float64(b.depth)*step }
	y := func(i int) float64 { return 14 + float64(i)*pitch }
	for i, b := range rows {
		if b.parent >= 0 {
			p.path("edge", fmt.Sprintf("M%sV%sH%s", at(x(rows[b.parent]), y(b.parent)), num(y(i)), num(x(b))))
		}
	}
	for i, b := range rows {
		class, sh := "point-open", ring
		switch {
		case b.Role == "incumbent":
			class, sh = "incumbent", square
		case b.Role == "challenger":
			class, sh = "challenger", diamond
		case b.State == string(record.Refused) || b.State == string(record.Invalid) || b.State == string(record.Quarantined):
			class, sh = "lost", cross
		case b.OnFront:
			class, sh = "on-front", disc
		}
		r := 4.2
		if sh == cross || sh == ring {
			r = 3
		}
		p.titled(class, glyph(sh, x(b), y(i), r), described(b.Candidate))
		at := x(b) + 9
		p.text("branch "+class+"-name", "start", at, y(i)+4, cut(b.line(), p.Width-at-2, fontSize))
	}
	return p
}

// described is the text of a candidate.
func described(c *report.Candidate) string {
	s := fmt.Sprintf("%s: %s, %s", plain.Short(c.SHA), c.Operator, c.State)
	if c.Metrics.N > 0 {
		s += fmt.Sprintf(", quality %.2f on %s", c.Metrics.Quality, plain.Counted(c.Metrics.N, "validation rollout"))
	}
	if c.Reason != "" {
		s += "; " + plain.Excerpt(c.Reason, 200)
	}
	return plain.Text(s)
}

// line is a branch's label.
func (b *branch) line() string {
	s := plain.Head(b.SHA, 8) + " " + b.Operator
	switch {
	case b.Full:
		s += fmt.Sprintf(" %.2f", b.Metrics.Quality)
	case b.State != string(record.Pooled) && b.State != string(record.Seed):
		s += " " + b.State
	default:
		s += " in part"
	}
	switch b.Role {
	case "incumbent":
		s += " your text"
	case "challenger":
		s += " new text"
	}
	for _, o := range b.others {
		s += " + " + plain.Head(o, 8)
	}
	if b.more > 0 {
		s += fmt.Sprintf(" (+%d others)", b.more)
	}
	if len(b.losers) > 0 {
		var lost []string
		for _, st := range []record.CandidateState{record.Refused, record.Invalid, record.Quarantined} {
			if n := b.losers[string(st)]; n > 0 {
				lost = append(lost, fmt.Sprintf("%d %s", n, st))
			}
		}
		s += " (+" + strings.Join(lost, ", ") + ")"
	}
	return plain.Text(s)
}

// lineage orders the texts as a tree, depth first. A second parent is named in
// its child's row.
func lineage(cs []report.Candidate) (rows []*branch) {
	by, parents := map[string]*branch{}, map[string]bool{}
	for _, c := range cs {
		for _, p := range c.Parents {
			parents[p] = true
		}
	}
	var roots []*branch
	for i := range cs {
		c := &cs[i]
		b := &branch{Candidate: c, parent: -1, losers: map[string]int{}}
		var up *branch
		for _, p := range c.Parents {
			if q := by[p]; q != nil && (up == nil || q.depth > up.depth) {
				up = q
			}
		}
		lost := !slices.Contains([]string{string(record.Seed), string(record.Pooled)}, c.State) && c.Role == ""
		if up != nil && lost && !parents[c.SHA] && len(cs) > lineageRows {
			up.losers[c.State]++
			continue
		}
		if up == nil {
			roots = append(roots, b)
		} else {
			b.depth = up.depth + 1
			up.children = append(up.children, b)
			for _, p := range c.Parents {
				if p != up.SHA {
					b.others = append(b.others, p)
				}
			}
		}
		if by[c.SHA] == nil {
			by[c.SHA] = b
		}
	}
	var walk func(b *branch, parent int)
	walk = func(b *branch, parent int) {
		b.parent = parent
		rows = append(rows, b)
		at := len(rows) - 1
		for _, c := range b.children {
			walk(c, at)
		}
	}
	for _, b := range roots {
		walk(b, -1)
	}
	return rows
}
