// Package coordinator has the attempts of a run made by the workers of a fleet. It alone
// decides who makes which; budget, records and grading stay with the run.
package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
)

// Options are what a coordinator works with. Set all but those that may be nil or zero.
type Options struct {
	Conn  *fleet.Conn
	Blobs *fleet.Blobs
	// Program and Sandbox are what every job needs, and Agent is who answers unless an
	// Evaluator has another one.
	Program, Sandbox string
	Agent            eval.Identity
	// Vendors may get the text of requests; a worker whose agent asks another one gets no job.
	Vendors []string
	// Clear returns an error if the text of a task may not be sent; nil: it may.
	Clear func(ctx context.Context, t eval.Task) error
	// Pack makes a task that can travel. An *eval.StaysError means that it has to be done here.
	Pack func(ctx context.Context, t eval.Task) (fleet.Task, error)
	// Apply brings a folder of this machine to the state that a worker left.
	Apply func(ctx context.Context, dir string, c *fleet.Changes) error
	// Here makes the attempts of an agent of this identity that cannot travel.
	Here func(id eval.Identity) eval.Executor
	// Workspaces makes the folders in which checks look; nil: the agent works in none.
	Workspaces eval.Workspaces
	// Log gets a line about each thing that went wrong; nil: nobody is told.
	Log func(line string)

	// Wait is how long no worker may be able to take a job before the run ends; 0 is a
	// minute. Lost and Beat are fleet's if they are 0; tests have shorter ones.
	Wait, Lost, Beat time.Duration
}

// A Coordinator is an eval.Executor. Open it, and close it when the run is over.
type Coordinator struct {
	opt    Options
	inner  context.Context // until it is closed
	cancel context.CancelFunc
	mu     sync.Mutex // of Continue, and of late
	id     string
	late   []eval.Cost
	tidy   sync.WaitGroup

	results jetstream.ConsumeContext

	turn sync.Mutex // of what is below
	bug  error      // a panic that ended it
	state
}

// An event changes the state. It must not call send, which would wait for ever.
type event func(*state)

var (
	_ eval.Executor = (*Coordinator)(nil)
	_ eval.Keeper   = (*Coordinator)(nil)
)

// Open connects the coordinator, and hears the first words of the workers.
func Open(ctx context.Context, o Options) (*Coordinator, error) {
	for d, or := range map[*time.Duration]time.Duration{&o.Wait: time.Minute, &o.Lost: fleet.Lost, &o.Beat: fleet.Beat} {
		if *d == 0 {
			*d = or
		}
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &Coordinator{opt: o, cancel: cancel, inner: inner}
	c.state = newState(c)
	var err error
	if c.stream, err = o.Conn.JS.Stream(ctx, fleet.Results); err != nil {
		cancel()
		return nil, fmt.Errorf("find the fleet's streams: %w", err)
	}
	if _, err := o.Conn.Nats.Subscribe(fleet.HelloSubject("*"), func(m *nats.Msg) { c.guard(func() { c.greet(m) }) }); err != nil {
		cancel()
		return nil, err
	}
	c.later(c.tick)
	// Those that are there answer; others are heard within a beat.
	err = o.Conn.Nats.Publish(fleet.Who, nil)
	for _, wait := range []time.Duration{o.Beat / 5, o.Beat} {
		if err == nil && len(c.All()) == 0 {
			err = eval.Sleep(ctx, wait)
		}
	}
	for heard := -1; err == nil && heard < len(c.All()); { // until nobody else does for a moment
		heard = len(c.All())
		err = eval.Sleep(ctx, o.Beat/10)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Continue names the run, before its first attempt. A process that continues the run with the
// same name and key gets the results of its predecessor. A name is one word of a subject.
func (c *Coordinator) Continue(ctx context.Context, run string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results != nil {
		return nil
	}
	id := fleet.CoordinatorID(c.opt.Conn.ID, run)
	c.id = id
	jobs, err := c.opt.Conn.JS.Stream(ctx, fleet.Jobs)
	if err != nil {
		return fmt.Errorf("find the fleet's streams: %w", err)
	}
	given, err := jobs.Info(ctx, jetstream.WithSubjectFilter(fleet.JobSubject("*", c.id, ">")))
	if err != nil {
		return fmt.Errorf("see which jobs were given before: %w", err)
	}
	// What was given before stays with its worker, which may not have been heard yet.
	before := map[string]string{}
	for subject := range given.State.Subjects {
		if parts := strings.Split(subject, "."); len(parts) == 5 {
			before[parts[4]] = parts[2]
		}
	}
	c.send(func(s *state) { s.id, s.before = id, before })
	consumer, err := c.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{fleet.ResultSubject(c.id, "*", ">")}})
	if err != nil {
		return fmt.Errorf("wait for results: %w", err)
	}
	read := make(chan struct{})
	all := sync.OnceFunc(func() { close(read) })
	if info := consumer.CachedInfo(); info == nil || info.NumPending == 0 {
		all()
	}
	c.results, err = consumer.Consume(func(m jetstream.Msg) {
		meta, err := m.Metadata()
		if err != nil {
			return
		}
		if c.guard(func() { c.receive(c.inner, m, meta.Sequence.Stream, isClosed(read)) }); meta.NumPending == 0 {
			all()
		}
	})
	if err != nil {
		return fmt.Errorf("wait for results: %w", err)
	}
	select {
	case <-read:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.inner.Done():
		return c.over()
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Close gives up what is under way, and forgets the results that were recorded.
func (c *Coordinator) Close() {
	c.send(func(s *state) { s.close(); c.cancel() })
	if c.results != nil {
		c.results.Stop()
	}
	c.tidy.Wait()
	c.forget(c.state.recordedBefore())
}

// send does what an event asks for, one after the other, then delivers the outcomes of the jobs
// that it has ended. It reports whether the coordinator is still open.
func (c *Coordinator) send(e event) bool {
	c.turn.Lock()
	open := c.inner.Err() == nil
	if open {
		if err := eval.Shielded(func() error { e(&c.state); return nil }); err != nil {
			c.fail(err)
		}
	}
	deliver := c.deliver
	c.deliver = nil
	c.turn.Unlock()
	for _, outcome := range deliver { // after the turn: whoever receives an outcome calls send at once
		outcome()
	}
	return open
}

// fail ends the coordinator for a bug; the caller has the turn.
func (c *Coordinator) fail(err error) {
	c.bug = cmp.Or(c.bug, err)
	c.cancel()
}

// guard calls f. A panic in it is a bug after which a job could wait for ever, so it ends the
// coordinator: every job under way returns it as its error.
func (c *Coordinator) guard(f func()) {
	if err := eval.Shielded(func() error { f(); return nil }); err != nil {
		c.send(func(*state) { c.fail(err) })
	}
}

// aside is guard in a goroutine.
func (c *Coordinator) aside(f func()) { go c.guard(f) }

// later is aside, and Close waits for it.
func (c *Coordinator) later(f func()) {
	c.tidy.Add(1)
	c.aside(func() {
		defer c.tidy.Done()
		f()
	})
}

// over is why it is no longer open.
func (c *Coordinator) over() error {
	c.turn.Lock()
	defer c.turn.Unlock()
	return cmp.Or(c.bug, errClosed)
}

var errClosed = errors.New("the fleet's coordinator is closed")

// tick does what the time asks for, until the coordinator is closed.
func (c *Coordinator) tick() {
	tick := time.NewTicker(c.opt.Beat / 2)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.send(func(s *state) { s.tick(time.Now()) })
		case <-c.inner.Done():
			return
		}
	}
}

// Recorded implements eval.Keeper.
func (c *Coordinator) Recorded(key string) {
	c.send(func(s *state) { s.recorded(key) })
}

// Late implements eval.Keeper.
func (c *Coordinator) Late() []eval.Cost {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := c.late
	c.late = nil
	return late
}

// forget deletes the results before a number in the stream, all of which are recorded.
func (c *Coordinator) forget(before uint64) {
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	if id == "" || !c.opt.Conn.Nats.IsConnected() {
		return // they are deleted later, or expire
	}
	short, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = c.stream.Purge(short, jetstream.WithPurgeSubject(fleet.ResultSubject(id, "*", ">")), jetstream.WithPurgeSequence(before))
}

// do has a job done, and waits for its result.
func (c *Coordinator) do(ctx context.Context, j *job) (*outcome, error) {
	j.done = make(chan *outcome, 1)
	if !c.send(func(s *state) { s.submit(j) }) {
		return nil, c.over()
	}
	select {
	case out := <-j.done:
		return out, nil
	case <-ctx.Done():
		c.send(func(s *state) { s.giveUp(j) })
		return nil, ctx.Err()
	case <-c.inner.Done():
		return nil, c.over()
	}
}

// Workers are the ids of the workers that can take jobs of this run now.
func (c *Coordinator) Workers() (ids []string) {
	for _, w := range c.Usable() {
		ids = append(ids, w.Hello.Worker)
	}
	return ids
}

// Slots is how many attempts they make at a time.
func (c *Coordinator) Slots() (n int) {
	for _, w := range c.Usable() {
		n += w.Hello.Offer.Slots
	}
	return n
}

// Usable are the workers that can take jobs of this run now.
func (c *Coordinator) Usable() (out []Worker) {
	for _, w := range c.All() {
		if w.Why == "" {
			out = append(out, w)
		}
	}
	return out
}

// All lists the workers that have said hello or sent a result.
func (c *Coordinator) All() (out []Worker) {
	c.send(func(s *state) { out = s.list(c.need(c.opt.Agent), time.Now()) })
	return out
}

// Describe says in a line who replays, and in another one who does not, and why.
func (c *Coordinator) Describe() (lines []string) {
	var why []string
	slots, n := 0, 0
	for _, w := range c.All() {
		if w.Why != "" {
			why = append(why, name(&w.Hello)+" "+w.Why)
			continue
		}
		slots, n = slots+w.Hello.Offer.Slots, n+1
	}
	switch {
	case n == 1:
		lines = append(lines, fmt.Sprintf("one worker replays, %d at a time; no text is better by the word of one alone", slots))
	case n > 0:
		lines = append(lines, fmt.Sprintf("%d workers replay, %d at a time", n, slots))
	default:
		lines = append(lines, fmt.Sprintf("no worker is there yet; the run waits %v for one", c.opt.Wait))
	}
	if len(why) > 0 {
		lines = append(lines, "not for this run: "+strings.Join(why, "; "))
	}
	return lines
}
