package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A nightForecast is what a night may take at most, said before it begins.
type nightForecast struct {
	Rollouts int64     `json:"rollouts"` // at most; 0: no cap
	Reading  []reading `json:"reading"`
	// Tokens and CostUSD are estimates over all calls, by what earlier runs on the
	// same agent took where there are any; null where nobody knows.
	Tokens  *int64   `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"`

	free  bool   // simulated
	first bool   // no run on this agent tells what one takes: Tokens errs on the dear side
	bound string // in words, what holds it besides the rollouts
}

// A reading is what turning the corrections of one skill into checks takes.
type reading struct {
	Skill  string `json:"skill"`
	Calls  int    `json:"calls"`
	Later  int    `json:"later"` // calls left to later nights
	Tokens int64  `json:"tokens"`
}

// foresee says what the planned steps of a night may take; nil where nothing is to be
// paid. Nothing is asked of any model.
func (s *sleeper) foresee(ctx context.Context, n *sleep.Night) (*nightForecast, error) {
	paid := n.Paid()
	if len(paid) == 0 {
		return nil, nil
	}
	left, _ := n.Left()
	fc := &nightForecast{Rollouts: left.Rollouts, Reading: []reading{}}
	s.model(ctx) // opens who answers, where somebody does
	each, most, bounded := 0.0, int64(0), true
	var read int64
	for _, k := range paid {
		most, bounded = most+k.Rollouts, bounded && k.Rollouts > 0
		if k.Kind == sleep.Certify || k.Part == sleep.Description {
			continue
		}
		r, err := s.foreseeReading(ctx, k.Skill, cmp.Or(k.Caps.Rollouts, left.Rollouts))
		if err != nil {
			return nil, err
		}
		if r.Calls > 0 {
			fc.Reading = append(fc.Reading, r)
			read += r.Tokens
		}
		live, err := s.a.skill(k.Skill)
		if err != nil {
			continue // the night says so
		}
		cases, err := s.db.Cases(ctx, k.Skill)
		if err != nil {
			return nil, err
		}
		each = max(each, s.now.f.PerRollout(string(live.Doc.Body()), cases, s.now.back.UsesTools()))
	}
	if bounded && (fc.Rollouts == 0 || most < fc.Rollouts) {
		fc.Rollouts = most // trials go on with the cases there are
	}
	return fc, s.price(ctx, fc, read, each)
}

// foreseeReading counts the calls that reading the corrections of a skill takes.
func (s *sleeper) foreseeReading(ctx context.Context, name string, rollouts int64) (reading, error) {
	var id eval.Identity
	if back := s.now.back; back != nil {
		id = back.Mutator.Identity()
	}
	m, err := campaign.ForecastMining(ctx, s.db, name, s.f.harvest.headless, id, s.a.redactor(), s.a.Now)
	if err != nil {
		return reading{}, err
	}
	r := reading{Skill: name, Calls: m.Calls}
	if limit := int(campaign.ReadingLimit(rollouts)); r.Calls > limit {
		r.Later, r.Calls = r.Calls-limit, limit
	}
	if m.Calls > 0 {
		r.Tokens = int64(r.Calls) * int64(m.TokensPerCall())
	}
	return r, nil
}

// price estimates what a night takes: read tokens of reading, and its rollouts at each
// tokens, by a guess (0 for none).
func (s *sleeper) price(ctx context.Context, fc *nightForecast, read int64, each float64) error {
	f := &s.now.f
	fc.bound = f.boundWords()
	if s.now.back == nil {
		return nil
	}
	runs, err := s.db.Runs(ctx, "")
	if err != nil {
		return err
	}
	past := campaign.PastRateOf(runs, &f.Config)
	if past.Tokens > 0 {
		each = float64(past.Tokens) / float64(past.Rollouts)
	}
	fc.first = past.Tokens == 0
	fc.free = f.Simulated()
	if fc.Rollouts == 0 {
		return nil // without a cap nobody can tell
	}
	if each > 0 {
		tokens := read + int64(each*float64(fc.Rollouts))
		fc.Tokens = &tokens
		fc.CostUSD = f.USD(f.Model, float64(tokens))
	}
	if past.Rollouts > 0 && past.Priced && fc.CostUSD == nil {
		usd := past.USD / float64(past.Rollouts) * float64(fc.Rollouts)
		if more := f.USD(f.ReflectModel, float64(read)); more != nil {
			usd += *more
		}
		fc.CostUSD = &usd
	}
	return nil
}

// boundWords say which caps hold a night besides that on rollouts, "" for none.
func (f *runFlags) boundWords() string {
	var out []string
	if f.MaxTokens > 0 {
		out = append(out, fmt.Sprintf("--max-tokens %d", f.MaxTokens))
	}
	if f.MaxCostUSD > 0 {
		out = append(out, "--max-cost-usd "+strings.TrimPrefix(eval.FormatUSD(f.MaxCostUSD), "$"))
	}
	if f.MaxDuration > 0 {
		out = append(out, fmt.Sprintf("--max-duration %v", f.MaxDuration.Round(time.Second)))
	}
	return strings.Join(out, ", ")
}

// takes says it in one line.
func (fc *nightForecast) takes() string {
	most := "no cap on rollouts"
	if fc.Rollouts > 0 {
		most = "at most " + plain.Counted(int(fc.Rollouts), "rollout")
	}
	if fc.Tokens != nil {
		most += fmt.Sprintf(", about %s tokens", plain.Thousands(*fc.Tokens))
		if fc.first {
			most += " at most (no earlier run tells)"
		}
	}
	switch {
	case fc.free:
		return most + ", " + eval.FreeSimulated
	case fc.CostUSD != nil && fc.bound != "":
		return fmt.Sprintf("%s, about %s, held by %s", most, eval.FormatUSD(*fc.CostUSD), fc.bound)
	case fc.CostUSD != nil:
		return fmt.Sprintf("%s, about %s; --max-cost-usd would hold it to what you name", most, eval.FormatUSD(*fc.CostUSD))
	case fc.bound != "":
		return fmt.Sprintf("%s; no price is known, %s holds it", most, fc.bound)
	}
	return most + "; no price is known, and nothing else holds it: --max-tokens would"
}

// reads says what is read, of few skills apart and of many together; "" for nothing.
func (fc *nightForecast) reads() string {
	all := fc.Reading
	if len(all) > shownTurns {
		sum := reading{Skill: plain.Counted(len(all), "skill") + ","}
		for _, r := range all {
			sum.Calls, sum.Later, sum.Tokens = sum.Calls+r.Calls, sum.Later+r.Later, sum.Tokens+r.Tokens
		}
		all = []reading{sum}
	}
	var out []string
	for _, r := range all {
		one := fmt.Sprintf("%s %s, %s tokens", r.Skill, plain.Counted(r.Calls, "call"), plain.Thousands(r.Tokens))
		if r.Later > 0 {
			one += fmt.Sprintf(" (%d left for later nights)", r.Later)
		}
		out = append(out, one)
	}
	return strings.Join(out, "; ")
}

// foreseeTimer says what each night of a timer may take, by its flags and what earlier
// runs took.
func (a *app) foreseeTimer(ctx context.Context, f runFlags) (string, error) {
	fc := &nightForecast{Rollouts: f.MaxRollouts, bound: f.boundWords()}
	if db, err := a.existingStore(ctx); err != nil {
		return "", err
	} else if db != nil {
		s := a.newSleeper(db, f)
		defer s.close()
		s.model(ctx)
		if err := s.price(ctx, fc, 0, 0); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("each night: %s; corrections are read with at most %s for a skill", fc.takes(), plain.Counted(int(campaign.ReadingLimit(f.MaxRollouts)), "call")), nil
}
