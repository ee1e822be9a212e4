package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval/fleet"
)

// publish sends a job to its worker, and does not wait for the server's acknowledgement, which
// would cost as much as reading the result. A worker names the jobs that it has; if it does not
// name this one for two beats, hello calls publish again, which waits. The message keeps its
// id, so the server stores it once.
func (s *state) publish(j *job) {
	w, c := j.worker, s.c
	j.Worker, j.Rights = w.id, c.opt.Conn.In.JWT
	body, given, left := j.Job, j.given, j.left
	body.Short = w.first(c.opt.Blobs, &j.Task)
	seal := func(put func([]byte) (string, error)) (*nats.Msg, error) {
		m, err := fleet.SealFor(c.opt.Conn.Key, body.Worker, fleet.JobSubject(body.Worker, body.Coordinator, body.Key), body, put)
		if err == nil {
			m.Header.Set(jetstream.MsgIDHeader, given)
		}
		return m, err
	}
	if len(left) == 0 && !j.settled {
		m, err := seal(func([]byte) (string, error) { return "", errAside })
		if err == nil {
			err = c.opt.Conn.Nats.PublishMsg(m)
		}
		if !errors.Is(err, errAside) {
			s.published(j, given, err)
			return
		}
	}
	again := j.settled
	j.settled = true
	c.aside(func() {
		for _, removed := range left {
			<-removed
		}
		short, cancel := context.WithTimeout(c.inner, c.opt.Lost)
		defer cancel()
		m, err := seal(func(b []byte) (string, error) { return c.opt.Blobs.Put(short, b) })
		var ack *jetstream.PubAck
		if err == nil {
			wanted := false
			if c.send(func(s *state) {
				if wanted = s.waits(j, given); wanted && !again {
					j.at = time.Now()
				}
			}); !wanted {
				return
			}
			soon, cancel := context.WithTimeout(short, c.opt.Lost/3) // before it would be taken back
			defer cancel()
			ack, err = c.opt.Conn.JS.PublishMsg(soon, m)
		}
		if err == nil && ack.Duplicate {
			return // it was stored the first time, and the worker's time counts from then
		}
		c.send(func(s *state) { s.published(j, given, err) })
	})
}

// errAside: it takes too long to send the job within an event.
var errAside = errors.New("send it in a goroutine")

// waits reports whether a job is still with the worker that it was given to in this message.
func (s *state) waits(j *job, given string) bool {
	return s.jobs[j.Key] == j && j.worker != nil && j.given == given
}

// published notes that a job was sent. If that failed it may be stored all the same, so no
// other worker gets it: it is published again, which the server takes once.
func (s *state) published(j *job, given string, err error) {
	if !s.waits(j, given) {
		return
	}
	if j.at = time.Now(); err == nil || fleet.IsThere(err) {
		return
	}
	if j.settled = true; !s.stuck {
		s.stuck = true
		s.c.opt.Log(fmt.Sprintf("jobs wait for the server: %v", err))
	}
	time.AfterFunc(s.c.opt.Beat/2, func() {
		s.c.send(func(s *state) {
			if s.waits(j, given) {
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
