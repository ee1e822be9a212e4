package codex

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// The model is the one that the program chose for the main thread, in its last
// turn; a subagent's is none of it, whichever record is read first.
func TestModelOfARecord(t *testing.T) {
	main := `{"type":"session_meta","payload":{"source":"exec"}}
{"type":"turn_context","payload":{"model":"one"}}
{"type":"turn_context","payload":{"model":"two"}}
`
	sub := `{"type":"session_meta","payload":{"source":{"subagent":"x"}}}
{"type":"turn_context","payload":{"model":"small"}}
`
	for _, records := range [][]string{{main, sub}, {sub, main}} {
		s := new(session)
		for _, r := range records {
			if err := s.read(strings.NewReader(r), replay.Secrets{}); err != nil {
				t.Fatal(err)
			}
		}
		if s.model != "two" {
			t.Errorf("model %q, want two", s.model)
		}
	}
	s := new(session)
	if err := s.read(strings.NewReader(sub), replay.Secrets{}); err != nil || s.model != "" {
		t.Errorf("model %q, %v; want none", s.model, err)
	}
}
