package pareto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A ruleLife is a person with a file of instructions and a rule on trial in it, from the day on
// which the rule was written. Every turn loads the file; the rule applies to a share of them.
type ruleLife struct {
	perWeek   float64
	share     float64 // of turns that the rule applies to
	failures  float64 // share of these that are corrected
	gain      float64 // of the rule there, in quality
	elsewhere float64 // share of the other turns that are corrected
	harm      float64 // of the rule there
	misread   float64 // share of each kind of turn that the reader takes for the other one
	weeks     int
}

// As with most agents: see docs/benchmarks.md.
var turnsReplay = [2]float64{.72, .64} // of corrected turns, and of others

const (
	turnsSilent = .5 // share of good turns about which nothing is said
	turnReplays = 3  // of each text on a case
	ruleTurns   = 60 // a week
)

// A ruledLife is what became of the trial.
type ruledLife struct {
	week        int // of the proof; never
	verdict     Verdict
	route       string
	cases, rest int
	tokens      float64 // millions, of the trial
}

type turn struct {
	stratum   string
	applies   bool // in truth
	hard      float64
	replays   bool
	elsewhere bool // so the reader says
}

func (l ruleLife) live(rng *rand.Rand) (out ruledLife) {
	base := map[bool][2]float64{
		true:  {intercept(1 - l.failures), intercept(1 - l.failures + l.gain)},
		false: {intercept(1 - l.elsewhere), intercept(1 - l.elsewhere - l.harm)},
	}
	yes := l.share*(1-l.misread) + (1-l.share)*l.misread // that it applies, says the reader
	failures := (l.share*(1-l.misread)*l.failures + (1-l.share)*l.misread*l.elsewhere) / yes
	rule := night(1, failures).WithRest()
	rule.Share = yes
	trial := NewTrial(rule)
	var strata, restStrata Strata
	var pool []turn // cases of the rest
	world := World{Replays: turnReplays}
	measure := func(u turn, s *Strata, add func(Pair)) {
		p := world.pair(rng, base[u.applies][0], base[u.applies][1], u.hard)
		p.Weight, p.Largest = s.Weight(u.stratum)
		s.Case(u.stratum)
		add(p)
		out.tokens += replayTokens * turnReplays * 2 * (1 + failures)
	}
	begun := false
	out.week = never
	for day := 1; day <= 7*l.weeks && trial.Verdict().IsOpen(); day++ {
		for range poisson(rng, l.perWeek/7) {
			u := turn{stratum: "silent", applies: rng.Float64() < l.share, hard: difficulty * rng.NormFloat64()}
			again := turnsReplay[1]
			switch {
			case rng.Float64() >= 1/(1+math.Exp(-base[u.applies][0]-u.hard)):
				u.stratum, again = "corrected", turnsReplay[0]
			case rng.Float64() >= turnsSilent:
				u.stratum = "accepted"
			}
			u.replays, u.elsewhere = rng.Float64() < again, u.applies == (rng.Float64() < l.misread)
			switch {
			case u.elsewhere:
				restStrata.Use(u.stratum)
				if u.replays {
					pool = append(pool, u)
				}
			case !begun && u.stratum == "silent": // as record.State.AfterSearch
			case u.replays:
				if begun = true; trial.Verdict().IsOpen() && !trial.WantsRest() {
					measure(u, &strata, trial.Add)
				}
				strata.Use(u.stratum)
			default:
				strata.Use(u.stratum)
			}
		}
		for trial.WantsRest() && len(pool) > 0 {
			i := rng.IntN(len(pool))
			u := pool[i]
			pool[i], pool = pool[len(pool)-1], pool[:len(pool)-1]
			measure(u, &restStrata, trial.AddRest)
		}
		if trial.Verdict() == Promote {
			out.week = weekOf(day)
		}
	}
	out.verdict, out.route, out.cases, out.rest = trial.Verdict(), trial.route, trial.Cases(), trial.RestCases()
	return out
}

// proofs lives so many lives, and returns the share of proofs.
func (l ruleLife) proofs(t *testing.T, name string, lives int) (share float64, half int) {
	rng := rand.New(rand.NewPCG(41, 0))
	var proved, cases, rest []int
	var tokens []float64
	ways := map[string]int{}
	for range lives {
		o := l.live(rng)
		proved = append(proved, o.week)
		ways[fmt.Sprint(o.verdict, " ", o.route)]++
		if o.verdict == Promote {
			share += 1 / float64(lives)
			cases, rest, tokens = append(cases, o.cases), append(rest, o.rest), append(tokens, o.tokens)
		}
	}
	half = quantile(proved, .5)
	told := ""
	if len(cases) > 0 {
		told = fmt.Sprintf("; a proof has %d pairs and %d of the rest in half, %.0f M tokens", quantile(cases, .5), quantile(rest, .5), quantile(tokens, .5))
	}
	t.Logf("%s: proved in %.4f of %d lives, half by week %s, 80 %% by week %s%s; %v", name, share, lives, weeks(half), weeks(quantile(proved, .8)), told, ways)
	return share, half
}

// TestRules: a rule that applies to one turn in twenty and mends half of the failures there.
func TestRules(t *testing.T) {
	lives := fewer(4)
	for _, corrected := range []float64{.3, .5, .8} {
		for _, misread := range []float64{0, .1, .3} {
			l := ruleLife{perWeek: ruleTurns, share: .05, failures: corrected, gain: corrected / 2, elsewhere: .2, misread: misread, weeks: 52}
			name := fmt.Sprintf("%.0f %% corrected, reader errs in %.0f %%", 100*corrected, 100*misread)
			_, half := l.proofs(t, name, lives)
			if misread == 0 && corrected >= .5 && half > 25 {
				t.Errorf("%s: proved by week %s in half of lives, want 25", name, weeks(half))
			}
		}
	}
}

// TestNullRules: a rule that mends nothing, read rightly or not. The reader decides before any
// replay, so its errors have no part in the answers.
func TestNullRules(t *testing.T) {
	lives := fewer(2)
	for _, corrected := range []float64{.3, .5, .8} {
		for _, misread := range []float64{0, .1, .3} {
			l := ruleLife{perWeek: ruleTurns, share: .05, failures: corrected, elsewhere: .2, misread: misread, weeks: 104}
			name := fmt.Sprintf("no effect, %.0f %% corrected, reader errs in %.0f %%", 100*corrected, 100*misread)
			if share, _ := l.proofs(t, name, lives); share > .05+sampling(.05, lives) {
				t.Errorf("%s: proved in %.4f", name, share)
			}
		}
	}
}

// TestRulesThatHarmElsewhere: how often a rule is proved that mends half of the failures where it
// applies, and harms elsewhere.
func TestRulesThatHarmElsewhere(t *testing.T) {
	lives := fewer(4)
	for _, misread := range []float64{0, .1} {
		for _, harm := range []float64{0, .05, .1, .2} {
			l := ruleLife{perWeek: ruleTurns, share: .05, failures: .5, gain: .25, elsewhere: .2, harm: harm, misread: misread, weeks: 52}
			name := fmt.Sprintf("%.0f points worse elsewhere, reader errs in %.0f %%", 100*harm, 100*misread)
			if share, _ := l.proofs(t, name, lives); harm >= restMargin && share > .05+sampling(.05, lives) {
				t.Errorf("%s: proved in %.4f", name, share)
			}
		}
	}
}
