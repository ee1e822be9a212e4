package store

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// benchRollout is of an ordinary size, about 6 KB as JSON.
func benchRollout(key string) *eval.Rollout {
	r := rollout(key)
	r.Answer = strings.Repeat("The y axis is logarithmic, in USD. ", 80)
	for range 20 {
		r.Trace = append(r.Trace, eval.ToolCall{Name: "Bash", Input: `{"command":"go test ./... && git status --short"}`})
	}
	return r
}

func BenchmarkSaveRollout(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			j := open(b).Journal("r")
			var next atomic.Int64
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					r := benchRollout("")
					for {
						n := next.Add(1)
						if n > int64(b.N) {
							return
						}
						r.Key = fmt.Sprintf("%064d", n)
						if err := j.SaveRollout(b.Context(), r); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rollouts/s")
		})
	}
}

func BenchmarkLookUpRollout(b *testing.B) {
	j := open(b).Journal("r")
	must(b, j.SaveRollout(b.Context(), benchRollout("k")))
	for b.Loop() {
		if r, _, err := j.Rollout(b.Context(), "k"); r == nil || err != nil {
			b.Fatal(r, err)
		}
	}
}
