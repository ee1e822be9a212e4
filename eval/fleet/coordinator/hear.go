package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/skill-evolve/evolve/eval/fleet"
)

// greet takes the word of a worker.
func (c *Coordinator) greet(m *nats.Msg) {
	if h := c.opt.Conn.Hello(m); h != nil {
		c.send(func(s *state) { s.hello(h, time.Now()) })
	}
}

func (s *state) hello(h *fleet.Hello, now time.Time) {
	s.listen(now)
	w := s.worker(h.Worker, now)
	if !w.takes {
		w.takes = true
		s.c.later(func() {
			short, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if err := fleet.Consumer(short, s.c.opt.Conn.JS, h.Worker); err != nil {
				s.c.opt.Log(fmt.Sprintf("worker %s cannot take jobs yet: %v", name(h), err))
				s.c.send(func(*state) { w.takes = false }) // the next time that it is heard
			}
		})
	}
	if w.Hello.Instance != h.Instance {
		clear(w.had)
	}
	w.seen, w.Hello = now, *h
	holds := map[string]bool{}
	var cancel []fleet.Held
	w.others = 0
	for _, k := range slices.Concat(h.Running, h.Queued) {
		if k.Coordinator != s.id {
			w.others++
			continue
		}
		holds[k.Key] = true
		if j := w.has[k.Key]; j != nil {
			j.at, j.settled = now, true
		} else if told, ok := w.freed[k.Key]; ok && now.Sub(told) > s.c.opt.Lost/2 {
			w.freed[k.Key] = now
			cancel = append(cancel, k)
		}
	}
	for key := range w.freed {
		if !holds[key] && now.Sub(w.freed[key]) > s.c.opt.Lost {
			delete(w.freed, key)
		}
	}
	// A job that it should have and does not name is lost: the message, the worker's memory of
	// it, or the result.
	for key, j := range w.has {
		switch unnamed := now.Sub(j.at); {
		case holds[key]:
		case unnamed > s.c.opt.Lost:
			s.takeBack(j, fmt.Errorf("worker %s has lost it", name(h)))
		case unnamed > 2*s.c.opt.Beat && !j.settled:
			j.settled = true
			s.publish(j)
		}
	}
	s.order(w.id, fleet.Order{Cancel: cancel})
	s.schedule(now)
}

// worker is what is known of one.
func (s *state) worker(id string, now time.Time) *worker {
	w := s.workers[id]
	if w == nil {
		w = &worker{id: id, seen: now, has: map[string]*job{}, had: map[string]bool{}, freed: map[string]time.Time{}, Worker: Worker{Hello: fleet.Hello{Worker: id}}}
		s.workers[id] = w
	}
	return w
}

// listen notes that somebody was heard. If nobody was for some time, it was not they who were
// away, but the server, or this machine: that time does not count.
func (s *state) listen(now time.Time) {
	if gap := now.Sub(s.heard); gap > 3*s.c.opt.Beat && !s.heard.IsZero() {
		for _, w := range s.workers {
			w.seen = w.seen.Add(gap)
			for _, j := range w.has {
				j.at = j.at.Add(gap)
			}
		}
	}
	s.heard = now
}

// order asks a worker to do something at once. If it does not hear, it is told again.
func (s *state) order(worker string, o fleet.Order) {
	if len(o.Cancel) == 0 && !o.Purge {
		return
	}
	subject := fleet.OrderSubject(worker)
	if m, err := fleet.Seal(s.c.opt.Conn.Key, subject, o); err == nil {
		_ = s.c.opt.Conn.Nats.PublishMsg(m)
	}
}
