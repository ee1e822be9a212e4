package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// picky loads the skill if its description and the request share a kind of
// work. Without the skill it loads nothing.
type picky struct{}

var kinds = []string{"chart", "plot", "graph", "slide", "table"}

func (picky) Identity() eval.Identity { return eval.Identity{Backend: "picky"} }

func (picky) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	fired := false
	if t.Variant.Doc != nil {
		for _, k := range kinds {
			fired = fired || strings.Contains(t.Case.Prompt, k) && strings.Contains(strings.ToLower(t.Variant.Doc.Description()), k)
		}
	}
	return eval.Attempt{Answer: "done", SkillInvoked: &fired, Usage: &eval.Usage{Input: 1000, Output: 10}, Duration: time.Second}, nil
}

// firing grades by the case's reference: whether the skill should load.
type firing struct{}

func (firing) Identity() string { return "firing/1" }

func (firing) Grade(_ context.Context, c *eval.Case, a eval.Attempt, _ string) (eval.Grade, error) {
	r := eval.CheckResult{Type: "trigger", Weight: 1, Score: 1}
	if want := c.Reference == "yes"; *a.SkillInvoked != want {
		r.Score, r.Feedback = 0, fmt.Sprintf("The skill was loaded: %v. It should have been: %v.", *a.SkillInvoked, want)
	}
	return eval.Grade{Quality: r.Score, Checks: []eval.CheckResult{r}}, nil
}

// namer adds the kinds of work that were missed to the description, and takes
// out those that were mistaken.
type namer struct{}

func (namer) Identity() eval.Identity { return eval.Identity{Backend: "namer"} }

func (namer) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	was := p.User[strings.Index(p.User, "```\n")+4:]
	was = was[:strings.Index(was, "\n```")]
	for _, k := range kinds {
		for _, part := range strings.Split(p.User, "\nRequest ")[1:] {
			if !strings.Contains(part, "(wrong;") || !strings.Contains(part, k) {
				continue
			}
			if strings.Contains(part, "It should have been: true") && !strings.Contains(was, k) {
				was += " Use it for a " + k + "."
			} else if strings.Contains(part, "It should have been: false") {
				was = strings.ReplaceAll(was, k, "")
			}
		}
	}
	return eval.Completion{Text: "Kinds.\n```\n" + was + "\n```\n", Finish: "stop", Usage: &eval.Usage{Input: 1, Output: 1}}, nil
}

func triggerCases(n int, split eval.Split) (cs []eval.Case) {
	for i := range n {
		kind := kinds[i%len(kinds)]
		want := "yes"
		if kind == "slide" || kind == "table" {
			want = "no"
		}
		id := fmt.Sprintf("%s-%d", split, i)
		cs = append(cs, eval.Case{ID: id, Cluster: id, Skill: "s", Split: split, Reference: want,
			Prompt: fmt.Sprintf("Item %d of %s: a %s please", i, split, kind), Checks: []eval.Check{{Type: eval.SkillInvoked, Value: "s"}}})
	}
	return cs
}

// A description that is loaded for the wrong requests becomes one that is loaded
// for the right ones, is proved on held-out requests, and nothing else of the
// skill changes.
func TestDescriptionOnly(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: s\ndescription: Makes a chart or a slide.\n---\n# S\n\n- Label the axes.\n"),
		skill.Options{EvolveDescription: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &recordtest.Memory{}
	cases := append(append(triggerCases(15, eval.Train), triggerCases(15, eval.Val)...), triggerCases(30, eval.Test)...)
	out, err := Improve(t.Context(), Plan{Run: &record.Run{ID: "r", Skill: "s", Seed: 1}, Incumbent: eval.Variant{Name: "s", Doc: doc}, Cases: cases,
		Agent: picky{}, Grader: firing{}, Mutator: namer{}, Journal: m, Caps: eval.Caps{Rollouts: 300},
		Budget: eval.NewBudget(eval.Caps{Rollouts: 300}, nil), Gate: pareto.DefaultConfig(), HeldOut: 30, Concurrency: 4,
		Options: Options{Moves: DescriptionOnly}})
	if err != nil {
		t.Fatal(err)
	}
	if out.Challenger == nil || out.Verdict == nil || out.Verdict.Verdict != pareto.Promote {
		t.Fatalf("challenger %v, verdict %+v, want a promotion", out.Challenger, out.Verdict)
	}
	got, err := skill.Parse(out.Challenger.Text, doc.Options())
	if err != nil {
		t.Fatal(err)
	}
	if d := got.Description(); !strings.Contains(d, "plot") || !strings.Contains(d, "graph") || strings.Contains(d, "slide") {
		t.Errorf("description = %q, want plots and graphs in and slides out", d)
	}
	if string(got.Body()) != string(doc.Body()) || out.Challenger.Operator != "description" {
		t.Errorf("operator %s changed more than the description:\n%s", out.Challenger.Operator, got.Render())
	}
	// Without the skill nothing loads: right for two requests of five.
	if w := out.Worth; w == nil || w.Without.Quality >= 0.5 || w.With.N != w.Without.N {
		t.Errorf("worth = %+v, want the arm without a skill on the same cases", w)
	}
}

// A description must not know the exam either.
func TestGuardReadsTheDescription(t *testing.T) {
	parent, err := skill.Parse([]byte("---\nname: s\ndescription: Makes charts.\n---\n# S\n"), skill.Options{EvolveDescription: true})
	if err != nil {
		t.Fatal(err)
	}
	child, err := parent.WithDescription("Makes charts, such as the weekly revenue of our northern shops.")
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(parent, nil, []eval.Case{{ID: "t", Prompt: "Draw the weekly revenue of our northern shops"}})
	if why := g.refuse(parent, child); !strings.Contains(why, "held-back case t") {
		t.Errorf("refusal = %q, want the held-back case named", why)
	}
}
