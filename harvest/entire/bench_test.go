package entire_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/entire"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

// large is a repository of n checkpoints, each of a session of its own or of
// one in three that go on; most bytes are a tool's results.
func large(b *testing.B, layout string, n int) (*repository, int64) {
	r := newRepository(b)
	output := strings.Repeat(`if err != nil { return err } `, 2000) // 58 kB
	result := `{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"` + output + `","is_error":false}]},"uuid":"r","sessionId":"s1"}` + "\n"
	text := typed("p1", 10, "chart the revenue") + called("t1", 11, "dataviz") + strings.Repeat(result, 10) + said("m1", 12, "Done.")
	var stream bytes.Buffer
	for i := range n {
		id := fmt.Sprintf("%012x", i*7919)
		files, prefix, ref := map[string]string{}, "", "refs/entire/checkpoints/"+id[10:]+"/"+id
		if layout == "branch" {
			prefix, ref = id[:2]+"/"+id[2:]+"/", branch
		}
		files[prefix+"0/metadata.json"] = metadata(fmt.Sprint("s", i/3), at(i%60), isClaude)
		files[prefix+"0/full.jsonl"] = strings.ReplaceAll(text, "Done.", fmt.Sprint("Done ", i))
		files[prefix+"0/prompt.txt"] = "chart the revenue"
		if layout == "branch" && i > 0 {
			fmt.Fprintf(&stream, "commit %s\ncommitter a <a@b> %d +0000\ndata 1\nx\n", ref, 1795197857+i)
			for name, text := range files {
				fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
			}
			fmt.Fprintln(&stream)
			continue
		}
		r.stream(&stream, ref, "x", files)
	}
	r.git(stream.String(), "fast-import", "--quiet")
	return r, int64((n + 2) / 3 * len(text))
}

func BenchmarkSessions(b *testing.B) {
	for _, layout := range []string{"branch", "refs"} {
		r, size := large(b, layout, 590)
		read := func(c harvest.Cursor) {
			if _, err := entire.New(r.dir, entire.Options{Readers: readers}).Sessions(context.Background(), c, func(*harvest.Session) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(layout, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				read(nil)
			}
		})
		b.Run(layout+"/idle", func(b *testing.B) {
			var c harvesttest.Cursor
			read(&c)
			for b.Loop() {
				read(&c)
			}
		})
	}
}
