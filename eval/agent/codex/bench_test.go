package codex

import (
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// BenchmarkOverhead measures a rollout's time less that of its child, at the
// median, against the real program.
func BenchmarkOverhead(b *testing.B) {
	for name, sandbox := range map[string]bool{"open": false, "sandboxed": true} {
		b.Run(name, func(b *testing.B) {
			installed(b)
			if err := process.Available(); sandbox && err != nil {
				b.Skip(err)
			}
			s := agenttest.Start(b, agenttest.Config{Script: []agenttest.Reply{{Text: "the diamond", Input: 9, Output: 1}}})
			a := speaking(b, s, func(c *replay.Config) { c.Sandbox = sandbox })
			task := eval.Task{Variant: agenttest.Stones(b), Case: question()}
			var ours, child []time.Duration
			a.ran = func(r *process.Result) { child = append(child, r.Wall) }
			for b.Loop() {
				begun := time.Now()
				if _, err := a.Run(b.Context(), task); err != nil {
					b.Fatal(err)
				}
				ours = append(ours, time.Since(begun)-child[len(child)-1])
			}
			b.ReportMetric(median(ours), "overhead-ms")
			b.ReportMetric(median(child), "child-ms")
		})
	}
}

// BenchmarkStream reads a recorded stream.
func BenchmarkStream(b *testing.B) {
	text := []byte(`{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'ls data'","aggregated_output":"revenue.csv\n","exit_code":0,"status":"completed"}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := newStream(clock)
		if err := s.line(text); err != nil || len(s.steps) != 1 {
			b.Fatal(err, len(s.steps))
		}
	}
}

func median(ds []time.Duration) float64 {
	slices.Sort(ds)
	return ds[len(ds)/2].Seconds() * 1000
}
