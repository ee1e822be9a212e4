//go:build unix

package process

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkOverhead compares a run of a program that does nothing with starting
// it by os/exec, in turn, so that the machine's load is the same for both. The
// difference of the medians is what the runner adds, and the 90th percentile
// what it adds on a bad day.
//
//	go test -bench Overhead -benchtime 300x ./eval/agent/process
func BenchmarkOverhead(b *testing.B) {
	for _, k := range []struct {
		name string
		box  *Sandbox
	}{
		{"bare", nil},
		{"sandbox", &Sandbox{}},
		{"sandbox-hosts", &Sandbox{Hosts: []string{"api.example.com:443", "127.0.0.1:11434"}}},
	} {
		b.Run(k.name, func(b *testing.B) {
			if k.box != nil {
				needSandbox(b)
			}
			dir := b.TempDir()
			if k.box != nil {
				k.box.Writable = []string{dir}
			}
			c := Command{Path: "/bin/true", Dir: dir, Env: []string{}, Sandbox: k.box}
			var direct, ours []time.Duration
			for b.Loop() {
				b.StopTimer()
				begun := time.Now()
				cmd := exec.Command(c.Path)
				cmd.Dir, cmd.Env = dir, c.Env
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				direct = append(direct, time.Since(begun))
				b.StartTimer()
				begun = time.Now()
				if r, err := Run(context.Background(), c); err != nil || r.Exit != 0 {
					b.Fatal(r, err)
				}
				ours = append(ours, time.Since(begun))
			}
			slices.Sort(direct)
			slices.Sort(ours)
			for _, q := range []struct {
				unit string
				part int
			}{{"p50-ms", 50}, {"p90-ms", 90}} {
				at := (len(ours) - 1) * q.part / 100
				b.ReportMetric(float64(ours[at]-direct[at])/1e6, "added-"+q.unit)
			}
			b.ReportMetric(float64(direct[len(direct)/2])/1e6, "direct-p50-ms")
		})
	}
}

// BenchmarkLines is how fast a stream of events comes through.
func BenchmarkLines(b *testing.B) {
	chunk := make([]byte, 32<<10)
	for i := range chunk {
		chunk[i] = 'x'
		if i%500 == 499 {
			chunk[i] = '\n'
		}
	}
	lines := 0
	s := splitter{left: 1 << 62, line: func([]byte) error { lines++; return nil }}
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		if err := s.write(chunk); err != nil {
			b.Fatal(err)
		}
	}
	if lines == 0 {
		b.Fatal("no lines")
	}
}
