package gate

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A loss is how answers are lost: of the challenger's failures this share has the status
// instead, which the incumbent's never has; and of all answers of both texts some are missing.
type loss struct {
	status eval.Status
	share  float64
	both   float64
}

// life is a trial of texts that pass as often, apart from the gain, of which the
// challenger loses answers. What is lost is measured again, and sorted and summed up, as
// the gate does it. It returns whether the challenger was proved.
func (l loss) life(rng *rand.Rand, g *Gate, passes, gain float64, cases int, asItWas bool) bool {
	const replays = 3
	kase := &eval.Case{ID: "c"}
	answer := func(who string, p float64) *eval.Rollout {
		r := &eval.Rollout{Candidate: who, Status: eval.Done}
		switch {
		case rng.Float64() < l.both:
			r.Status = eval.Missing
		case rng.Float64() < p:
			r.Quality = 1
		case who == "new" && rng.Float64() < l.share:
			r.Status = l.status
		default:
			r.Retries = 1
		}
		return r
	}
	cfg := pareto.DefaultConfig()
	cfg.Failures = 1 - passes
	trial, lost := pareto.NewTrial(cfg), map[string]int{}
	for n := 0; n < cases && trial.Verdict().IsOpen(); n++ {
		hard := 0.8 * (rng.Float64() - 0.5) * min(passes, 1-passes)
		var rs []*eval.Rollout
		for range replays {
			two := func() []*eval.Rollout {
				return []*eval.Rollout{answer("old", passes+hard), answer("new", passes+gain+hard)}
			}
			pair := two()
			if !asItWas && retaken(pair[0], pair[1], "old", lost) {
				pair = two()
			}
			rs = append(rs, pair...)
		}
		s := sidesOf(rs, "old")
		if s.kase = kase; asItWas {
			s.lost = nil
		}
		p, _ := (&measured{gate: g, cases: []sides{s}}).weighted(record.Weight{Cases: []float64{1}, Largest: 1})
		if !math.IsNaN(p.Quality) {
			trial.Add(p)
		}
	}
	return trial.Verdict() == pareto.Promote
}

// TestLostAnswers: one in five of the challenger's failures is lost, 6 % of its answers, or
// half of them. A text that is no better is still proved in at most 5 % of lives; and one that
// is better is proved where answers of both are lost by chance.
func TestLostAnswers(t *testing.T) {
	lives := 100
	if os.Getenv("EVOLVE_LONG") != "" {
		lives = 2000
	}
	g := newGate(nil, duel{}, "", 0)
	for _, l := range []loss{{eval.Void, 0.2, 0}, {eval.Missing, 0.2, 0}, {eval.Void, 0.5, 0}, {eval.Missing, 0.5, 0}, {eval.Missing, 0.2, 0.05}, {eval.Missing, 0, 0}, {eval.Missing, 0, 0.05}} {
		for _, gain := range []float64{0, -0.05, 0.18} {
			cases := 400
			if gain > 0 {
				cases = 60
			}
			share := func(asItWas bool) float64 {
				rng, proved := rand.New(rand.NewPCG(8, 19)), 0
				for range lives {
					if l.life(rng, g, 0.7, gain, cases, asItWas) {
						proved++
					}
				}
				return float64(proved) / float64(lives)
			}
			got, before := share(false), share(true)
			t.Logf("%.0f %% of failures %s, %.0f %% of all answers missing, %+.0f points: proved %.4f; where lost answers are left out %.4f",
				100*l.share, l.status, 100*l.both, 100*gain, got, before)
			if most := 0.05; gain <= 0 && got > most+2*math.Sqrt(most*(1-most)/float64(lives)) {
				t.Errorf("%+v, %+.0f points: proved %.4f", l, 100*gain, got)
			}
			if gain > 0 && l.share == 0 && got < 0.8 {
				t.Errorf("%+v, %+.0f points: proved %.4f", l, 100*gain, got)
			}
		}
	}
}

// TestLossesByMachine: what one machine loses of the incumbent gives no second answers to the
// challenger's on another one.
func TestLossesByMachine(t *testing.T) {
	lost := map[string]int{}
	of := func(by, candidate string, s eval.Status) *eval.Rollout {
		return &eval.Rollout{Candidate: candidate, Status: s, Worker: by}
	}
	for range 5 {
		if !retaken(of("liar", "old", eval.Missing), of("liar", "new", eval.Done), "old", lost) {
			t.Fatal("a missing answer of the incumbent is not asked for again")
		}
	}
	again := 0
	for range 5 {
		if retaken(of("honest", "new", eval.Missing), of("honest", "old", eval.Done), "old", lost) {
			again++
		}
	}
	if again != 1 {
		t.Errorf("the challenger got %d second answers on the other machine, want the one of chance", again)
	}
	st := &record.State{}
	st.Lose(lost)
	if got := st.Losses(); got["liar"] != -5 || got["honest"] != 1 || got[""] != 0 || len(st.LostBy) != 2 {
		t.Errorf("kept as %v", st.LostBy)
	}
}
