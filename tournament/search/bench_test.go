package search

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// instant answers at once: what is left is the engine's own cost.
type instant struct{}

func (instant) Identity() eval.Identity { return eval.Identity{Backend: "instant"} }

func (instant) Run(context.Context, eval.Task) (eval.Attempt, error) {
	return eval.Attempt{Answer: "yes"}, nil
}

// BenchmarkValidation measures what the engine adds to one candidate's
// validation on 1,000 cases, in a pool that grows to 200 candidates. One
// operation is one candidate.
func BenchmarkValidation(b *testing.B) {
	for _, concurrency := range []int{1, 8} {
		b.Run(fmt.Sprintf("concurrency=%d", concurrency), func(b *testing.B) {
			var cases Cases
			for i := range 1000 {
				value := "yes"
				if i%3 == 0 {
					value = "no"
				}
				cases.Val = append(cases.Val, eval.Case{ID: fmt.Sprint("v", i), Skill: "s", Prompt: fmt.Sprintf("case number %d", i),
					Checks: []eval.Check{{Type: eval.Contains, Value: value}}, Split: eval.Val})
			}
			variants := make([]eval.Variant, 200)
			for i := range variants {
				doc, err := skill.Parse(fmt.Appendf(nil, "---\nname: s\ndescription: d\n---\n# S\n\n- rule %d\n", i), skill.Options{})
				if err != nil {
					b.Fatal(err)
				}
				variants[i] = eval.Variant{Name: "s", Doc: doc}
			}
			b.ReportAllocs()
			for n := 0; n < b.N; {
				s := &State{Engine: &Engine{
					Evaluator: &eval.Evaluator{Agent: instant{}, Grader: &eval.Checks{}, Budget: eval.NewBudget(eval.Caps{}, nil), Concurrency: concurrency},
					Log:       &record.Log{Journal: &recordtest.Memory{}, Now: time.Now},
				}, Cases: cases, pool: newPool(0, len(cases.Val))}
				for i := 0; i < len(variants) && n < b.N; i, n = i+1, n+1 {
					m := s.pool.add(record.Candidate{SHA: fmt.Sprint(i)}, variants[i])
					if err := s.measureVal(context.Background(), m, all(len(cases.Val)), 0); err != nil {
						b.Fatal(err)
					}
					if q, _ := m.Validation(); q < 0.6 || q > 0.7 {
						b.Fatalf("quality %v", q)
					}
				}
			}
		})
	}
}
