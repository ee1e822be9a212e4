package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A call is one attempt that an agent made.
type call struct {
	seed        int64
	worker      string
	begun, over time.Time
	paid        bool // it was answered
}

func (c call) String() string {
	return fmt.Sprintf(" %s %s-%s %v", fleet.Short(c.worker), c.begun.Format("05.000"), c.over.Format("05.000"), c.paid)
}

// calls reads the log of the workers.
func (r *round) calls() (all []call) {
	text, err := os.ReadFile(filepath.Join(r.dir, "log"))
	r.must(err)
	open := map[string]int{}
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) != fieldNames {
			r.Fatalf("log: %q", line)
		}
		seed, _ := strconv.ParseInt(f[1], 10, 64)
		ns, _ := strconv.ParseInt(f[3], 10, 64)
		at, who := time.Unix(0, ns), f[1]+" "+f[2]
		if f[0] == "begins" {
			open[who] = len(all)
			all = append(all, call{seed: seed, worker: f[2], begun: at})
			continue
		}
		c := &all[open[who]]
		c.over, c.paid = at, f[0] == "ends"
	}
	return all
}

// A decision is what a run has stored.
type decision struct {
	*result
	rollouts map[string]*eval.Rollout
	pairs    []string // cluster and e-value, in the order in which they were heard
}

func (r *round) decision() *decision {
	d := &decision{result: readResult(r, r.dir), rollouts: map[string]*eval.Rollout{}}
	db, err := store.OpenReadOnly(r.Context(), filepath.Join(r.dir, "evolve.db"))
	r.must(err)
	defer db.Close()
	rollouts, err := sqlite.Query(r.Context(), db.DB, sqlite.ScanBody[eval.Rollout], `SELECT body FROM rollouts`)
	r.must(err)
	for _, x := range rollouts {
		if d.rollouts[x.Key] != nil {
			r.Errorf("%s is recorded twice", x.Key)
		}
		d.rollouts[x.Key] = &x
	}
	events, err := sqlite.Query(r.Context(), db.DB, sqlite.ScanBody[record.Event], `SELECT body FROM events ORDER BY seq`)
	r.must(err)
	d.pairs = heard(r, events)
	return d
}

// heard are the pairs of a trial in its events.
func heard(t testing.TB, events []record.Event) (pairs []string) {
	for _, e := range events {
		if e.Kind != "gate_pair" {
			continue
		}
		var p struct {
			Cluster string
			E       float64 `json:"e_value"`
		}
		if err := json.Unmarshal(e.Data, &p); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, fmt.Sprintf("%s %.12g", p.Cluster, p.E))
	}
	return pairs
}

// same checks that two runs have decided the same. Which worker has measured what decides how
// many pairs a proof takes, and nothing else.
func (d *decision) same(t testing.TB, want *decision) {
	t.Helper()
	n := min(len(d.pairs), len(want.pairs))
	if n == 0 || !slices.Equal(d.pairs[:n], want.pairs[:n]) {
		t.Errorf("heard\n%v\nwant\n%v", d.pairs, want.pairs)
	}
	held := d.Verdict.Verdict == pareto.Promising && strings.Contains(d.Verdict.Reason+d.Verdict.Stop, "worker")
	if d.Verdict.Verdict != want.Verdict.Verdict && !(held && want.Verdict.Verdict == pareto.Promote) {
		t.Errorf("%s (%s; %s), want %s", d.Verdict.Verdict, d.Verdict.Reason, d.Verdict.Stop, want.Verdict.Verdict)
	}
	shared := 0
	for key, x := range d.rollouts {
		if x.Status != eval.Done {
			t.Errorf("%s is %s: %s", key, x.Status, x.Failure)
		}
		if y := want.rollouts[key]; y != nil {
			if shared++; x.Answer != y.Answer || x.Quality != y.Quality {
				t.Errorf("%s: %q %v, want %q %v", key, x.Answer, x.Quality, y.Answer, y.Quality)
			}
		}
	}
	if shared < 6*n {
		t.Errorf("%d rollouts are the same, of %d pairs", shared, n)
	}
}

// tally counts over rounds.
type tally struct {
	mu sync.Mutex

	rounds, calls, again, late, left, held int
	faults, twice                          map[string]int
}

func newTally() *tally { return &tally{faults: map[string]int{}, twice: map[string]int{}} }

// audit checks that nothing was lost, and that nothing was paid twice but what a fault has hit.
func (r *round) audit(d *decision, sum *tally) {
	calls := r.calls()
	bySeed := map[int64][]call{}
	for _, c := range calls {
		bySeed[c.seed] = append(bySeed[c.seed], c)
	}
	if len(bySeed) != len(d.rollouts) || d.Spent.Rollouts != int64(len(d.rollouts)) {
		r.Errorf("agents were asked for %d rollouts, %d are recorded, and %d were charged", len(bySeed), len(d.rollouts), d.Spent.Rollouts)
	}
	said, err := os.ReadFile(r.stderr.Name())
	r.must(err)
	sum.mu.Lock()
	defer sum.mu.Unlock()
	for _, f := range r.faults {
		sum.faults[f.kind+map[string]string{"": " server", theRun: " run"}[f.target]]++
	}
	for seed, made := range bySeed {
		if len(made) > 1 {
			fmt.Fprintf(r.stderr, "AGAIN %v\n", made)
		}
		if !slices.ContainsFunc(made, func(c call) bool { return c.paid }) {
			r.Errorf("no attempt with the seed %d was answered", seed)
		}
		// The one that counts is one that no fault has hit, if there is one.
		slices.SortStableFunc(made, func(a, b call) int { return strings.Compare(r.why(b), r.why(a)) })
		for _, c := range made[:len(made)-1] {
			why := r.why(c)
			if why == "" {
				r.Errorf("attempts with the seed %d were made, which no fault had hit:%v", seed, made)
			}
			sum.twice[why+map[bool]string{true: ": answered", false: ": in flight"}[c.paid]]++
		}
	}
	sum.rounds++
	sum.calls += len(calls)
	sum.again += bytes.Count(said, []byte("given again"))
	sum.late += bytes.Count(said, []byte("too late"))
	if d.Left != "" {
		r.Errorf("goroutines are left:\n%s", d.Left)
	}
	if d.Verdict.Verdict == pareto.Promising {
		sum.held++
	}
	sum.left += r.streams(d)
}

// why is which faults have hit a call; "" if none has.
func (r *round) why(c call) string {
	over := c.over
	if over.IsZero() {
		over = time.Now() // cut off
	}
	var all []string
	for _, f := range r.faults {
		until, who := grace, map[string]string{"": "server ", theRun: "run "}[f.target]
		if f.target == c.worker {
			until = back
		} else if who == "" && f.target != "" {
			continue
		}
		hit := c.begun.Before(f.to.Add(until)) && f.from.Before(over.Add(grace))
		if f.kind == publishes {
			hit = f.seed == c.seed
		}
		if name := who + f.kind; hit && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// streams checks that nothing is left but answers that came when the run was over.
func (r *round) streams(d *decision) (left int) {
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	conn, err := fleet.Dial(ctx, &fleet.Invitation{URL: r.server.URL, Name: "look", Role: fleet.RoleCoordinator, Seed: fleettest.Seed()})
	r.must(err)
	defer conn.Close()
	for _, name := range []string{fleet.Jobs, fleet.Results} {
		s, err := conn.JS.Stream(ctx, name)
		r.must(err)
		for seq := s.CachedInfo().State.FirstSeq; seq <= s.CachedInfo().State.LastSeq; seq++ {
			m, err := s.GetMsg(ctx, seq)
			if err != nil {
				continue // deleted
			}
			key, _, _ := strings.Cut(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], "-")
			if name == fleet.Jobs || d.rollouts[key] == nil {
				r.Errorf("%s is left in %s", m.Subject, name)
			}
			left++
		}
	}
	return left
}
