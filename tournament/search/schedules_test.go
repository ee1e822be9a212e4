package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestEveryScheduleEnds plays runs in which the agent, the judge and the mutator
// fail in every way, at random: each run ends, within its caps; so does one that is
// cancelled at a random call, and one whose process is killed at a random record and
// that another process resumes.
//
// What would run for ever is caught by counting, not by waiting: see steps. Time is
// the bubble's, so that pauses and deadlines take none.
func TestEveryScheduleEnds(t *testing.T) {
	n := 1000
	switch {
	case os.Getenv("EVOLVE_LONG") == "1":
		n = 20_000
	case testing.Short(): // as with the race detector, which takes ten times as long
		n = 250
	}
	var seen tally
	t.Run("all", func(t *testing.T) {
		for part := range 8 {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < n; seed += 8 {
					var err error
					synctest.Test(t, func(t *testing.T) { err = playRun(t.Context(), uint64(seed), &seen) })
					if err != nil {
						t.Errorf("schedule %d: %v", seed, err)
					}
				}
			})
		}
	})
	t.Logf("%d schedules: %v; at most %d steps, %d calls, %d of them late", n, seen.ends(), seen.steps.Load(), seen.calls.Load(), seen.late.Load())
	for what, count := range seen.ends() {
		if count < int64(n)/200 {
			t.Errorf("%s: %d of %d schedules: they show too little", what, count, n)
		}
	}
}

// A tally counts how runs ended, to show that the schedules reach every end, and the
// most that one of them took.
type tally struct {
	verdict, capped, unmeasured, failed, cancelled, killed, resumed atomic.Int64
	steps, calls, late                                              atomic.Int64
}

func (c *tally) ends() map[string]int64 {
	return map[string]int64{"verdict": c.verdict.Load(), "capped": c.capped.Load(), "unmeasured": c.unmeasured.Load(), "failed": c.failed.Load(),
		"cancelled": c.cancelled.Load(), "killed": c.killed.Load(), "resumed": c.resumed.Load()}
}

func (c *tally) atMost(kept *atomic.Int64, n int64) {
	for was := kept.Load(); n > was && !kept.CompareAndSwap(was, n); was = kept.Load() {
	}
}

// playRun plays one schedule. Two of three runs are stopped on the way, and resumed.
func playRun(ctx context.Context, seed uint64, seen *tally) error {
	w, err := smallWorld()
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 11))
	s := &schedule{seed: seed, cases: map[string]fault{}, judges: map[string]fault{}}
	s.rate = []float64{0, 0.02, 0.1, 0.5}[r.IntN(4)]
	s.fatal = []float64{0, 0, 0.001, 0.02}[r.IntN(4)]
	for i := range w.cases {
		if r.IntN(15) == 0 {
			s.cases[w.cases[i].ID] = failed + fault(r.IntN(int(auth-failed)))
		}
		if r.IntN(6) == 0 {
			s.judges[w.cases[i].ID] = unusable
		}
	}
	plan, journal := somePlan(r, w), &recordtest.Memory{}
	cancelAt, records := int64(0), int64(math.MaxInt64)
	switch r.IntN(3) {
	case 1:
		cancelAt = 1 + r.Int64N(60)
	case 2:
		records = r.Int64N(120)
	}
	switch err := playLife(ctx, plan, s, journal, cancelAt, records, seen); {
	case errors.Is(err, context.Canceled):
		seen.cancelled.Add(1)
	case errors.Is(err, errKilled):
		seen.killed.Add(1)
	default:
		return err
	}
	if r.IntN(2) == 0 { // as the command does: what is missing is tried again
		maps.DeleteFunc(journal.Rollouts, func(_ string, x *eval.Rollout) bool { return x.Status == eval.Missing })
	}
	seen.resumed.Add(1)
	return playLife(ctx, plan, s, journal, 0, math.MaxInt64, seen)
}

// somePlan draws what a run is asked for.
func somePlan(r *rand.Rand, w *world) Plan {
	pick := func(names []string) string { return names[r.IntN(len(names))] }
	p := Plan{Incumbent: w.incumbent, Cases: w.cases, NoGate: r.IntN(4) == 0, MaxRetries: r.IntN(2), HeldOut: 8,
		Concurrency: 1 + r.IntN(2), WallClock: 5 * time.Minute, Gate: pareto.DefaultConfig(),
		Options: Options{Minibatch: 1 + r.IntN(5), Proposals: 1 + r.IntN(3), Group: 1 + r.IntN(3), Patience: 1 + r.IntN(3), RaceChunk: 1 + r.IntN(4),
			MaxRounds: 1 + r.IntN(8), Selector: Selectors[pick(sortedKeys(Selectors))], Accept: Acceptances[pick(sortedKeys(Acceptances))],
			Batch: Batches[pick(sortedKeys(Batches))]}}
	p.Options.Stop = Stops[pick(sortedKeys(Stops))](p.Options.Patience)
	for p.Caps == (eval.Caps{}) {
		if r.IntN(3) > 0 {
			p.Caps.Rollouts = 20 + r.Int64N(60)
		}
		if r.IntN(4) == 0 {
			p.Caps.Tokens = r.Int64N(60_000)
		}
		if r.IntN(4) == 0 {
			p.Caps.CostUSD = r.Float64() / 20
		}
		if r.IntN(4) == 0 {
			p.Caps.Duration = time.Duration(r.IntN(120)) * time.Minute
		}
	}
	// Within caps on tokens or dollars a rollout of one lane may wait for another lane's call while
	// a third waits for a mutex, and then the bubble's time stands still.
	if p.Caps.Tokens == 0 && p.Caps.CostUSD == 0 {
		p.Options.Lanes = 1 + r.IntN(3)
	}
	switch r.IntN(4) {
	case 0:
		p.Calibrate = func(context.Context) (record.Calibration, error) { return record.Calibration{}, nil }
	case 1:
		trusted := record.Calibration{Labels: pareto.Agreement{BothPass: 15, BothFail: 15}}
		p.Calibrate = func(context.Context) (record.Calibration, error) { return trusted, nil }
	case 2:
		p.Calibrate = func(context.Context) (record.Calibration, error) { return record.Calibration{}, errBoom }
	}
	return p
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// playLife is one process of a run. The error is that of a run that did not end as it
// should, context.Canceled or errKilled.
func playLife(ctx context.Context, plan Plan, s *schedule, journal *recordtest.Memory, cancelAt, records int64, seen *tally) (err error) {
	count := &steps{}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	plan.Run = &record.Run{ID: "r", Skill: plan.Incumbent.Name, Seed: int64(s.seed)}
	plan.Now = count.now
	plan.Budget = eval.NewBudget(plan.Caps, count.now)
	if was := journal.Runs["r"]; was.Spent.WallMS > 0 {
		plan.Budget.ChargeTime(time.Duration(was.Spent.WallMS) * time.Millisecond)
	}
	p := &player{schedule: s, steps: count, budget: plan.Budget, cancel: cancel, cancelAt: cancelAt, asked: map[string]uint64{}}
	plan.Agent, plan.Mutator, plan.Grader = p, speaker{p, false}, &eval.Checks{Judge: speaker{p, true}}
	j := &mortalJournal{Memory: journal, steps: count}
	j.left.Store(records)
	plan.Journal = j
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	scored, vain := map[string]bool{}, map[string]bool{}
	plan.OnRollout = func(x *eval.Rollout) {
		scored[x.CaseID] = scored[x.CaseID] || x.Status == eval.Done
		vain[x.CaseID] = !scored[x.CaseID]
	}
	began := time.Now()
	out, err := Improve(watchedContext{ctx, count}, plan)
	spent := plan.Budget.Spent()
	seen.atMost(&seen.steps, count.n.Load())
	seen.atMost(&seen.calls, p.calls.Load())
	seen.atMost(&seen.late, p.late.Load())
	var bug *eval.PanicError
	if errors.As(err, &bug) && bug.Value != any(errBoom) {
		return fmt.Errorf("panic: %v", bug.Value)
	}
	maps.DeleteFunc(vain, func(_ string, yes bool) bool { return !yes })
	if len(vain) > 0 {
		seen.unmeasured.Add(1)
	}
	if out != nil {
		if err := namesThem(out.Warnings, sortedKeys(vain)); err != nil {
			return err
		}
	}
	switch {
	case plan.Caps.Rollouts > 0 && spent.Rollouts > plan.Caps.Rollouts:
		return fmt.Errorf("%d rollouts of %d", spent.Rollouts, plan.Caps.Rollouts)
	case p.late.Load() > maxLate:
		return fmt.Errorf("%d calls began after a cap was used up, or the run was cancelled", p.late.Load())
	case plan.Caps.Duration > 0 && time.Since(began) > plan.Caps.Duration+maxLate*plan.WallClock:
		return fmt.Errorf("it took %v of %v", time.Since(began), plan.Caps.Duration)
	case p.calls.Load() > maxCalls:
		return fmt.Errorf("%d calls", p.calls.Load())
	case errors.Is(err, errKilled), errors.Is(err, context.Canceled) && cancelAt > 0:
		return err
	case err != nil:
		if !expected(err) {
			return err
		}
		seen.failed.Add(1)
	case out.BudgetStop:
		seen.capped.Add(1)
	case out.Verdict != nil:
		seen.verdict.Add(1)
	}
	return nil
}

// namesThem demands one warning that names the cases that were tried in vain, as far as a
// line has room for them.
func namesThem(warnings, vain []string) error {
	var found []string
	for _, w := range warnings {
		if strings.Contains(w, "could not be measured") {
			found = append(found, w)
		}
	}
	switch {
	case len(vain) == 0 && len(found) == 0:
		return nil
	case len(vain) == 0 || len(found) != 1:
		return fmt.Errorf("%d warnings for %d cases without a score: %q", len(found), len(vain), found)
	case len(vain) <= maxReasons && slices.ContainsFunc(vain, func(id string) bool { return !strings.Contains(found[0], id) }):
		return fmt.Errorf("%q does not name %q", found[0], vain)
	}
	return nil
}

const (
	maxLate  = 10   // what was under way: two workers with their work retries, each with its judge, or the mutators of a round
	maxCalls = 1000 // several times what the longest of these runs makes
)

// expected reports whether err is how a run ends that cannot go on.
func expected(err error) bool {
	var (
		infra   *eval.InfraError
		missing *eval.TooManyMissingError
		fails   *AgentFailsError
		boom    *eval.PanicError
	)
	return errors.As(err, &infra) || errors.As(err, &missing) || errors.As(err, &fails) || errors.As(err, &boom) || errors.Is(err, errBoom)
}
