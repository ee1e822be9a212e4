package fleet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
)

// workers is how many a fleet of these tests has, each with two slots.
const workers = 3

// A fault is one thing that went wrong.
type fault struct {
	kind, target string // "" is the server, run the run, else a worker's id
	from, to     time.Time
	seed         int64 // of the job that was published again
}

const (
	kills      = "killed"
	stops      = "stopped"
	freezes    = "frozen network"
	cuts       = "cut network"
	fills      = "full disk"
	publishes  = "published again"
	theRun     = "run"
	fieldNames = 4 // of a line of the log
)

// A member is a process with a network of its own.
type member struct {
	part
	id   string
	wire *wire

	mu      sync.Mutex // one fault at a time
	at      sync.Mutex // of the process
	process *exec.Cmd
	ended   chan struct{}
	err     error
}

// A round is a fleet that decides one trial.
type round struct {
	*testing.T
	dir      string
	stderr   *os.File
	disk     *disk
	server   *member
	workers  []*member
	run      *member
	patience time.Duration
	direct   *nats.Conn // without faults, but for the server's

	mu     sync.Mutex
	faults []fault
	jobs   []*nats.Msg
	done   chan struct{} // closed when the run has ended
}

func (m *member) start(stderr *os.File) error {
	m.at.Lock()
	defer m.at.Unlock()
	c := m.command(stderr)
	if m.Role == "server" {
		out, err := c.StdoutPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		line := make([]byte, 256)
		n, err := out.Read(line)
		if err != nil {
			return fmt.Errorf("the server does not start: %w", err)
		}
		m.URL = strings.TrimSpace(string(line[:n]))
		m.Port = m.URL[strings.LastIndexByte(m.URL, ':')+1:]
	} else if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	m.process, m.ended = c, ended
	go func() {
		m.err = c.Wait()
		close(ended)
	}()
	return nil
}

// signal reports whether there was a process to get it.
func (m *member) signal(s os.Signal) bool {
	m.at.Lock()
	defer m.at.Unlock()
	return m.process != nil && m.process.Process.Signal(s) == nil
}

func (m *member) wait(d time.Duration) error {
	m.at.Lock()
	ended := m.ended
	m.at.Unlock()
	if ended == nil {
		return nil
	}
	select {
	case <-ended:
		return m.err
	case <-time.After(d):
		return fmt.Errorf("the %s does not end", m.Role)
	}
}

func (m *member) kill() bool {
	alive := m.signal(syscall.SIGKILL)
	_ = m.wait(10 * time.Second)
	return alive
}

func newRound(t *testing.T, tr trial) *round {
	r := &round{T: t, dir: t.TempDir(), patience: 2 * time.Minute, done: make(chan struct{})}
	var err error
	if r.stderr, err = os.Create(filepath.Join(r.dir, "stderr")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			r.tell()
		}
		_ = r.stderr.Close()
	})
	r.disk = newDisk(t)
	r.server = r.member(part{Role: "server", Dir: r.disk.dir, Port: "-1"})
	r.must(r.server.start(r.stderr))
	r.direct, err = nats.Connect(r.server.URL, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	r.must(err)
	t.Cleanup(r.direct.Close)
	_, err = r.direct.Subscribe("evolve.job.>", func(m *nats.Msg) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.jobs = append(r.jobs, m)
	})
	r.must(err)
	var ids []string
	for i := range workers {
		w := r.member(part{Role: "worker", Dir: filepath.Join(r.dir, "cache"), Slots: 2, Trial: tr, Log: filepath.Join(r.dir, "log"), Skew: time.Duration(i) * -7 * time.Hour})
		r.workers, ids = append(r.workers, w), append(ids, w.id)
	}
	r.run = r.member(part{Role: "run", Dir: r.dir, Trial: tr, Run: "r", Members: ids, All: true})
	return r
}

// tell shows what the processes said, and what was done to them.
func (r *round) tell() {
	text, err := os.ReadFile(r.stderr.Name())
	r.Logf("what the processes said (%v):\n%s", err, text)
}

func (r *round) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *round) member(p part) *member {
	m := &member{part: p}
	if p.Role != "server" {
		m.Seed = fleettest.Seed()
		key, err := fleet.NewKey(m.Seed)
		r.must(err)
		m.id = key.ID
		m.wire = newWire(r, "127.0.0.1:"+r.server.Port)
		m.URL = m.wire.url()
	}
	r.Cleanup(func() { m.kill() })
	return m
}

// decide has the run decide while things go wrong, and ends all processes.
func (r *round) decide(rng *rand.Rand, n int) {
	r.Helper()
	for _, w := range r.workers {
		r.must(w.start(r.stderr))
	}
	var all sync.WaitGroup
	for range n {
		after, kind, long := time.Duration((.6+1.8*rng.Float64())*float64(time.Second)), rng.IntN(10), rng.Float64()
		who := rng.IntN(workers)
		all.Go(func() {
			select {
			case <-time.After(after):
				r.harm(kind, who, long)
			case <-r.done:
			}
		})
	}
	r.must(r.run.start(r.stderr))
	deadline, failed := time.Now().Add(r.patience), 0
	for {
		err := r.run.wait(time.Until(deadline))
		r.run.mu.Lock() // who has killed it lets go when it may begin again
		if err == nil {
			r.run.mu.Unlock()
			break
		}
		if time.Now().After(deadline) {
			r.run.signal(syscall.SIGQUIT)
			_ = r.run.wait(5 * time.Second)
			r.Fatal(err)
		}
		if r.run.process.ProcessState.ExitCode() == 3 { // it could not begin, or go on: the server was away
			failed++
			time.Sleep(100 * time.Millisecond)
		} else if r.run.process.ProcessState.ExitCode() > 0 {
			r.Fatal(err)
		}
		r.run.All = false
		r.must(r.run.start(r.stderr))
		r.run.mu.Unlock()
	}
	close(r.done)
	all.Wait()
	for _, w := range r.workers {
		w.signal(syscall.SIGTERM)
	}
	for _, w := range r.workers {
		err := w.wait(20 * time.Second)
		if by, ok := errors.AsType[*exec.ExitError](err); ok && by.Sys().(syscall.WaitStatus).Signal() == syscall.SIGTERM {
			continue // it had just been started, and took no signals yet
		}
		if err != nil {
			w.signal(syscall.SIGQUIT)
			_ = w.wait(5 * time.Second)
			r.Errorf("worker %s: %v", fleet.Short(w.id), err)
		}
	}
	if failed > 0 {
		r.Logf("the run failed %d times", failed)
	}
}

// harm does something to somebody. long is within [0, 1).
func (r *round) harm(kind, who int, long float64) {
	d := time.Duration(long * 2.5 * float64(time.Second))
	w := r.workers[who]
	f := fault{target: w.id, from: time.Now()}
	switch kind {
	case 0:
		f.kind = kills
		r.one(w, f, func() bool { return r.restart(w, d) })
	case 1:
		f.kind, f.target = kills, theRun
		r.one(r.run, f, func() bool {
			hit := r.run.kill()
			time.Sleep(d / 2)
			return hit
		})
	case 2:
		f.kind, f.target = kills, ""
		r.one(r.server, f, func() bool { return r.restart(r.server, d) })
	case 3, 4, 5, 6:
		m := w
		if kind > 4 {
			m, f.target = r.run, theRun
		}
		f.kind = freezes
		cut := m.wire.freeze
		if kind%2 == 0 {
			f.kind, cut = cuts, m.wire.away
		}
		cut(d)
		r.note(f)
	case 7:
		f.kind = stops
		r.one(w, f, func() bool {
			hit := w.signal(syscall.SIGSTOP)
			time.Sleep(lost + d)
			w.signal(syscall.SIGCONT)
			return hit
		})
	case 8:
		f.kind, f.target = fills, ""
		r.one(r.server, f, func() bool {
			r.check(r.disk.fill(r.server.process.Process.Pid))
			time.Sleep(d)
			r.check(r.disk.empty())
			return r.restart(r.server, 0)
		})
	default:
		r.again(long)
	}
}

// one has one fault of a member at a time.
func (r *round) one(m *member, f fault, do func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-r.done:
		return
	default:
	}
	f.from = time.Now()
	if do() {
		r.note(f)
	}
}

func (r *round) note(f fault) {
	f.to = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, f)
	fmt.Fprintf(r.stderr, "%s FAULT %s of %.9s from %s\n", clock(), f.kind, f.target, f.from.Format("05.000"))
}

func (r *round) check(err error) {
	if err != nil {
		r.Error(err)
	}
}

func (r *round) restart(m *member, after time.Duration) bool {
	hit := m.kill()
	time.Sleep(after)
	r.check(m.start(r.stderr))
	return hit
}

// again publishes a job that was published before.
func (r *round) again(which float64) {
	r.mu.Lock()
	if len(r.jobs) == 0 {
		r.mu.Unlock()
		return
	}
	old := r.jobs[int(which*float64(len(r.jobs)))]
	r.mu.Unlock()
	m := nats.NewMsg(old.Subject)
	m.Data, m.Header = old.Data, nats.Header{}
	for k, v := range old.Header {
		if strings.HasPrefix(k, "Evolve-") {
			m.Header[k] = v
		}
	}
	var j fleet.Job
	r.check(json.Unmarshal(m.Data, &j))
	r.note(fault{kind: publishes, target: j.Worker, from: time.Now(), seed: j.Task.Seed})
	r.check(r.direct.PublishMsg(m))
}

// grace is how long it may take until a call's answer is out of harm's way, and back until a
// member that was away has connected and heard what has happened.
const (
	grace = lease + 500*time.Millisecond
	back  = 3 * time.Second
)

// TestChaos: workers, the run and the server are killed, stopped, cut off and out of room, and
// jobs are delivered twice. No rollout is lost, no attempt is made twice but what a fault has
// hit, and the decision is the one of a fleet that nothing happens to. A handful of rounds;
// EVOLVE_CHAOS is how many there are, EVOLVE_CHAOS_SEED the first one.
func TestChaos(t *testing.T) {
	rounds, first := 2, uint64(2)
	if n, err := strconv.Atoi(os.Getenv("EVOLVE_CHAOS")); err == nil {
		rounds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("EVOLVE_CHAOS_SEED"), 10, 64); err == nil {
		first = n
	}
	kinds := []struct {
		trial
		want *decision
	}{{trial: trial{"better", .22}}, {trial: trial{"worse", .35}}, {trial: trial{"equal", .16}}}
	sum := newTally()
	before := runtime.NumGoroutine()
	t.Run("undisturbed", func(t *testing.T) {
		for i := range min(rounds, len(kinds)) {
			tr := &kinds[(first+uint64(i))%uint64(len(kinds))]
			t.Run(tr.Kind, func(t *testing.T) {
				t.Parallel()
				r := newRound(t, tr.trial)
				r.decide(nil, 0)
				tr.want = r.decision()
				r.audit(tr.want, newTally())
				t.Logf("%s after %d pairs, in %v", tr.want.Verdict.Verdict, len(tr.want.pairs), tr.want.Took)
			})
		}
	})
	t.Run("round", func(t *testing.T) {
		for i := range rounds {
			seed := first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				tr, rng := kinds[seed%uint64(len(kinds))], rand.New(rand.NewPCG(seed, 25))
				r := newRound(t, tr.trial)
				r.decide(rng, 2+rng.IntN(4))
				d := r.decision()
				d.same(t, tr.want)
				r.audit(d, sum)
				if rounds == 1 && testing.Verbose() {
					r.tell()
				}
			})
		}
	})
	for range 100 {
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines are left:\n%s", n-before, buf[:runtime.Stack(buf, true)])
	}
	t.Logf("%d rounds, %d calls, %d given again, %d answers too late, %d messages left, %d held", sum.rounds, sum.calls, sum.again, sum.late, sum.left, sum.held)
	for _, m := range []map[string]int{sum.faults, sum.twice} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			t.Logf("%5d %s", m[k], k)
		}
	}
}
