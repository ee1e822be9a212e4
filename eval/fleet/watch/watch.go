// Package watch looks at a fleet from outside its runs: who works there and what waits. It
// also removes what a member has put there.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
)

// soon is how long before its end an invitation is said to expire soon.
const soon = 14 * 24 * time.Hour

// A State is what a fleet is at, as schema 1.
type State struct {
	Schema  int      `json:"schema"`
	URL     string   `json:"url"`
	Workers []Worker `json:"workers"` // that were heard, or had a part in this machine's runs
	// Jobs are those that nobody has begun, Results those that are not recorded, of the runs
	// of all machines.
	Jobs     int      `json:"jobs_waiting"`
	Results  int      `json:"results_waiting"`
	Expiring []Member `json:"expiring"` // within two weeks
	// Needs is what the runs of this machine need of a worker; nil if it is not known.
	Needs *fleet.Need `json:"needs"`
}

// A Member is one whose invitation expires.
type Member struct {
	Name    string    `json:"name"`
	Expires time.Time `json:"expires"`
}

// A Worker is one that was heard, or is known from this machine's runs.
type Worker struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"` // "" if it is not known
	Agents []fleet.Agent `json:"agents"`
	Slots  int           `json:"slots"`
	Busy   int           `json:"busy"` // slots
	Queued int           `json:"queued"`
	Held   []fleet.Held  `json:"held"`   // jobs that it works at or will
	Done   int64         `json:"done"`   // jobs of its present process
	Failed int64         `json:"failed"` // of them in the infrastructure
	Parked time.Time     `json:"parked_until,omitzero"`
	Why    string        `json:"why"` // it gets no job of this machine's runs; "" if it does
	Here   *Share        `json:"here"`
}

// A Share is what a worker did in the runs of this machine.
type Share struct {
	Rollouts int      `json:"rollouts"` // whose first attempt was its own
	Missing  int      `json:"missing"`  // of them without a result
	Unmade   int      `json:"unmade"`   // rollouts of others that it had a part in, and brought no answer or a later attempt
	CostUSD  *float64 `json:"cost_usd"` // nil if it is not known
}

// Options are what is known besides.
type Options struct {
	Conn *fleet.Conn // of a coordinator
	// Needs is what the runs of this machine need, and Vendors may be asked; nil: not known.
	Needs   *fleet.Need
	Vendors []string
	Members []Member          // whose invitations are known
	Shares  map[string]Share  // by the worker's id
	Names   map[string]string // of workers, by id: those that are not heard have no other
	Now     func() time.Time
	Beat    time.Duration // fleet.Beat if it is 0; tests have a shorter one
}

// Look listens to the workers for one beat and a bit, and asks the streams.
func Look(ctx context.Context, o Options) (*State, error) {
	heard, err := listen(ctx, o.Conn, orBeat(o.Beat))
	if err != nil {
		return nil, err
	}
	s := &State{Schema: 1, URL: o.Conn.In.URL, Workers: []Worker{}, Expiring: []Member{}, Needs: o.Needs}
	now, held := o.Now(), 0
	for _, h := range heard {
		w := workerOf(h)
		held += w.Busy
		if w.Why = h.Away(now); o.Needs != nil {
			w.Why = h.Refuses(*o.Needs, o.Vendors, now)
		}
		if m, err := o.Conn.In.Verify(h.Rights, now); err == nil {
			s.expires(Member{m.Name, m.Expires}, now)
		}
		s.Workers = append(s.Workers, w)
	}
	if !o.Conn.In.Expires.IsZero() {
		s.expires(Member{o.Conn.In.Name, o.Conn.In.Expires}, now)
	}
	for _, m := range o.Members {
		s.expires(m, now)
	}
	for id, share := range o.Shares {
		at := slices.IndexFunc(s.Workers, func(w Worker) bool { return w.ID == id })
		if at < 0 {
			at = len(s.Workers)
			s.Workers = append(s.Workers, Worker{ID: id, Name: o.Names[id], Why: "does not answer"})
		}
		s.Workers[at].Here = &share
	}
	slices.SortFunc(s.Workers, func(a, b Worker) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	if s.Jobs, err = waiting(ctx, o.Conn, fleet.Jobs); err == nil {
		s.Jobs = max(0, s.Jobs-held)
		s.Results, err = waiting(ctx, o.Conn, fleet.Results)
	}
	return s, err
}

func workerOf(h *fleet.Hello) Worker {
	return Worker{ID: h.Worker, Name: h.Name, Agents: h.Offer.Agents, Slots: h.Offer.Slots, Busy: len(h.Running), Queued: len(h.Queued),
		Held: slices.Concat(h.Running, h.Queued), Done: h.Done, Failed: h.Failed, Parked: h.Parked}
}

func (s *State) expires(m Member, now time.Time) {
	known := func(e Member) bool { return e.Name == m.Name && e.Expires.Equal(m.Expires) }
	if m.Expires.Sub(now) < soon && m.Name != fleet.Visitor && !slices.ContainsFunc(s.Expiring, known) {
		s.Expiring = append(s.Expiring, m)
	}
}

// listen returns the last words of the workers that say something within a beat, by id.
func listen(ctx context.Context, c *fleet.Conn, beat time.Duration) (map[string]*fleet.Hello, error) {
	var mu sync.Mutex
	heard := map[string]*fleet.Hello{}
	sub, err := c.Nats.Subscribe(fleet.HelloSubject("*"), func(m *nats.Msg) {
		_ = eval.Shielded(func() error { // others wrote it
			if h := c.Hello(m); h != nil {
				mu.Lock()
				defer mu.Unlock()
				heard[h.Worker] = h
			}
			return nil
		})
	})
	if err == nil {
		err = c.Nats.Publish(fleet.Who, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("listen to the workers: %w", err)
	}
	err = eval.Sleep(ctx, beat+beat/4)
	if e := sub.Unsubscribe(); err == nil && e != nil {
		err = fmt.Errorf("listen to the workers: %w", e)
	}
	mu.Lock()
	defer mu.Unlock()
	out := heard
	heard = map[string]*fleet.Hello{} // a word that comes late changes nothing
	return out, err
}

// waiting is how many messages a stream has.
func waiting(ctx context.Context, c *fleet.Conn, stream string) (int, error) {
	at, err := c.JS.Stream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, fmt.Errorf("the fleet at %s has no stream %s: `evolve help fleet` says how it gets one", c.In.URL, stream)
	}
	if err != nil {
		return 0, fmt.Errorf("ask for what waits: %w", err)
	}
	return int(at.CachedInfo().State.Msgs), nil
}

func orBeat(beat time.Duration) time.Duration { return cmp.Or(beat, fleet.Beat) }
