package pareto

import (
	"math"
	"math/rand/v2"
	"time"
)

// A person uses a skill, corrects what fails, and has nights search and try. What a
// search finds is a model, not evolve's: each of six candidates has all of the gain
// with a chance of .5·(1−e^(−train/8)), or else otherwise; validation picks the best.
type person struct {
	failures, gain float64
	otherwise      float64 // the gain of what a search finds that does not find the gain
	perWeek        float64
	backlog        int        // uses before the first night
	replayable     [2]float64 // of corrected uses, and of others
	silent         float64    // share of good uses about which nothing is said
	own            bool       // the owner tries what is promising, else nights do
	replays        int        // of each text on a case
}

// As in eval/splits.
const (
	trainFirst = 12
	valFirst   = 6
)

const (
	years = 156 // weeks
	never = years + 1
	// A replay takes so many millions of tokens. An answer that fails is asked for once more.
	replayTokens = 0.06
)

// A lived life: the weeks until a text with the gain is promising, on a trial install (or
// proved), and proved; what the trials have taken until then; and what became of texts
// without it.
type lived struct {
	promising, tried, proved      int
	promisingTokens, provedTokens float64
	wrong                         bool    // a text without the gain was proved: the life ends
	trials, installs              int     // of texts without it, and how many were ever in place
	days                          float64 // that they were, all together
	taken                         map[Removal]int
	use                           []use
	train, val                    int // what no search has read yet
	heldOut                       []int
	rng                           *rand.Rand
	base                          map[float64]float64 // logits by gain
	spent                         float64             // millions of tokens
}

// A use is what became of it, how hard it is, and by which text it was done.
type use struct {
	stratum string
	hard    float64
	text    float64 // its gain
	day     int
}

// A contest is a trial with its challenger.
type contest struct {
	*Trial
	number    int
	gain      float64
	strata    map[float64]*Strata // by the text in place
	since     int                 // the use that was its first case
	counted   int                 // uses that are in strata
	heard     int                 // cases that teach
	install   *TrialInstall
	before    bool // it was in place once
	installed int  // the day
}

func (p person) live(rng *rand.Rand, level func(trial int) float64) *lived {
	l := &lived{promising: never, tried: never, proved: never, promisingTokens: math.Inf(1), provedTokens: math.Inf(1), taken: map[Removal]int{}, rng: rng, base: map[float64]float64{}}
	for _, g := range []float64{0, p.gain, p.otherwise} {
		l.base[g] = intercept(1 - p.failures + g)
	}
	var on *contest
	number := 0
	for day := 0; day <= 7*years && l.proved == never && !l.wrong; day++ {
		n := p.backlog
		if day > 0 {
			n = poisson(rng, p.perWeek/7)
		}
		for range n {
			p.uses(l, on, day)
		}
		if on == nil && l.train >= trainFirst && l.val >= valFirst {
			number++
			on = p.search(l, number, level(number))
		}
		if on != nil && p.night(l, on, day) {
			on = nil
		}
	}
	return l
}

// uses adds a use of the text that is in place, and places its case as eval/splits does.
func (p person) uses(l *lived, on *contest, day int) {
	u := use{stratum: "silent", hard: difficulty * l.rng.NormFloat64(), day: day}
	if on != nil && on.install != nil {
		u.text = on.gain
	}
	again := p.replayable[1]
	switch {
	case l.rng.Float64() >= 1/(1+math.Exp(-l.base[u.text]-u.hard)):
		u.stratum, again = "corrected", p.replayable[0]
	case l.rng.Float64() >= p.silent:
		u.stratum = "accepted"
	}
	l.use = append(l.use, u)
	if l.rng.Float64() >= again {
		return
	}
	if teaches := u.stratum != "silent"; teaches && on == nil {
		switch lackTrain, lackVal := max(0, trainFirst-l.train), max(0, valFirst-l.val); {
		case lackTrain+lackVal == 0:
		case lackTrain >= 2*lackVal:
			l.train++
			return
		default:
			l.val++
			return
		}
	}
	l.heldOut = append(l.heldOut, len(l.use)-1)
}

func (p person) search(l *lived, number int, level float64) *contest {
	found := false
	for range 6 {
		found = found || l.rng.Float64() < .5*(1-math.Exp(-float64(l.train)/8))
	}
	l.train, l.val = 0, 0
	cfg := DefaultConfig().Within(level)
	cfg.Failures = p.failures
	c := &contest{Trial: NewTrial(cfg), number: number, gain: p.otherwise, strata: map[float64]*Strata{}, since: -1}
	if found && p.gain > 0 {
		c.gain = p.gain
	} else {
		l.trials++
	}
	return c
}

// night measures the cases that are held out, and reports whether the trial is over.
func (p person) night(l *lived, c *contest, day int) (over bool) {
	real := c.gain == p.gain && p.gain > 0
	w := World{Replays: p.replays}
	for len(l.heldOut) > 0 && c.Verdict().IsOpen() {
		at := l.heldOut[0]
		l.heldOut = l.heldOut[1:]
		if c.since < 0 && l.use[at].stratum == "silent" {
			continue // as record.State.AfterSearch
		}
		p.measure(l, c, at, day, w)
		l.spent += replayTokens * float64(p.replays) * (2 + p.failures + p.failures - c.gain)
		better, _ := c.Now()
		if real && c.Verdict() == Promising && l.promising == never {
			l.promising, l.promisingTokens = weekOf(day), l.spent
		}
		needs := NightTries(c.number)
		if p.own {
			needs = promising
		}
		if c.Verdict().IsOpen() && better >= needs && !c.before {
			c.before, c.installed = true, day
			c.install = &TrialInstall{ByNight: !p.own, Begun: date(day)}
			if real {
				l.tried = min(l.tried, weekOf(day))
			} else {
				l.installs++
			}
		}
		p.look(l, c, day)
	}
	p.look(l, c, day)
	switch c.Verdict() {
	case Promote:
		if l.wrong = !real; real {
			l.proved, l.provedTokens = weekOf(day), l.spent
			l.tried = min(l.tried, l.proved)
			if l.promising == never {
				l.promising, l.promisingTokens = l.proved, l.provedTokens
			}
		}
		return true
	case Reject: // what it was tried on teaches the next search
		l.train += c.heard
		return true
	}
	return false
}

// measure adds the pair of a use to the trial, weighted by what became of the uses of the
// same text since the trial's first one.
func (p person) measure(l *lived, c *contest, at, day int, w World) {
	p.add(l, c, at, w, l.base[c.gain])
	if c.install != nil {
		c.install.Heard = date(day)
	}
}

// add is measure with the logit of what the challenger does.
func (p person) add(l *lived, c *contest, at int, w World, with float64) {
	u := l.use[at]
	if c.since < 0 {
		c.since, c.counted = at, at
	}
	of := func(text float64) *Strata {
		if c.strata[text] == nil {
			c.strata[text] = &Strata{}
		}
		return c.strata[text]
	}
	for ; c.counted < at; c.counted++ {
		before := l.use[c.counted]
		of(before.text).Use(before.stratum)
	}
	pair := w.pair(l.rng, l.base[0], with, u.hard)
	pair.Weight, pair.Largest = of(u.text).Weight(u.stratum)
	of(u.text).Case(u.stratum)
	c.Add(pair)
	if u.stratum != "silent" {
		c.heard++
	}
}

// look ends a trial install.
func (p person) look(l *lived, c *contest, day int) {
	if c.install == nil {
		return
	}
	why := c.TakeBack(*c.install, date(day))
	if why == Stays && c.Verdict() != Promote {
		return
	}
	if c.gain != p.gain || p.gain <= 0 {
		l.days += float64(day - c.installed)
		l.taken[why]++
	}
	c.install = nil
}

func date(day int) time.Time { return time.Date(2026, 1, 1+day, 3, 0, 0, 0, time.UTC) }

func weekOf(day int) int { return (day + 6) / 7 }

func poisson(rng *rand.Rand, mean float64) int {
	n, p, limit := 0, 1.0, math.Exp(-mean)
	for p *= rng.Float64(); p > limit; p *= rng.Float64() {
		n++
	}
	return n
}
