package campaign

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign/readlimit"
	"github.com/skill-evolve/evolve/tournament/caps"
)

// minedReply is the expected size of a reply of the miner, in tokens.
const minedReply = 300

// A MiningForecast is what reading the corrections of a skill may take,
// before anything is spent.
type MiningForecast struct {
	Calls   int
	CostUSD *float64 // nil is unknown
	// Beyond: it is more than a default cap; nil if it is not.
	Beyond *caps.BeyondError

	in    int   // tokens of all requests
	bytes int64 // of all requests
}

// TokensPerCall is the size of one call; only with calls.
func (m *MiningForecast) TokensPerCall() int { return m.in/m.Calls + minedReply }

// String formats the forecast in one line.
func (m *MiningForecast) String() string {
	cost := "cost unknown"
	if m.CostUSD != nil {
		cost = "about " + eval.FormatUSD(*m.CostUSD)
	}
	return fmt.Sprintf("mining: about %s to turn your corrections into checks, %s tokens, %s",
		plain.Counted(m.Calls, "call"), plain.Thousands(int64(m.in+m.Calls*minedReply)), cost)
}

// An askCount is a model that only counts its requests.
type askCount struct {
	id    eval.Identity // who will be asked: what it has read already is not read again
	mu    sync.Mutex
	calls int
	in    int // tokens, estimated
	bytes int64
}

func (c *askCount) Identity() eval.Identity { return c.id }

func (c *askCount) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.in += skill.Tokens(p.System) + skill.Tokens(p.User)
	c.bytes += int64(len(p.System) + len(p.User))
	return eval.Completion{}, &eval.InfraError{Kind: eval.Unreachable, Err: errors.New("only counted")}
}

// ForecastMining simulates the mining of a subject's sessions and counts the
// requests to a model, without making any. Nothing is stored. The cost is
// left open.
func ForecastMining(ctx context.Context, g *ingest.Ingester, name string, may func(*harvest.Session) bool, headless bool, who eval.Identity) (*MiningForecast, error) {
	c := &askCount{id: who}
	err := g.Count(ctx, name, ingest.Mining{Model: c, May: may, Headless: headless})
	return &MiningForecast{Calls: c.calls, in: c.in, bytes: c.bytes}, err
}

// reader is the model that reads the corrections in this run.
func (c *Campaign) reader() *readlimit.Reader {
	r := &readlimit.Reader{Model: c.back.Miner, Asked: func() int64 { return c.budget.Spent().MinerCalls }}
	if c.options.Night {
		r.Limit = readlimit.OfNight(c.Config.MaxRollouts)
	}
	c.miner = r
	return r
}

// approveMining asks for approval of the cost of reading the corrections,
// before anything is spent.
func (c *Campaign) approveMining(ctx context.Context, may func(*harvest.Session) bool) error {
	if c.back.Mutator.Identity().Simulated || c.options.Night { // a night has its caps, and no one to ask
		return nil
	}
	m, err := ForecastMining(ctx, c.runner.Ingester(c.db, c.back), c.Config.Skill, may, c.runner.Headless, c.back.Mutator.Identity())
	if err != nil || m.Calls == 0 {
		return err
	}
	m.CostUSD = c.Config.Price(c.Config.ReflectModel).USD(&eval.Usage{Input: int64(m.in), Output: int64(m.Calls * minedReply)})
	c.runner.Say("%s", m)
	m.Beyond = c.held.Beyond(c.Config.Caps(), c.budget.Spent(), caps.Estimate{USD: m.CostUSD, Tokens: float64(m.in + m.Calls*minedReply)})
	if c.options.Approve == nil {
		return nil
	}
	if err := c.options.Approve(m); err != nil {
		return err
	}
	return c.Allow(ctx, m.Beyond)
}

// ChargeMining charges the miner's calls of a run's earlier processes to a
// budget; mined is their cost in the run's configuration. A process that
// continues does not repeat all of them: cases that are stored are known. The
// search reads the replies of the other models again and counts them then:
// its decisions depend on what was spent by then.
func ChargeMining(ctx context.Context, db *store.Store, run string, mined eval.Spent, budget *eval.Budget) error {
	replies, err := db.Recorded(ctx, run, eval.ByMiner)
	if err != nil {
		return err
	}
	if int64(len(replies)) < mined.MinerCalls { // of a session that was purged
		for _, one := range perCall(mined) {
			budget.Charge(eval.ByMiner, one)
		}
		return nil
	}
	return budget.ChargeRecorded(eval.ByMiner, replies)
}

// perCall divides the miner's spending into equal shares: only the sum is
// known, and each call counts.
func perCall(s eval.Spent) []eval.Cost {
	n := s.MinerCalls
	out := make([]eval.Cost, n)
	for k := range out {
		share := func(all int64) int64 {
			i := int64(k)
			return all*(i+1)/n - all*i/n
		}
		out[k].Usage = &eval.Usage{Input: share(s.TokensIn), Output: share(s.TokensOut)}
		if s.CostKnown {
			usd := s.CostUSD / float64(n)
			out[k].USD = &usd
		}
	}
	return out
}
