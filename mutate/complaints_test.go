package mutate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"pgregory.net/rapid"
)

// failing is a case that got these lines of feedback.
func failing(id string, lines ...string) Evidence {
	r := &eval.Rollout{Answer: "an answer"}
	for _, l := range lines {
		r.Checks = append(r.Checks, eval.CheckResult{Type: eval.Judge, Feedback: l})
	}
	return Evidence{Case: &eval.Case{ID: id, Prompt: "Do " + id}, Rollout: r}
}

// Lines about the same come to one reflection, whatever else the cases got; the
// most frequent come first.
func TestDivide(t *testing.T) {
	ev := []Evidence{
		failing("a", "the heading must be the version and the date", "thank the contributors at the end"),
		failing("b", "heading: version and date, nothing else (“no, the heading again”)", "bullets begin with a verb"),
		failing("c", "bullets begin with a verb", "give amounts in minor units"),
		failing("d", "give amounts in major units", "the heading must be the version and the date"),
	}
	got := Divide(ev, nil, 4, 2)
	if len(got) != 4 {
		t.Fatalf("%d reflections, want one for each of four complaints", len(got))
	}
	var told []string
	for _, in := range got {
		for _, f := range in.Failing {
			told = append(told, fmt.Sprint(f.Feedback, f.Cases))
		}
		if len(in.Evidence) == 0 || len(in.Evidence) > 2 {
			t.Errorf("%d failures are shown, want 1 or 2", len(in.Evidence))
		}
	}
	want := []string{
		"the heading must be the version and the date[a b d]", "bullets begin with a verb[b c]",
		"give amounts in minor units[c d]", "thank the contributors at the end[a]",
	}
	if !slices.Equal(told, want) {
		t.Errorf("divided as\n%q\nwant\n%q", told, want)
	}
	if len(got[3].Evidence) != 1 || !slices.Equal(got[3].Evidence[0].feedback(), []string{"thank the contributors at the end"}) {
		t.Errorf("the last one is shown %+v", got[3].Evidence)
	}
}

// Failures that all ask for the same are shared among several reflections: each sees
// others of them.
func TestDivideOneComplaint(t *testing.T) {
	var ev []Evidence
	for i := range 6 {
		ev = append(ev, failing(fmt.Sprint(i), "use a log scale"))
	}
	seen := map[string]int{}
	for _, in := range Divide(ev, nil, 4, 3) {
		for _, e := range in.Evidence {
			seen[e.Case.ID]++
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d of 6 failures are shown", len(seen))
	}
	if got := Divide([]Evidence{failing("x")}, nil, 4, 3); len(got) != 1 || len(got[0].Failing) != 0 || len(got[0].Evidence) != 1 {
		t.Errorf("a failure without feedback: %+v", got)
	}
}

// No line of feedback is lost, and none is answered twice unless there are fewer
// complaints than reflections.
func TestDivideLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ev []Evidence
		n, group := rapid.IntRange(1, 6).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "group")
		all := map[string]bool{}
		for i := range rapid.IntRange(1, 9).Draw(t, "cases") {
			var lines []string
			for range rapid.IntRange(0, 4).Draw(t, "lines") {
				l := rapid.SampledFrom([]string{"label every axis", "axis labels on every axis", "use a log scale", "no pie charts", "sort by value", "name the source", "units in brackets"}).Draw(t, "line")
				if !slices.Contains(lines, l) {
					lines = append(lines, l)
					all[l] = true
				}
			}
			ev = append(ev, failing(fmt.Sprint(i), lines...))
		}
		got := Divide(ev, nil, n, group)
		if len(got) < 1 || len(got) > n {
			t.Fatalf("%d reflections, want 1 to %d", len(got), n)
		}
		tallied := map[string]int{}
		cases := map[string]int{}
		for _, in := range got {
			if len(in.Evidence) > group || len(in.Evidence) == 0 {
				t.Fatalf("%d failures in one prompt, at most %d", len(in.Evidence), group)
			}
			for _, f := range in.Failing {
				tallied[f.Feedback]++
				cases[f.Feedback] = len(f.Cases)
			}
		}
		complaints := complaintsOf(ev, nil)
		for _, c := range complaints {
			if c.lines[0] == "" {
				continue
			}
			if k := tallied[c.lines[0]]; k == 0 || k > 1 && len(complaints) >= n || cases[c.lines[0]] != len(c.in) {
				t.Fatalf("%q is tallied %d times over %d cases, of %d", c.lines[0], k, cases[c.lines[0]], len(c.in))
			}
			for _, l := range c.lines {
				delete(all, l)
			}
		}
		if len(all) > 0 {
			t.Fatalf("lost: %v", all)
		}
	})
}
