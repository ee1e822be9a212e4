package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval/fleet"
)

// publish sends a job to its worker. If the server does not store it, unpublished is called later.
func (s *state) publish(j *job) {
	w, c := j.worker, s.c
	j.Worker, j.Rights = w.id, c.opt.Conn.In.JWT
	body, worker, given, left := j.Job, w.id, j.given, j.left
	body.Short = w.first(c.opt.Blobs, &j.Task)
	send := func(put func([]byte) (string, error)) error {
		m, err := fleet.SealFor(c.opt.Conn.Key, worker, fleet.JobSubject(worker, body.Coordinator, body.Key), body, put)
		if err == nil {
			_, err = c.jobs.PublishMsgAsync(m, jetstream.WithMsgID(given))
		}
		return err
	}
	err := errAside
	if left == nil {
		err = send(func([]byte) (string, error) { return "", errAside })
	}
	if !errors.Is(err, errAside) {
		s.published(j, given, err)
		return
	}
	c.aside(func() {
		if left != nil {
			<-left
		}
		short, cancel := context.WithTimeout(context.Background(), c.opt.Lost)
		defer cancel()
		err := send(func(b []byte) (string, error) { return c.opt.Blobs.Put(short, b) })
		c.send(func(s *state) { s.published(j, given, err) })
	})
}

// errAside: it takes too long to send the job within an event.
var errAside = errors.New("send it in a goroutine")

// unpublished hears that the server has not stored a job, or has not said so in time.
func (c *Coordinator) unpublished(m *nats.Msg, err error) {
	given := m.Header.Get(jetstream.MsgIDHeader)
	key := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	c.send(func(s *state) {
		if j := s.jobs[key]; j != nil {
			s.published(j, given, err)
		}
	})
}

// published notes that a job was sent. If that failed it may be stored all the same, so no
// other worker gets it: it is published again, which the server takes once.
func (s *state) published(j *job, given string, err error) {
	if s.jobs[j.Key] != j || j.worker == nil || j.given != given {
		return
	}
	if j.at = time.Now(); err == nil || fleet.IsThere(err) {
		return
	}
	if !s.stuck {
		s.stuck = true
		s.c.opt.Log(fmt.Sprintf("jobs wait for the server: %v", err))
	}
	time.AfterFunc(s.c.opt.Beat/2, func() {
		s.c.send(func(s *state) {
			if s.jobs[j.Key] == j && j.worker != nil && j.given == given {
				s.publish(j)
			}
		})
	})
}

// first are the short contents that the worker has not had.
func (w *worker) first(blobs *fleet.Blobs, t *fleet.Task) (short map[string][]byte) {
	for _, name := range t.Blobs() {
		if w.had[name] {
			continue
		}
		if content, ok := blobs.Short(name); ok {
			if short == nil {
				short = map[string][]byte{}
			}
			short[name], w.had[name] = content, true
		}
	}
	return short
}
