package ingest

import (
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// A referee writes a rubric for each correction, and says of the recorded answers whether
// they meet it.
type referee struct {
	scribe
	checks  string              // the reply about a correction
	met     func(string) string // about the answer in an item: yes, no, or something that cannot be read
	tried   int
	pending bool // replies about corrections are to come
}

func (r *referee) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	items := strings.Split(p.User, "\nitem ")[1:]
	switch {
	case len(items) > 0:
		r.tried++
		for i, text := range items {
			id, _, _ := strings.Cut(text, "\n")
			items[i] = `{"id":"` + id + `","criteria":[{"reason":"r","met":"` + r.met(text) + `"}]}`
		}
		return eval.Completion{Text: "```json\n{\"items\":[" + strings.Join(items, ",") + "]}\n```", Finish: "stop"}, nil
	case strings.HasPrefix(p.System, "You read"):
		return eval.Completion{Text: "```json\n{\"moments\":[]}\n```", Finish: "stop"}, nil
	}
	if r.calls++; r.pending {
		return eval.Completion{}, &eval.InfraError{Kind: eval.Pending, Err: context.DeadlineExceeded}
	}
	return eval.Completion{Text: "```json\n" + r.checks + "\n```", Finish: "stop"}, nil
}

const rubric = `{"checks":[{"type":"judge","rubric":"The y axis is logarithmic.","feedback":"it is linear"}]}`

// scales says of an answer whether it speaks of a log scale.
func scales(item string) string {
	_, answer, _ := strings.Cut(item, `"answer":`)
	if strings.Contains(strings.Split(answer, "\n")[0], "log") {
		return "yes"
	}
	return "no"
}

func corrections(t *testing.T, g *Ingester) (out []eval.Case) {
	t.Helper()
	cases, err := g.Store.Cases(t.Context(), "dataviz")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if disputed(&c) {
			out = append(out, c)
		}
	}
	return out
}

// two are two sessions with a correction each.
func two(t *testing.T, g *Ingester) {
	t.Helper()
	for _, id := range []string{"a", "b"} {
		s := &harvest.Session{ID: id, Agent: "claude-code", Path: "/" + id + ".jsonl", Turns: []harvest.Turn{
			{ID: "1", Prompt: "Make a chart of data/" + id + ".csv with all its columns", Answer: "Drawn with a linear scale."},
			{ID: "2", Prompt: "that is wrong, the axis has to be logarithmic", Answer: "Drawn with a log scale."}, {ID: "3", Prompt: "thanks, perfect"}},
			Invocations: []harvest.Invocation{{ID: "u", Skill: "dataviz", Signal: harvest.SkillToolUse, Explicit: true}}}
		harvest.Assess(s)
		if err := g.Store.SaveSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := g.Mine(t.Context(), "dataviz", Mining{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range corrections(t, g) {
		if !Quoted(c) {
			t.Fatalf("%+v", c)
		}
	}
}

// Rubrics are tried on what was recorded before a case has them, once. Those that tell
// nothing are no case, and stay none.
func TestRubricsAreTried(t *testing.T) {
	for name, k := range map[string]struct {
		checks string
		met    func(string) string
		cases  int
		why    string
		tried  int
	}{
		"it tells":              {rubric, scales, 2, "", 1},
		"met by all":            {rubric, func(string) string { return "yes" }, 0, "what was corrected meets its rubric", 1},
		"met by none":           {rubric, func(string) string { return "no" }, 0, "what was accepted does not meet its rubric", 1},
		"not to be decided":     {rubric, func(string) string { return "unclear" }, 0, "its rubric cannot be decided on what was corrected", 1},
		"only talk":             {`{"checks":[],"none":"talk"}`, scales, 0, "only talk", 0},
		"no rubric":             {`{"checks":[{"type":"regex","value":"(?i)log"}]}`, scales, 2, "", 0},
		"one that says nothing": {`{"checks":[{"type":"judge","rubric":"The answer is right."},{"type":"regex","value":"(?i)log"}]}`, scales, 2, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := person(t)
			two(t, g)
			m := &referee{checks: k.checks, met: k.met}
			for run := range 2 {
				mined, stats, err := g.Mine(t.Context(), "dataviz", Mining{Model: m})
				if err != nil || stats.Cases != 0 || m.calls != 2 || m.tried != k.tried {
					t.Fatalf("run %d: %+v, %d calls, %d tried, %v", run, stats, m.calls, m.tried, err)
				}
				left := corrections(t, g)
				if len(left) != k.cases || run == 0 && len(mined) != k.cases {
					t.Fatalf("run %d: %d cases, %d mined; want %d", run, len(left), len(mined), k.cases)
				}
				for _, c := range left {
					if Quoted(c) {
						t.Errorf("%+v is not the model's", c.Checks)
					}
				}
				for _, why := range stats.NoCase {
					if why != k.why {
						t.Errorf("no case: %q, want %q", why, k.why)
					}
				}
				if k.why != "" && !strings.Contains(stats.Refused(), "2 corrections became no case (2: "+k.why+")") {
					t.Errorf("%q", stats.Refused())
				}
			}
			mineAll(t, g) // without a model
			if left := corrections(t, g); len(left) != k.cases {
				t.Errorf("a harvest without a model leaves %d cases", len(left))
			}
		})
	}
}

// A reply that cannot be read leaves the quotation, and is asked for again without paying
// for the rubric again.
func TestRubricsWait(t *testing.T) {
	g := person(t)
	two(t, g)
	m := &referee{checks: rubric, met: func(string) string { return "perhaps" }}
	_, stats, err := g.Mine(t.Context(), "dataviz", Mining{Model: m})
	if err != nil || stats.Verified.Open != 2 || m.calls != 2 || m.tried != 1 || stats.Refused() != "2 wait for a model that tries its rubric on what was recorded" {
		t.Fatalf("%+v, %q, %v", stats, stats.Refused(), err)
	}
	for _, c := range corrections(t, g) {
		if !Quoted(c) || c.Said() != "that is wrong, the axis has to be logarithmic" {
			t.Errorf("%+v", c)
		}
	}
	m.met = scales
	if _, stats, err = g.Mine(t.Context(), "dataviz", Mining{Model: m}); err != nil || stats.Verified.Open != 0 || m.calls != 2 || m.tried != 2 {
		t.Fatalf("%+v, %v", stats, err)
	}
	for _, c := range corrections(t, g) {
		if Quoted(c) || c.Checks[0].Rubric != "The y axis is logarithmic." {
			t.Errorf("%+v", c)
		}
	}
}

// Nothing is tried while rubrics are still to come, and a forecast counts the calls.
func TestRubricsAreCounted(t *testing.T) {
	g := person(t)
	two(t, g)
	m := &referee{checks: rubric, met: scales, pending: true}
	if _, stats, err := g.Mine(t.Context(), "dataviz", Mining{Model: m}); err != nil || m.calls != 2 || m.tried != 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	failing := &failing{}
	if err := g.Count(t.Context(), "dataviz", Mining{Model: failing}); err != nil || failing.checks != 2 || failing.tried != 1 {
		t.Errorf("%+v, %v", failing, err)
	}
}

// failing counts requests by what they ask for.
type failing struct {
	scribe
	checks, tried int
}

func (f *failing) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	if strings.Contains(p.User, "\nitem ") {
		f.tried++
	} else {
		f.checks++
	}
	return eval.Completion{}, &eval.InfraError{Kind: eval.Unreachable, Err: context.DeadlineExceeded}
}

// What was thrown away and says nothing of why is a case only if what was recorded does not
// do what was asked for.
func TestGeneralQuestionsAreTried(t *testing.T) {
	for met, cases := range map[string]int{"yes": 0, "no": 1} {
		g := person(t)
		s := &harvest.Session{ID: "r", Agent: "claude-code", Path: "/r.jsonl", Turns: []harvest.Turn{
			{ID: "1", Prompt: "Make a chart of data/revenue.csv with all its columns", Answer: "Drawn.", Interrupted: true}},
			Invocations: []harvest.Invocation{{ID: "u", Skill: "dataviz", Signal: harvest.SkillToolUse, Explicit: true}}}
		harvest.Assess(s)
		if err := g.Store.SaveSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		mineAll(t, g)
		if n := len(corrections(t, g)); n != 1 {
			t.Fatalf("%d cases without a model", n)
		}
		m := &referee{met: func(string) string { return met }}
		for range 2 {
			if _, stats, err := g.Mine(t.Context(), "dataviz", Mining{Model: m}); err != nil || m.tried != 1 || stats.Cases != 0 {
				t.Errorf("%+v, %d tried, %v", stats, m.tried, err)
			}
		}
		if left := corrections(t, g); len(left) != cases || cases > 0 && left[0].Checks[0].Rubric != harvest.Fulfilled.Rubric {
			t.Errorf("%s: %+v", met, left)
		}
	}
}
