package eval

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkEvaluatorOverhead is what the evaluator itself adds to a rollout:
// key, budget, grading of one check, bookkeeping. One iteration is one Run of
// 1,000 validation cases, as a tournament does for each candidate.
func BenchmarkEvaluatorOverhead(b *testing.B) {
	const cases = 1000
	for _, c := range []struct {
		name        string
		concurrency int
		wall        time.Duration
	}{{"1", 1, 0}, {"16", 16, 0}, {"16-wallclock", 16, time.Minute}} {
		b.Run(c.name, func(b *testing.B) {
			usd := 0.001
			answer := Attempt{Answer: "yes, this is the answer", Usage: &Usage{Input: 100, Output: 10}, CostUSD: &usd,
				Duration: time.Second}
			e := &Evaluator{
				Agent:  &scripted{do: func(context.Context, Task) (Attempt, error) { return answer, nil }},
				Grader: &Checks{}, Budget: NewBudget(Caps{Rollouts: 1 << 40, Tokens: 1 << 50}, nil),
				Concurrency: c.concurrency, WallClock: c.wall,
			}
			jobs := make([]Job, cases)
			for i := range jobs {
				jobs[i].Case = &Case{ID: fmt.Sprint(i), Skill: "s", Prompt: "is this the answer?",
					Checks: []Check{{Type: Contains, Value: "answer"}}}
			}
			b.ReportAllocs()
			trial := 0
			for b.Loop() {
				// Another text of the skill, as far as keys are concerned.
				trial++
				variant := Variant{Name: "s", Rest: fmt.Sprint(trial)}
				for i := range jobs {
					jobs[i].Variant = variant
				}
				if _, err := e.Run(b.Context(), jobs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/cases, "ns/rollout")
		})
	}
}
