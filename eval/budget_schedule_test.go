package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// schedules is how many random schedules a test plays.
func schedules(short int) int {
	if os.Getenv("EVOLVE_LONG") == "1" {
		return 10_000
	}
	return short
}

// A flight is one call in a schedule: what was held for it, and what it took.
type flight struct {
	held, took demand
	under      []*Budget // those that it was reserved in
}

// A ledger watches a tree of budgets from the outside: what is in flight, and
// what may be settled at most in each of them.
type ledger struct {
	root  *Budget
	mu    sync.Mutex
	fly   map[*flight]bool
	bound map[*Budget][]*flight // those in flight when the last one began
	late  map[*Budget]demand    // charged since: from records, not calls
}

// acquire is Budget.Acquire, with the flight noted in the moment that it holds.
func (l *ledger) acquire(ctx context.Context, b *Budget, estimate func() demand, wait bool) (*flight, error) {
	for {
		b.mu.Lock()
		d := estimate()
		changed, err := b.tryHold(d)
		if err == nil && changed == nil {
			f := &flight{held: d}
			for p := b; p != nil; p = p.parent {
				f.under = append(f.under, p)
			}
			l.begin(f)
			b.mu.Unlock()
			return f, nil
		}
		b.mu.Unlock()
		if err == nil && !wait {
			err = &BudgetError{Cap: "busy"}
		}
		if err == nil {
			err = await(ctx, changed)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *ledger) begin(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fly[f] = true
	for _, p := range f.under {
		var all []*flight
		for g := range l.fly {
			for _, q := range g.under {
				if q == p {
					all = append(all, g)
				}
			}
		}
		d := demand{rollouts: l.late[p].rollouts}
		if f.held.rollouts > 0 { // others may begin whatever the number of rollouts
			d.rollouts = 0
		}
		l.bound[p], l.late[p] = all, d
	}
}

func (l *ledger) end(b *Budget, f *flight, took *bill) {
	f.took.rollouts = took.rollouts
	b.settle(f.held, took, nil)
	f.took.tokens, f.took.usd = took.takes() // with what is assumed of silent calls
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.fly, f)
}

func (l *ledger) charge(b *Budget, c Cost) {
	one := oneCall(ByAgent, c)
	b.mu.Lock()
	b.book(&one)
	b.mu.Unlock()
	tokens, usd := one.takes()
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := b; p != nil; p = p.parent {
		d := l.late[p]
		l.late[p] = d.plus(demand{rollouts: 1, tokens: tokens, usd: usd})
	}
}

// verify holds every budget of the tree to its caps: what is settled exceeds one
// by no more than what the calls in flight took beyond what was held for them.
func (l *ledger) verify(all []*Budget) error {
	for i, b := range all {
		var over demand
		for _, f := range l.bound[b] {
			over.tokens += max(0, f.took.tokens-f.held.tokens)
			over.usd += max(0, f.took.usd-f.held.usd)
		}
		late := l.late[b]
		s, c := b.spent, b.caps
		tokens, usd := b.used() // silent calls count, too
		switch {
		case b.inFlight != 0 || b.held.rollouts != 0 || b.held.tokens != 0 || b.held.usd != 0:
			return fmt.Errorf("budget %d holds %+v for %d calls after the last one", i, b.held, b.inFlight)
		case len(l.bound[b]) == 0:
			continue // nothing ever began: all is from records
		case c.Rollouts > 0 && s.Rollouts > c.Rollouts+late.rollouts:
			return fmt.Errorf("budget %d: %d rollouts of %d", i, s.Rollouts, c.Rollouts)
		case c.Tokens > 0 && tokens > c.Tokens+over.tokens+late.tokens:
			return fmt.Errorf("budget %d: %d tokens of %d, the calls in flight took %d beyond their estimates", i, tokens, c.Tokens, over.tokens)
		case c.CostUSD > 0 && usd > (c.CostUSD+over.usd+late.usd)*(1+1e-9):
			return fmt.Errorf("budget %d: $%v of $%v, the calls in flight took $%v beyond their estimates", i, usd, c.CostUSD, over.usd)
		}
		said := len(b.Warnings()) > 0
		if c.Tokens > 0 && tokens > c.Tokens && !said || c.CostUSD > 0 && usd > c.CostUSD && !said {
			return fmt.Errorf("budget %d: %+v exceeds %+v, and nothing is said", i, s, c)
		}
	}
	return nil
}

// someCost is what a call took: mostly near the middle, sometimes a lie.
func someCost(r *rand.Rand) Cost {
	if r.IntN(4) == 0 {
		return lies[r.IntN(len(lies))]
	}
	c := Cost{Usage: &Usage{Input: r.Int64N(400), Output: r.Int64N(100)}, USD: ptr(r.Float64() / 10)}
	if r.IntN(10) == 0 {
		c.Usage.Output *= 1000
		*c.USD *= 1000
	}
	return c
}

// liars are the kinds of backends: each returns the report of its nth call.
var liars = []func(r *rand.Rand, n int) Cost{
	func(r *rand.Rand, _ int) Cost { return someCost(r) },
	func(*rand.Rand, int) Cost { return Cost{} }, // it never tells
	func(r *rand.Rand, n int) Cost { // it lulls, and then takes a thousand times as much
		c := Cost{Usage: &Usage{Input: 100, Output: 10}, USD: ptr(0.00011)}
		if n > 5 {
			c = Cost{Usage: &Usage{Input: 110_000, Output: 10_000}, USD: ptr(0.12)}
		}
		return c
	},
	func(r *rand.Rand, n int) Cost { // it tells, and falls silent
		if n > 2 {
			return Cost{Usage: &Usage{}, USD: ptr(0.0)}
		}
		return someCost(r)
	},
	func(r *rand.Rand, n int) Cost { // it tells tokens, and no dollars
		return Cost{Usage: &Usage{Input: r.Int64N(900), Output: r.Int64N(90)}}
	},
}

func someCaps(r *rand.Rand) (c Caps) {
	if r.IntN(2) == 0 {
		c.Rollouts = 1 + r.Int64N(30)
	}
	if r.IntN(2) == 0 {
		c.Tokens = 1 + r.Int64N(8000)
	}
	if r.IntN(2) == 0 {
		c.CostUSD = 0.01 + r.Float64()*2
	}
	if r.IntN(4) == 0 {
		c.Duration = time.Duration(1+r.IntN(40)) * time.Second
	}
	return c
}

// Caps hold in every schedule of several spenders, with sub-budgets, calls that
// fail, bills from records and backends that lie.
func TestCapsHoldInEverySchedule(t *testing.T) {
	var over, refused int
	for seed := range schedules(10_000) {
		synctest.Test(t, func(t *testing.T) {
			if err := playSchedule(t.Context(), uint64(seed), &over, &refused); err != nil {
				t.Fatalf("schedule %d: %v", seed, err)
			}
		})
	}
	if over == 0 || refused == 0 {
		t.Errorf("no cap was exceeded (%d), or no call refused (%d): the schedules show nothing", over, refused)
	}
	t.Logf("%d schedules: %d budgets exceeded a cap within the error of their estimates, %d calls were refused", schedules(10_000), over, refused)
}

func playSchedule(ctx context.Context, seed uint64, over, refused *int) error {
	r := rand.New(rand.NewPCG(seed, 7))
	root := NewBudget(someCaps(r), time.Now)
	all := []*Budget{root}
	for _, by := range []Spender{ByAgent, ByMutator, ByJudge, ByMiner} {
		if r.IntN(2) == 0 {
			root.SetPrice(by, &Price{Input: 20 * r.Float64(), Output: 100 * r.Float64()})
		}
	}
	for range r.IntN(4) {
		all = append(all, all[r.IntN(len(all))].Sub(someCaps(r)))
	}
	l := &ledger{root: root, fly: map[*flight]bool{}, bound: map[*Budget][]*flight{}, late: map[*Budget]demand{}}
	for range r.IntN(4) { // what a resumed run finds
		l.charge(all[r.IntN(len(all))], someCost(r))
	}
	if r.IntN(4) == 0 {
		root.ChargeTime(time.Duration(r.IntN(30)) * time.Second)
	}
	begun := map[*Budget]time.Duration{} // elapsed when the last call began
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	for w := range 1 + r.IntN(6) {
		r := rand.New(rand.NewPCG(seed, uint64(100+w)))
		b := all[r.IntN(len(all))]
		by := []Spender{ByAgent, ByMutator, ByJudge, ByMiner}[r.IntN(4)]
		nature := liars[r.IntN(len(liars))]
		wg.Go(func() {
			for n := range 1 + r.IntN(12) {
				prompt := max(0, r.Int64N(800)-200)
				estimate := func() demand { return b.expect(by, Cost{}, question{prompt: prompt}) }
				attempts := 1
				switch r.IntN(3) {
				case 0:
					est := someCost(r)
					estimate = func() demand { return b.expect(by, est, question{prompt: prompt}) }
				case 1:
					if by == ByAgent {
						attempts = 1 + r.IntN(2)
						estimate = func() demand { return b.expectRollout(attempts, attempts, prompts{prompt, prompt}) }
					}
				}
				f, err := l.acquire(ctx, b, estimate, r.IntN(3) > 0)
				mu.Lock()
				if err != nil {
					*refused++
					if !errors.As(err, new(*BudgetError)) {
						errs = append(errs, err)
					}
				} else {
					for _, p := range f.under {
						begun[p] = p.elapsed()
					}
				}
				mu.Unlock()
				if err != nil {
					if r.IntN(2) == 0 {
						return
					}
					continue
				}
				time.Sleep(time.Duration(r.IntN(5000)) * time.Millisecond)
				took := bill{lines: [2]billLine{{by: by, prompt: prompt}, {by: ByJudge, prompt: prompt}}}
				switch r.IntN(5) {
				case 0: // it failed, and is taken to have been free
					took.lines[0].calls = 1 + r.Int64N(3)
				case 1: // it was never made
				default:
					took.lines[0].add(1, nature(r, n))
					if by == ByAgent {
						took.rollouts = int64(attempts)
						for range r.IntN(3) { // the judge is asked, and asked again
							took.lines[1].add(1, nature(r, n))
						}
					}
				}
				l.end(b, f, &took)
				if r.IntN(8) == 0 {
					l.charge(b, someCost(r))
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, b := range all {
		if b.caps.Duration > 0 && begun[b] >= b.caps.Duration {
			return fmt.Errorf("a call began after %v, the cap is %v", begun[b], b.caps.Duration)
		}
		if s := b.spent; b.caps.Tokens > 0 && s.TokensIn+s.TokensOut > b.caps.Tokens || b.caps.CostUSD > 0 && s.CostUSD > b.caps.CostUSD {
			*over++
		}
		if math.IsNaN(b.spent.CostUSD) {
			return errors.New("the cost is no number")
		}
	}
	return l.verify(all)
}
