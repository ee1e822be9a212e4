package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// BenchmarkOverhead reports the median time of an attempt beyond that of its
// child, which prints a recorded stream: the stage, the start, the sandbox, the
// audit and the removal of it all.
func BenchmarkOverhead(b *testing.B) {
	stream, err := filepath.Abs("testdata/streams/skill.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv("TMPDIR", b.TempDir())
	dir := b.TempDir()
	text, err := os.ReadFile(stream)
	if err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(dir, "claude")
	if err := os.WriteFile(filepath.Join(dir, "stream"), text, 0o600); err != nil {
		b.Fatal(err)
	}
	body := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = --version ]; then echo '%s'; exit; fi\nexec cat %s/stream\n", fine, dir)
	if err := os.WriteFile(program, []byte(body), 0o700); err != nil {
		b.Fatal(err)
	}
	doc, err := skill.Parse([]byte("---\nname: dataviz\ndescription: Draws charts.\n---\n# Charts\n"), skill.Options{})
	if err != nil {
		b.Fatal(err)
	}
	task := eval.Task{Variant: eval.Variant{Name: "dataviz", Doc: doc},
		Case: &eval.Case{ID: "c", Prompt: "p", Files: map[string]string{"data/revenue.csv": "week,usd\n"}}}
	for _, sandbox := range []bool{false, true} {
		b.Run(fmt.Sprintf("sandbox=%v", sandbox), func(b *testing.B) {
			if err := process.Available(); sandbox && err != nil {
				b.Skip(err)
			}
			a, err := New(b.Context(), replay.Config{Path: program, Sandbox: sandbox})
			if err != nil {
				b.Fatal(err)
			}
			var all, child []time.Duration
			for b.Loop() {
				begun := time.Now()
				got, err := a.Run(b.Context(), task)
				if err != nil || got.Failure != "" {
					b.Fatalf("%+v, %v", got, err)
				}
				all = append(all, time.Since(begun))
				res, err := process.Run(b.Context(), process.Command{Path: program, Line: func([]byte) error { return nil }})
				if err != nil {
					b.Fatal(err)
				}
				child = append(child, res.Wall)
			}
			b.ReportMetric(float64(median(all)-median(child))/1e6, "overhead-ms")
			b.ReportMetric(float64(median(child))/1e6, "child-ms")
		})
	}
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}
