package expect

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Proof is what proving something of a run's challenger is likely to take.
type Proof struct {
	// Failures is the share of uses in which the live text fails, Noise the standard
	// deviation of the log of a cost or a duration from run to run of one case, 0 if that
	// was not measured.
	Failures float64 `json:"failures"`
	Noise    float64 `json:"noise"`
	Replays  int     `json:"replays"` // of a case, in each arm
	Gains    []Gain  `json:"gains"`
	// Heard is how many cases a trial that is continued has, and More how many further
	// ones prove it at its present rate, nil unless it is promising.
	Heard int  `json:"heard"`
	More  *int `json:"more"`
	Pace
	// Rest is how many other requests a proof takes, within which four trials of five show that
	// they are not harmed, and Share to how many the changed lines apply, nil if that is not
	// known yet: of a trial of a file of instructions.
	Rest  int           `json:"others,omitempty"`
	Share *record.Share `json:"share,omitempty"`

	Rule pareto.Config `json:"-"`

	// all is the share of all uses in which the live text fails, if Failures is that of those
	// that the trial is about.
	all float64
}

// A Gain in quality with the number of held-out cases within which four trials of five
// prove it; 0: more than pareto.ForecastCap.
type Gain struct {
	Gain  float64 `json:"gain"`
	Cases int     `json:"cases"`
}

// A Pace is how often a person uses a skill, and how many pieces of evidence that makes; 0
// if too little is known to tell.
type Pace struct {
	Uses  float64 `json:"uses_a_week"`
	Cases float64 `json:"cases_a_week"`
}

// What a pace is measured on: the uses of so long, and at least so many, over so long.
const (
	paceWindow = 12 * week
	paceLeast  = 2 * week
	leastUses  = 10
	week       = 7 * 24 * time.Hour
)

// PaceOf measures the pace of the last weeks with the skill.
func PaceOf(uses []record.Use, cases []eval.Case) (p Pace) {
	var first, last time.Time
	for _, u := range uses {
		if u.Time.After(last) {
			last = u.Time
		}
	}
	within := func(at time.Time) bool { return at.After(last.Add(-paceWindow)) && !at.After(last) }
	n := 0
	for _, u := range uses {
		if within(u.Time) {
			if n++; n == 1 || u.Time.Before(first) {
				first = u.Time
			}
		}
	}
	clusters := map[string]bool{}
	for i := range cases {
		if c := &cases[i]; within(c.Recorded()) {
			clusters[eval.ClusterOf(c)] = true
		}
	}
	weeks := float64(last.Sub(first)) / float64(week)
	if n < leastUses || len(clusters) == 0 || last.Sub(first) < paceLeast {
		return p
	}
	return Pace{float64(n) / weeks, float64(len(clusters)) / weeks}
}

// wait is how long so many further cases take, "" if nobody can tell, or it is no time.
func (p Pace) wait(cases int) string {
	if cases <= 0 || p.Cases <= 0 {
		return ""
	}
	return "about " + plain.Counted(int(math.Ceil(float64(cases)/p.Cases)), "week")
}

func (p *Proof) at() string {
	switch {
	case p.Share != nil:
		return fmt.Sprintf(" more: the changed lines apply to %d of your last %s, at your %.0f a week", p.Share.Applies, plain.Counted(p.Share.Applies+p.Share.Rest, "request"), math.Round(p.Uses))
	case p.Rest > 0:
		return fmt.Sprintf(" more if the changed lines apply to all of your %.0f requests a week", math.Round(p.Uses))
	}
	return " more at your " + plain.Counted(max(1, int(math.Round(p.Uses))), "use") + " a week"
}

// wait is how long so many further cases take, of those that the trial is about.
func (p *Proof) wait(cases int) string {
	pace := p.Pace
	if p.Share != nil {
		pace.Cases *= p.Share.Of()
	}
	return pace.wait(cases)
}

// GoOn takes over what a trial has so far.
func (p *Proof) GoOn(trial *record.TrialRecord) error {
	t, err := trial.Kept()
	if err != nil {
		return err
	}
	replays, err := trial.Replays()
	if err != nil {
		return err
	}
	p.Replays = cmp.Or(replays, p.Replays)
	if p.Share, err = trial.Share(); err != nil {
		return err
	}
	if t.Cases() > 0 && !t.Outdated() {
		p.Rule, p.all, p.Failures = t.Config(), p.Failures, t.Config().Failures
		p.Have(t.Decide())
	}
	return nil
}

// Have sets what a trial has and still takes.
func (p *Proof) Have(d pareto.Decision) {
	p.Heard, p.More = d.PerObjective[pareto.Quality].Estimate.N, nil
	if n := d.Needed(); n > 0 {
		n -= p.Heard
		p.More = &n
	}
}

// Simulate simulates trials of challengers that mend half and a third of the failures: one
// that mends less than a fifth is usually dropped.
func (p *Proof) Simulate() {
	for _, part := range []float64{2, 3} {
		gain := p.Failures / part
		if gain < 0.005 {
			continue
		}
		_, cases := pareto.Forecast(pareto.World{Failures: p.Failures, Gain: gain, Replays: p.Replays, Noise: p.Noise}, p.Rule)
		p.Gains = append(p.Gains, Gain{gain, cases})
	}
	if p.Share != nil && p.Rule.Share == 0 {
		p.Rule.Share = p.Share.Of()
	}
	about := pareto.World{Failures: p.Failures, Gain: p.Failures / 2, Replays: p.Replays, Noise: p.Noise}
	elsewhere := about
	elsewhere.Failures = cmp.Or(p.all, p.Failures)
	p.Rest = pareto.ForecastRest(about, elsewhere, p.Rule)
}

// Words describe the proof, of a run with so many pieces of fresh evidence.
func (p *Proof) Words(fresh int) string {
	if p.More != nil {
		s := fmt.Sprintf("after %s it is probably better, and at this rate about %d more decide it", plain.Counted(p.Heard, "case"), *p.More)
		if wait := p.wait(*p.More - fresh); wait != "" {
			s += ", " + wait + p.at()
		}
		return s
	}
	var of []string
	said := false
	for i, g := range p.Gains {
		s := fmt.Sprintf("a third (%.0f) about %s", 100*g.Gain, atLeast2000(g.Cases))
		if i == 0 {
			s = fmt.Sprintf("mending half of its failures (%.0f points) takes about %s unseen requests", 100*g.Gain, atLeast2000(g.Cases))
		}
		if wait := p.wait(g.Cases - p.Heard - fresh); wait != "" && g.Cases > 0 {
			if !said {
				wait, said = wait+p.at(), true
			}
			s += " (" + wait + ")"
		}
		of = append(of, s)
	}
	if len(of) == 0 {
		return "nothing was corrected, so there is no failure to mend"
	}
	s := strings.Join(of, ", ")
	if p.Rest > 0 {
		s += fmt.Sprintf("; once that is reached, about %s show that they are not harmed", plain.Counted(p.Rest, "other request"))
	}
	if p.Heard > 0 {
		s += fmt.Sprintf("; its trial has %d", p.Heard)
	}
	return s
}

// leastRetests is how many degrees of freedom a noise rests on.
const leastRetests = 12

// NoiseOf is the noise of costs and durations between runs of one text on one case, 0 if too
// few cases were tried several times.
func NoiseOf(rollouts []eval.Rollout) float64 {
	type group struct{ candidate, kase string }
	sums, kinds := 0., 0.
	for _, of := range []func(*eval.Rollout) float64{
		func(r *eval.Rollout) float64 {
			if r.CostUSD == nil && r.Usage != nil {
				return float64(r.Usage.Total())
			}
			return known(r.CostUSD)
		},
		func(r *eval.Rollout) float64 {
			if r.LatencyMS == nil {
				return 0
			}
			return float64(*r.LatencyMS)
		},
	} {
		by := map[group][]float64{}
		for i := range rollouts {
			r := &rollouts[i]
			if x := of(r); r.Status == eval.Done && x > 0 {
				g := group{r.Candidate, r.CaseID}
				by[g] = append(by[g], math.Log(x))
			}
		}
		squares, free := 0., 0
		for _, logs := range by {
			mean := 0.
			for _, x := range logs {
				mean += x / float64(len(logs))
			}
			for _, x := range logs {
				squares += (x - mean) * (x - mean)
			}
			free += len(logs) - 1
		}
		if free >= leastRetests {
			sums, kinds = sums+squares/float64(free), kinds+1
		}
	}
	if kinds == 0 {
		return 0
	}
	return math.Round(1000*math.Sqrt(sums/kinds)) / 1000
}

func known(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// atLeast2000 marks a number of cases at the forecast's limit.
func atLeast2000(n int) string {
	if n == 0 || n >= 2000 {
		return "2000 or more"
	}
	return fmt.Sprint(n)
}
