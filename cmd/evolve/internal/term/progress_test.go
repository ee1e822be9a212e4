package term

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"pgregory.net/rapid"
)

// A stage is a view with a clock and a budget that a test turns.
type stage struct {
	*progress
	out    bytes.Buffer
	clock  time.Time
	budget *eval.Budget
}

func newStage(t report.Task, caps eval.Caps) *stage {
	s := &stage{clock: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)}
	now := func() time.Time { return s.clock }
	s.budget = eval.NewBudget(caps, now)
	t.Budget, t.Caps, t.Count = s.budget, caps, func() int64 { return s.budget.Spent().Rollouts }
	term := &Terminal{Stderr: &s.out, Now: now}
	s.progress = &progress{t: term, task: t, began: s.clock, line: s.clock, phase: t.Phase}
	return s
}

// tried makes n rollouts come, each after some time.
func (s *stage) tried(n int, each time.Duration, usd float64) {
	for range n {
		s.clock = s.clock.Add(each)
		s.budget.Charge(eval.ByAgent, eval.Cost{Usage: &eval.Usage{Input: 900, Output: 100}, USD: &usd})
		s.Rollout(&eval.Rollout{Attempts: 1, Started: s.clock})
		s.tick()
	}
}

func (s *stage) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(false)
}

func (s *stage) happens(kind string, best *float64, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	s.Event(record.Event{Kind: kind, Best: best, Data: raw})
}

func TestProgressPlain(t *testing.T) {
	s := newStage(report.Task{Phase: "search", Unit: "rollouts", Total: 300, Bound: true}, eval.Caps{Rollouts: 300, CostUSD: 6})
	s.tried(4, time.Second, 0.01)
	s.happens("seed", new(0.5), map[string]any{"quality": 0.5, "cases": 4})
	s.tried(16, time.Second, 0.01)
	s.happens("accepted", new(0.75), map[string]any{})
	s.tried(10, time.Second, 0.01)
	s.happens("search_end", nil, map[string]any{})
	s.clock = s.clock.Add(3 * time.Second)
	s.happens("gate_start", nil, map[string]any{"clusters": 30})
	s.happens("gate_pair", nil, map[string]any{})
	s.clock = s.clock.Add(30 * time.Second) // nothing comes: no line
	s.tick()
	s.clock = s.clock.Add(30 * time.Second) // but once a minute
	s.tick()
	s.happens("verdict", nil, map[string]any{})
	s.clock = s.clock.Add(2 * time.Second)
	s.tried(1, time.Second, 0.01)
	want := `search: 10/300 rollouts, validation 0.50 (4 cases), none better, $0.10 of $6.00, at most about 5 min left, 0:10
search: 20/300 rollouts, validation 0.50 (4 cases), none better, $0.20 of $6.00, at most about 5 min left, 0:20
search: 30/300 rollouts, validation 0.50 → 0.75 (4 cases), $0.30 of $6.00, at most about 5 min left, 0:30
trial: 30/300 rollouts, validation 0.50 → 0.75 (4 cases), request 1 of 30, $0.30 of $6.00, at most about 2 min left, 0:33
trial: 30/300 rollouts, validation 0.50 → 0.75 (4 cases), request 2 of 30, $0.30 of $6.00, at most about 4 min left, 1:33
no skill: 31/300 rollouts, validation 0.50 → 0.75 (4 cases), $0.31 of $6.00, 1:36
`
	if got := s.out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestProgressResumed: what was recorded counts as done, and for no pace.
func TestProgressResumed(t *testing.T) {
	s := newStage(report.Task{Phase: "search", Unit: "rollouts", Total: 100}, eval.Caps{Rollouts: 100})
	s.task.Since = s.clock.Add(-time.Hour)
	for range 40 {
		s.budget.Charge(eval.ByAgent, eval.Cost{})
		s.Rollout(&eval.Rollout{Attempts: 1, Started: s.clock.Add(-time.Minute)})
	}
	s.Rollout(&eval.Rollout{Attempts: 1, Started: s.clock.Add(-24 * time.Hour)}) // of another run: it was free here
	if got, want := s.text(), "search: 40/100 rollouts (40 from before), 0:00"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.tried(10, 12*time.Second, 0)
	if got, want := s.text(), "search: 50/100 rollouts (40 from before), 10k tokens, about 10 min left, 2:00"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTimeLeft: the estimate comes from the forecast first, then from what was
// seen, and the tightest cap counts.
func TestTimeLeft(t *testing.T) {
	base := report.Task{Phase: "search", Unit: "rollouts", Total: 100, Expect: 100 * time.Minute}
	left := func(s *stage) time.Duration {
		d, ok := s.timeLeft(s.clock)
		if !ok {
			t.Fatal("nobody can tell")
		}
		return d.Round(time.Second)
	}
	s := newStage(base, eval.Caps{Rollouts: 100})
	s.tried(4, 30*time.Second, 0)
	if d := left(s); d != 96*time.Minute {
		t.Errorf("by the forecast %v", d)
	}
	s.tried(4, time.Millisecond, 0)
	if d := left(s); d >= 30*time.Minute {
		t.Errorf("%v where the pace has just become known", d)
	}
	s = newStage(base, eval.Caps{Rollouts: 100})
	s.tried(20, 30*time.Second, 0)
	if d := left(s); d != 40*time.Minute {
		t.Errorf("by the pace %v: 80 rollouts, half a minute each", d)
	}
	s.clock = s.clock.Add(30 * time.Minute) // nothing comes any more
	if d := left(s); d <= 2*time.Hour {
		t.Errorf("%v after a pause of half an hour", d)
	}

	s = newStage(base, eval.Caps{Rollouts: 100, CostUSD: 3})
	s.tried(20, 30*time.Second, 0.1) // the money is for 10 more
	if d := left(s); d != 5*time.Minute {
		t.Errorf("%v, want 5m: a dollar is left", d)
	}
	s = newStage(base, eval.Caps{Rollouts: 100, Duration: 12 * time.Minute})
	s.tried(20, 30*time.Second, 0)
	if d := left(s); d != 2*time.Minute {
		t.Errorf("%v, want 2m: the cap on time", d)
	}
	s = newStage(report.Task{Phase: "search", Unit: "rollouts"}, eval.Caps{})
	s.tried(20, time.Second, 0)
	if d, ok := s.timeLeft(s.clock); ok {
		t.Errorf("without any cap: %v", d)
	}
}

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "less than a minute", 50 * time.Second: "less than a minute", 51 * time.Second: "about 1 min",
		61 * time.Second: "about 2 min", 11 * time.Minute: "about 15 min", 54 * time.Minute: "about 55 min",
		56 * time.Minute: "about 1 h", 61 * time.Minute: "about 1 h 15 min", 3 * time.Hour: "about 3 h", 30*time.Hour + 1: "about 31 h",
	} {
		if got := about(d); got != want {
			t.Errorf("about(%v) = %q, want %q", d, got, want)
		}
	}
}

// TestProgressFits: with any content, on any width of the terminal.
func TestProgressFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 100_000).Draw(t, "total")
		caps := eval.Caps{Rollouts: total, CostUSD: rapid.SampledFrom([]float64{0, 0.5, 12345.67}).Draw(t, "usd"), Tokens: rapid.SampledFrom([]int64{0, 2_000_000}).Draw(t, "tokens")}
		s := newStage(report.Task{Of: rapid.SampledFrom([]string{"", "dataviz", "週次の売上をグラフにする"}).Draw(t, "of"), Phase: "search", Unit: "rollouts", Total: total,
			Expect: time.Hour, Bound: rapid.Bool().Draw(t, "bound")}, caps)
		s.task.Since = s.clock.Add(-time.Hour)
		s.Rollout(&eval.Rollout{Attempts: 9999, Started: s.clock.Add(-time.Minute)})
		if rapid.Bool().Draw(t, "seed") {
			s.happens("seed", new(0.5), map[string]any{"quality": 0.5})
		}
		s.tried(rapid.IntRange(0, 20).Draw(t, "n"), rapid.SampledFrom([]time.Duration{time.Millisecond, time.Hour}).Draw(t, "each"), 1000)
		if rapid.Bool().Draw(t, "gate") {
			s.happens("gate_start", nil, map[string]any{"clusters": 3000})
		}
		width, height := rapid.IntRange(1, 140).Draw(t, "width"), rapid.IntRange(0, 3).Draw(t, "height")
		lines := s.lines(width, height)
		if len(lines) > height {
			t.Errorf("%d lines of %d", len(lines), height)
		}
		for _, l := range lines {
			if plain.Width(l) >= width || strings.ContainsAny(l, "\n\r\x1b") {
				t.Errorf("%d columns of %d: %q", plain.Width(l), width, l)
			}
		}
		if width >= 40 && height > 0 && !strings.Contains(lines[0], " rollouts") {
			t.Errorf("no count: %q", lines[0])
		}
	})
}
