package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
)

// shownFlips is the number of flipped cases that a text lists.
const shownFlips = 20

// A Look describes the terminal for a text. The zero value is a file.
type Look struct {
	Width  int // columns; 0 for no limit
	Colour bool
}

// Text is the comparison for a terminal, in the manner of benchstat: "~"
// marks an interval that contains "no difference". With colours, what is
// better in B is green and what is worse red; if the table does not fit, each
// objective has lines of its own.
func (c *Comparison) Text(look Look) string {
	var head, tail strings.Builder
	sim := ""
	if c.Simulated {
		sim = " (SIMULATED)"
	}
	fmt.Fprintf(&head, "%s%s: A %s, B %s\n", c.Skill, sim, c.A.Label, c.B.Label)
	fmt.Fprintf(&head, "%s, %s\n\n", c.Scope(), c.Agent)
	tail.WriteString("\n")
	for _, l := range c.Facts() {
		tail.WriteString(l + "\n")
	}
	if len(c.Flips) > 0 {
		fmt.Fprintf(&tail, "\ncases that flipped (%d):\n", len(c.Flips))
		for i, f := range c.Flips {
			if i == shownFlips {
				fmt.Fprintf(&tail, "  … and %d more (--json lists all)\n", len(c.Flips)-i)
				break
			}
			sign := "+"
			if f.Solved == "a" {
				sign = "-"
			}
			fmt.Fprintf(&tail, "  %s %s: %s\n", sign, f.Case, plain.Excerpt(f.Prompt, 90))
			if len(f.Why) > 0 {
				fmt.Fprintf(&tail, "      %s: %s\n", map[string]string{"a": "B", "b": "A"}[f.Solved], plain.Excerpt(strings.Join(f.Why, "; "), 140))
			}
		}
	}
	for _, x := range c.Warnings {
		fmt.Fprintf(&tail, "warning: %s\n", plain.Excerpt(x, 300))
	}
	// The table holds numbers alone; text from outside evolve is kept around
	// it.
	return plain.Fold(plain.Text(head.String()), look.Width) + c.Table(look) + plain.Fold(plain.Text(tail.String()), look.Width)
}

// Table is the objectives, one a line, or one a few lines on a narrow terminal.
func (c *Comparison) Table(look Look) string {
	paint := func(d Delta, text string) string {
		switch {
		case !look.Colour || !d.Differs:
			return text
		case d.Oriented(*d.Delta) > 0:
			return "\x1b[32m" + text + "\x1b[0m"
		}
		return "\x1b[31m" + text + "\x1b[0m"
	}
	var b strings.Builder
	w := plain.NewTable(&b)
	fmt.Fprintf(w, "objective\tA\tB\tB against A\tinterval\twon/lost/tied\n")
	rows := c.Rows()
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Objective, r.A, r.B, r.Change, r.Interval, r.Score)
	}
	w.Paint = func(row, column int, cell string) string {
		if row == 0 || column != 3 {
			return cell
		}
		return paint(c.Objectives[row-1], cell)
	}
	if err := w.Flush(); err != nil {
		return err.Error() // a strings.Builder never fails
	}
	wide := 0
	for line := range strings.SplitSeq(b.String(), "\n") {
		wide = max(wide, plain.Width(plain.Text(line)))
	}
	if look.Width <= 0 || wide <= look.Width {
		return b.String()
	}
	b.Reset()
	for i, r := range rows {
		fmt.Fprintf(&b, "%s %s\n  A %s, B %s\n", r.Objective, paint(c.Objectives[i], r.Change), r.A, r.B)
		if r.Interval != "" {
			fmt.Fprintf(&b, "  %.0f %% %s\n", 100*c.Objectives[i].Level, r.Interval)
		}
		if r.Score != "" {
			fmt.Fprintf(&b, "  won/lost/tied %s\n", r.Score)
		}
	}
	return b.String()
}

// A DeltaRow is a Delta in words.
type DeltaRow struct{ Objective, A, B, Change, Interval, Score string }

// Rows are the objectives in words.
func (c *Comparison) Rows() (out []DeltaRow) {
	for i := range c.Objectives {
		d := &c.Objectives[i]
		out = append(out, DeltaRow{d.Objective, c.number(*d, d.A), c.number(*d, d.B), d.Change(), d.Interval(), d.score()})
	}
	return out
}

// Markdown is the comparison for an issue or a pull request.
func (c *Comparison) Markdown() string {
	var b strings.Builder
	sim := ""
	if c.Simulated {
		sim = " (SIMULATED)"
	}
	fmt.Fprintf(&b, "### %s%s: %s → %s\n\n%s, %s\n\n", cell(c.Skill), sim, cell(c.A.Label), cell(c.B.Label), c.Scope(), cell(c.Agent))
	for _, x := range c.Warnings {
		fmt.Fprintf(&b, "> **Warning:** %s\n>\n", cell(x))
	}
	fmt.Fprintf(&b, "\n| objective | A | B | B against A | interval | won/lost/tied |\n|---|--:|--:|--:|--:|--:|\n")
	for _, r := range c.Rows() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.Objective, r.A, r.B, r.Change, r.Interval, r.Score)
	}
	b.WriteString("\n")
	for _, l := range c.Facts() {
		fmt.Fprintf(&b, "- %s\n", cell(l))
	}
	if len(c.Flips) > 0 {
		b.WriteString("\n| flipped case | solved by | what was wrong |\n|---|---|---|\n")
		for i, f := range c.Flips {
			if i == shownFlips {
				fmt.Fprintf(&b, "| … and %d more | | |\n", len(c.Flips)-i)
				break
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(plain.Excerpt(f.Prompt, 90)), strings.ToUpper(f.Solved), cell(plain.Excerpt(strings.Join(f.Why, "; "), 140)))
		}
	}
	return b.String()
}

// cell makes a text safe inside a line of Markdown: a prompt cannot draw a
// table, a link or an image.
func cell(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(plain.Text(s)), " ") {
		switch r {
		case '<':
			b.WriteString("&lt;")
			continue
		case '&':
			b.WriteString("&amp;")
			continue
		case '@':
			b.WriteString("@\u200b") // mentions nobody
			continue
		case '|', '`', '[', ']', '*', '_', '\\', '!', '~', '#':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Scope names the texts and the cases of the comparison.
func (c *Comparison) Scope() string {
	split := map[string]string{"test": "unseen ", "val": "validation ", "train": "train "}[c.Split]
	s := plain.Counted(c.Cases, split+"case") + " in " + plain.Counted(c.Clusters, "cluster")
	if c.Trials > 1 {
		s += fmt.Sprintf(", up to %d trials each", c.Trials)
	}
	return s
}

// Facts are the figures below the table.
func (c *Comparison) Facts() (out []string) {
	out = append(out, fmt.Sprintf("solved: A %d, B %d of %d cases; per solved case: A %s, B %s", c.A.Solved, c.B.Solved, c.Cases,
		c.perSolved(&c.A), c.perSolved(&c.B)))
	out = append(out, fmt.Sprintf("interval: %.0f %% for quality, as in a trial, and %.0f %% for the others, however often one looks",
		100*gateRule.IntervalLevel(pareto.Quality), 100*gateRule.IntervalLevel(pareto.Latency)))
	out = append(out, "B against A: of quality and retries the mean difference, of latency and cost the geometric mean of the cases' ratios (none beyond ×16)")
	if c.Lift != nil {
		out = append(out, fmt.Sprintf("the skill is worth %+.2f quality per 1,000 of its tokens (it has about %d)", *c.Lift, c.B.Tokens))
	}
	return out
}

func (c *Comparison) perSolved(a *Arm) string {
	switch {
	case a.CostPerSolved == nil:
		return "unknown"
	case c.CostUnit == "tokens":
		return plain.Thousands(int64(math.Round(*a.CostPerSolved))) + " tokens"
	}
	return USD(a.CostPerSolved)
}

// number is an arm's value in its unit.
func (c *Comparison) number(d Delta, x *float64) string {
	switch {
	case x == nil:
		return "unknown"
	case d.Objective == "latency":
		return plain.Duration(int64(math.Round(*x)))
	case d.Objective == "cost" && c.CostUnit == "tokens":
		return plain.Thousands(int64(math.Round(*x))) + " tokens"
	case d.Objective == "cost":
		return USD(x)
	}
	return fmt.Sprintf("%.2f", *x)
}

// Change is the delta, or "~".
func (d *Delta) Change() string {
	switch {
	case d.Delta == nil:
		return "unknown"
	case !d.Differs:
		return "~"
	case d.Unit == "ratio":
		return fmt.Sprintf("×%.2f", *d.Delta)
	}
	return fmt.Sprintf("%+.2f", *d.Delta)
}

// Interval is that of the delta in words, "" if it is unknown.
func (d *Delta) Interval() string {
	switch {
	case d.Delta == nil:
		return ""
	case d.Unit == "ratio":
		return fmt.Sprintf("×%.2f to ×%.2f", *d.Low, *d.High)
	}
	return fmt.Sprintf("%+.2f to %+.2f", *d.Low, *d.High)
}

func (d *Delta) score() string {
	if d.N == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d/%d", d.Wins, d.Losses, d.Ties)
}

// Oriented turns a delta back into a pair's difference.
func (d *Delta) Oriented(x float64) float64 {
	switch {
	case d.Unit == "ratio" && !(x > 0):
		return 0
	case d.Unit == "ratio":
		x = pareto.LogRatio(1, x)
	case d.Objective == "retries":
		x = -x // beyond 1 it is drawn at the edge
	}
	return min(max(x, -1), 1)
}
