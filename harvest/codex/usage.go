package codex

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// took records how long a task took. Older versions do not report it: then it is the
// time between its first and its last record.
func (t *transcript) took(turn *harvest.Turn, p gjson.Result, at time.Time) {
	ms := p.Get("duration_ms")
	switch {
	case ms.Type == gjson.Number && ms.Int() >= 0:
		n := ms.Int()
		turn.DurationMS = &n
	case !t.begun.IsZero() && at.After(t.begun):
		n := at.Sub(t.begun).Milliseconds()
		turn.DurationMS = &n
	}
	t.begun = time.Time{}
}

// record adds the usage of one response.
func (t *transcript) record(p gjson.Result) {
	t.records = true
	if id := p.Get("response_id").Str; id != "" {
		if t.responses[id] {
			return
		}
		t.responses[strings.Clone(id)] = true
	}
	if u := p.Get("usage"); u.IsObject() && len(t.s.Turns) > 0 {
		spend(t.of(p.Get("turn_id").Str), u)
	}
}

// count adds the usage of the last response, for versions without records. The event
// may be repeated without a response in between; the running total shows it.
func (t *transcript) count(info gjson.Result) {
	total, u := info.Get("total_token_usage").Raw, info.Get("last_token_usage")
	if t.records || !u.IsObject() || total == t.total || len(t.s.Turns) == 0 {
		return
	}
	t.total = strings.Clone(total)
	spend(t.s.Last(), u)
}

// spend adds the usage u to a turn. Codex counts cached tokens as input.
func spend(turn *harvest.Turn, u gjson.Result) {
	cached, written := u.Get("cached_input_tokens").Int(), u.Get("cache_write_input_tokens").Int()
	turn.Spend(eval.Usage{
		Input:      max(0, u.Get("input_tokens").Int()-cached-written),
		CacheRead:  cached,
		CacheWrite: written,
		Output:     u.Get("output_tokens").Int(),
		Reasoning:  u.Get("reasoning_output_tokens").Int(),
	})
}
