package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
)

// TestLongAnswersAreCut: with answers of any length and content the page
// stays small, and names the command that prints them whole.
func TestLongAnswersAreCut(t *testing.T) {
	var all []report.Case
	for i := range 1000 {
		c := report.Case{N: i + 1, ID: fmt.Sprint(i), Split: "test", Prompt: "p", Arms: []report.CaseArm{{Label: "your text"}, {Label: "new text"}}}
		for k := range c.Arms {
			c.Arms[k].Answer = fmt.Sprint(i, k) + strings.Repeat("<", 50_000)
		}
		all = append(all, c)
	}
	m := &report.Model{Run: "r", Cases: all}
	var b bytes.Buffer
	if err := Run(m)(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > bigBytes/2 {
		t.Errorf("%d bytes", b.Len())
	}
	if !strings.Contains(b.String(), "<code>evolve report r --json</code> has them whole") {
		t.Error("it is not said that texts are cut")
	}
	if l := listCases(all[:3], "", decided{}); l.Cut != mostRunes || len(l.Groups[0].Cases[0].Arms[0].Answer) < mostRunes {
		t.Errorf("three cases are cut at %d", l.Cut)
	}
	short := []report.Case{{N: 1, Prompt: "p", Arms: []report.CaseArm{{Label: "A", Answer: "same"}, {Label: "B", Answer: "same"}}}}
	if l := listCases(short, "", decided{}); l.Cut != 0 || l.Groups[0].Cases[0].Arms[1].Same != "A" {
		t.Errorf("%+v", l)
	}
}

// TestTriggerCase: whether the skill was loaded is what such a case is about.
func TestTriggerCase(t *testing.T) {
	yes, no := true, false
	c := report.Case{N: 1, ID: "t", Prompt: "p", Trigger: &yes, Arms: []report.CaseArm{{Label: "incumbent", Invoked: &no}, {Label: "challenger", Invoked: &yes}, {Label: "no skill"}}}
	v := listCases([]report.Case{c}, "", decided{}).Groups[0].Cases[0]
	got := strings.Join(v.Facts, ",") + "; " + strings.Join(v.Arms[0].Facts, ",") + "; " + strings.Join(v.Arms[1].Facts, ",") + "; " + strings.Join(v.Arms[2].Facts, ",")
	for _, want := range []string{"the skill should be loaded; ", "skill not loaded; ", ",skill loaded; "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if strings.HasSuffix(got, "loaded") {
		t.Errorf("%q says what nobody knows", got)
	}
}

// TestWonAndLostAreTheVerdicts: the cases that changed hands are those that the verdict
// counts, and not those of validation, nor one that was measured when the evidence
// sufficed.
func TestWonAndLostAreTheVerdicts(t *testing.T) {
	var all []report.Case
	for i, split := range []string{"test", "test", "test", "val", "val", "train"} {
		c := report.Case{N: i + 1, ID: fmt.Sprint(i), Split: split, Prompt: "p", Arms: []report.CaseArm{{Label: "incumbent", Quality: reporttest.Ptr(0.0)}, {Label: "challenger", Quality: reporttest.Ptr(1.0)}}}
		all = append(all, c)
	}
	*all[1].Arms[0].Quality, *all[1].Arms[1].Quality = 1, 0
	all[2].Late = true
	titles := func(by decided) (out []string) {
		l := listCases(all, "", by)
		for _, f := range l.Flips {
			out = append(out, f.Title)
		}
		return append(out, l.Groups[0].Title)
	}
	for _, k := range []struct {
		by            decided
		worse, better int
	}{{decided{split: "test"}, 1, 1}, {decided{split: "val"}, 0, 2}, {decided{}, 1, 4},
		{decided{split: "test", pairs: map[string]int{"0": 1, "1": 0, "of an earlier run": 1}}, 0, 1}} {
		want := fmt.Sprintf("Worse with the new text (%d), Better with the new text (%d), Requests that the search never saw (3; 2 in the evidence, 1 measured beside them when it sufficed)", k.worse, k.better)
		if got := strings.Join(titles(k.by), ", "); got != want {
			t.Errorf("%+v: %s\nwant %s", k.by, got, want)
		}
		if l := listCases(all, "", k.by); l.Unlisted != max(0, len(k.by.pairs)-2) {
			t.Errorf("%+v: %d are not listed", k.by, l.Unlisted)
		}
	}
	// The cases of one session are one pair.
	all[0].Cluster, all[1].Cluster = "s", "s"
	if got := titles(decided{split: "test", pairs: map[string]int{"s": -1}}); got[0] != "Worse with the new text (1)" || got[1] != "Better with the new text (0)" {
		t.Errorf("%q", got)
	}
}

// TestBestSoFar: a lead on a part of the cases is no figure of all of them, and after the
// winner was confirmed the figure is what it scored then.
func TestBestSoFar(t *testing.T) {
	var b report.BestSoFar
	for i, e := range []struct {
		kind, data string
		best, want float64
	}{{"seed", "", 0.3, 0.3}, {"leading", "", 0.8, 0.3}, {"accepted", "", 0.8, 0.3}, {"validated", "", 1, 1},
		{"confirmed", `{"quality":0.87}`, 0.93, 0.87}, {"search_end", "", 0.93, 0.87}} {
		if got := b.See(record.Event{Kind: e.kind, Data: []byte(e.data), Best: &e.best}); got == nil || *got != e.want {
			t.Errorf("%d: after %s the best is %v, want %v", i, e.kind, got, e.want)
		}
	}
}
