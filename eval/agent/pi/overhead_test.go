package pi

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

// BenchmarkOverhead compares a whole replay with its child alone: what is ours
// is the difference of the medians.
func BenchmarkOverhead(b *testing.B) {
	recorded, err := filepath.Abs("testdata/streams/skill.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	child := filepath.Join(b.TempDir(), "pi")
	text := fmt.Sprintf("#!/bin/sh\ncase $1 in --version) echo 1.2.3;; *) cat >/dev/null; sleep 0.05; cat %s;; esac\n", recorded)
	if err := os.WriteFile(child, []byte(text), 0o700); err != nil {
		b.Fatal(err)
	}
	doc, err := skill.Parse([]byte("---\nname: dataviz\ndescription: Makes charts.\n---\nLabel the axes.\n"), skill.Options{})
	if err != nil {
		b.Fatal(err)
	}
	task := eval.Task{Variant: eval.Variant{Name: "dataviz", Doc: doc}, Case: &eval.Case{ID: "c", Prompt: "Plot it.",
		Files: map[string]string{"data/revenue.csv": "week,usd\n"}}}
	for _, sandbox := range []bool{false, true} {
		b.Run(fmt.Sprintf("sandbox=%v", sandbox), func(b *testing.B) {
			if err := process.Available(); sandbox && err != nil {
				b.Skip(err)
			}
			a, err := New(b.Context(), replay.Config{Path: child, Model: "m", BaseURL: "http://127.0.0.1:1/v1", Sandbox: sandbox})
			if err != nil {
				b.Fatal(err)
			}
			// The stream must be readable inside a sandbox, too.
			a.prog.Readable = append(a.prog.Readable, recorded)
			var whole, alone []time.Duration
			for b.Loop() {
				begun := time.Now()
				got, err := a.Run(b.Context(), task)
				if err != nil || got.Answer == "" {
					b.Fatalf("attempt = %+v, %v", got, err)
				}
				whole = append(whole, time.Since(begun))
				begun = time.Now()
				res, err := process.Run(b.Context(), process.Command{Path: child, Env: []string{"PATH=/usr/bin:/bin"},
					Line: func([]byte) error { return nil }})
				if err != nil || res.Exit != 0 {
					b.Fatalf("%+v, %v", res, err)
				}
				alone = append(alone, time.Since(begun))
			}
			slices.Sort(whole)
			slices.Sort(alone)
			ours := whole[len(whole)/2] - alone[len(alone)/2]
			b.ReportMetric(float64(ours.Microseconds())/1000, "ours-ms/op")
		})
	}
}
