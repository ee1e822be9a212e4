package eval

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A Spender is the kind of call that money is spent on.
type Spender string

// The four kinds of call that pass through a Budget.
const (
	ByAgent   Spender = "agent"
	ByMutator Spender = "mutator"
	ByJudge   Spender = "judge"
	ByMiner   Spender = "miner"
)

// Caps are hard limits on one run; zero means no cap. Rollouts counts agent
// attempts only, the others count every call.
type Caps struct {
	Rollouts int64         `json:"max_rollouts,omitempty"`
	CostUSD  float64       `json:"max_cost_usd,omitempty"`
	Tokens   int64         `json:"max_tokens,omitempty"`
	Duration time.Duration `json:"max_duration,omitempty"`
}

// Within is, cap by cap, the smaller one of two; if one has no cap the other one holds.
func (c Caps) Within(o Caps) Caps {
	return Caps{smaller(c.Rollouts, o.Rollouts), smaller(c.CostUSD, o.CostUSD), smaller(c.Tokens, o.Tokens), smaller(c.Duration, o.Duration)}
}

func smaller[T int64 | float64 | time.Duration](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Spent is what has been settled so far. If any call reported no cost, CostKnown is
// false and CostUSD a lower bound; likewise the tokens if Uncounted calls reported no
// usage. Estimates for such calls count against the caps alone: see Budget.Assumed.
type Spent struct {
	Rollouts     int64   `json:"rollouts"` // agent attempts
	AgentCalls   int64   `json:"agent_calls"`
	MutatorCalls int64   `json:"mutator_calls"`
	JudgeCalls   int64   `json:"judge_calls"`
	MinerCalls   int64   `json:"miner_calls,omitempty"`
	TokensIn     int64   `json:"tokens_in"`
	TokensOut    int64   `json:"tokens_out"`
	CostUSD      float64 `json:"cost_usd"`
	CostKnown    bool    `json:"cost_known"`
	WallMS       int64   `json:"wall_ms"`
	Uncounted    int64   `json:"uncounted_calls,omitempty"`
	// Simulated: a simulated agent or model answered some of the calls. The calls and
	// their tokens count; their dollars are no money and are not in CostUSD.
	Simulated bool `json:"simulated,omitempty"`
}

// Cost is what one call used, or is expected to use. nil is unknown.
type Cost struct {
	Usage *Usage
	USD   *float64
}

// BudgetError names the cap that a reservation would have exceeded.
type BudgetError struct{ Cap string }

func (e *BudgetError) Error() string { return fmt.Sprintf("budget: --%s is used up", e.Cap) }

// The caps by the names of their flags, as BudgetError names them.
const (
	CapRollouts = "max-rollouts"
	capCost     = "max-cost-usd"
	capTokens   = "max-tokens"
	capDuration = "max-duration"
)

// A Budget keeps a run within its caps: every call reserves what it is expected to use
// before it is made, and settles what it used. Settled and reserved amounts together
// never exceed a cap. So a cap is exceeded only by what the calls in flight used beyond
// their estimates; the cap on rollouts, which needs no estimate, never is. The estimate
// of a call is the largest call of its spender so far, or what its request allows for
// the reply, and it begins beside others only if these may use twice their estimates.
// So the excess over a cap is mostly one reply, of a rollout or to a prompt, that is
// larger than any before it. A call that answers and does not report its usage counts
// with its estimate: see Warnings.
//
// A Budget is safe for concurrent use. The zero Budget is not usable.
type Budget struct {
	parent *Budget // nil for the root
	caps   Caps
	now    func() time.Time
	begun  time.Time
	past   time.Duration // charged wall time of an interrupted run

	mu    *sync.Mutex // the root's: one lock for the whole tree
	spent Spent
	// unpriced and spent.Uncounted count settled calls without a cost and without
	// usage.
	unpriced int64
	assumed  Assumed // estimates for those, in addition to spent
	cutOff   cutOff
	// overTokens and overUSD are what calls used beyond their reservations.
	overTokens, overUSD overrun
	// held is what the calls in flight have reserved.
	held demand
	// inFlight counts reservations that are neither settled nor released.
	inFlight int
	// changed is closed when a reservation ends; nil while no call waits.
	changed chan struct{}
	// learned and booked are kept at the root. booked holds the keys of all rollouts
	// and completions that are already booked: a run that finds its own records again
	// must not pay for them twice.
	learned  *[spenders]experience
	underway *struct{ Underway }
	booked   map[hash]struct{}
}

// prompts are the estimated tokens of the prompts of an agent and of its judge; 0 is
// unknown.
type prompts struct{ ask, judge int64 }

// NewBudget returns a budget that starts now. A nil clock is time.Now.
func NewBudget(caps Caps, now func() time.Time) *Budget {
	if now == nil {
		now = time.Now
	}
	return &Budget{
		caps: caps, now: now, begun: now(), mu: new(sync.Mutex),
		spent: Spent{CostKnown: true}, learned: new([spenders]experience), underway: new(struct{ Underway }),
		booked: make(map[hash]struct{}),
	}
}

// Allow replaces the caps of b, for the rest of the run.
func (b *Budget) Allow(caps Caps) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.caps = caps
}

// Sub returns a share of b with caps of its own. Its reservations must fit both, and
// its spending counts in b as well. To save an amount for later (the gate), give the
// earlier work a Sub with correspondingly lower caps.
func (b *Budget) Sub(caps Caps) *Budget {
	return &Budget{
		parent: b, caps: caps, now: b.now, begun: b.now(), mu: b.mu,
		spent: Spent{CostKnown: true}, learned: b.learned, underway: b.underway, booked: b.booked,
	}
}

// Limit sets the cap on rollouts, which may depend on what has been spent meanwhile.
func (b *Budget) Limit(rollouts int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.caps.Rollouts = rollouts
}

// Reserve reserves the expected usage of one call of by; nil parts of est are estimated
// from the settled calls of by (see experience). The error is a *BudgetError: a cap is
// used up, or will be if the calls in flight use what they reserved. Every reservation
// must be settled or released.
func (b *Budget) Reserve(by Spender, est Cost) (*Reservation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.expect(by, est, question{})
	if short, _ := b.fits(d); short != "" {
		return nil, &BudgetError{Cap: short}
	}
	b.hold(d)
	return &Reservation{budget: b, by: by, demand: d}, nil
}

// Acquire is Reserve for a caller that would rather wait than be refused because of the
// estimates of calls in flight: it waits while one of them could still be cheaper than
// reserved. It fails with a *BudgetError once the settled amounts leave no room, or
// with ctx's error. The caller must hold no reservation, or two of them could wait for
// each other.
func (b *Budget) Acquire(ctx context.Context, by Spender, est Cost) (*Reservation, error) {
	return b.acquire(ctx, by, est, question{})
}

// acquire is Acquire for a call whose prompt and limits are known.
func (b *Budget) acquire(ctx context.Context, by Spender, est Cost, q question) (*Reservation, error) {
	for {
		b.mu.Lock()
		d := b.expect(by, est, q)
		changed, err := b.tryHold(d)
		b.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case changed == nil:
			return &Reservation{budget: b, by: by, demand: d, prompt: q.prompt}, nil
		}
		if err := await(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// acquireRollout is Acquire for all calls of one rollout: attempts of the agent and
// calls of the judge, at worst. They are reserved as one, so that a rollout that has
// begun is never left half measured. The caller must settle the demand.
func (b *Budget) acquireRollout(ctx context.Context, attempts, judges int, asked prompts) (demand, error) {
	for {
		b.mu.Lock()
		d := b.expectRollout(attempts, judges, asked)
		changed, err := b.tryHold(d)
		b.mu.Unlock()
		if changed == nil {
			return d, err
		}
		if err := await(ctx, changed); err != nil {
			return d, err
		}
	}
}

// tryHold reserves d if it fits. If not, it returns what to wait for, or the
// *BudgetError if waiting is pointless. Callers hold the lock.
func (b *Budget) tryHold(d demand) (changed <-chan struct{}, err error) {
	short, wait := b.fits(d)
	switch {
	case short == "":
		b.hold(d)
		return nil, nil
	case wait == nil:
		return nil, &BudgetError{Cap: short}
	case wait.changed == nil:
		wait.changed = make(chan struct{})
	}
	return wait.changed, nil
}

func await(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fits returns the cap that d would exceed, "" if none; and, if only the calls in
// flight are in the way, the budget whose reservations to wait for.
func (b *Budget) fits(d demand) (short string, wait *Budget) {
	for ; b != nil; b = b.parent {
		c := &b.caps
		tokens, usd := b.used()
		var settled, all bool // settled: by the settled amounts alone; all: with the reserved ones
		switch s, h := &b.spent, &b.held; {
		case c.Duration > 0 && b.elapsed() >= c.Duration:
			return capDuration, nil
		case c.Rollouts > 0 && d.rollouts > 0 && s.Rollouts+h.rollouts+d.rollouts > c.Rollouts:
			short, settled, all = CapRollouts, s.Rollouts+d.rollouts > c.Rollouts, true
		case c.Tokens > 0 && tokens+h.tokens+h.spareTokens+d.tokens > c.Tokens:
			short, settled, all = capTokens, tokens+d.tokens > c.Tokens, true
		case c.CostUSD > 0 && (usd >= c.CostUSD || usd+h.usd+h.spareUSD+d.usd > c.CostUSD):
			short, settled, all = capCost, usd >= c.CostUSD || usd+d.usd > c.CostUSD, true
		}
		switch {
		case !all:
			short = ""
		case settled || b.inFlight == 0:
			return short, nil
		default:
			return short, b
		}
	}
	return "", nil
}

// hold reserves d in b and in its parents.
func (b *Budget) hold(d demand) {
	for ; b != nil; b = b.parent {
		b.held = b.held.plus(d)
		b.inFlight++
	}
}

// settle releases d and books its actual cost. key, if it is not nil, is the key of its
// record.
func (b *Budget) settle(d demand, took *bill, key *hash) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if key != nil {
		b.booked[*key] = struct{}{}
	}
	b.book(took)
	tokens, usd := took.takes()
	for ; b != nil; b = b.parent {
		b.overTokens.add(float64(tokens), float64(d.tokens))
		b.overUSD.add(usd, d.usd)
		b.held = b.held.minus(d)
		b.inFlight--
		if b.inFlight == 0 {
			b.held.usd, b.held.spareUSD = 0, 0 // sums of floats need not return to exactly 0
		}
		if b.changed != nil {
			close(b.changed)
			b.changed = nil
		}
	}
}

// A Reservation is the reserved budget of a call that is about to be made.
type Reservation struct {
	budget *Budget
	by     Spender
	demand demand
	prompt int64 // in tokens, 0 if it is not known
	ended  atomic.Bool

	simulated bool // the model that answers
}

// Settle books the actual cost and releases the reservation. After the first Settle or
// Release, further ones do nothing.
func (r *Reservation) Settle(actual Cost) { r.end(actual, nil) }

// Release releases the reservation: the call was not made, or never answered.
func (r *Reservation) Release() {
	if !r.ended.Swap(true) {
		r.budget.settle(r.demand, &bill{}, nil)
	}
}

func (r *Reservation) end(actual Cost, key *hash) {
	if !r.ended.Swap(true) {
		took := oneCall(r.by, actual)
		took.lines[0].prompt, took.simulated = r.prompt, r.simulated
		r.budget.settle(r.demand, &took, key)
	}
}

// Charge books a call that was made earlier and is known from its record: a resumed run
// counts what it spent before it was interrupted.
func (b *Budget) Charge(by Spender, took Cost) {
	one := oneCall(by, took)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.book(&one)
}

// chargeOnce charges what was recorded under key, unless this process has made or
// charged the same call before.
func (b *Budget) chargeOnce(key hash, took *bill) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, done := b.booked[key]; !done {
		b.booked[key] = struct{}{}
		b.book(took)
	}
}

// ChargeTime counts d, the wall time of a run before it was interrupted.
func (b *Budget) ChargeTime(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := b; p != nil; p = p.parent {
		p.past += d
	}
}

// late returns the *BudgetError of a cap that leaves no room for another try: the cap
// on time after wait, those on tokens and dollars with what is lost already; or nil. A
// nil Budget has no caps.
func (b *Budget) late(wait time.Duration, lost Lost) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; b != nil; b = b.parent {
		if b.caps.Duration > 0 && b.elapsed()+wait >= b.caps.Duration {
			return &BudgetError{Cap: capDuration}
		}
		c := &b.caps
		tokens, spent := b.used()
		if u := lost.LostUsage; u != nil && c.Tokens > 0 && tokens+u.Total() >= c.Tokens {
			return &BudgetError{Cap: capTokens}
		}
		if usd := lost.LostUSD; usd != nil && c.CostUSD > 0 && spent+*usd >= c.CostUSD {
			return &BudgetError{Cap: capCost}
		}
	}
	return nil
}

func (b *Budget) elapsed() time.Duration { return b.now().Sub(b.begun) + b.past }

// Spent returns what has been settled and charged.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.spent
	s.WallMS = b.elapsed().Milliseconds()
	return s
}

// Remaining returns what is left of every cap, b's own or a parent's, without
// subtracting reservations. A cap of zero is no cap and stays zero; one that is used up
// is -1, so that the result is never mistaken for "no cap".
func (b *Budget) Remaining() Caps {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all Caps
	for ; b != nil; b = b.parent {
		tokens, usd := b.used()
		all.Rollouts = tighter(all.Rollouts, left(b.caps.Rollouts, b.spent.Rollouts))
		all.CostUSD = tighter(all.CostUSD, left(b.caps.CostUSD, usd))
		all.Tokens = tighter(all.Tokens, left(b.caps.Tokens, tokens))
		all.Duration = tighter(all.Duration, left(b.caps.Duration, b.elapsed()))
	}
	return all
}

func left[T int64 | float64 | time.Duration](limit, used T) T {
	switch {
	case limit <= 0:
		return 0
	case used >= limit:
		return -1
	}
	return limit - used
}

// tighter is the smaller of two remainders; zero means no cap.
func tighter[T int64 | float64 | time.Duration](x, y T) T {
	if x == 0 || y == 0 {
		return x + y
	}
	return min(x, y)
}

// IsAmount reports whether x can be an amount of money, or a rate: finite and not
// negative.
func IsAmount(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
