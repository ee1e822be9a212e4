package coordinator

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/problem"
)

// A Worker is one that has said hello or sent a result.
type Worker struct {
	Hello fleet.Hello
	// Why it gets no job, "" if it does.
	Why string
	// Until is when it may get jobs again, of a parked one.
	Until                       time.Time
	Given, Done, Refused, Again int // jobs: given, answered, refused answers, taken back
}

// A job is one attempt that is to be made.
type job struct {
	fleet.Job
	rollout, pair, avoid string
	done                 chan *outcome

	worker *worker   // that has it; nil: it waits
	at     time.Time // when its worker last named it, or it was sent
	given  string    // id of its message
	// settled: hello need not send it again. Its worker has named it, somebody waits for the
	// server to acknowledge it, or an earlier process has sent it.
	settled bool
	lost    int      // workers that were lost with it
	tried   []string // workers that brought no answer
	last    error    // why it is not done yet
	nobody  time.Time
	left    []<-chan struct{} // closed once what was sent and answered before is removed
}

// An outcome is how a job ended.
type outcome struct {
	worker string
	tried  []string      // workers that brought no answer
	result *fleet.Result // nil: err says why there is none
	err    error
}

// A worker is what the coordinator knows of one.
type worker struct {
	Worker
	id     string
	seen   time.Time
	has    map[string]*job
	takes  bool   // it has a consumer, or gets one now
	barred string // why it gets nothing any more in this run
	parked time.Time
	took   time.Duration        // about, by a job
	had    map[string]bool      // short contents
	freed  map[string]time.Time // jobs that it should give up, and when it was told
	others int                  // jobs of other runs that it has
	failed int                  // jobs in a row, in the infrastructure
	rests  time.Time            // until when it gets none because of that
}

// state belongs to the event whose turn it is.
type state struct {
	c       *Coordinator
	id      string           // of the run's coordinator
	stream  jetstream.Stream // of results
	workers map[string]*worker
	jobs    map[string]*job
	queue   []*job
	pairs   map[string]string   // who has the other arm
	arrived map[string]*arrival // by job, until the rollout is recorded
	keys    map[string][]string // jobs that have arrived, by rollout
	ended   map[string]bool     // rollouts that are recorded
	before  map[string]string   // who had which job when this process began
	heard   time.Time           // when any worker said something last
	stuck   bool                // jobs cannot be published
	closed  bool
	deliver []func() // the outcomes of jobs that this event has ended; called after it
	// live are the numbers in the stream of results that are not recorded, last is the largest
	// of all, and up to tidied they are deleted.
	live         map[uint64]bool
	last, tidied uint64
}

// An arrival is a result that has come.
type arrival struct {
	worker, key string
	seq         uint64
	result      *fleet.Result
	err         error
}

func newState(c *Coordinator) state {
	return state{c: c, workers: map[string]*worker{}, jobs: map[string]*job{}, pairs: map[string]string{},
		arrived: map[string]*arrival{}, keys: map[string][]string{}, ended: map[string]bool{}, live: map[uint64]bool{}}
}

func (s *state) submit(j *job) {
	now := time.Now()
	s.jobs[j.Key] = j
	if a := s.arrived[j.Key]; a != nil {
		if counts(j.Need, a) {
			s.arrive(a)
			return
		}
		// It is of a time before this process, and says nothing of what the worker can do now.
		s.drop(a, j)
	}
	for _, w := range s.workers { // one that a process before this one has given it to
		held := fleet.Held{Coordinator: s.id, Key: j.Key}
		if now.Sub(w.seen) < s.c.opt.Lost && (slices.Contains(w.Hello.Running, held) || slices.Contains(w.Hello.Queued, held)) {
			s.adopt(j, w, now)
			return
		}
	}
	if id := s.before[j.Key]; id != "" {
		delete(s.before, j.Key)
		s.adopt(j, s.worker(id, now), now)
		return
	}
	s.wait(j)
	s.schedule(now)
}

func (s *state) wait(j *job) {
	j.worker, j.nobody = nil, time.Time{}
	s.queue = append(s.queue, j)
}

// give notes that a worker has a job.
func (s *state) give(j *job, w *worker, now time.Time) {
	j.worker, j.at = w, now
	w.has[j.Key] = j
	j.given, j.settled = rand.Text(), false
	w.Given++
	delete(w.freed, j.Key)
	if j.pair != "" {
		s.pairs[j.pair] = w.id
	}
}

// adopt notes that a worker has a job that an earlier process sent it. It is not sent again: the
// id of its message is unknown here, so the server could not tell the copy.
func (s *state) adopt(j *job, w *worker, now time.Time) {
	s.give(j, w, now)
	j.settled = true
}

// takeBack has a job done by another worker.
func (s *state) takeBack(j *job, why error) {
	w := j.worker
	if w != nil {
		delete(w.has, j.Key)
		w.Again++
		j.tried = append(j.tried, w.id)
		w.freed[j.Key] = time.Now()
		s.order(w.id, fleet.Order{Cancel: []fleet.Held{{Coordinator: s.id, Key: j.Key}}})
		j.left = append(j.left, s.withdraw(w.id, j.Key))
	}
	j.lost, j.last = j.lost+1, why
	if s.c.opt.Log(fmt.Sprintf("given again: %.12s, because %v", j.Key, why)); j.lost > 4 {
		s.finish(j, &outcome{err: &eval.InfraError{Kind: eval.ServerError, RetryAfter: never, Err: fmt.Errorf("%d workers were lost with it, the last: %w", j.lost, why)}})
		return
	}
	s.wait(j)
}

// withdraw removes a job's message, if it is still there; "*" and ">" are all. Who gives the
// job again waits for the end, lest the new message is removed.
func (s *state) withdraw(worker, key string) (ended <-chan struct{}) {
	js, subject := s.c.opt.Conn.JS, fleet.JobSubject(worker, s.id, key)
	end := make(chan struct{})
	if !s.c.opt.Conn.Nats.IsConnected() {
		close(end) // the worker is told when it names the job
		return end
	}
	s.c.later(func() {
		defer close(end)
		short, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if jobs, err := js.Stream(short, fleet.Jobs); err == nil {
			_ = jobs.Purge(short, jetstream.WithPurgeSubject(subject)) // or it is done in vain
		}
	})
	return end
}

func (s *state) finish(j *job, out *outcome) {
	if j.worker != nil {
		delete(j.worker.has, j.Key)
	}
	delete(s.jobs, j.Key)
	out.tried = j.tried
	s.deliver = append(s.deliver, func() { j.done <- out })
}

// giveUp ends a job that nobody waits for.
func (s *state) giveUp(j *job) {
	if s.jobs[j.Key] != j {
		return
	}
	delete(s.jobs, j.Key)
	s.queue = slices.DeleteFunc(s.queue, func(q *job) bool { return q == j })
	if w := j.worker; w != nil {
		delete(w.has, j.Key)
		w.freed[j.Key] = time.Now()
		s.order(w.id, fleet.Order{Cancel: []fleet.Held{{Coordinator: s.id, Key: j.Key}}})
		s.withdraw(w.id, j.Key)
	}
}

func (s *state) close() {
	s.closed = true
	for _, j := range s.jobs {
		s.giveUp(j)
	}
	for _, w := range s.workers { // what a process before this one has given them
		s.order(w.id, fleet.Order{Cancel: slices.DeleteFunc(slices.Concat(w.Hello.Running, w.Hello.Queued), func(k fleet.Held) bool { return k.Coordinator != s.id })})
	}
	s.withdraw("*", ">")
	_ = s.c.opt.Conn.Nats.FlushTimeout(time.Second) // the orders
}

// refuses says why a worker gets no job of this run, "" if it may.
func (s *state) refuses(w *worker, need fleet.Need, now time.Time) string {
	o := &s.c.opt
	switch {
	case now.Sub(w.seen) > o.Lost:
		return "not heard of since " + w.seen.Local().Format("15:04:05")
	case w.barred != "":
		return w.barred
	case now.Before(w.parked):
		return cmp.Or(w.Hello.Why, "its plan is used up")
	}
	return w.Hello.Refuses(need, o.Vendors, now)
}

// room is how many more jobs a worker may have. If they are short, it gets the next ones
// before it is free, so that it does not wait for the coordinator.
func (w *worker) room() int {
	if time.Now().Before(w.rests) {
		return 0
	}
	n := max(1, w.Hello.Offer.Slots)
	if w.took > 0 && w.took < 2*time.Second {
		n *= 2
	}
	return n - len(w.has)
}

// schedule gives out what can be given out, the oldest first.
func (s *state) schedule(now time.Time) {
	if len(s.queue) == 0 || s.closed {
		return
	}
	free, full := map[fleet.Need][]*worker{}, map[fleet.Need]bool{}
	s.queue = slices.DeleteFunc(s.queue, func(j *job) bool {
		fit, known := free[j.Need]
		if !known {
			fit = s.usable(j.Need, now)
			free[j.Need] = fit
		}
		var w *worker
		if mate := s.pairs[j.pair]; j.pair != "" && mate != "" && mate != j.avoid {
			if at := slices.IndexFunc(fit, func(w *worker) bool { return w.id == mate }); at >= 0 {
				w = fit[at]
			}
		}
		if w == nil && !full[j.Need] {
			w = emptiest(fit, j.avoid)
			full[j.Need] = w == nil && j.avoid == ""
		}
		if w == nil {
			return false
		}
		s.give(j, w, now)
		s.publish(j)
		return true
	})
}

// usable are the workers that may have a job now, in a fixed order.
func (s *state) usable(need fleet.Need, now time.Time) (fit []*worker) {
	for _, w := range s.workers {
		if s.refuses(w, need, now) == "" {
			fit = append(fit, w)
		}
	}
	slices.SortFunc(fit, func(a, b *worker) int { return strings.Compare(a.id, b.id) })
	return fit
}

// emptiest is the worker with room that has the least to do by its slots, nil for none. The
// one to avoid is taken only if it is the only one.
func emptiest(free []*worker, avoid string) (best *worker) {
	for _, w := range free {
		if w.id == avoid && len(free) > 1 || w.room() <= 0 {
			continue
		}
		load := func(w *worker) float64 { return float64(len(w.has)+w.others) / float64(max(1, w.Hello.Offer.Slots)) }
		if best == nil || load(w) < load(best) {
			best = w
		}
	}
	return best
}

// tick looks for workers that are lost, and for jobs that nobody can do.
func (s *state) tick(now time.Time) {
	s.tidy()
	for _, w := range s.workers {
		if (s.heard.Sub(w.seen) > s.c.opt.Lost || now.Sub(w.seen) > s.c.opt.Wait) && len(w.has) > 0 {
			for _, j := range slices.Collect(maps.Values(w.has)) {
				s.takeBack(j, fmt.Errorf("worker %s is lost", name(&w.Hello)))
			}
		}
	}
	s.schedule(now)
	for _, j := range slices.Clone(s.queue) {
		switch {
		case len(s.usable(j.Need, now)) > 0:
			j.nobody = time.Time{}
		case j.nobody.IsZero():
			j.nobody = now
		case now.Sub(j.nobody) > s.c.opt.Wait:
			s.queue = slices.DeleteFunc(s.queue, func(q *job) bool { return q == j })
			s.finish(j, &outcome{err: s.nobody(j, now)})
		}
	}
}

// nobody is why no worker can do a job.
func (s *state) nobody(j *job, now time.Time) error {
	var reset time.Time
	all := len(s.workers) > 0
	var why []string
	for _, w := range s.list(j.Need, now) {
		if w.Until.IsZero() {
			all = false
		} else if reset.IsZero() || w.Until.Before(reset) {
			reset = w.Until
		}
		why = append(why, fmt.Sprintf("%s %s", name(&w.Hello), w.Why))
	}
	text := "no worker has joined the fleet"
	if len(why) > 0 {
		text = "no worker can take a job: " + strings.Join(why, "; ")
	}
	if all {
		return &eval.InfraError{Kind: eval.UsageLimit, ResetAt: reset, Err: errors.New(text)}
	}
	if j.last != nil {
		text += fmt.Sprintf(" (the last: %v)", j.last)
	}
	return &eval.InfraError{Kind: eval.Refused, Err: problem.Stoppedf("start workers that fit, then continue: `evolve fleet status` says what there is", "%s", text)}
}

// list describes the workers.
func (s *state) list(need fleet.Need, now time.Time) (out []Worker) {
	for _, w := range s.workers {
		x := w.Worker
		x.Why = s.refuses(w, need, now)
		if until := later(w.parked, w.Hello.Parked); x.Why != "" && until.After(now) {
			x.Until = until
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b Worker) int {
		return cmp.Or(strings.Compare(a.Hello.Name, b.Hello.Name), strings.Compare(a.Hello.Worker, b.Hello.Worker))
	})
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// never is a pause for which no Evaluator waits: the rollout is missing at once, instead of
// being given to as many workers again.
const never = 24 * time.Hour
