package pareto

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// quantile of weeks or tokens.
func quantile[T int | float64](x []T, share float64) T {
	slices.Sort(x)
	return x[min(len(x)-1, int(share*float64(len(x))))]
}

func weeks(n int) string {
	if n >= never {
		return "never"
	}
	return fmt.Sprint(n)
}

// A price of a million tokens, in dollars: of claude-sonnet-5 in prices.yaml, where 95 % are
// read from the cache, 4 % written to it and 1 % are answers; and of plain input.
const (
	cachedPrice = 0.95*0.2 + 0.04*2.5 + 0.01*10
	inputPrice  = 2.
)

// TestWeeks is how long a person waits, and what the trials take, by how often a better
// text spares them a correction.
func TestWeeks(t *testing.T) {
	lives := fewer(5)
	life := LOND{Alpha: LifetimeAlpha}
	most, some := [2]float64{.9, .9}, [2]float64{.72, .64}
	for _, c := range []struct {
		gain          float64
		backlog       int
		replayable    [2]float64
		replays       int
		tried, proved int // weeks in half of lives, at most; 0: no goal
	}{
		{.18, 32, most, 3, 9, 14},
		{.18, 32, some, 3, 0, 18},
		{.12, 32, most, 3, 11, 21},
		{.12, 32, some, 3, 0, 28},
		{.06, 32, most, 3, 18, 55},
		{.06, 32, some, 3, 0, 75},
		{.18, 60, most, 3, 0, 6},
		{.18, 60, some, 3, 0, 0},
		{.18, 32, most, 1, 9, 14},
		{.18, 32, most, 2, 9, 14},
		{.06, 32, most, 1, 0, 0},
	} {
		p := person{failures: .3, gain: c.gain, perWeek: 7.5, backlog: c.backlog, replayable: c.replayable, silent: .5, replays: c.replays}
		rng := rand.New(rand.NewPCG(8, 0))
		var proved, promising, tried []int
		var tokens [2][]float64
		wrong := 0
		for range lives {
			l := p.live(rng, life.Level)
			if l.wrong {
				wrong++
			}
			proved, promising, tried = append(proved, l.proved), append(promising, l.promising), append(tried, l.tried)
			tokens[0], tokens[1] = append(tokens[0], l.promisingTokens), append(tokens[1], l.provedTokens)
		}
		name := fmt.Sprintf(".30→%.2f, %d old uses, %.0f %% replay, %d times", .3-c.gain, c.backlog, 100*c.replayable[1], c.replays)
		t.Logf("%s: promising by week %s (80 %%: %s), on trial %s (%s), proved %s (%s); a text without the gain in %d of %d",
			name, weeks(quantile(promising, .5)), weeks(quantile(promising, .8)), weeks(quantile(tried, .5)), weeks(quantile(tried, .8)),
			weeks(quantile(proved, .5)), weeks(quantile(proved, .8)), wrong, lives)
		for i, what := range []string{"promising", "proved"} {
			half, most := quantile(tokens[i], .5), quantile(tokens[i], .8)
			t.Logf("  %s within %.1f M tokens (80 %%: %.1f M), $%.2f ($%.2f), at the price of input $%.2f", what, half, most, half*cachedPrice, most*cachedPrice, half*inputPrice)
		}
		if at := quantile(proved, .5); c.proved > 0 && at > c.proved {
			t.Errorf("%s: proved by week %s, want %d", name, weeks(at), c.proved)
		}
		if at := quantile(tried, .5); c.tried > 0 && at > c.tried {
			t.Errorf("%s: on trial by week %s, want %d", name, weeks(at), c.tried)
		}
		if share := float64(wrong) / float64(lives); share > .05+sampling(.05, lives) {
			t.Errorf("%s: proved in %.3f of lives without the gain", name, share)
		}
	}
}

// TestNullLives: three years of texts that are no better, or worse. None is proved in more
// than a twentieth of lives; how often any is in place on a trial install, and how long.
func TestNullLives(t *testing.T) {
	lives := fewer(20)
	life := LOND{Alpha: LifetimeAlpha}
	for _, c := range []struct {
		gain float64
		most float64 // share of lives in which nights put a text in place, and of an owner's trials
	}{{0, .5}, {-.05, .15}, {-.1, .05}} {
		for _, own := range []bool{false, true} {
			p := person{failures: .3, otherwise: c.gain, perWeek: 7.5, backlog: 32, replayable: [2]float64{.9, .9}, silent: .5, own: own, replays: 3}
			rng := rand.New(rand.NewPCG(9, 0))
			wrong, ever, trials, installs, days := 0, 0, 0, 0, 0.
			var each []float64
			taken := map[Removal]int{}
			for range lives {
				l := p.live(rng, life.Level)
				if l.wrong {
					wrong++
				}
				if l.installs > 0 {
					ever++
					each = append(each, l.days)
				}
				trials, installs, days = trials+l.trials, installs+l.installs, days+l.days
				for why, n := range l.taken {
					taken[why] += n
				}
			}
			n := float64(lives)
			median := 0.
			if len(each) > 0 {
				median = quantile(each, .5)
			}
			t.Logf("%+.0f points, own tries %v: %.1f trials a life; in place in %.3f of lives, %.4f of trials, %.1f days a life, %.0f in half of those that had one; taken back %v; proved %.4f",
				100*c.gain, own, float64(trials)/n, float64(ever)/n, float64(installs)/float64(trials), days/n, median, taken, float64(wrong)/n)
			if share := float64(wrong) / n; share > .05+sampling(.05, lives) {
				t.Errorf("%+.0f points: proved in %.4f of lives", 100*c.gain, share)
			}
			share := float64(ever) / n
			if own { // she is asked each time, and told of a trial
				share = float64(installs) / float64(trials)
			}
			if share > c.most+sampling(c.most, lives) {
				t.Errorf("%+.0f points, own tries %v: in place in %.4f, want at most %g", 100*c.gain, own, share, c.most)
			}
		}
	}
}
