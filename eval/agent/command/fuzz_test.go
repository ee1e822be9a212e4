package command

import (
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// Whatever a program prints, it is refused or holds to what an Attempt promises.
func FuzzReply(f *testing.F) {
	for _, text := range []string{
		`{"answer":"x","trace":[{"name":"Bash","input":{"command":"ls"},"failed":true}],"skills":[],"usage":{"input":1,"output":2,"reasoning":1}}`,
		`{"error":{"kind":"usage_limit","message":"m","retry_after_s":1e300,"reset_at":"2026-03-01T12:00:00Z"}}`,
		`{"evolve":1,"duration_ms":1e11,"turns":1,"cost_usd":0.5,"failure":"f"}`, `{}`, `[]`, `{"answer":"x"}}`, "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var r taskReply
		if err := decode(text, &r); err != nil {
			if err.Error() == "" {
				t.Error("refused without a reason")
			}
			return
		}
		if d := time.Duration(r.DurationMS * float64(time.Millisecond)); d < 0 {
			t.Errorf("duration %v", d)
		}
		if u := r.Usage; u != nil && (u.Input < 0 || u.Reasoning > u.Output) {
			t.Errorf("usage %+v", *u)
		}
		for i := range r.Trace {
			if s := r.Trace[i].text(); len(s) > maxInput+len("…") {
				t.Errorf("an input of %d bytes", len(s))
			}
		}
		if r.Error != nil {
			e := r.Error.infra(strings.ToUpper)
			if e.RetryAfter < 0 || e.Kind == eval.Pending || e.Err.Error() == "" {
				t.Errorf("error %+v", e)
			}
		}
	})
}
