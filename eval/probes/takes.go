package probes

import (
	"cmp"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
)

// Takes are what the probes of texts that are found better may take, with both texts.
type Takes struct {
	Replays int64 `json:"max_replays"`
	Tokens  int64 `json:"tokens"` // 0 is unknown
}

// Most is how many replays a set takes if every rule is answered afresh.
func (s *Set) Most() int64 { return int64(2 * (ScreenReplays + FreshReplays) * len(s.Probes)) }

// Plus adds up two forecasts, each nil for nothing.
func (t *Takes) Plus(o *Takes) *Takes {
	if t == nil || o == nil {
		return cmp.Or(t, o)
	}
	return &Takes{t.Replays + o.Replays, t.Tokens + o.Tokens}
}

// String formats the forecast in a line.
func (t *Takes) String() string {
	tokens := ""
	if t.Tokens > 0 {
		tokens = fmt.Sprintf(", about %s tokens", plain.Thousands(t.Tokens))
	}
	return fmt.Sprintf("probes: at most %s%s, once a text is better", plain.Counted(t.Replays, "replay"), tokens)
}
