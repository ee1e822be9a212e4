package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
)

// maxQueue is how many jobs a worker keeps for each of its slots. A coordinator gives fewer.
const maxQueue = 64

// maxDone is how many jobs are remembered that were done.
const maxDone = 4096

var errCancelled = errors.New("its coordinator has given the job up")

// receive takes a job from the stream. It is called for one message after the other.
func (w *worker) receive(ctx, jobs context.Context, m jetstream.Msg) {
	parts := strings.Split(m.Subject(), ".")
	meta, err := m.Metadata()
	if err != nil || len(parts) != 5 {
		return
	}
	seq, key := meta.Sequence.Stream, fleet.Held{Coordinator: parts[3], Key: parts[4]}
	w.mu.Lock()
	known := w.again(key, seq, m)
	full := len(w.queue) >= maxQueue*w.slots()
	w.mu.Unlock()
	switch {
	case known:
		return
	case full:
		_ = m.NakWithDelay(w.Lease / 3)
		return
	}
	var job *fleet.Job
	err = eval.Shielded(func() (err error) {
		job, err = w.read(ctx, key, m)
		return err
	})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.Log(fmt.Sprintf("a job of %s was not taken: %v", fleet.Short(key.Coordinator), err))
		_ = m.Term()
		return
	}
	h := &held{Held: key, job: job, msgs: map[uint64]jetstream.Msg{seq: m}}
	h.ctx, h.cancel = context.WithCancelCause(jobs)
	w.mu.Lock()
	if w.draining {
		w.drop(h)
	} else {
		w.held[key] = h
		w.queue = append(w.queue, h)
		w.start()
	}
	w.mu.Unlock()
	w.soon()
}

// again notes a message of a job that the worker has or has done, and reports whether it is
// one. The caller has the lock.
func (w *worker) again(key fleet.Held, seq uint64, m jetstream.Msg) bool {
	if w.done[messageOf(key, m)] {
		_ = m.Ack() // the one before was lost on its way
		return true
	}
	if h := w.held[key]; h != nil {
		h.msgs[seq] = m
		return true
	}
	return false
}

func (w *worker) slots() int { return max(1, w.Offer.Slots) }

// read checks who has sent a job, and that it is this worker's.
func (w *worker) read(ctx context.Context, key fleet.Held, m jetstream.Msg) (*fleet.Job, error) {
	sender := fleet.Sender(key.Coordinator)
	job := new(fleet.Job)
	blob, err := fleet.OpenFrom(w.Conn.Key, sender, m.Subject(), m.Headers(), m.Data(), job)
	if err != nil {
		return nil, err
	}
	if blob != "" {
		body, err := w.body(ctx, blob)
		if err == nil {
			err = fleet.Decode(body, job)
		}
		if err != nil {
			return nil, fmt.Errorf("read it: %w", err)
		}
	}
	if _, err := w.Conn.Knows(sender, job.Rights, fleet.RoleCoordinator, ""); err != nil {
		return nil, err
	}
	if job.Worker != w.Conn.ID || job.Coordinator != key.Coordinator || job.Key != key.Key {
		return nil, errors.New("it is another job than its subject says")
	}
	for name, content := range job.Short {
		if err := w.Cache.Add(name, content); err != nil { // it is stored, too
			w.Log(fmt.Sprintf("keep what a job needs: %v", err))
		}
	}
	return job, nil
}

// body is a job's that is too large for a message. While the server is away it is waited for.
func (w *worker) body(ctx context.Context, blob string) (body []byte, err error) {
	for range 5 {
		short, cancel := context.WithTimeout(ctx, w.Lease)
		body, err = w.Blobs.Get(short, blob)
		cancel()
		if err == nil || errors.Is(err, fleet.ErrNoBlob) {
			break
		}
	}
	return body, err
}

// start begins jobs as long as there is room. The caller has the lock.
func (w *worker) start() {
	for len(w.queue) > 0 && w.running < w.slots() {
		h := w.queue[0]
		w.queue = w.queue[1:]
		h.starts = true
		w.running++
		w.ended.Go(func() { w.work(h) })
	}
}

// work has a job done and its result sent.
func (w *worker) work(h *held) {
	defer h.cancel(nil)
	w.mu.Lock()
	until, why := w.until, w.why
	w.mu.Unlock()
	var r *fleet.Result
	if time.Now().Before(until) {
		r = &fleet.Result{Failed: &fleet.Failure{Kind: eval.UsageLimit, ResetAt: until, Text: why}}
	} else {
		if err := eval.Shielded(func() error { r = w.attempt(h); return nil }); err != nil {
			r = &fleet.Result{Failed: w.failure(&cannot{err})}
		}
		w.learn(r)
	}
	w.mu.Lock()
	h.made = h.ctx.Err() == nil
	w.mu.Unlock()
	sent := h.ctx.Err() == nil && w.send(h, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if sent {
		w.count++
		if r.Failed != nil {
			w.failed++
		}
		for _, m := range h.msgs {
			w.remember(h.Held, m)
			_ = m.Ack() // or it comes again, and is known
		}
		if w.held[h.Held] == h {
			delete(w.held, h.Held)
		}
	}
	w.start()
	w.soon()
}

// messageOf names the message of a job.
func messageOf(job fleet.Held, m jetstream.Msg) message {
	return message{job, m.Headers().Get(jetstream.MsgIDHeader)}
}

// remember notes that a message's job is done. The caller has the lock.
func (w *worker) remember(job fleet.Held, m jetstream.Msg) {
	k := messageOf(job, m)
	w.done[k] = true
	if w.order = append(w.order, k); len(w.order) > maxDone {
		delete(w.done, w.order[0])
		w.order = w.order[1:]
	}
}

// learn parks the worker if its plan is used up, and notes that it cannot log in.
func (w *worker) learn(r *fleet.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.why
	switch f := r.Failed; {
	case f == nil:
		w.why = ""
	case f.Kind == eval.UsageLimit:
		if w.until = f.ResetAt; !w.until.After(time.Now()) {
			w.until = time.Now().Add(parked)
			f.ResetAt = w.until
		}
		w.why = w.clean("its plan is used up: " + f.Text)
	case f.Kind == eval.Auth:
		w.why = w.clean("cannot log in: " + f.Text)
	}
	if w.why != was && w.why != "" {
		w.Log(w.why)
	}
}

// take does what a coordinator orders at once. It may only give up its own jobs.
func (w *worker) take(m *nats.Msg) {
	var o fleet.Order
	if json.Unmarshal(m.Data, &o) != nil {
		return
	}
	from := o.From
	if from == "" && len(o.Cancel) > 0 {
		from = fleet.Sender(o.Cancel[0].Coordinator)
	}
	err := fleet.Open(from, m.Subject, m.Header, m.Data, &o)
	if err == nil && o.Purge {
		_, err = w.Conn.Knows(from, o.Rights, fleet.RoleCoordinator, "")
	}
	if err != nil {
		w.Log("an order was not followed: nobody who may give it has signed it")
		return
	}
	w.mu.Lock()
	for _, k := range o.Cancel {
		if h := w.held[k]; h != nil && !h.made && fleet.Sender(k.Coordinator) == from { // what is paid for may still be of use
			h.cancel(errCancelled)
			w.drop(h)
			w.queue = slices.DeleteFunc(w.queue, func(q *held) bool { return q == h })
		}
	}
	w.mu.Unlock()
	w.soon()
	var ack fleet.Ack
	if o.Purge {
		if ack.Purged, err = w.Cache.Clear(); err != nil {
			ack.Error = err.Error()
		}
	}
	if m.Reply == "" {
		return
	}
	if reply, err := fleet.Seal(w.Conn.Key, m.Reply, ack); err == nil {
		_ = m.RespondMsg(reply) // who hears nothing asks again
	}
}
