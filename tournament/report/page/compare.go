package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/charts"
)

// compareView is what a comparison's page shows.
type compareView struct {
	*report.Comparison
	Sentence     string
	Facts        []fact
	Contents     []link
	Forest, Heat *charts.Plot
	Shades       []charts.Sign
	Rows         []report.DeltaRow
	List         caseList
	Bills        []billView
	BarsOf       string
}

// Comparison writes a comparison as one self-contained page: no script, no network.
func Comparison(c *report.Comparison) func(io.Writer) error {
	cs, mx := c.CaseList()
	v := &compareView{Comparison: c, Sentence: c.Sentence(), Forest: charts.Deltas(c), Shades: charts.Shades(),
		Heat: charts.Heat(mx, [2]charts.Role{{SHA: "a", Name: "A " + plain.Text(c.A.Label), Short: "A"}, {SHA: "b", Name: "B " + plain.Text(c.B.Label), Short: "B"}}),
		List: listCases(cs, fmt.Sprintf("`evolve compare %s %s %s --format benchmark`", c.Skill, c.A.Name(), c.B.Name()), decided{})}
	v.Rows = c.Rows()
	v.Bills, v.BarsOf = bills(c.Bill())
	if c.Spent == nil {
		v.Facts = append(v.Facts, fact{"cost", "nothing: all of it was recorded before"})
	} else {
		v.Facts = append(v.Facts, fact{"cost", spentText(*c.Spent)})
	}
	for _, f := range c.Facts() {
		name, text, _ := strings.Cut(f, ": ")
		if text == "" {
			name, text = "worth", f
		}
		v.Facts = append(v.Facts, fact{name, text})
	}
	v.Facts = append(v.Facts, fact{"next", c.Next()})
	for _, l := range []struct {
		link
		there bool
	}{{link{"objectives", "Objectives"}, true}, {link{"change", "What differs"}, c.Diff != nil && len(c.Diff.Lines) > 0},
		{link{"map", "Map"}, v.Heat != nil}, {link{"cases", "Cases"}, len(cs) > 0}, {link{"spent", "Spent"}, true}} {
		if l.there {
			v.Contents = append(v.Contents, l.link)
		}
	}
	return render("compare.html", v)
}
