package sleep

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// An annals keeps what a skill's lifetime is made of: in a store, or as one does.
type annals interface {
	Journal
	save(*record.TrialRecord)
	trials() []record.TrialRecord // the newest first
}

// inStore is the real one.
type inStore struct {
	Journal
	t  *testing.T
	db *store.Store
}

func (l inStore) save(r *record.TrialRecord) {
	if err := l.db.Journal(r.Run).SaveTrial(l.t.Context(), r); err != nil {
		l.t.Fatal(err)
	}
}

func (l inStore) trials() []record.TrialRecord {
	all, err := l.db.Trials(l.t.Context(), "s")
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

// inMemory does as the store does, fast enough for thousands of lifetimes.
type inMemory struct {
	t       *testing.T
	night   *Night
	state   State
	numbers []record.TrialNumber
	records []record.TrialRecord
}

func (l *inMemory) Acquire(context.Context, string, time.Time, time.Time, func(string) bool) (Lease, error) {
	return Lease{}, nil
}
func (l *inMemory) Renew(context.Context, Lease, time.Time) error { return nil }
func (l *inMemory) Release(context.Context, Lease) error          { return nil }
func (l *inMemory) LastNight(context.Context) (*Night, error)     { return l.night, nil }
func (l *inMemory) SaveNight(_ context.Context, n *Night) error   { l.night = n; return nil }
func (l *inMemory) trials() []record.TrialRecord                  { return l.records }
func (l *inMemory) State(_ context.Context, _ string) (*State, error) {
	st := l.state
	st.Trials, st.Lifetime.Rejected = slices.Clone(st.Trials), slices.Clone(st.Lifetime.Rejected)
	return &st, st.Enter(l.numbers, l.records)
}

func (l *inMemory) SaveState(_ context.Context, _ int64, st *State) error {
	l.state = *st
	for _, n := range st.Lifetime.Rejected {
		l.numbers[n-1].Proved = true
	}
	return nil
}

func (l *inMemory) save(r *record.TrialRecord) {
	l.records = slices.DeleteFunc(l.records, func(o record.TrialRecord) bool { return o.Challenger == r.Challenger })
	l.records = slices.Insert(l.records, 0, *r)
	if slices.ContainsFunc(l.numbers, func(n record.TrialNumber) bool { return n.Challenger == r.Challenger }) {
		return
	}
	before := 0
	for _, n := range l.numbers {
		if n.Proved {
			before++
		}
	}
	l.numbers = append(l.numbers, record.TrialNumber{Number: len(l.numbers) + 1, Incumbent: r.Incumbent, Challenger: r.Challenger, Before: before})
}

// A lifetime is a skill whose owner runs searches between the nights. Some of the
// challengers are better by 30 points, the others no better at all.
type lifetime struct {
	annals
	t       *testing.T
	rng     *rand.Rand
	better  float64 // share of challengers that are
	now     time.Time
	made    int
	good    map[string]bool
	alone   int // proofs of no effect at the level of a single trial, by the owner's runs
	right   int // installed by nights
	wrong   int
	unfair  []string // installed below the level of its number
	stalled int      // nights in a row that could have continued a proof and did not
}

func (l *lifetime) pair(challenger string) pareto.Pair {
	up := 0.5
	if l.good[challenger] {
		up = 0.8
	}
	var d float64
	if l.rng.Float64() < up {
		d++
	}
	if l.rng.Float64() < 0.5 {
		d--
	}
	return pareto.Pair{Quality: d, Latency: math.NaN(), Cost: math.NaN(), Retries: math.NaN()}
}

func (l *lifetime) write(r *record.TrialRecord, t *pareto.Trial) {
	raw, err := json.Marshal(map[string]any{"version": 1, "start": t, "trial": t})
	if err != nil {
		l.t.Fatal(err)
	}
	l.now = l.now.Add(time.Minute)
	r.State, r.Decision, r.Updated = raw, t.Verdict(), l.now
	l.save(r)
}

const (
	searchCases = 30
	freshCases  = 15
)

// search finds a challenger, and lets the gate try it under the rule.
func (l *lifetime) search(rule pareto.Config) *record.TrialRecord {
	l.made++
	r := &record.TrialRecord{Skill: "s", Incumbent: "v0", Challenger: fmt.Sprintf("c%03d", l.made), Run: "r"}
	l.good[r.Challenger] = l.rng.Float64() < l.better
	t := pareto.NewTrial(rule)
	l.write(r, t) // it begins
	for range searchCases {
		t.Add(l.pair(r.Challenger))
	}
	l.write(r, t)
	return r
}

func (l *lifetime) goOn(r *record.TrialRecord) {
	t, err := r.Kept()
	if err != nil {
		l.t.Fatal(err)
	}
	for range freshCases {
		t.Add(l.pair(r.Challenger))
	}
	l.write(r, t)
}

// newest is the newest trial that has come to v, nil for none.
func (l *lifetime) newest(v pareto.Verdict) *record.TrialRecord {
	for _, r := range l.trials() {
		if r.Decision == v {
			return &r
		}
	}
	return nil
}

// owner runs the command by hand, often with --anew.
func (l *lifetime) owner() {
	r := l.newest(pareto.Undecided)
	if r != nil && l.rng.IntN(2) == 0 {
		l.goOn(r)
	} else {
		l.search(pareto.DefaultConfig())
	}
	if now := l.trials()[0]; now.Decision == pareto.Promote && !l.good[now.Challenger] {
		l.alone++
	}
}

func (l *lifetime) resultOf(r *record.TrialRecord) Result {
	res, err := closed(r)
	if err != nil {
		l.t.Fatal(err)
	}
	if res == nil {
		return Result{Decision: pareto.Undecided, Incumbent: r.Incumbent, Challenger: r.Challenger, Kernel: true}
	}
	res.Kernel = true
	return *res
}

func (l *lifetime) parts() Parts {
	installed := map[string]bool{}
	return Parts{
		Skills:  func(context.Context) ([]string, error) { return []string{"s"}, nil },
		Harvest: func(context.Context) (int, string, error) { return 1, "", nil },
		Look: func(context.Context, string) (Outlook, error) {
			o := failing("s", 90)
			o.Incumbent = "v0"
			for _, r := range l.trials() {
				if r.Decision == pareto.Promote && !installed[r.Challenger] {
					o.Proved = &Proof{Run: r.Run, Result: l.resultOf(&r), Fresh: freshCases, Rollouts: 2 * freshCases}
					return o, nil
				}
			}
			if r := l.newest(pareto.Undecided); r != nil {
				o.Challenger, o.Fresh, o.Rollouts = r.Challenger, freshCases, 2*freshCases
			}
			return o, nil
		},
		Try: func(ctx context.Context, k Task) (Result, error) {
			if k.Kind == Search {
				return l.resultOf(l.search(pareto.DefaultConfig().Within(k.Level))), nil
			}
			r := l.newest(pareto.Undecided)
			if r == nil {
				r = l.newest(pareto.Promote)
			}
			st, err := l.State(ctx, "s")
			if err != nil {
				return Result{}, err
			}
			if _, err := r.Hold(st.Level(r.Incumbent, r.Challenger, 0)); err != nil {
				return Result{}, err
			}
			l.goOn(r)
			return l.resultOf(r), nil
		},
		Install: func(ctx context.Context, k Task, r Result) (Placed, error) {
			installed[r.Challenger] = true
			if l.good[r.Challenger] {
				l.right++
			} else {
				l.wrong++
			}
			st, err := l.State(ctx, "s")
			if err != nil {
				return Placed{}, err
			}
			if at := st.find(r.Incumbent, r.Challenger, 0); at < 0 || r.EValue*0.8*st.Trials[at].Level < 1-1e-9 {
				l.unfair = append(l.unfair, r.Challenger)
			}
			return Placed{Done: true}, nil
		},
	}
}

// live lets the owner and the nights take turns at random until so many trials have
// begun.
func (l *lifetime) live(trials int) {
	l.good, l.now = map[string]bool{}, evening.AddDate(-1, 0, 0)
	n := 0
	c := &Cycle{Parts: l.parts(), Journal: l.annals, Now: func() time.Time { return evening }, Owner: "test",
		RunID: func() string { n++; return fmt.Sprint("run", n) }}
	for turn := 0; l.made < trials && turn < 10*trials; turn++ {
		if l.rng.IntN(10) < 7 {
			l.owner()
			continue
		}
		had := l.newest(pareto.Promote)
		night, err := c.Run(l.t.Context(), Plan{Policy: Auto})
		if err != nil {
			l.t.Fatal(err)
		}
		if had != nil && !slices.ContainsFunc(night.Steps, func(s Step) bool { return (s.Kind == Continue || s.Kind == Install) && s.Stage == Done }) {
			st, err := l.State(l.t.Context(), "s")
			if err != nil {
				l.t.Fatal(err)
			}
			if at := st.find("v0", had.Challenger, 0); at < 0 || !slices.Contains(st.Lifetime.Rejected, st.Trials[at].Number) {
				l.stalled++
			}
		}
	}
}

func lifetimes() int {
	if os.Getenv("EVOLVE_LONG") != "" {
		return 2000
	}
	return 20
}

// TestOwnersAndNightsShareOneError: fifty trials of a skill, most of them its
// owner's by hand. Over all lifetimes the expected share of false ones among what
// nights install stays at most 5 %, whether there is ever anything to find or not.
// The owner's runs alone find a false proof in many of these lifetimes.
func TestOwnersAndNightsShareOneError(t *testing.T) {
	for _, better := range []float64{0, 0.3} {
		t.Run(fmt.Sprintf("%.0f%% better", 100*better), func(t *testing.T) { shareOneError(t, better) })
	}
}

func shareOneError(t *testing.T, better float64) {
	reps := lifetimes()
	share, tempted, right, some, stalled := 0.0, 0, 0, 0, 0
	for rep := range reps {
		l := &lifetime{t: t, annals: &inMemory{t: t, state: *NewState("s")}, rng: rand.New(rand.NewPCG(uint64(rep), 50)), better: better}
		l.live(50)
		if l.wrong > 0 {
			share += float64(l.wrong) / float64(l.wrong+l.right)
		}
		if l.alone > 0 {
			tempted++
		}
		if l.right > 0 {
			some++
		}
		right, stalled = right+l.right, stalled+l.stalled
		if len(l.unfair) > 0 {
			t.Errorf("rep %d: installed below the level of its number: %v", rep, l.unfair)
		}
	}
	share /= float64(reps)
	t.Logf("%.0f %% better: false among installed %.4f over %d lifetimes of 50 trials; %d with a false proof by the owner's hand; %d with a true installation, %.2f each",
		100*better, share, reps, tempted, some, float64(right)/float64(reps))
	if share > LifetimeAlpha {
		t.Errorf("%.0f %% better: the expected share of false ones is %.3f, want at most %g", 100*better, share, LifetimeAlpha)
	}
	if better == 0 && float64(tempted) < 0.2*float64(reps) {
		t.Errorf("the owner's runs found a false proof in %d of %d lifetimes: the test shows nothing", tempted, reps)
	}
	if better > 0 && right == 0 {
		t.Error("nothing was ever installed")
	}
	if stalled > 0 {
		t.Errorf("%d nights left a proof alone that they could go on with", stalled)
	}
}

// TestStoredLifetime: the same over a real store, which numbers what begins; two
// of each, as the fast ones do.
func TestStoredLifetime(t *testing.T) {
	for rep := range 3 {
		fast := &lifetime{t: t, annals: &inMemory{t: t, state: *NewState("s")}, rng: rand.New(rand.NewPCG(uint64(rep), 50)), better: 0.3}
		fast.live(20)
		db := openStore(t)
		real := &lifetime{t: t, annals: inStore{Stored(db), t, db}, rng: rand.New(rand.NewPCG(uint64(rep), 50)), better: 0.3}
		real.live(20)
		a, err := fast.State(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		b, err := real.State(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*State{a, b} {
			for i, k := range s.Trials {
				if k.Number != i+1 {
					t.Errorf("trial %d has number %d", i+1, k.Number)
				}
			}
		}
		if len(b.Trials) != real.made || fmt.Sprint(a.Lifetime, a.Trials) != fmt.Sprint(b.Lifetime, b.Trials) || fast.right != real.right || fast.wrong != real.wrong {
			t.Errorf("rep %d: the store's lifetime is another one\n%+v\n%+v", rep, a, b)
		}
		t.Logf("rep %d: %d trials, promotions %v, installed %d right and %d wrong", rep, len(b.Trials), b.Lifetime.Rejected, real.right, real.wrong)
	}
}

// TestAClockThatRanAhead hides no correction: the night searches, and notes a time
// that is right.
func TestAClockThatRanAhead(t *testing.T) {
	j := Stored(openStore(t))
	h := &house{outlooks: map[string]Outlook{"s": failing("s", 90)}}
	c := h.cycle(j)
	lease, err := j.Acquire(t.Context(), "test", evening, evening.Add(time.Hour), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	ahead := NewState("s")
	ahead.Searched, ahead.Served = evening.AddDate(4, 0, 0), evening.AddDate(4, 0, 0)
	if err := j.SaveState(t.Context(), lease.Generation, ahead); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), Plan{Policy: Auto}); err != nil {
		t.Fatal(err)
	}
	st, err := j.State(t.Context(), "s")
	if err != nil || len(h.tried) != 1 || !st.Searched.Equal(evening) || !st.Served.Equal(evening) {
		t.Errorf("tried %v; searched %v, served %v, %v", h.tried, st.Searched, st.Served, err)
	}
	if _, err := c.Run(t.Context(), Plan{Policy: Auto}); err != nil || len(h.tried) != 1 {
		t.Errorf("it searched again: %v, %v", h.tried, err)
	}
}

// TestOlderState: the trials that nights have counted keep number, level and
// decision, and what was promoted among them still counts.
func TestOlderState(t *testing.T) {
	st := NewState("s")
	if err := json.Unmarshal([]byte(`{"schema":1,"skill":"s","lifetime":{"alpha":0.05,"rejected":[1],"tested":2},"trials":[
		{"number":1,"run":"n1","incumbent":"v0","challenger":"a","level":0.025,"decision":"promote"},
		{"number":2,"run":"n2","incumbent":"a","challenger":"b","level":0.016,"decision":"undecided"}]}`), st); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(st.Trials)
	numbers := []record.TrialNumber{{Number: 1, Incumbent: "v0", Challenger: "a", Proved: true}, {Number: 2, Incumbent: "a", Challenger: "b", Before: 0},
		{Number: 3, Incumbent: "v0", Challenger: "owners"}, {Number: 4, Incumbent: "a", Challenger: "b", Round: 1, Before: 1}}
	for range 2 { // entering them again changes nothing
		if err := st.Enter(numbers, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(st.Trials[:2], want) || len(st.Trials) != 4 || st.Lifetime.Tested != 4 || !slices.Equal(st.Lifetime.Rejected, []int{1}) {
			t.Fatalf("the lifetime: %+v", st)
		}
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-12 }
	if got := st.Level("v0", "owners", 0); !near(got, 0.05/12) {
		t.Errorf("the owner's trial: %g, want that of a third trial", got)
	}
	if got := st.Level("a", "b", 1); !near(got, 2*0.05/20) {
		t.Errorf("the second round: %g, want that of a fourth trial after a promotion", got)
	}
	if got := st.Next(); !near(got, 2*0.05/30) {
		t.Errorf("the next: %g", got)
	}
}

// TestWhatASingleProofIsWorth in words, for either policy.
func TestWhatASingleProofIsWorth(t *testing.T) {
	r := proved(0)
	r.EValue, r.Alpha, r.Total = 59.2, 0.04, 0.05
	const worth = "better as a single trial (at most 1 time in 59 by chance); among all trials of this skill it takes 1 in 750"
	for policy, next := range map[Policy]string{Auto: ": `evolve promote` installs it if you say so, else it waits for fresh cases", Staging: ", and waits for your word (policy stage)"} {
		if ok, why := policy.MayInstall(&r, 0.05/30, false); ok || why != worth+next {
			t.Errorf("policy %s: %v, %q", policy, ok, why)
		}
	}
	if ok, why := Auto.MayInstall(&r, 0.025, false); !ok {
		t.Errorf("at the level of a first trial: %s", why)
	}
}
