package record

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// An owner uses a skill 7.5 times a week, corrects what fails, and reviews so many pairs of
// answers a week, one at a time. Nights try one text after the other, which fails as often as
// it says where the skill's own text fails in three uses of ten; a text that fails on a
// request does so again in four of five cases. Where the owner corrected, a check sees that
// mistake; elsewhere the judge compares, and while it is not trusted pairs wait.
type owner struct {
	judge  seer
	likes  float64 // how many of the challengers' failures the judge overlooks, for their looks
	labels float64 // a week
	fails  float64 // the challengers' share
}

// A told life: whether any text was proved and in which week, and how the reviews went.
type told struct {
	proved          bool
	week, trusted   int // 0: never
	reviewed, heard int
	trials          int
}

const (
	useFails = 0.3
	years    = 3
	searched = 60 // pairs of answers that a search leaves
)

func next(list *[2][][2]float64) (of [2]float64, ok bool) {
	for i := range list {
		if n := len(list[i]); n > 0 {
			of, list[i] = list[i][0], list[i][1:]
			return of, true
		}
	}
	return of, false
}

// finds is what the judge says of a difference in favour of the challenger.
func (o owner) finds(rng *rand.Rand, d float64) float64 {
	if o.likes > 0 && d < 0 && rng.Float64() < o.likes {
		return 0
	}
	return o.judge.score(rng, d)
}

func poisson(rng *rand.Rand, mean float64) int {
	n, p, limit := 0, 1.0, math.Exp(-mean)
	for p *= rng.Float64(); p > limit; p *= rng.Float64() {
		n++
	}
	return n
}

func (o owner) live(rng *rand.Rand) (l told) {
	var (
		uses   []Use
		said   []Said
		review [2][][2]float64 // pairs of answers that the owner could compare, those with a word of the judge first
		cal    = Calibration{Judge: "j"}
		start  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		search = 18 // cases until one may begin
		st     *State
		queue  []*eval.Case
		world  = map[string][2]float64{} // how often either text fails on a request
	)
	level := pareto.LOND{Alpha: pareto.LifetimeAlpha}
	fails := func(rate float64) float64 { // how often a text of that rate fails on this request
		switch {
		case rng.Float64() >= 0.8:
			return rate
		case rng.Float64() < rate:
			return 1
		}
		return 0
	}
	begin := func() {
		l.trials++
		cfg := pareto.DefaultConfig().Within(level.Level(l.trials))
		cfg.Failures = useFails
		st = &State{Version: 1, Trial: pareto.NewTrial(cfg)}
		for range searched {
			review[1] = append(review[1], [2]float64{fails(useFails), fails(o.fails)})
		}
	}
	// measure asks both texts for three answers to a case each, and what a judge says of them.
	measure := func(k *eval.Case) {
		c := Cluster{Name: k.ID, Cases: []*eval.Case{k}}
		if len(st.AfterSearch([]Cluster{c}, uses)) == 0 {
			return
		}
		of := world[k.ID]
		share := func(fails float64) (s float64) { // of three answers that pass
			for range 3 {
				if rng.Float64() >= fails {
					s += 1. / 3
				}
			}
			return s
		}
		d := share(of[1]) - share(of[0])
		weight := st.Weigh(c, uses)
		p, checked := pareto.Pair{Quality: d, Latency: math.NaN(), Cost: math.NaN(), Retries: d / 2, Weight: weight.Cases[0], Largest: weight.Largest}, d
		if Asks(k) {
			p.Quality, checked = o.finds(rng, d), 0
		}
		kind := 1
		if Asks(k) {
			kind = 0
		}
		review[kind] = append(review[kind], of, of, of)
		if !cal.Trusted() {
			st.Wait(c, p, checked, nil, "j")
			return
		}
		p.Quality -= (1 - cal.Sensitivity()) * checked
		st.Use(c, p, nil)
	}
	room := func() bool {
		asked := 0
		for _, w := range st.Waiting {
			if w.Asked {
				asked++
			}
		}
		most := TrustedLabels + len(said)
		return cal.Trusted() || asked < most && len(st.Waiting) < 3*most
	}
	for day := range years * 365 {
		now := start.AddDate(0, 0, day)
		for n := poisson(rng, 7.5/7); n > 0; n-- {
			of := [2]float64{fails(useFails), fails(o.fails)}
			stratum := Corrected
			if rng.Float64() >= of[0] {
				stratum = []string{"accepted", eval.Silent}[rng.IntN(2)]
			}
			uses = append(uses, Use{Time: now, Stratum: stratum})
			if rng.Float64() >= 0.9 {
				continue
			}
			if st == nil && stratum != eval.Silent && search > 0 {
				search--
				continue
			}
			k := &eval.Case{ID: fmt.Sprint("c", len(uses)), Skill: "s", Prompt: fmt.Sprint("request ", len(uses)), Split: eval.Test,
				Checks: []eval.Check{{Type: eval.Contains, Value: "yes"}}, Source: &eval.Source{Origin: Mined, Stratum: stratum, Time: now}}
			if stratum != Corrected {
				k.Checks[0] = eval.Check{Type: eval.Judge, Rubric: "as good"}
			}
			world[k.ID] = of
			queue = append(queue, k)
		}
		if st == nil && search <= 0 {
			begin()
		}
		for st != nil && len(queue) > 0 && st.Trial.Verdict().IsOpen() && room() {
			measure(queue[0])
			queue = queue[1:]
		}
		for n := int(o.labels/7*float64(day+1)) - int(o.labels/7*float64(day)); n > 0; {
			of, ok := next(&review)
			if !ok {
				break
			}
			l.reviewed++
			a, b := rng.Float64() >= of[0], rng.Float64() >= of[1]
			if a == b {
				continue // the same, to the owner: no label
			}
			n--
			truth := -1.
			if b == (rng.IntN(2) == 0) { // which is shown first
				truth = 1
			}
			better := 1. // the challenger's answer
			if a {
				better = -1
			}
			said = append(said, Said{truth > 0, o.finds(rng, better) * better * truth})
			if cal.Count(said); cal.Trusted() && st != nil {
				if l.trusted == 0 {
					l.trusted = day/7 + 1
				}
				st.Hear(cal)
			}
		}
		if st != nil && !st.Trial.Verdict().IsOpen() {
			l.heard += len(st.Clusters)
			if st.Trial.Verdict() == pareto.Promote {
				l.proved, l.week = true, day/7+1
				return l
			}
			st, search = nil, 6
		}
	}
	return l
}

// TestReviewsOneAtATime is three years of texts that are no better, or worse, by how many
// pairs of answers the owner reviews a week, and how long a better text takes.
func TestReviewsOneAtATime(t *testing.T) {
	lives, judges := 10, []seer{{0.9, 0}}
	if os.Getenv("EVOLVE_LONG") != "" {
		lives, judges = 400, []seer{{0.95, 0}, {0.9, 0}, {0.8, 0}, {0.9, 0.1}}
	}
	for _, labels := range []float64{0, 2, 5, 35} {
		for _, judge := range judges {
			for _, fails := range []float64{0.3, 0.35, 0.12} {
				o := owner{judge: judge, labels: labels, fails: fails}
				rng := rand.New(rand.NewPCG(30, 19))
				proved, trusted, trials, reviewed := 0, 0, 0, 0
				var at, from []int
				for range lives {
					l := o.live(rng)
					if l.proved {
						proved++
					} else {
						l.week = 157
					}
					if l.trusted > 0 {
						trusted++
						from = append(from, l.trusted)
					}
					at, trials, reviewed = append(at, l.week), trials+l.trials, reviewed+l.reviewed
				}
				slices.Sort(at)
				slices.Sort(from)
				since := 0
				if len(from) > 0 {
					since = from[len(from)/2]
				}
				n := float64(lives)
				t.Logf("%g labels a week, sees %.2f, wrong %.2f, %.2f→%.2f: trusted in %.3f of lives, from week %d in half of these; %.1f trials, %.0f reviews; proved in %.4f, in half of lives by week %d",
					labels, judge.sees, judge.wrong, useFails, fails, float64(trusted)/n, since, float64(trials)/n, float64(reviewed)/n, float64(proved)/n, at[lives/2])
				if most := 0.05; fails >= useFails && float64(proved)/n > most+2*math.Sqrt(most*(1-most)/n) {
					t.Errorf("%+v: proved in %.4f of lives", o, float64(proved)/n)
				}
			}
		}
	}
}

// TestJudgeThatLikesLooks: a judge overlooks some of the challengers' failures, and none of
// the incumbent's. Reviews are of both texts' answers, so that its sensitivity tells.
func TestJudgeThatLikesLooks(t *testing.T) {
	lives := 10
	if os.Getenv("EVOLVE_LONG") != "" {
		lives = 400
	}
	for _, likes := range []float64{0.1, 0.2, 0.3} {
		rng := rand.New(rand.NewPCG(31, 19))
		proved, trusted, trials := 0, 0, 0
		for range lives {
			l := owner{judge: seer{1, 0}, likes: likes, labels: 5, fails: useFails}.live(rng)
			if trials += l.trials; l.proved {
				proved++
			}
			if l.trusted > 0 {
				trusted++
			}
		}
		n := float64(lives)
		t.Logf("overlooks %.0f %% of the challengers' failures: trusted in %.3f of lives, %.1f trials; proved in %.4f of %d", 100*likes, float64(trusted)/n, float64(trials)/n, float64(proved)/n, lives)
		if most := 0.05; float64(proved)/n > most+2*math.Sqrt(most*(1-most)/n) {
			t.Errorf("overlooks %.0f %%: proved in %.4f of lives", 100*likes, float64(proved)/n)
		}
	}
}
