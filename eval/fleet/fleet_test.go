package fleet_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/coordinator"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
	"github.com/skill-evolve/evolve/eval/fleet/parcel"
	"github.com/skill-evolve/evolve/eval/fleet/worker"
)

// The test program is also the server and the workers of its fleets, as processes that can be
// killed.
const (
	asServer = "EVOLVE_FLEET_SERVER" // its folder
	asWorker = "EVOLVE_FLEET_WORKER" // URL seed slots milliseconds
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asServer) != "":
		serve(os.Getenv(asServer), os.Getenv("EVOLVE_FLEET_PORT"))
	case os.Getenv(asWorker) != "":
		work(strings.Fields(os.Getenv(asWorker)))
	case os.Getenv(asPart) != "":
		play(os.Getenv(asPart))
	default:
		os.Exit(m.Run())
	}
}

func serve(dir, port string) {
	n, _ := strconv.Atoi(port)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: n, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true})
	if err != nil {
		panic(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		panic("the server does not start")
	}
	fmt.Println(s.ClientURL())
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	s.Shutdown()
}

func work(args []string) {
	slots, _ := strconv.Atoi(args[2])
	ms, _ := strconv.Atoi(args[3])
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	conn, err := fleet.Dial(ctx, &fleet.Invitation{URL: args[0], Name: "w", Role: fleet.RoleWorker, Seed: args[1]})
	if err != nil {
		panic(err)
	}
	blobs, err := fleet.OpenBlobs(ctx, conn.JS)
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "evolve-fleet-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	cache, err := worker.OpenCache(dir, args[1][:12], blobs, 1<<30)
	if err != nil {
		panic(err)
	}
	offer := fleet.Offer{Protocol: fleet.Protocol, Program: program, Slots: slots, Agents: []fleet.Agent{{Backend: "sleeper", Sandbox: "on"}}}
	err = worker.Run(ctx, worker.Options{Conn: conn, Blobs: blobs, Cache: cache, Name: "w", Offer: offer, Log: func(line string) { fmt.Fprintln(os.Stderr, line) },
		Open: func(context.Context, fleet.Need, *setup.Set) (eval.Agent, error) {
			return sleeper(time.Duration(ms) * time.Millisecond), nil
		}})
	if err != nil && ctx.Err() == nil {
		panic(err)
	}
}

const program = "test"

// A sleeper is an agent that takes its time, and says the request.
type sleeper time.Duration

func (sleeper) Identity() eval.Identity { return eval.Identity{Backend: "sleeper", Model: "m"} }

func (s sleeper) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if err := eval.Sleep(ctx, time.Duration(s)); err != nil {
		return eval.Attempt{}, err
	}
	return eval.Attempt{Answer: t.Case.Prompt, Usage: &eval.Usage{Input: 10, Output: 10}}, nil
}

// A process is one of this program.
type process struct{ *exec.Cmd }

func start(tb testing.TB, env ...string) *process {
	tb.Helper()
	p := &process{exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), env...)
	p.Stderr = os.Stderr
	tb.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	if p.Process != nil {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
}

// serverProcess starts a server and returns its URL.
func serverProcess(tb testing.TB, dir, port string) (string, *process) {
	tb.Helper()
	p := start(tb, asServer+"="+dir, "EVOLVE_FLEET_PORT="+port)
	out, err := p.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.Start(); err != nil {
		tb.Fatal(err)
	}
	line := make([]byte, 256)
	n, err := out.Read(line)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n])), p
}

func workerProcess(tb testing.TB, url, seed string, slots, ms int) *process {
	tb.Helper()
	p := start(tb, fmt.Sprintf("%s=%s %s %d %d", asWorker, url, seed, slots, ms))
	if err := p.Start(); err != nil {
		tb.Fatal(err)
	}
	return p
}

// lead opens a coordinator.
func lead(tb testing.TB, url, seed string) *coordinator.Coordinator {
	tb.Helper()
	conn, err := fleet.Dial(tb.Context(), &fleet.Invitation{URL: url, Name: "lead", Role: fleet.RoleCoordinator, Seed: seed})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(conn.Close)
	if err := fleet.Prepare(tb.Context(), conn.JS); err != nil {
		tb.Fatal(err)
	}
	blobs, err := fleet.OpenBlobs(tb.Context(), conn.JS)
	if err != nil {
		tb.Fatal(err)
	}
	pack := &parcel.Packer{Blobs: blobs}
	c, err := coordinator.Open(tb.Context(), coordinator.Options{Conn: conn, Blobs: blobs, Program: program, Sandbox: "on", Agent: sleeper(0).Identity(),
		Pack: pack.Pack, Log: func(line string) { tb.Log(line) },
		Apply: func(ctx context.Context, dir string, ch *fleet.Changes) error {
			return parcel.Apply(ctx, blobs, dir, ch)
		}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

func cases(n int) (out []*eval.Case) {
	for i := range n {
		out = append(out, &eval.Case{ID: fmt.Sprint("c", i), Skill: "s", Prompt: fmt.Sprintf("request %d", i), Checks: []eval.Check{{Type: eval.Contains, Value: "request"}}})
	}
	return out
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFleet is jobs of 50 ms on workers as processes, each with two slots, and on as many
// slots of this process. Metrics: jobs a second, and the coordinator's processor time a job.
func BenchmarkFleet(b *testing.B) {
	const ms, slots = 50, 2
	run := func(b *testing.B, ex eval.Executor, concurrency int) {
		ks := cases(min(b.N, 1000))
		var jobs []eval.Job
		for i := range b.N {
			jobs = append(jobs, eval.Job{Case: ks[i%len(ks)], Trial: i / len(ks), Variant: eval.Variant{Name: "s"}})
		}
		e := &eval.Evaluator{Agent: sleeper(ms * time.Millisecond), Grader: &eval.Checks{}, Executor: ex, Concurrency: concurrency}
		before := cpu()
		b.ResetTimer()
		out, err := e.Run(b.Context(), jobs)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		for _, r := range out {
			if r == nil || r.Quality != 1 {
				b.Fatalf("%+v", r)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(b.N), "cpu-ms/job")
	}
	for _, n := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("local-%d", n*slots), func(b *testing.B) { run(b, nil, n*slots) })
		b.Run(fmt.Sprintf("workers-%d", n), func(b *testing.B) {
			url, _ := serverProcess(b, b.TempDir(), "-1")
			seed := fleettest.Seed()
			first := lead(b, url, seed) // makes the streams
			first.Close()
			for range n {
				workerProcess(b, url, fleettest.Seed(), slots, ms)
			}
			c := lead(b, url, seed)
			for c.Slots() < n*slots {
				time.Sleep(100 * time.Millisecond)
			}
			run(b, c, 2*n*slots)
		})
	}
}
