package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/judge"
)

// A forecast is what a run may take at most, said before anything is spent.
type forecast struct {
	Schema   int      `json:"schema"`
	Skill    string   `json:"skill"`
	Backends string   `json:"backends"`
	Train    int      `json:"train"`
	Val      int      `json:"val"`
	Test     int      `json:"test"`
	Rollouts int64    `json:"rollouts"` // at most; 0: no cap
	Search   int64    `json:"search_rollouts"`
	Gate     int64    `json:"gate_rollouts"`
	Calls    int64    `json:"calls"`  // with mutator and judge, estimated
	Tokens   int64    `json:"tokens"` // estimated
	CostUSD  *float64 `json:"cost_usd"`
	Minutes  float64  `json:"minutes"`
	// Needed is how many held-out cases a gain of 30 and of 10 points is likely
	// to take (80 % of trials end by then); Capped values mean "more than".
	Needed30 int `json:"cases_for_30_points"`
	Needed10 int `json:"cases_for_10_points"`
	// Provable is how many of the held-out cases can be evidence for the challenger of
	// this run: those of one session count as one, and those that were used as none.
	Provable int `json:"provable"`

	free bool // everybody who answers is simulated
	// noGate: nothing is to be proved.
	noGate bool
}

// What a call is expected to take where nothing is known of it.
const (
	answerTokens = 600
	secondsACall = 8
	// toolOverhead stands for the system prompt and the tool calls of an agent
	// that runs tools.
	toolOverhead  = 3000
	tokensMutator = 2500
	tokensJudge   = 1200
	// mutatorShare is mutator calls per rollout. 0.04 to 0.06 were seen in the
	// demo and in a world of 24 rules; a forecast errs on the dear side.
	mutatorShare = 0.15
)

// A pastRate is what earlier runs on the same agent took, all calls included but
// those that read corrections.
type pastRate struct {
	rollouts, tokens int64
	usd              float64
	priced           bool
	wall             time.Duration
}

// recent is how many earlier runs a forecast looks at.
const recent = 5

// history is the rate of a skill's runs.
func (a *app) history(ctx context.Context, p *prepared) (pastRate, error) {
	runs, err := p.db.Runs(ctx, p.f.Skill)
	return pastOf(runs, p.f), err
}

// pastOf reads the rate off the first few of runs, which are the newest, that were on
// the same agent and model as now; its rollouts are 0 where there is none to compare
// with.
func pastOf(runs []tournament.Run, now *runFlags) (r pastRate) {
	r.priced = true
	seen := 0
	for _, run := range runs {
		var f runConfig
		if seen == recent {
			break
		}
		if run.Spent.Rollouts < 10 || json.Unmarshal(run.Config, &f) != nil || f.Agent != now.Agent || f.Model != now.Model {
			continue
		}
		seen++
		r.rollouts += run.Spent.Rollouts
		// Reading corrections comes before the run, and is told apart.
		r.tokens += max(0, run.Spent.TokensIn+run.Spent.TokensOut-f.Mined.TokensIn-f.Mined.TokensOut)
		r.usd += max(0, run.Spent.CostUSD-f.Mined.CostUSD)
		r.priced = r.priced && run.Spent.CostKnown
		r.wall += time.Duration(run.Spent.WallMS) * time.Millisecond
	}
	return r
}

// judgedBy counts the checks of a case that take a call of the judge's.
func judgedBy(c *eval.Case) (n int) {
	for _, k := range c.Checks {
		if k.Type == eval.Judge {
			n++
		}
	}
	return n
}

// answering is what an answer under a skill with that body takes besides the request,
// of an agent with tools or without.
func (f *runFlags) answering(body string, tools bool) int {
	n := skill.Tokens(body) + answerTokens
	if f.Agent == "simulated" || tools {
		n += toolOverhead
	}
	return n
}

func (p *prepared) forecast(past pastRate) *forecast {
	f := p.f
	fc := &forecast{Schema: 1, Skill: f.Skill, Backends: f.Describe(), Rollouts: f.MaxRollouts, free: f.Simulated(), noGate: f.NoGate}
	prompt, judged, wrong := 0, 0, 0
	var test []eval.Case
	for _, c := range p.cases {
		if c.Source != nil && c.Source.Origin == "mined" && c.Source.Outcome == string(harvest.Corrected) {
			wrong++
		}
		switch c.Split {
		case eval.Train:
			fc.Train++
		case eval.Val:
			fc.Val++
		case eval.Test:
			fc.Test++
			test = append(test, c)
		}
		prompt += skill.Tokens(c.Prompt)
		judged += judgedBy(&c)
	}
	n := max(1, len(p.cases))
	share := tournament.Share(f.MaxRollouts, f.HeldOut, f.MaxRetries, !f.NoGate)
	fc.Search, fc.Gate = share.Search, share.Gate
	if f.Carried != "" {
		fc.Search, fc.Gate = 0, min(f.MaxRollouts, int64(2*f.HeldOut*(1+f.MaxRetries)))
		fc.Rollouts = fc.Gate
	}
	rollouts := float64(fc.Rollouts)
	asked := rollouts * float64(judged) / float64(n)
	if !f.NoGate && tournament.RestsOnJudge(test) > 0 {
		asked += float64(2 * min(wrong, judge.MaxOfAKind)) // the judge's calibration
	}
	mutator := float64(fc.Search) * mutatorShare
	fc.Calls = int64(rollouts + asked + mutator)
	perRollout := f.answering(string(p.live.Doc.Body()), p.back.UsesTools()) + prompt/n
	fc.Tokens = int64(rollouts*float64(perRollout) + asked*tokensJudge + mutator*tokensMutator)
	fc.CostUSD = f.USD(f.Model, float64(fc.Tokens))
	if past.rollouts > 0 {
		share := rollouts / float64(past.rollouts)
		if past.tokens > 0 { // else nobody told, and the estimate stands
			fc.Tokens = int64(share * float64(past.tokens))
		}
		if past.priced && fc.CostUSD == nil {
			usd := share * past.usd
			fc.CostUSD = &usd
		}
		fc.Minutes = share * past.wall.Minutes()
	} else if f.Agent != "simulated" {
		fc.Minutes = float64(fc.Calls) * secondsACall / 60 / float64(max(1, f.Concurrency))
	}
	if fc.Rollouts == 0 {
		fc.CostUSD = nil // without a cap nobody can tell
	}
	cfg := pareto.DefaultConfig()
	fc.Provable = f.HeldOut
	if f.Clusters > 0 {
		fc.Provable = f.Clusters
	}
	_, fc.Needed30 = pareto.Forecast(0.5, 0.8, cfg)
	_, fc.Needed10 = pareto.Forecast(0.7, 0.8, cfg)
	p.foreseen = fc
	return fc
}

// String is the forecast in a few lines.
func (fc *forecast) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cases: %d train, %d validation, %d held out; %s\n", fc.Train, fc.Val, fc.Test, fc.Backends)
	atMost := "no cap on rollouts"
	if fc.Rollouts > 0 {
		atMost = fmt.Sprintf("at most %d rollouts (search %d, gate %d), about %d calls and %s tokens", fc.Rollouts, fc.Search, fc.Gate, fc.Calls, plain.Thousands(fc.Tokens))
	}
	cost := "cost unknown without --price-in and --price-out"
	switch {
	case fc.Rollouts == 0:
		cost = "so the patience of the search and the other caps alone end it"
	case fc.CostUSD != nil:
		cost = "about " + eval.FormatUSD(*fc.CostUSD)
	}
	if fc.free {
		cost = eval.FreeSimulated
	}
	fmt.Fprintf(&b, "forecast: %s, %s", atMost, cost)
	if fc.Minutes >= 1 {
		fmt.Fprintf(&b, ", %.0f min", fc.Minutes)
	}
	if !fc.noGate && (fc.Gate > 0 || fc.Test > 0) {
		fmt.Fprintf(&b, "\nproof: a gain of 30 points takes about %d held-out cases, 10 points about %s; ", fc.Needed30, over(fc.Needed10))
		if fc.Provable == fc.Test {
			fmt.Fprintf(&b, "there are %d", fc.Test)
		} else {
			fmt.Fprintf(&b, "of the %d held out %d are fresh evidence", fc.Test, fc.Provable)
		}
	}
	return b.String()
}

// over marks a number of cases that the forecast stopped counting at.
func over(n int) string {
	if n == 0 || n >= 2000 {
		return "2000 or more"
	}
	return fmt.Sprint(n)
}
