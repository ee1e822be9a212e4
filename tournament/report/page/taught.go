package page

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A taughtDiff is a difference with what taught each sentence beside it.
type taughtDiff struct {
	*report.Diff
	Rows   []diffRow
	Taught bool     // a line has a lesson
	Rest   []lesson // those whose line is not found
}

type diffRow struct {
	report.Line
	Why []lesson
}

// A lesson is why a sentence is there.
type lesson struct {
	Mark, Text, Was string
	Because         string // only if no words say it
	Cases           []lessonCase
	More            int
}

type lessonCase struct {
	N         int // of the case in this report, 0 for none
	ID, Words string
}

// citedCases is the number of cases shown for a sentence.
const citedCases = 3

// taught is the difference of a run's texts, nil if there is none.
func taught(m *report.Model) *taughtDiff {
	if m.Diff == nil || len(m.Diff.Lines) == 0 {
		return nil
	}
	d := &taughtDiff{Diff: m.Diff}
	for _, l := range m.Diff.Lines {
		d.Rows = append(d.Rows, diffRow{Line: l})
	}
	number := map[string]int{}
	for _, c := range m.Cases {
		number[c.ID] = c.N
	}
	for i := range m.Lessons {
		l := lessonOf(&m.Lessons[i], number)
		if at := d.line(&m.Lessons[i]); at >= 0 {
			d.Rows[at].Why, d.Taught = append(d.Rows[at].Why, l), true
		} else {
			d.Rest = append(d.Rest, l)
		}
	}
	return d
}

// line finds the first line of a sentence, -1 if it is not there.
func (d *taughtDiff) line(l *report.Lesson) int {
	kind := report.Added
	if l.Kind == "removed" {
		kind = report.Removed
	}
	want := words(l.Text)
	return slices.IndexFunc(d.Rows, func(r diffRow) bool {
		has := words(r.Text)
		return r.Kind == kind && has != "" && want != "" && (strings.Contains(has, want) || strings.HasPrefix(want, has))
	})
}

// words is a line without its marks and with single spaces.
func words(s string) string {
	return strings.Join(strings.Fields(strings.TrimLeft(s, " \t-*+#>0123456789.)")), " ")
}

func lessonOf(l *report.Lesson, number map[string]int) lesson {
	v := lesson{Mark: "+", Text: clip(l.Text, checkRunes), Was: clip(l.Was, checkRunes)}
	switch l.Kind {
	case "removed":
		v.Mark = "-"
	case "reworded":
		v.Mark = "~"
	}
	seen, said := map[string]bool{}, false
	for _, s := range l.Steps {
		for _, c := range s.Cases {
			switch {
			case seen[c.Case]:
			case len(v.Cases) == citedCases:
				v.More++
			default:
				v.Cases = append(v.Cases, lessonCase{number[c.Case], plain.Text(c.Case), plain.Excerpt(c.Words, 240)})
				said = said || c.Words != ""
			}
			seen[c.Case] = true
		}
	}
	if !said {
		v.Because = plain.Excerpt(l.Because, 300)
	}
	return v
}
