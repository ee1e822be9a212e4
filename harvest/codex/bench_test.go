package codex_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/codex"
)

// long is a rollout as they are: by far most bytes are outputs of tools.
func long(results int) string {
	var b strings.Builder
	out := strings.Repeat(`	if err != nil { return fmt.Errorf("list skills: %w", err) }`+"\n", 600) // 36 kB
	for i := range results {
		if i%20 == 0 {
			fmt.Fprintln(&b, typed(fmt.Sprint("t", i), fmt.Sprint("u", i), "go on with the next file"))
		}
		id := fmt.Sprint("c", i)
		fmt.Fprintln(&b, called(id, "cat /home/dev/project/a.go"))
		fmt.Fprintln(&b, ran(id, "completed", `{"type":"read","cmd":"cat a.go","name":"a.go","path":"a.go"}`, out))
		fmt.Fprintln(&b, exited(id, 0, out))
		fmt.Fprintln(&b, said(fmt.Sprint("m", i), "I read the file."))
	}
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	text := long(400)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := codex.Kind.Read(context.Background(), strings.NewReader(text), "s.jsonl", harvest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Memory does not grow with the file, only with what is kept of it.
func TestMemoryIsFlat(t *testing.T) {
	text := long(400) // 36 MB of outputs, of which nothing is kept
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, _, err := codex.Kind.Read(context.Background(), strings.NewReader(text), "s.jsonl", harvest.Options{})
	runtime.ReadMemStats(&after)
	if err != nil || len(s.Turns) != 20 || len(s.Turns[0].Tools) != 20 {
		t.Fatalf("%v: %d turns", err, len(s.Turns))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("reading %d MB allocated %d MB", len(text)>>20, n>>20)
	}
}
