package claude

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// What 2.1.329 printed for a subscription's token when the server's headers told a use of 42
// and of 93 %.
const (
	allowedEvent = `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":4071006245,"rateLimitType":"five_hour","isUsingOverage":false}}`
	warningEvent = `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":4071006245,"rateLimitType":"five_hour","utilization":0.93,"isUsingOverage":false,"surpassedThreshold":0.9}}`
)

func TestWindow(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	reset := time.Unix(4071006245, 0)
	for _, c := range []struct {
		name, event string
		most        *float64
		full        bool
	}{
		{"by hand", warningEvent, nil, false},
		{"at the first warning", warningEvent, share(0), true},
		{"from 90 %", warningEvent, share(0.9), true},
		{"from 95 %", warningEvent, share(0.95), false},
		{"all of it", warningEvent, share(1), false},
		{"no warning", allowedEvent, share(0), false},
	} {
		var w window
		w.heed(read([]byte(c.event)).warned, c.most)
		err := w.full(now)
		var infra *eval.InfraError
		if errors.As(err, &infra) != c.full {
			t.Errorf("%s: %v", c.name, err)
		} else if c.full && (infra.Kind != eval.UsageLimit || !infra.ResetAt.Equal(reset) || !strings.Contains(err.Error(), "used to 93 %")) {
			t.Errorf("%s: %v, resets %v", c.name, err, infra.ResetAt)
		}
		if err := w.full(reset); err != nil {
			t.Errorf("%s, after the reset: %v", c.name, err)
		}
	}
}
