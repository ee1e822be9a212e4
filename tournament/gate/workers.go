package gate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

// What a worker of a fleet sends is believed only as far as the others bear it out: a proof must
// hold without each worker's pairs (pareto.WithoutWorker). Besides, some pairs are measured once
// more on another worker. These are no evidence, and they come last, so that evidence is
// measured as without them.

// controlled is the share of pairs that another worker measures once more.
const controlled = 0.05

// A control is a pair that is measured once more, on any worker but the one that measured it.
type control struct {
	cluster record.Cluster
	worker  string
	seen    float64
}

// workersOf are all that had a part in a pair, also in what was measured again.
func workersOf(of ...[]*eval.Rollout) (all []string) {
	for _, r := range slices.Concat(of...) {
		if r != nil {
			all = append(all, r.Workers()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fleet are the workers that are there.
func (g *Gate) fleet() []string {
	if g.Workers == nil {
		return nil
	}
	return g.Workers()
}

// onlyWorker is why no more pairs are measured if the proof lacks those of other workers and
// there is none, "" else.
func (g *Gate) onlyWorker(st *state) string {
	held := st.Trial.HeldBy()
	if there := g.fleet(); held == "" || len(there) != 1 || there[0] != held {
		return ""
	}
	return fmt.Sprintf("it takes pairs of another worker than %.12s, or of this machine, and no other worker is there", held)
}

// mayControl notes a pair that is to be measured once more. That depends on no answer, and no
// worker can tell which ones they are: the run's id is partly random, and is sent to none.
func (g *Gate) mayControl(st *state, c record.Cluster, m *measured) {
	if len(g.fleet()) < 2 || len(m.workers) != 1 || math.IsNaN(m.seen) {
		return
	}
	h := sha256.Sum256(fmt.Appendf(nil, "control\n%s\n%s\n%d", g.Log.Run, c.Name, g.Seed))
	if float64(binary.BigEndian.Uint64(h[:]))/math.MaxUint64 < controlled {
		st.controls = append(st.controls, control{c, m.workers[0], m.seen})
	}
}

// control measures the noted pairs once more, as far as the budget and the workers suffice, and
// reports how the workers agree.
func (g *Gate) control(ctx context.Context, st *state, v *Verdict, of record.Change, incumbent, challenger eval.Variant) error {
	var clusters []record.Cluster
	for _, c := range st.controls {
		clusters = append(clusters, c.cluster)
	}
	afforded := len(g.affordable(clusters, st.Replays))
	if len(g.fleet()) < 2 {
		afforded = 0
	}
	var jobs []eval.Job
	for _, c := range st.controls[:afforded] {
		for _, k := range c.cluster.Cases {
			for replay := range st.Replays {
				pair := Adjacent(incumbent, challenger, k, Arm("control", incumbent.SHA(), challenger.SHA()), replay, g.Seed)
				for i := range pair {
					pair[i].Avoid = c.worker
				}
				jobs = append(jobs, pair...)
			}
		}
	}
	rollouts, err := g.uncounted(ctx, jobs)
	if err != nil {
		return err
	}
	made := 0
	for _, c := range st.controls[:afforded] {
		n := 2 * st.Replays * len(c.cluster.Cases)
		rs := rollouts[:n]
		rollouts = rollouts[n:]
		by, again := workersOf(rs), Difference(rs, incumbent.SHA())
		if again == nil || math.IsNaN(again.Quality) || len(by) != 1 || by[0] == c.worker {
			continue
		}
		made++
		st.Controls = append(st.Controls, record.Control{Cluster: c.cluster.Name, Worker: c.worker, By: by[0], Seen: c.seen, Again: again.Quality})
	}
	if v.Controls = record.Agreement(st.Controls, len(st.controls)-made); v.Controls != nil {
		v.Warnings = append(v.Warnings, v.Controls.String())
	}
	if made == 0 {
		return nil
	}
	return g.save(ctx, st, of, v)
}

// uncounted runs jobs that prove nothing: what neither the budget nor the infrastructure lets
// through is nil, and ends no trial.
func (g *Gate) uncounted(ctx context.Context, jobs []eval.Job) ([]*eval.Rollout, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	rollouts, err := g.Evaluator.Run(ctx, jobs)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.As(err, new(*eval.BudgetError)) || errors.As(err, new(*eval.InfraError)) || errors.As(err, new(*eval.TooManyMissingError)) {
		err = nil
	}
	return rollouts, err
}
