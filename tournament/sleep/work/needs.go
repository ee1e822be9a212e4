package work

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/search"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// lack is what the next search waits for. One that a cap has ended without a result may
// read the same cases again.
func (s *Worker) lack(ctx context.Context, name string, cases []eval.Case) (l splits.Lack, err error) {
	now, err := ingest.SplitState(ctx, s.Store, s.Runner.Layout, name)
	if err != nil {
		return l, err
	}
	st, err := sleep.Stored(s.Store).State(ctx, name)
	if err == nil && st.Short != nil {
		now.Read = nil
	}
	return now.Lack(cases), err
}

// usable are the cases that a run of this night can try; all, if it is unknown which agent
// would answer.
func (s *Worker) usable(ctx context.Context, cases []eval.Case) ([]eval.Case, error) {
	if s.model(ctx); s.now.back == nil {
		return cases, nil
	}
	kept, _, err := s.now.back.Usable(ctx, &s.now.f.Spec, cases)
	return kept, err
}

// needs forecasts what a search over these cases takes, with the beginning of
// its trial. It forecasts other quantities than rollouts only if the night
// has a cap on them. Cases that a run would leave out do not count.
func (s *Worker) needs(ctx context.Context, live *skill.Live, cases []eval.Case, evolves string) (n sleep.Caps, err error) {
	if cases, err = s.usable(ctx, cases); err != nil {
		return n, err
	}
	spent, err := s.Store.Journal("").SpentCases(ctx, live.Name)
	if err != nil {
		return n, err
	}
	val := 0
	uses, err := expect.Uses(ctx, s.Store, live.Name, cases)
	if err != nil {
		return n, err
	}
	test, clusters := spent.Unspent(cases, uses)
	for _, c := range cases {
		if c.Split == eval.Val {
			val++
		}
	}
	n.Rollouts = search.Needs(val, test, s.Config.MaxRetries, true)
	if s.Config.MaxCostUSD == 0 && s.Config.MaxTokens == 0 && s.Config.MaxDuration == 0 {
		return n, nil
	}
	if s.model(ctx); s.now.back == nil {
		return n, nil // it is unknown which agent would answer
	}
	f := s.now.f
	f.Skill, f.Evolve, f.MaxRollouts, f.HeldOut, f.Clusters = live.Name, evolves, n.Rollouts, test, clusters
	fc, err := s.Runner.NewForecast(ctx, s.Store, &f, live, cases, s.now.back.UsesTools())
	if err != nil {
		return n, err
	}
	n.Tokens, n.Duration = fc.Tokens, time.Duration(fc.Minutes*float64(time.Minute))
	if fc.CostUSD != nil {
		n.CostUSD = *fc.CostUSD
	}
	return n, nil
}
