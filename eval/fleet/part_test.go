package fleet_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/coordinator"
	"github.com/skill-evolve/evolve/eval/fleet/parcel"
	"github.com/skill-evolve/evolve/eval/fleet/worker"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// Shorter than fleet's, so that what they are for happens within seconds.
const (
	beat  = 200 * time.Millisecond
	lease = 800 * time.Millisecond
	lost  = 2 * time.Second
)

// A part is a process of a fleet, as JSON in the environment of this program.
type part struct {
	Role      string // server, worker or run
	Dir       string // what it stores
	Port      string // of a server
	URL, Seed string // of a member
	Slots     int
	Skew      time.Duration // of a worker's clock
	Log       string        // file: attempts begun and ended
	Trial     trial
	Run       string
	Members   []string // ids of the workers
	All       bool     // begin when they are all there
	Jobs      int      // so many of agents that take no time, instead of a trial
}

const asPart = "EVOLVE_FLEET_PART"

func play(text string) {
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = map[string]func(*part) error{"server": (*part).server, "worker": (*part).worker, "run": (*part).run}[p.Role](&p)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Role, err)
		os.Exit(3)
	}
}

// command makes the part a process that has not started yet.
func (p *part) command(stderr *os.File) *exec.Cmd {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // it has only texts and numbers
	}
	c := exec.Command(os.Args[0])
	c.Env, c.Stderr = append(os.Environ(), asPart+"="+string(text)), stderr
	return c
}

func (p *part) server() error {
	signal.Ignore(syscall.SIGXFSZ) // a file that may not grow is an error
	serve(p.Dir, p.Port)
	return nil
}

func (p *part) join(ctx context.Context, role string) (*fleet.Conn, *fleet.Blobs, error) {
	conn, err := fleet.Dial(ctx, &fleet.Invitation{URL: p.URL, Name: "m", Role: role, Seed: p.Seed})
	if err != nil {
		return nil, nil, err
	}
	if role == fleet.RoleCoordinator {
		if err := fleet.Prepare(ctx, conn.JS); err != nil {
			return nil, nil, err
		}
	}
	blobs, err := fleet.OpenBlobs(ctx, conn.JS)
	return conn, blobs, err
}

func (p *part) worker() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var conn *fleet.Conn
	var blobs *fleet.Blobs
	var err error
	for { // the server may be away
		if conn, blobs, err = p.join(context.Background(), fleet.RoleWorker); err == nil {
			break
		}
		if eval.Sleep(ctx, 100*time.Millisecond) != nil {
			return nil
		}
	}
	defer conn.Close()
	cache, err := worker.OpenCache(p.Dir, conn.ID, blobs, 1<<30)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(p.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	agent := logged{p.Trial.world().Agent(), log, conn.ID}
	offer := fleet.Offer{Protocol: fleet.Protocol, Program: program, Slots: p.Slots, Agents: []fleet.Agent{{Backend: agent.Identity().Backend, Version: agent.Identity().Version, Sandbox: "on"}}}
	return worker.Run(context.Background(), worker.Options{Conn: conn, Blobs: blobs, Cache: cache, Name: "w", Offer: offer, Drain: ctx.Done(),
		Beat: beat, Lease: lease, Now: func() time.Time { return time.Now().Add(p.Skew) },
		Log:  func(line string) { fmt.Fprintf(os.Stderr, "%s worker %s: %s\n", clock(), fleet.Short(conn.ID), line) },
		Open: func(context.Context, fleet.Need, *setup.Set) (eval.Agent, error) { return agent, nil }})
}

// clock begins lines of logs.
func clock() string { return time.Now().Format("05.000") }

// logged notes each attempt when it begins and when it ends.
type logged struct {
	eval.Agent
	to *os.File
	by string
}

func (l logged) Run(ctx context.Context, t eval.Task) (a eval.Attempt, err error) {
	note := func(what string) {
		if _, err := fmt.Fprintf(l.to, "%s %d %s %d\n", what, t.Seed, l.by, time.Now().UnixNano()); err != nil {
			panic(err)
		}
	}
	note("begins")
	if a, err = l.Agent.Run(ctx, t); err != nil {
		note("fails")
		return a, err
	}
	note("ends")
	return a, nil
}

// A trial is what a run decides.
type trial struct {
	Kind string  // better, worse, equal: the challenger; search: there is none yet
	Pace float64 // of the agent
}

func (tr trial) world() simulated.World {
	w := worldstest.Additive(5, 12, 0.05)
	w.Pace = tr.Pace
	return w
}

// plan is the run's, on this machine.
func (tr trial) plan(journal record.Journal, run string) search.Plan {
	w := tr.world()
	texts := map[string][2]int{"better": {2, 12}, "worse": {12, 2}, "equal": {6, 7}}[tr.Kind] // lessons
	text := func(lessons int) eval.Variant {
		s := w.Seed()
		for _, l := range w.Lessons[:lessons] {
			s += "- " + l.Phrase + "\n"
		}
		doc, err := skill.Parse([]byte(s), skill.Options{})
		if err != nil {
			panic(err) // it is the world's
		}
		return eval.Variant{Name: w.Skill, Doc: doc}
	}
	p := search.Plan{Run: &record.Run{ID: run, Skill: w.Skill, Seed: 7}, Incumbent: text(texts[0]), Cases: w.Cases(0, 0, 24), HeldOut: 24,
		Agent: w.Agent(), Mutator: w.Model(), Grader: &eval.Checks{}, Journal: journal, Concurrency: 12}
	if tr.Kind == "search" {
		p.Cases, p.HeldOut, p.Caps = w.Cases(20, 20, 40), 40, eval.Caps{Rollouts: 600}
		return p
	}
	challenger := text(texts[1])
	p.Carried = &challenger
	return p
}

// A result is what the process of a run leaves.
type result struct {
	Verdict gate.Verdict
	Text    string // of the challenger
	Spent   eval.Spent
	Missing int
	Left    string // goroutines
	MaxRSS  int64  // kB
	CPU     time.Duration
	Took    time.Duration
}

func (p *part) run() error {
	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(p.Dir, "evolve.db"))
	if err != nil {
		return err
	}
	conn, blobs, err := p.join(ctx, fleet.RoleCoordinator)
	if err != nil {
		return err
	}
	for _, id := range p.Members { // their leases are short
		if _, err := conn.JS.CreateOrUpdateConsumer(ctx, fleet.Jobs, jetstream.ConsumerConfig{Durable: id, FilterSubject: "evolve.job." + id + ".>",
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: lease, MaxAckPending: 4096, InactiveThreshold: time.Hour}); err != nil {
			return err
		}
	}
	say := func(line string) { fmt.Fprintf(os.Stderr, "%s run: %s\n", clock(), line) }
	agent := p.Trial.world().Agent()
	pack := &parcel.Packer{Blobs: blobs}
	c, err := coordinator.Open(ctx, coordinator.Options{Conn: conn, Blobs: blobs, Program: program, Sandbox: "on", Agent: agent.Identity(),
		Pack: pack.Pack, Beat: beat, Lost: lost,
		Log: say})
	if err == nil {
		say("begins")
		err = c.Continue(ctx, p.Run)
		say("continues")
	}
	if err != nil {
		return err
	}
	for len(c.Workers()) < len(p.Members) && p.All {
		time.Sleep(beat)
	}
	res, err := p.decide(ctx, db, c)
	if err != nil {
		return err
	}
	c.Close()
	conn.Close()
	if err := db.Close(); err != nil {
		return err
	}
	res.Left = left()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return err
	}
	res.MaxRSS, res.CPU = used.Maxrss, cpu()
	text, err := json.Marshal(res)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.Dir, "result.json"), text, 0o600)
}

func (p *part) decide(ctx context.Context, db *store.Store, c *coordinator.Coordinator) (*result, error) {
	began := time.Now()
	if p.Jobs > 0 {
		err := p.many(ctx, c)
		return &result{Took: time.Since(began)}, err
	}
	plan := p.Trial.plan(db.Journal(p.Run), p.Run)
	plan.Executor, plan.Workers = c, c.Workers
	out, err := search.Improve(ctx, plan)
	if err != nil {
		return nil, err
	}
	if out.Verdict == nil {
		return nil, errors.New("no verdict")
	}
	res := &result{Verdict: *out.Verdict, Spent: out.Spent, Took: time.Since(began)}
	if out.Challenger != nil {
		res.Text = string(out.Challenger.Text)
	}
	return res, nil
}

// left are the goroutines of what was closed, once they had time to end.
func left() string {
	buf := make([]byte, 1<<20)
	var found []string
	for range 40 {
		found = nil
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "eval/fleet/coordinator.") || strings.Contains(g, "nats-io/nats.go") {
				found = append(found, g)
			}
		}
		if len(found) == 0 {
			return ""
		}
		time.Sleep(50 * time.Millisecond)
	}
	return strings.Join(found, "\n\n")
}

// many has many jobs done.
func (p *part) many(ctx context.Context, c *coordinator.Coordinator) error {
	ks := cases(1000)
	e := &eval.Evaluator{Agent: p.Trial.world().Agent(), Grader: &eval.Checks{}, Executor: c, Concurrency: 2 * c.Slots()}
	for trial := range p.Jobs / len(ks) {
		var jobs []eval.Job
		for _, k := range ks {
			jobs = append(jobs, eval.Job{Case: k, Trial: trial, Variant: eval.Variant{Name: "s"}})
		}
		out, err := e.Run(ctx, jobs)
		if err != nil {
			return err
		}
		for _, r := range out {
			if r == nil || r.Status != eval.Done {
				return fmt.Errorf("not done: %+v", r)
			}
		}
	}
	return nil
}

// readResult is what the run in dir has left.
func readResult(t testing.TB, dir string) (r *result) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err = cmp.Or(err, json.Unmarshal(text, &r)); err != nil {
		t.Fatal(err)
	}
	return r
}
