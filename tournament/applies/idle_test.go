package applies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// about are n requests, every k-th of them for a chart.
func about(n, k int) (cases []eval.Case) {
	for i := range n {
		c := caseOf(i, fmt.Sprint("a table ", i))
		if i%k == 0 {
			c.Prompt = fmt.Sprint("a chart ", i)
		}
		c.Source.Time = day(1).AddDate(0, 0, i)
		cases = append(cases, c)
	}
	return cases
}

// TestIdleLines: lines that applied to none of the latest requests, and how many these were.
func TestIdleLines(t *testing.T) {
	text := doc(t, "# Charts\n\n- Use log scales for latencies.\n- Never use Fortran for charts.\n- Label all axes of charts.\n")
	lines := Lines(text)
	m := &model{reply: deciding("chart", 2, 4)} // after the description
	memory := new(notes)
	idle, err := FindIdle(t.Context(), &Reader{Model: m, Memory: memory}, text, about(200, 10))
	if err != nil || idle == nil || idle.Requests != mostIdle || idle.Lines != len(lines) || !slices.Contains(idle.None, "Never use Fortran for charts.") || len(idle.None) != 2 {
		t.Fatalf("%+v, %v", idle, err)
	}
	if len(m.seen) != mostIdle/batch || strings.Contains(m.seen[0].User, "chart 0\"") {
		t.Errorf("%d calls, the oldest requests among them: %v", len(m.seen), strings.Contains(m.seen[0].User, "chart 0\""))
	}
	if got, want := idle.Text(), "2 of 4 lines applied to none of your last 120 requests: “d”, “Never use Fortran for charts.”"; got != want {
		t.Errorf("%q", got)
	}
	known, err := KnownIdle(t.Context(), memory, text)
	if err != nil || known == nil || known.Text() != idle.Text() {
		t.Errorf("%+v, %v", known, err)
	}
	if other, err := KnownIdle(t.Context(), memory, doc(t, "- Another text.\n")); err != nil || other != nil {
		t.Errorf("%+v, %v", other, err)
	}
}

// TestIdleLinesAreNotGuessed: of few requests, of replies that cannot be read, of a budget that
// is used up, and of a skill nothing is said.
func TestIdleLinesAreNotGuessed(t *testing.T) {
	text := doc(t, "- Be kind.\n")
	good := deciding("chart", 1)
	for name, r := range map[string]*Reader{
		"unreadable": {Model: &model{reply: func([]string) string { return "none" }}},
		"no budget":  {Model: &model{reply: good, err: &eval.BudgetError{Cap: eval.CapRollouts}}},
		"down":       {Model: &model{reply: good, err: eval.Infraf(eval.ServerError, "down")}},
	} {
		if idle, err := FindIdle(t.Context(), r, text, about(100, 2)); idle != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, idle, err)
		}
	}
	few := about(leastIdle-1, 2)
	few = append(few, eval.Case{ID: "brought"}, eval.Case{ID: "made", Source: &eval.Source{Origin: "generated", Time: day(1)}},
		eval.Case{ID: "chosen", Prompt: "a chart", Source: &eval.Source{Origin: "mined", Time: day(1), TrainOnly: true}})
	if idle, err := FindIdle(t.Context(), &Reader{Model: &model{reply: good}}, text, few); idle != nil || err != nil {
		t.Errorf("%+v, %v of %d", idle, err, leastIdle-1)
	}
	if idle, err := FindIdle(t.Context(), To("dataviz", &model{}, nil, nil), text, about(100, 2)); idle != nil || err != nil {
		t.Errorf("%+v, %v of a skill", idle, err)
	}
	if (&Idle{Requests: 100, Lines: 3}).Text() != "" || (*Idle)(nil).Text() != "" {
		t.Error("something is said of a text without such lines")
	}
}

// TestManyLines: they are read a hundred at a time, and each must be decided.
func TestManyLines(t *testing.T) {
	var b strings.Builder
	for i := range 150 {
		fmt.Fprintf(&b, "- Rule number %d of this file.\n", i)
	}
	text := doc(t, b.String())
	m := &model{reply: deciding("chart", 3)}
	idle, err := FindIdle(t.Context(), &Reader{Model: m}, text, about(60, 10))
	if err != nil || idle == nil || idle.Lines != 151 || len(idle.None) != 149 || len(m.seen) != 2*60/batch {
		t.Fatalf("%+v, %v, %d calls", idle, err, len(m.seen))
	}
	for _, p := range m.seen {
		if n := strings.Count(p.User, "\"number\""); n > together {
			t.Errorf("a call is about %d lines", n)
		}
	}
	if !strings.HasSuffix(idle.Text(), "and 146 more") {
		t.Errorf("%q", idle.Text())
	}
}

func TestShortenCommand(t *testing.T) {
	for key, want := range map[string]string{
		"dataviz":                  "evolve --skill dataviz --evolve shorten",
		"file:/src/shop:AGENTS.md": "evolve --file /src/shop/AGENTS.md --evolve shorten",
		"file:~:.claude/CLAUDE.md": "evolve --file ~/.claude/CLAUDE.md --evolve shorten",
	} {
		if got := Shorten(key); got != want {
			t.Errorf("%q", got)
		}
	}
}
