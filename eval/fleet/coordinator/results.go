package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
)

// receive takes a result from the stream. One that is a blob is read meanwhile, or at once:
// whoever continues a run must not give a job that has been answered.
func (c *Coordinator) receive(ctx context.Context, m jetstream.Msg, seq uint64, meanwhile bool) {
	parts := strings.Split(m.Subject(), ".")
	if len(parts) != 5 {
		return
	}
	a := &arrival{worker: parts[3], key: parts[4], seq: seq, result: new(fleet.Result)}
	large := ""
	// A worker could answer under keys that it has made up, and so bear itself out.
	_, err := c.opt.Conn.Knows(a.worker, m.Headers().Get(fleet.Rights), fleet.RoleWorker, "")
	if err != nil {
		err = fmt.Errorf("%w: %w", fleet.ErrSignature, err)
	} else {
		large, err = fleet.OpenFrom(c.opt.Conn.Key, a.worker, m.Subject(), m.Headers(), m.Data(), a.result)
	}
	if err == nil && large != "" {
		c.send(func(s *state) {
			s.live[a.seq], s.last = true, max(s.last, a.seq)
			if j := s.jobs[a.key]; j != nil {
				j.settled = true // it was stored: here is an answer to it
			}
		})
		read := func() {
			body, err := c.body(ctx, large)
			if err == nil {
				err = fleet.Decode(body, a.result)
			}
			a.err = err
			c.send(func(s *state) { s.arrive(a) })
		}
		if meanwhile {
			c.aside(read)
		} else {
			read()
		}
		return
	}
	if errors.Is(err, fleet.ErrSignature) { // not of the worker that it names: it must not harm that
		c.opt.Log(fmt.Sprintf("an answer to %.12s is not read: %v", a.key, err))
		c.send(func(s *state) { s.last = max(s.last, a.seq) })
		return
	}
	a.err = err
	c.send(func(s *state) { s.arrive(a) })
}

// body is that of a large result, which is paid for: a server that is away is waited for.
func (c *Coordinator) body(ctx context.Context, blob string) (body []byte, err error) {
	for n := 1; ; n++ {
		body, err = c.opt.Blobs.Get(ctx, blob)
		if err == nil || errors.Is(err, fleet.ErrNoBlob) || n >= 5 && c.opt.Conn.Nats.IsConnected() || eval.Sleep(ctx, c.opt.Beat) != nil {
			return body, err
		}
	}
}

// arrive takes a result.
func (s *state) arrive(a *arrival) {
	if s.live[a.seq] = true; a.seq > s.last {
		s.last = a.seq
	}
	s.stuck = false
	j := s.jobs[a.key]
	switch {
	case j == nil && s.ended[rolloutOf(a.key)]:
		s.tooLate(a)
		return
	case j == nil: // of a process before this one, it may be asked for; or a second answer
		if s.arrived[a.key] == nil {
			s.arrived[a.key] = a
			s.keys[rolloutOf(a.key)] = append(s.keys[rolloutOf(a.key)], a.key)
		} else if s.arrived[a.key].seq != a.seq {
			s.tooLate(a)
		}
		return
	}
	w := s.worker(a.worker, time.Now())    // it may have said nothing since this process began
	if errors.Is(a.err, fleet.ErrNoBlob) { // purged meanwhile, it may be: a worker is not to blame
		s.drop(a, j)
		if j.worker == w {
			s.takeBack(j, fmt.Errorf("what worker %s answered is gone", name(&w.Hello)))
			s.schedule(time.Now())
		}
		return
	}
	if why := wrong(j.Need, a); why != "" {
		w.Refused++
		s.drop(a, j)
		s.c.opt.Log(fmt.Sprintf("an answer of %s is refused: %s", name(&w.Hello), why))
		w.barred = "an answer of it was refused: " + why
		s.again(j, w, errors.New(w.barred))
		return
	}
	r := a.result
	if f := r.Failed; f != nil {
		switch f.Kind {
		case fleet.NotMine:
			w.barred = f.Text
		case eval.Auth:
			w.barred = "cannot log in: " + f.Text
		case eval.UsageLimit:
			if w.parked = f.ResetAt; !w.parked.After(time.Now()) {
				w.parked = time.Now().Add(parked)
			}
		case fleet.NoBlob:
			s.c.opt.Blobs.Forget(f.Text)
			f.Kind = eval.Unreachable // the Evaluator makes the attempt again, which stores it
		}
		if f.Kind == fleet.NotMine || f.Kind == eval.Auth || f.Kind == eval.UsageLimit {
			s.drop(a, j)
			s.again(j, w, f.Err(name(&w.Hello)))
			return
		}
	}
	if w.failed++; r.Failed == nil {
		w.failed = 0
	} else if w.failed >= 3 { // at once, it may be: then it would get all jobs
		w.rests = time.Now().Add(min(30*time.Second, s.c.opt.Wait/2))
		delete(s.pairs, j.pair)
	}
	if took := r.Attempt.Duration; took > 0 && r.Failed == nil {
		if w.took == 0 {
			w.took = took
		}
		w.took += (took - w.took) / 8
	}
	w.Done++
	if j.worker != nil && j.worker != w { // another one has it by now
		s.takeFrom(j)
	}
	if s.arrived[a.key] == nil {
		s.arrived[a.key] = a
		s.keys[j.rollout] = append(s.keys[j.rollout], a.key)
	}
	s.finish(j, &outcome{worker: a.worker, result: r})
	s.schedule(time.Now())
}

// parked is how long a worker gets no job if it does not say until when its plan is used up.
const parked = 15 * time.Minute

// again gives a job to another worker than w, which has answered that it cannot do it.
func (s *state) again(j *job, w *worker, why error) {
	if j.worker != nil && j.worker != w {
		return // it has another one already
	}
	delete(w.has, j.Key)
	j.tried = append(j.tried, w.id)
	if delete(s.pairs, j.pair); j.worker != nil {
		j.last = why
		s.wait(j)
	}
	s.schedule(time.Now())
}

// takeFrom has a worker give up a job that another one has answered.
func (s *state) takeFrom(j *job) {
	w := j.worker
	delete(w.has, j.Key)
	w.freed[j.Key] = time.Now()
	s.order(w.id, fleet.Order{Cancel: []fleet.Held{{Coordinator: s.id, Key: j.Key}}})
	s.withdraw(w.id, j.Key)
}

// wrong is why a result does not count, "" if it does.
func wrong(n fleet.Need, a *arrival) string {
	r := a.result
	switch {
	case a.err != nil:
		return a.err.Error()
	case r.Key != a.key:
		return "it is of another job"
	case r.Protocol != fleet.Protocol:
		return fmt.Sprintf("protocol %d", r.Protocol)
	case r.Failed != nil:
		return ""
	case r.Program != n.Program:
		return fmt.Sprintf("made by evolve %s, and this is %s", r.Program, n.Program)
	case r.Agent.Backend != n.Backend || r.Agent.Version != n.Version:
		return fmt.Sprintf("made by %s %s, and this run has %s %s", r.Agent.Backend, r.Agent.Version, n.Backend, n.Version)
	case r.Agent.Model != n.Model:
		return fmt.Sprintf("made with the model %q, and this run has %q", r.Agent.Model, n.Model)
	case r.Sandbox != n.Sandbox:
		return fmt.Sprintf("made with the sandbox %s, and this run has %s", r.Sandbox, n.Sandbox)
	case r.Params != n.Params:
		return fmt.Sprintf("made with other parameters (%s), and this run has %s", r.Params, n.Params)
	}
	return ""
}

// counts reports whether an answer that was there before the job was given answers it.
func counts(n fleet.Need, a *arrival) bool {
	if wrong(n, a) != "" {
		return false
	}
	f := a.result.Failed
	return f == nil || f.Kind != fleet.NotMine && f.Kind != eval.Auth && f.Kind != eval.UsageLimit
}

// recorded forgets the results of a rollout.
func (s *state) recorded(rollout string) {
	for _, key := range s.keys[rollout] {
		if a := s.arrived[key]; a != nil {
			s.remove(a.seq)
		}
		delete(s.arrived, key)
	}
	delete(s.keys, rollout)
	s.ended[rollout] = true
}

// rolloutOf is that of a job.
func rolloutOf(key string) string {
	rollout, _, _ := strings.Cut(key, "-")
	return rollout
}

// tooLate drops the second answer to a job, of a worker that was taken to be lost.
func (s *state) tooLate(a *arrival) {
	s.lose(a)
	s.c.opt.Log(fmt.Sprintf("%s has answered %.12s too late: there was an answer already", fleet.Short(a.worker), a.key))
	s.remove(a.seq)
}

// lose has an answer that does not count be paid for.
func (s *state) lose(a *arrival) {
	r := a.result
	if a.err != nil || r.Failed != nil && r.Attempt.Usage == nil && r.Attempt.CostUSD == nil {
		return
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.late = append(s.c.late, eval.Cost{Usage: r.Attempt.Usage, USD: r.Attempt.CostUSD})
}

// drop forgets an answer that does not count, and has the server delete it. The server stores one
// answer of a worker to a job, so the job is given again only after that.
func (s *state) drop(a *arrival, j *job) {
	delete(s.arrived, a.key)
	s.lose(a)
	s.remove(a.seq)
	deleted := make(chan struct{})
	j.left = append(j.left, deleted)
	s.c.later(func() {
		defer close(deleted)
		short, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.stream.DeleteMsg(short, a.seq) // else it is deleted with those that are recorded
	})
}

func (s *state) remove(seq uint64) { delete(s.live, seq) }

// recordedBefore is the number in the stream before which all results are recorded.
func (s *state) recordedBefore() uint64 {
	low := s.last + 1
	for seq := range s.live {
		low = min(low, seq)
	}
	return low
}

// tidy deletes recorded results.
func (s *state) tidy() {
	if before := s.recordedBefore(); before > s.tidied+1 {
		s.tidied = before - 1
		s.c.later(func() {
			s.c.forget(before)
		})
	}
}

func name(h *fleet.Hello) string { return h.Name + " (" + fleet.Short(h.Worker) + ")" }
