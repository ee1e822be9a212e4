// Package worktest tests what the readers of agents' sessions keep of the agents' work.
package worktest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/corpustest"
	"github.com/skill-evolve/evolve/harvest/work"
)

// Read reads a transcript.
func Read(t testing.TB, k harvest.Kind, level work.Level, transcript string) *harvest.Session {
	t.Helper()
	s, problems, err := k.Read(context.Background(), strings.NewReader(transcript), "s.jsonl", harvest.Options{Moments: level})
	if err != nil || s == nil || len(problems) > 0 {
		t.Fatalf("session %v, problems %v, error %v", s, problems, err)
	}
	return s
}

// Secrets plants a secret of each kind in transcripts, and finds none of its bytes in what
// is kept of them. plant returns transcripts of one turn with one act, by what has the
// secret in them.
func Secrets(t *testing.T, k harvest.Kind, plant func(secret string) map[string]string) {
	for _, secret := range corpustest.Samples(18) {
		for where, transcript := range plant(secret.Text) {
			s := Read(t, k, work.All, transcript)
			acts := s.Turns[len(s.Turns)-1].Work
			if len(acts) != 1 {
				t.Errorf("%s, %s: %d acts", secret.Kind, where, len(acts))
			}
			kept, err := json.Marshal([]any{s, acts})
			if err != nil {
				t.Fatal(err)
			}
			text := Text(acts)
			for _, part := range secret.Parts {
				if strings.Contains(string(kept)+text, part) {
					t.Errorf("%s, %s: %q is kept in\n%s", secret.Kind, where, part, text)
				}
			}
		}
	}
}

// Text is one line for each act.
func Text(acts []work.Act) string {
	var b strings.Builder
	for _, a := range acts {
		fmt.Fprint(&b, a.Kind)
		if a.Tool != "" {
			fmt.Fprint(&b, " ", a.Tool)
		}
		if a.Tests != "" {
			fmt.Fprintf(&b, " (%s)", a.Tests)
		}
		if a.Line != "" {
			fmt.Fprintf(&b, " %q", a.Line)
		}
		if a.Exit != nil {
			fmt.Fprint(&b, " = ", *a.Exit)
		}
		if a.File != "" {
			fmt.Fprint(&b, " ", a.File)
		}
		if a.Added != "" {
			fmt.Fprintf(&b, " +%q", a.Added)
		}
		if a.Removed != "" {
			fmt.Fprintf(&b, " -%q", a.Removed)
		}
		if a.Said != "" {
			fmt.Fprintf(&b, ": %q", a.Said)
		}
		if a.Cut {
			b.WriteString(" (cut)")
		}
		b.WriteString("\n")
	}
	return b.String()
}
