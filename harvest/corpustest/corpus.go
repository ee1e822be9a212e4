// Package corpustest generates transcripts of Claude Code with a complete record of
// their content: the skills that were used and with what outcome, the places of
// secrets, and texts that only look like secrets. The harvest is measured with them,
// see docs/benchmarks.md.
package corpustest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Options determine the size of a corpus. The same options give the same bytes.
type Options struct {
	Sessions int    // 0: 2000
	Bytes    int64  // approximate total; most of it is tool results. 0: 1 GB
	Seed     uint64 // 0 is a seed like any other
}

// Generate writes a corpus below dir (projects/<folder>/<session>.jsonl, as in the home
// of Claude Code) with its manifest. dir may exist; transcripts in it are kept.
func Generate(dir string, o Options) (*Manifest, error) {
	if o.Sessions == 0 {
		o.Sessions = 2000
	}
	if o.Bytes == 0 {
		o.Bytes = 1 << 30
	}
	m := &Manifest{Schema: 1, Seed: o.Seed, Sessions: o.Sessions}
	filler := newFiller(rand.New(rand.NewPCG(o.Seed, 0)))
	for n := range o.Sessions {
		s := newSession(o.Seed, n, filler, m)
		// The rest is divided anew after each session, to compensate for those that
		// were too short or too long.
		s.target = (o.Bytes - m.Bytes) / int64(o.Sessions-n)
		s.play()
		for _, f := range s.files {
			if err := f.save(dir); err != nil {
				return nil, err
			}
			m.Files++
			m.Bytes += int64(f.out.Len())
		}
	}
	return m, m.write(dir)
}

func (f *file) save(dir string) error {
	name := filepath.Join(dir, f.name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	if err := os.WriteFile(name, f.out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}

// A filler is the text of tool results: what programs print.
type filler struct {
	lines []string // escaped for JSON, each with its line feed
}

func newFiller(r *rand.Rand) *filler {
	words := []string{"error", "token", "func", "return", "password", "secret", "the", "http", "handler", "user", "err", "value", "config",
		"revenue", "axis", "week", "chart", "import", "const", "request", "Skill", "skill", "type", "tool_result", "session", "weiß", "数据"}
	word := func() string { return words[r.IntN(len(words))] }
	forms := []func() string{
		func() string {
			return fmt.Sprintf("%6d\u2192\t%s := %s.%s(ctx, %d)", r.IntN(5000), word(), word(), word(), r.IntN(1e6))
		},
		func() string {
			return fmt.Sprintf("2026-11-%02dT%02d:%02d:%02dZ INFO %s=%q %s=%d took=%dms", 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), word(), word(), word(), r.IntN(1e6), r.IntN(900))
		},
		func() string {
			return fmt.Sprintf("%s/%s_%s.go:%d:%d: %s: %s %s %s", word(), word(), word(), r.IntN(900), r.IntN(90), word(), word(), word(), word())
		},
		func() string {
			return fmt.Sprintf("\t\t{\"%s\": \"%s\", \"%s\": %d},", word(), word(), word(), r.IntN(1e9))
		},
		func() string { return fmt.Sprintf("%s  %s-%s/%d", draw(r, 40, hexa), word(), word(), r.IntN(99)) },
		func() string {
			s := "// "
			for range 12 {
				s += word() + " "
			}
			return s
		},
		func() string { return `{"type":"tool_use","name":"Skill","input":{"skill":"` + word() + `"}}` },
	}
	f := new(filler)
	for range 20000 {
		f.lines = append(f.lines, escape(forms[r.IntN(len(forms))]()+"\n"))
	}
	return f
}

// text is about n bytes of filler, escaped for JSON.
func (f *filler) text(r *rand.Rand, w *bufio.Writer, n int) {
	at := r.IntN(len(f.lines))
	for n > 0 {
		line := f.lines[at]
		n -= len(line)
		w.WriteString(line)
		if at++; at == len(f.lines) {
			at = 0
		}
	}
}
