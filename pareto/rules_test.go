package pareto

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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
	misread   float64 // share of each kind of turn that one reading takes for the other one
	readings  int     // of a turn that the first one takes for an applying one; 0 is 2
	repeated  float64 // share of second readings that only repeat the first one
	silence   bool    // turns about which nothing is said tell nothing
	replays   int     // of each text on a case; 0 is turnReplays
	weeks     int
}

// reads is what the reader says of a turn.
func (l ruleLife) reads(rng *rand.Rand, applies bool) bool {
	said := applies != (rng.Float64() < l.misread)
	if !said || l.readings == 1 || rng.Float64() < l.repeated {
		return said
	}
	return applies != (rng.Float64() < l.misread)
}

// said is the share of turns of both kinds, those to which the rule applies first, that the reader
// takes for applying ones.
func (l ruleLife) said() (right, wrong float64) {
	right, wrong = 1-l.misread, l.misread
	if l.readings != 1 {
		right, wrong = right*(l.repeated+(1-l.repeated)*right), wrong*(l.repeated+(1-l.repeated)*wrong)
	}
	return right, wrong
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
	placed      int // week in which a night may put the text in place on trial; never
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
	right, wrong := l.said()
	yes := l.share*right + (1-l.share)*wrong
	failures := (l.share*right*l.failures + (1-l.share)*wrong*l.elsewhere) / yes
	rule := night(1, failures).WithRest()
	rule.Share = yes
	trial := NewTrial(rule)
	var strata, restStrata Strata
	var pool []turn // cases of the rest
	world := World{Replays: cmp.Or(l.replays, turnReplays)}
	measure := func(u turn, s *Strata, add func(Pair)) {
		p := world.pair(rng, base[u.applies][0], base[u.applies][1], u.hard)
		if l.silence && u.stratum == "silent" {
			p.Quality = 0
		}
		p.Weight, p.Largest = s.Weight(u.stratum)
		s.Case(u.stratum)
		add(p)
		out.tokens += replayTokens * float64(world.Replays) * 2 * (1 + failures)
	}
	others := func() {
		for trial.WantsRest() && len(pool) > 0 {
			i := rng.IntN(len(pool))
			u := pool[i]
			pool[i], pool = pool[len(pool)-1], pool[:len(pool)-1]
			measure(u, &restStrata, trial.AddRest)
		}
	}
	begun := false
	out.week, out.placed = never, never
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
			u.replays, u.elsewhere = rng.Float64() < again, !l.reads(rng, u.applies)
			switch {
			case u.elsewhere:
				restStrata.Use(u.stratum)
				if u.replays {
					pool = append(pool, u)
				}
			case !begun && u.stratum == "silent": // as record.State.AfterSearch
			case u.replays:
				begun = true
				if others(); trial.Verdict().IsOpen() && !trial.OnlyRest() {
					measure(u, &strata, trial.Add)
				}
				strata.Use(u.stratum)
			default:
				strata.Use(u.stratum)
			}
		}
		others()
		if better, _ := trial.Now(); trial.Verdict() == Promote {
			out.week = weekOf(day)
		} else if out.placed == never && trial.Verdict() == Promising && better >= NightTries(1) && trial.RestSeen() {
			out.placed = weekOf(day)
		}
	}
	out.verdict, out.route, out.cases, out.rest = trial.Verdict(), trial.route, trial.Cases(), trial.RestCases()
	return out
}

// manyLives is what became of many lives: the shares of proofs and of trial installs by a night, the
// week by which half of lives are proved, and within how many pairs of the rest 80 % of proofs come.
type manyLives struct {
	proved, placed float64
	half, rest     int
}

func (l ruleLife) proofs(t *testing.T, name string, lives int) (out manyLives) {
	rng := rand.New(rand.NewPCG(41, 0))
	var proved, placed, cases, rest []int
	var tokens []float64
	ways := map[string]int{}
	for range lives {
		o := l.live(rng)
		proved, placed = append(proved, o.week), append(placed, o.placed)
		ways[fmt.Sprint(o.verdict, " ", o.route)]++
		if o.verdict == Promote {
			out.proved += 1 / float64(lives)
			cases, rest, tokens = append(cases, o.cases), append(rest, o.rest), append(tokens, o.tokens)
		}
	}
	out.half = quantile(proved, .5)
	told := ""
	if len(cases) > 0 {
		out.rest = quantile(rest, .8)
		told = fmt.Sprintf("; a proof has %d pairs and %d of the rest in half (80 %%: %d), %.0f M tokens", quantile(cases, .5), quantile(rest, .5), out.rest, quantile(tokens, .5))
	}
	t.Logf("%s: proved in %.4f of %d lives, half by week %s, 80 %% by week %s%s; %v", name, out.proved, lives, weeks(out.half), weeks(quantile(proved, .8)), told, ways)
	slices.Sort(placed)
	if n, _ := slices.BinarySearch(placed, never); n > 0 {
		out.placed = float64(n) / float64(lives)
		t.Logf("  a night puts it in place on trial in %.4f, half of these by week %s", out.placed, weeks(placed[n/2]))
	}
	return out
}

// TestRules: a rule that applies to one turn in twenty and mends half of the failures there, or, in
// the last two rows, half of the turns.
func TestRules(t *testing.T) {
	lives := fewer(4)
	var list []ruleLife
	for _, corrected := range []float64{.3, .5, .8} {
		l := ruleLife{failures: corrected, gain: corrected / 2}
		list = append(list, l)
		for _, misread := range []float64{.1, .3} {
			l.misread, l.repeated = misread, 0
			once, half := l, l
			once.readings, half.repeated = 1, .5
			list = append(list, once, l, half)
		}
	}
	list = append(list,
		ruleLife{failures: .3, gain: .15, replays: 5},
		ruleLife{failures: .3, gain: .15, silence: true},
		ruleLife{failures: .5, gain: .25, silence: true},
		ruleLife{failures: .6, gain: .5},
		ruleLife{failures: .8, gain: .5})
	for _, l := range list {
		l.perWeek, l.share, l.elsewhere, l.weeks = ruleTurns, .05, .2, 52
		got := l.proofs(t, l.String(), lives)
		if l.failures >= .5 && l.misread <= .1 && l.readings != 1 && !l.silence && got.half > 25 {
			t.Errorf("%s: proved by week %s in half of lives, want 25", l, weeks(got.half))
		}
	}
}

func (l ruleLife) String() string {
	s := fmt.Sprintf("%.0f→%.0f %% corrected, a reading errs in %.0f %%", 100*l.failures, 100*(l.failures-l.gain), 100*l.misread)
	if l.readings == 1 {
		s += ", one reading"
	}
	if l.repeated > 0 {
		s += fmt.Sprintf(", %.0f %% of second ones repeat the first", 100*l.repeated)
	}
	if l.silence {
		s += ", silence tells nothing"
	}
	return s + fmt.Sprintf(", %d replays", cmp.Or(l.replays, turnReplays))
}

// TestNullRules: a rule that mends nothing, read rightly or not. The reader decides before any
// replay, so its errors have no part in the answers.
func TestNullRules(t *testing.T) {
	lives := fewer(2)
	for _, corrected := range []float64{.3, .5, .8} {
		for _, how := range []ruleLife{{}, {misread: .1, readings: 1}, {misread: .1}, {misread: .1, repeated: .5}, {misread: .3, readings: 1}, {misread: .3}, {replays: 5}} {
			l := how
			l.perWeek, l.share, l.failures, l.elsewhere, l.weeks = ruleTurns, .05, corrected, .2, 104
			if share := l.proofs(t, l.String(), lives).proved; share > .05+sampling(.05, lives) {
				t.Errorf("%s: proved in %.4f", l, share)
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
			out := l.proofs(t, name, lives)
			if harm >= restMargin && out.proved > .05+sampling(.05, lives) {
				t.Errorf("%s: proved in %.4f", name, out.proved)
			}
			if harm >= restMargin && out.placed > 1./promising+sampling(1./promising, lives) {
				t.Errorf("%s: on trial in place in %.4f", name, out.placed)
			}
		}
	}
}

// TestForecastOfTheRest: it says what proofs take in the lives above, in which pairs have weights,
// too.
func TestForecastOfTheRest(t *testing.T) {
	lives := fewer(2)
	for _, share := range []float64{.05, .3} {
		for _, corrected := range []float64{.3, .5, .8} {
			l := ruleLife{perWeek: ruleTurns, share: share, failures: corrected, gain: corrected / 2, elsewhere: .2, weeks: 52}
			rule := night(1, corrected).WithRest()
			rule.Share = share
			name := fmt.Sprintf("applies to %.0f %%, %.0f %% corrected", 100*share, 100*corrected)
			took := l.proofs(t, name, lives).rest
			got := ForecastRest(World{Failures: corrected, Gain: corrected / 2, Replays: turnReplays}, World{Failures: l.elsewhere, Replays: turnReplays}, rule)
			t.Logf("  forecast %d", got)
			if math.Abs(float64(got-took)) > .25*float64(took) {
				t.Errorf("%s: a proof takes %d pairs of the rest, forecast %d", name, took, got)
			}
		}
	}
}
