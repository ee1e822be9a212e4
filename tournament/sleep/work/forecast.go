package work

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/campaign/readlimit"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// Forecast estimates what the planned steps of a night may take; nil if
// nothing is to be paid. It asks no model.
func (s *Worker) Forecast(ctx context.Context, n *sleep.Night) (*sleep.Forecast, error) {
	paid := n.Paid()
	if len(paid) == 0 {
		return nil, nil
	}
	left, _ := n.Left()
	fc := &sleep.Forecast{Rollouts: left.Rollouts, Reading: []sleep.Reading{}}
	s.model(ctx) // opens who answers, if somebody does
	each, most, bounded := 0.0, int64(0), true
	var tried []eval.Case
	body, kernel := 0, false
	var read int64
	name := paid[0].Skill
	runs, err := s.Store.Runs(ctx, "")
	if err != nil {
		return nil, err
	}
	past := campaign.PastRateOf(runs, &s.now.f)
	for _, k := range paid {
		if k.Skill != name {
			name = ""
		}
		most, bounded = most+k.Rollouts, bounded && k.Rollouts > 0
		live, err := s.Runner.Layout.Live(k.Skill)
		if err != nil {
			continue // the night reports it
		}
		cases, err := s.Store.Cases(ctx, k.Skill)
		if err != nil {
			return nil, err
		}
		tried, body = append(tried, cases...), max(body, len(live.Doc.Render()))
		kernel = kernel || second.Needed(live.Doc)
		if k.Kind != sleep.Compare {
			asked, err := s.Runner.ProbesOf(&s.now.f, live, s.now.back.UsesTools(), past)
			if err != nil {
				return nil, err
			}
			fc.Probes = fc.Probes.Plus(asked)
		}
		if k.Kind == sleep.Compare || k.Part == sleep.Description {
			continue
		}
		r, err := s.forecastReading(ctx, k.Skill, cmp.Or(k.Caps.Rollouts, left.Rollouts))
		if err != nil {
			return nil, err
		}
		if r.Calls > 0 {
			fc.Reading = append(fc.Reading, r)
			read += r.Tokens
		}
		each = max(each, s.now.f.PerRollout(string(live.Doc.Body()), cases, s.now.back.UsesTools()))
	}
	if bounded && (fc.Rollouts == 0 || most < fc.Rollouts) {
		fc.Rollouts = most // trials continue with the cases there are
	}
	if err := s.sends(ctx, fc, tried, body, kernel, read); err != nil {
		return nil, err
	}
	return fc, s.Price(ctx, fc, read, name, len(tried), each)
}

// sends notes who gets how much text of these cases, and of read tokens of reading.
func (s *Worker) sends(ctx context.Context, fc *sleep.Forecast, cases []eval.Case, body int, kernel bool, read int64) error {
	if s.now.back == nil {
		return nil
	}
	cases, left, err := s.Runner.Control.Filter(ctx, s.Store, s.now.back, agent.Requests, cases)
	if err != nil {
		return err
	}
	f := s.now.f
	f.MaxRollouts = fc.Rollouts
	list, err := s.Runner.Sends(ctx, s.Store, s.now.back, &f, body, kernel, cases, campaign.MinedBytes(read))
	fc.Sends = append(outgoing.Lines(list), left.Lines()...)
	return err
}

// forecastReading counts the calls that reading the corrections of a skill takes.
func (s *Worker) forecastReading(ctx context.Context, name string, rollouts int64) (sleep.Reading, error) {
	var id eval.Identity
	var may func(*harvest.Session) bool
	if back := s.now.back; back != nil {
		id = back.Mutator.Identity()
		var err error
		if may, err = s.Runner.Control.Readable(back, agent.Requests); err != nil {
			return sleep.Reading{}, err
		}
	}
	m, err := campaign.ForecastMining(ctx, s.Ingester, name, may, s.Runner.Headless, id)
	if err != nil {
		return sleep.Reading{}, err
	}
	r := sleep.Reading{Skill: name, Calls: m.Calls}
	if limit := int(readlimit.OfNight(rollouts)); r.Calls > limit {
		r.Later, r.Calls = r.Calls-limit, limit
	}
	if m.Calls > 0 {
		r.Tokens = int64(r.Calls) * int64(m.TokensPerCall())
	}
	return r, nil
}

// Price estimates the cost of a night: read tokens of reading, and its rollouts, of so many
// cases of a skill, "" for several, with each tokens per rollout by a guess (0 for none).
func (s *Worker) Price(ctx context.Context, fc *sleep.Forecast, read int64, name string, cases int, each float64) error {
	f := &s.now.f
	fc.Bound = s.boundWords()
	if s.now.back == nil {
		return nil
	}
	runs, err := s.Store.Runs(ctx, "")
	if err != nil {
		return err
	}
	past := campaign.PastRateOf(runs, f)
	if past.Tokens > 0 {
		each = float64(past.Tokens) / float64(past.Rollouts)
	}
	fc.Free = f.Simulated()
	turns, err := s.Runner.Recorded(ctx, s.Store, f, name)
	if err != nil {
		return err
	}
	fc.First, fc.From = past.Tokens == 0 && turns == nil, f.RestsOn(past, turns)
	if fc.Rollouts == 0 {
		return nil // without a cap there is no bound
	}
	if past.Tokens == 0 && turns != nil {
		takes := f.Estimate(turns, fc.Rollouts, cases, float64(read))
		fc.Tokens, fc.CostUSD, fc.TokensRange, fc.CostRange = &takes.Tokens, takes.CostUSD, takes.TokensRange, takes.CostRange
		return nil
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

// boundWords lists the caps of a night besides that on rollouts, "" for none.
func (s *Worker) boundWords() string {
	var out []string
	f, byDefault := &s.Config, ""
	if s.byDefault != (eval.Caps{}) {
		byDefault = "the default "
	}
	if f.MaxTokens > 0 {
		out = append(out, fmt.Sprintf("%s--max-tokens %d", byDefault, f.MaxTokens))
	}
	if f.MaxCostUSD > 0 {
		out = append(out, byDefault+"--max-cost-usd "+strings.TrimPrefix(eval.FormatUSD(f.MaxCostUSD), "$"))
	}
	if f.MaxDuration > 0 {
		out = append(out, fmt.Sprintf("--max-duration %v", f.MaxDuration.Round(time.Second)))
	}
	return strings.Join(out, ", ")
}

// ForecastEach describes what each night may take, by its caps and by earlier
// runs.
func (s *Worker) ForecastEach(ctx context.Context) (string, error) {
	fc := &sleep.Forecast{Rollouts: s.Config.MaxRollouts, Bound: s.boundWords()}
	if s.Store != nil {
		each := 0.0
		if s.model(ctx); s.now.back != nil {
			each = s.now.f.PerRollout("", nil, s.now.back.UsesTools())
		}
		if err := s.Price(ctx, fc, 0, "", 0, each); err != nil {
			return "", err
		}
	}
	if unknown := s.Store == nil || s.now.back == nil; unknown && fc.Bound == "" && s.Runner.Default != nil {
		if d, err := s.Runner.Default(true); err == nil && d != nil { // a night has it once an agent works
			fc.Bound = "the default cap"
		}
	}
	return fmt.Sprintf("each night: %s; corrections are read with at most %s for a skill", fc.Takes(), plain.Counted(int(readlimit.OfNight(s.Config.MaxRollouts)), "call")), nil
}
