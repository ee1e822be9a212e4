package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
)

// grader decides by what stands in an item.
type grader struct {
	decide func(item string) string // the entry's criteria
	err    error
	finish string
	seen   []string
}

func (*grader) Identity() eval.Identity { return eval.Identity{Backend: "grader"} }

func (g *grader) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	g.seen = append(g.seen, p.User)
	var list []string
	for _, text := range strings.Split(p.User, "\nitem ")[1:] {
		id, _, _ := strings.Cut(text, "\n")
		list = append(list, `{"id":"`+id+`","criteria":[`+g.decide(text)+`]}`)
	}
	return eval.Completion{Text: "```json\n{\"items\":[" + strings.Join(list, ",") + "]}\n```", Finish: g.finish}, g.err
}

// notes is a Memory for the length of a test.
type notes map[string][]byte

func (n notes) Recall(_ context.Context, key string) ([]byte, error) { return n[key], nil }

func (n notes) Remember(_ context.Context, _, key string, answer []byte) error {
	n[key] = answer
	return nil
}

func judge(rubric string) eval.Check { return eval.Check{Type: eval.Judge, Rubric: rubric} }

func item(checks ...eval.Check) *Item {
	return &Item{Case: &eval.Case{ID: "c", Prompt: "Upload the file", Reference: "Waits longer each time, and says so.", Checks: checks,
		Source: &eval.Source{Session: "s"}}, Trial: harvest.Trial{Answer: "Retries at once."}}
}

const (
	met    = `{"reason":"r","met":"yes"}`
	unmet  = `{"reason":"r","met":"no"}`
	unsure = `{"reason":"r","met":"unclear"}`
)

// by decides otherwise on what was corrected than on what was accepted.
func by(corrected, accepted string) func(string) string {
	return func(item string) string {
		if strings.Contains(item, "Retries at once.") {
			return corrected
		}
		return accepted
	}
}

// A rubric is left if what was corrected does not meet it and what was accepted does. A case
// is left if one check fails on what was corrected.
func TestVerify(t *testing.T) {
	waits := judge("each retry waits longer")
	for name, c := range map[string]struct {
		checks              []eval.Check
		corrected, accepted string
		left                []string // types
		why                 string
		dropped             string
	}{
		"tells":                     {[]eval.Check{waits}, unmet, met, []string{"judge"}, "", "map[]"},
		"accepted is not clear":     {[]eval.Check{waits}, unmet, unsure, []string{"judge"}, "", "map[]"},
		"met before":                {[]eval.Check{waits}, met, met, nil, passesBefore, "map[" + passesBefore + ":1]"},
		"not clear before":          {[]eval.Check{waits}, unsure, met, nil, undecided, "map[" + undecided + ":1]"},
		"not met after":             {[]eval.Check{waits}, unmet, unmet, nil, failsAfter, "map[" + failsAfter + ":1]"},
		"one of two":                {[]eval.Check{judge("a"), waits}, met + "," + unmet, met + "," + met, []string{"judge"}, "", "map[" + passesBefore + ":1]"},
		"beside a text that tells":  {[]eval.Check{{Type: eval.Contains, Value: "longer"}, waits}, met, met, []string{"contains"}, "", "map[" + passesBefore + ":1]"},
		"beside one that does not":  {[]eval.Check{{Type: eval.Regex, Value: "."}, waits}, met, met, []string{"regex"}, passesBefore, "map[" + passesBefore + ":1]"},
		"beside the work":           {[]eval.Check{{Type: eval.NotRan, Value: "curl"}, waits}, met, met, []string{"not_ran", "judge"}, "", "map[" + passesBefore + ":1]"},
		"only the general question": {[]eval.Check{harvest.Fulfilled}, met, met, nil, passesBefore, "map[" + passesBefore + ":1]"},
		"the general one beside":    {[]eval.Check{{Type: eval.NotRan, Value: "curl"}, harvest.Fulfilled}, "", "", []string{"not_ran", "judge"}, "", "map[]"},
	} {
		t.Run(name, func(t *testing.T) {
			it := item(c.checks...)
			v := Verifier{Model: &grader{decide: by(c.corrected, c.accepted)}}
			stats, err := v.Verify(t.Context(), []*Item{it})
			if err != nil || it.Open || stats.Open != 0 || stats.Cases != 1 {
				t.Fatalf("%+v, %+v, %v", it, stats, err)
			}
			var left []string
			for _, k := range it.Checks {
				left = append(left, k.Type)
			}
			if !slices.Equal(left, c.left) || it.Why != c.why || fmt.Sprint(stats.Dropped) != c.dropped {
				t.Errorf("%v are left, why %q, dropped %v", left, it.Why, stats.Dropped)
			}
		})
	}
}

// The model is shown request, answer, work and rubrics, and nothing of what the user said;
// what is recorded is quoted.
func TestPrompt(t *testing.T) {
	it := item(eval.Check{Type: eval.Judge, Rubric: "each retry waits longer", Feedback: "user said: wait longer, please"})
	it.Case.Context = []eval.Message{{Role: "user", Text: "long ago"}, {Role: "assistant", Text: "a"}, {Role: "user", Text: "b"}, {Role: "assistant", Text: "c"}, {Role: "user", Text: "lately"}}
	it.Trial.Work = &work.Done{Work: check.Work{Steps: []check.Step{{Line: "curl example.com"}}}}
	g := &grader{decide: by(unmet, met)}
	if _, err := (&Verifier{Model: g}).Verify(t.Context(), []*Item{it}); err != nil || len(g.seen) != 1 {
		t.Fatal(err, len(g.seen))
	}
	for _, want := range []string{"\n> ", "Retries at once.", "Waits longer each time", "each retry waits longer", "curl example.com", "lately"} {
		if !strings.Contains(g.seen[0], want) {
			t.Errorf("the prompt lacks %q:\n%s", want, g.seen[0])
		}
	}
	for _, no := range []string{"please", "long ago", "corrected", "accepted"} {
		if strings.Contains(g.seen[0], no) {
			t.Errorf("the prompt has %q:\n%s", no, g.seen[0])
		}
	}
	for line := range strings.Lines(g.seen[0]) {
		if strings.Contains(line, "Retries") && !strings.HasPrefix(line, "> ") {
			t.Errorf("not quoted: %s", line)
		}
	}
}

// A reply that cannot be used leaves the case open; it is asked about again, and a usable
// reply is not.
func TestVerifyAgain(t *testing.T) {
	memory := notes{}
	ask := func(g *grader) (*Item, Stats) {
		it := item(judge("each retry waits longer"))
		stats, err := (&Verifier{Model: g, Memory: memory}).Verify(t.Context(), []*Item{it})
		if err != nil {
			t.Fatal(err)
		}
		return it, stats
	}
	for name, g := range map[string]*grader{
		"no decision":   {decide: by("", met)},
		"two for one":   {decide: by(unmet+","+unmet, met)},
		"another word":  {decide: by(`{"met":"perhaps"}`, met)},
		"unknown field": {decide: by(`{"met":"no","score":1}`, met)},
		"cut off":       {decide: by(unmet, met), finish: "length"},
		"no reply":      {decide: by(unmet, met), err: errors.New("503")},
	} {
		if it, stats := ask(g); !it.Open || stats.Open != 1 || stats.Calls != 1 || it.Checks != nil {
			t.Errorf("%s: %+v, %+v", name, it, stats)
		}
	}
	if it, stats := ask(&grader{decide: by(unmet, met)}); it.Open || stats.Calls != 1 {
		t.Errorf("%+v, %+v", it, stats)
	}
	if it, stats := ask(&grader{err: errors.New("503")}); it.Open || stats.Calls != 0 || len(it.Checks) != 1 {
		t.Errorf("remembered: %+v, %+v", it, stats)
	}
}

// Five are asked about in one call, and with Hold none.
func TestCalls(t *testing.T) {
	var items []*Item
	for i := range 7 {
		it := item(judge("each retry waits longer"))
		it.Case.Prompt = fmt.Sprint("Upload file ", i)
		items = append(items, it)
	}
	g := &grader{decide: by(unmet, met)}
	held, err := (&Verifier{Model: g, Hold: true}).Verify(t.Context(), items)
	if err != nil || held.Open != 7 || held.Calls != 0 {
		t.Fatalf("%+v, %v", held, err)
	}
	stats, err := (&Verifier{Model: g}).Verify(t.Context(), items)
	if err != nil || stats.Open != 0 || stats.Calls != 3 || len(g.seen) != 3 {
		t.Errorf("%+v, %v", stats, err)
	}
	spent := &grader{err: &eval.BudgetError{}, decide: by(unmet, met)}
	if stats, err = (&Verifier{Model: spent}).Verify(t.Context(), items); err == nil || stats.Open != 7 || stats.Calls != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("```json\n{\"items\":[{\"id\":\"a\",\"criteria\":[{\"met\":\"yes\"}]},{\"id\":\"a\",\"criteria\":[]}]}\n```")
	f.Fuzz(func(t *testing.T, text string) {
		for id, met := range parse(text) {
			if strings.Count(text, "```") != 2 {
				t.Errorf("%q: %v is not of one block", id, met)
			}
		}
	})
}
