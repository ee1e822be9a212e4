// Package worker replays for the runs of a fleet: it says what it has, makes the attempts that
// coordinators give to it, and sends what came of them.
package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
)

// Options are what a worker works with. Set all but those that may be nil or zero.
type Options struct {
	Conn  *fleet.Conn
	Blobs *fleet.Blobs
	Cache *Cache
	Name  string
	Offer fleet.Offer // what it has; no other agents are opened
	// Open opens an agent that the offer names, with what loads of its owner; nil: nothing.
	Open func(ctx context.Context, need fleet.Need, owner *setup.Set) (eval.Agent, error)
	// Clean takes this machine's own keys out of a text; nil: there are none.
	Clean func(string) string
	// Drain, once it is closed, ends the worker when it has done what it does.
	Drain <-chan struct{}
	// Log gets a line about each thing that went wrong, Tell one about what was done, at most
	// every minute; nil: nobody is told.
	Log, Tell func(line string)

	Beat, Lease time.Duration    // fleet's if they are 0; tests have shorter ones
	Now         func() time.Time // of attempts; nil: time.Now
}

// parked is for how long a worker takes no jobs whose plan is used up until nobody knows when.
const parked = 15 * time.Minute

// A worker is one that runs.
type worker struct {
	Options
	instance string
	kick     chan struct{} // says hello soon
	ended    sync.WaitGroup
	asked    atomic.Bool // who is there: the answer is to come

	mu       sync.Mutex
	held     map[fleet.Held]*held // what it lists in its hello
	queue    []*held
	running  int
	done     map[message]bool
	order    []message // of done
	count    int64     // of jobs done
	failed   int64
	draining bool
	until    time.Time // parked
	why      string
	agents   map[string]*opened
}

// A message brought a job. The server may store it twice under the same id: when it starts again
// it forgets the ids of messages that it has deleted.
type message struct {
	fleet.Held
	id string
}

// A held is a job that the worker has.
type held struct {
	fleet.Held
	job    *fleet.Job
	msgs   map[uint64]jetstream.Msg // that have it, by their sequence
	starts bool
	made   bool // the attempt: only its result is still to be sent
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Run works until Drain is closed and what was under way has ended, which is no error, or
// until ctx ends, which ends all attempts at once.
func Run(ctx context.Context, o Options) error {
	for d, or := range map[*time.Duration]time.Duration{&o.Beat: fleet.Beat, &o.Lease: fleet.Lease} {
		*d = cmp.Or(*d, or)
	}
	for _, f := range []*func(string){&o.Log, &o.Tell} {
		if *f == nil {
			*f = func(string) {}
		}
	}
	w := &worker{Options: o, instance: rand.Text(), kick: make(chan struct{}, 1), held: map[fleet.Held]*held{}, done: map[message]bool{}, agents: map[string]*opened{}}
	orders, err := o.Conn.Nats.Subscribe(fleet.OrderSubject(o.Conn.ID), func(m *nats.Msg) { w.shield(func() { w.take(m) }) })
	if err != nil {
		return fmt.Errorf("listen to orders: %w", err)
	}
	defer func() { _ = orders.Unsubscribe() }() // the connection ends, too
	who, err := o.Conn.Nats.Subscribe(fleet.Who, func(*nats.Msg) { w.shield(w.answer) })
	if err != nil {
		return fmt.Errorf("listen to coordinators: %w", err)
	}
	defer func() { _ = who.Unsubscribe() }()
	o.Conn.Nats.SetReconnectHandler(func(*nats.Conn) { w.soon() }) // a coordinator may have begun meanwhile
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	pulls, stop := context.WithCancel(ctx)
	defer stop()
	var loops sync.WaitGroup
	beats, quit := context.WithCancel(ctx)
	defer quit()
	for _, loop := range []func() error{func() error { return w.beat(beats) }, func() error { return w.extend(beats) }, func() error { return w.pull(pulls, ctx) }} {
		loops.Go(func() {
			if err := eval.Shielded(loop); err != nil {
				kill(err)
			}
		})
	}
	select {
	case <-o.Drain:
		stop()
		w.drain(true)
	case <-ctx.Done():
		w.drain(false)
	}
	w.ended.Wait()
	quit()
	loops.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	w.hello()
	return o.Conn.Nats.FlushTimeout(5 * time.Second)
}

// refused returns an error once the server has not let this worker in for some time: it has
// been revoked, or its invitation has expired. A result can be sent no more.
func (w *worker) refused(since *time.Time) error {
	err := w.Conn.In.Explain(w.Conn.Nats.LastError(), time.Now())
	if kind, _ := problem.Of(err); w.Conn.Nats.IsConnected() || kind != problem.Refused {
		*since = time.Time{}
		return nil
	}
	if since.IsZero() {
		*since = time.Now()
	}
	if time.Since(*since) < insists*w.Beat {
		return nil
	}
	return err
}

// insists is for how many beats a worker asks a server that refuses it to let it in.
const insists = 15

// drain begins nothing any more, and gives back what has not begun, so that others need not
// wait until it is delivered again.
func (w *worker) drain(back bool) {
	w.mu.Lock()
	w.draining = true
	for _, h := range w.queue {
		if back {
			w.drop(h)
		}
	}
	w.queue = nil
	w.mu.Unlock()
	w.soon()
}

// drop forgets a job and its messages; the caller has the lock.
func (w *worker) drop(h *held) {
	if w.held[h.Held] == h {
		delete(w.held, h.Held)
	}
	for _, m := range h.msgs {
		w.remember(h.Held, m)
		_ = m.Term() // or it is delivered again, and is known
	}
}

// soon has a hello said.
func (w *worker) soon() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// beat says hello, and tells what was done. It ends with ctx, or with an error if the worker
// is let in no more.
func (w *worker) beat(ctx context.Context) error {
	tick, minute := time.NewTicker(w.Beat), time.NewTicker(time.Minute)
	defer tick.Stop()
	defer minute.Stop()
	var told int64
	var since time.Time
	for {
		w.hello()
		if err := w.refused(&since); err != nil {
			return err
		}
		if err := eval.Sleep(ctx, w.Beat/2); err != nil { // changes come in bunches
			return nil
		}
		select {
		case <-w.kick:
		case <-tick.C:
		case <-minute.C:
			told = w.tell(told)
			if err := w.Cache.Sweep(); err != nil {
				w.Log(err.Error())
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (w *worker) tell(told int64) int64 {
	w.mu.Lock()
	done, failed, running := w.count, w.failed, w.running
	w.mu.Unlock()
	if done != told {
		line := fmt.Sprintf("%s done, %d at work", plain.Counted(int(done), "job"), running)
		if failed > 0 {
			line += fmt.Sprintf("; %d could not be done", failed)
		}
		w.Tell(line)
	}
	return done
}

// hello says what the worker has and does.
func (w *worker) hello() {
	w.mu.Lock()
	h := fleet.Hello{Worker: w.Conn.ID, Rights: w.Conn.In.JWT, Name: w.Name, Instance: w.instance, Offer: w.Offer, Done: w.count, Failed: w.failed, Draining: w.draining, Why: w.why}
	if w.until.After(time.Now()) {
		h.Parked = w.until
	}
	for k, j := range w.held {
		if j.starts {
			h.Running = append(h.Running, k)
		} else {
			h.Queued = append(h.Queued, k)
		}
	}
	w.mu.Unlock()
	if m, err := fleet.Seal(w.Conn.Key, fleet.HelloSubject(w.Conn.ID), h); err == nil {
		_ = w.Conn.Nats.PublishMsg(m) // the next one may be heard
	}
}

// answer says hello to coordinators that ask who is there, once to all that ask within a moment.
// A hello from before they asked does not count: they may not have listened yet.
func (w *worker) answer() {
	if w.asked.CompareAndSwap(false, true) {
		time.AfterFunc(w.Beat/100, func() {
			w.asked.Store(false)
			w.shield(w.hello)
		})
	}
}

// extend keeps the jobs that the worker has from being delivered again.
func (w *worker) extend(ctx context.Context) error {
	tick := time.NewTicker(w.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		w.mu.Lock()
		for _, h := range w.held {
			for _, m := range h.msgs {
				_ = m.InProgress()
			}
		}
		w.mu.Unlock()
	}
}

// pull takes jobs. The consumer is there once a coordinator has heard of the worker, and may
// be made again.
func (w *worker) pull(ctx, jobs context.Context) error {
	for ctx.Err() == nil {
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		consumer, err := w.Conn.JS.Consumer(short, fleet.Jobs, w.Conn.ID)
		cancel()
		if err != nil {
			_ = eval.Sleep(ctx, w.Beat/4)
			continue
		}
		took, err := consumer.Consume(func(m jetstream.Msg) { w.shield(func() { w.receive(ctx, jobs, m) }) })
		if err != nil {
			_ = eval.Sleep(ctx, w.Beat)
			continue
		}
		for there := true; there && ctx.Err() == nil; {
			select {
			case <-took.Closed():
				there = false
			case <-time.After(w.Lease):
				short, cancel := context.WithTimeout(ctx, 5*time.Second)
				_, err := w.Conn.JS.Consumer(short, fleet.Jobs, w.Conn.ID)
				cancel()
				there = !errors.Is(err, jetstream.ErrConsumerNotFound)
			case <-ctx.Done():
			}
		}
		took.Stop()
	}
	return nil
}

// shield reports a panic over what somebody has sent, and goes on.
func (w *worker) shield(f func()) {
	if err := eval.Shielded(func() error { f(); return nil }); err != nil {
		w.Log(err.Error())
	}
}
