package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Called is a worker's name, or the beginning of its id.
func (w *Worker) Called() string {
	if w.Name == "" {
		return fleet.Short(w.ID)
	}
	return w.Name
}

// Words says whether a worker gets jobs of this machine's runs, and if not, why.
func (w *Worker) Words(now time.Time) string {
	if w.Parked.After(now) {
		return "parked until " + w.Parked.Local().Format("15:04") + ": " + w.Why
	}
	if w.Why != "" {
		return w.Why
	}
	return "takes jobs"
}

// Words is a share for people.
func (s *Share) Words() string {
	if s == nil {
		return "nothing yet"
	}
	text := plain.Counted(s.Rollouts, "rollout")
	if s.CostUSD != nil {
		text += ", " + eval.Spent{CostUSD: *s.CostUSD, CostKnown: true, Rollouts: int64(s.Rollouts)}.Dollars()
	}
	if bad := s.Missing + s.Unmade; bad > 0 {
		text += fmt.Sprintf(", %.0f %% failed", 100*float64(bad)/float64(s.Rollouts+s.Unmade))
	}
	return text
}

// Shown are at most n workers: those that get no jobs come first if there are more.
func (s *State) Shown(n int) []Worker {
	if len(s.Workers) <= n {
		return s.Workers
	}
	all := slices.Clone(s.Workers)
	slices.SortStableFunc(all, func(a, b Worker) int {
		switch {
		case (a.Why == "") == (b.Why == ""):
			return 0
		case a.Why != "":
			return -1
		}
		return 1
	})
	return all[:n]
}

// Find says where the jobs are whose names begin so, in words.
func Find(ctx context.Context, c *fleet.Conn, name string, beat time.Duration) (at []string, err error) {
	heard, err := listen(ctx, c, orBeat(beat))
	if err != nil {
		return nil, err
	}
	for _, h := range heard {
		who := h.Name + " (" + fleet.Short(h.Worker) + ")"
		for _, k := range h.Running {
			if strings.HasPrefix(k.Key, name) {
				at = append(at, who+" works at "+k.Key)
			}
		}
		for _, k := range h.Queued {
			if strings.HasPrefix(k.Key, name) {
				at = append(at, k.Key+" waits at "+who)
			}
		}
	}
	results, err := c.JS.Stream(ctx, fleet.Results)
	if err != nil {
		return nil, fmt.Errorf("ask for results: %w", err)
	}
	info, err := results.Info(ctx, jetstream.WithSubjectFilter("evolve.result.>"))
	if err != nil {
		return nil, fmt.Errorf("ask for results: %w", err)
	}
	for subject := range info.State.Subjects {
		if parts := strings.Split(subject, "."); len(parts) == 5 && strings.HasPrefix(parts[4], name) {
			at = append(at, "the result of "+parts[4]+" by "+fleet.Short(parts[3])+" is not recorded yet")
		}
	}
	slices.Sort(at)
	return at, nil
}
