package sleep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A bench is a simulated model on which texts are certified.
type bench struct {
	t     *testing.T
	world simulated.World
	cases []eval.Case
	mem   *recordtest.Memory
}

// newBench is a model that follows lessons untaught with the given chance.
func newBench(t *testing.T, cases int, known float64) *bench {
	w := simulated.Additive(5, 8, 0)
	for i := range w.Lessons {
		w.Lessons[i].Known = known
	}
	b := &bench{t: t, world: w, cases: w.Cases(0, 0, cases), mem: &recordtest.Memory{}}
	return b
}

// text teaches the first n lessons.
func (b *bench) text(n int) eval.Variant {
	w := b.world
	w.Seeding = ""
	text := w.Seed()
	for _, l := range w.Lessons[:n] {
		text += "- " + l.Phrase + "\n"
	}
	doc, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	return eval.Variant{Name: w.Skill, Doc: doc}
}

func (b *bench) certification(installed, previous eval.Variant, caps eval.Caps, rec eval.Recorder) *Certification {
	return &Certification{On: ModelOf(b.world.Agent().Identity(), ""), Installed: installed, Previous: &previous, Cases: b.cases, Objectives: []string{"quality", "retries"},
		Evaluator: &eval.Evaluator{Agent: b.world.Agent(), Grader: &eval.Checks{}, Budget: eval.NewBudget(caps, nil), Recorder: rec, Concurrency: 6}}
}

func (b *bench) fresh(installed, previous eval.Variant) Certificate {
	return Certificate{Version: installed.SHA(), Previous: previous.SHA(), Model: ModelOf(b.world.Agent().Identity(), "")}
}

// TestCertify: on a new model a better text is certified, a worse one is an
// alarm, and one that the model has learned is worth nothing any more.
func TestCertify(t *testing.T) {
	for _, c := range []struct {
		name                string
		known               float64
		installed, previous int // lessons of 8
		outcome             Outcome
		lift                Lift
	}{
		{"still better", 0, 7, 3, Certified, LiftShown},
		{"worse now", 0, 2, 7, Worse, LiftShown},
		{"learned by the model", 1, 8, 4, Certified, NoLift},
	} {
		b := newBench(t, 200, c.known)
		now, old := b.text(c.installed), b.text(c.previous)
		got, stop, err := b.certification(now, old, eval.Caps{}, b.mem).Run(t.Context(), "r", b.fresh(now, old))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d cases: %v", c.name, got.Cases, &got)
		if got.Outcome != c.outcome || got.Lift != c.lift || stop != "" || !got.Closed() {
			t.Errorf("%s: %q, lift %q, stopped %q; want %q and %q", c.name, got.Outcome, got.Lift, stop, c.outcome, c.lift)
		}
		if got.Cases >= len(b.cases) || got.Model.Reported != b.world.Name {
			t.Errorf("%s: %d cases on %v; want it to end before the last of %d, on the reported model", c.name, got.Cases, got.Model, len(b.cases))
		}
	}
}

// A mortal recorder keeps so many rollouts, and dies.
type mortal struct {
	eval.Recorder
	left atomic.Int64
}

func (m *mortal) SaveRollout(ctx context.Context, r *eval.Rollout) error {
	if m.left.Add(-1) < 0 {
		return errKilled
	}
	return m.Recorder.SaveRollout(ctx, r)
}

// written is a certificate as it is kept: NaN is equal to nothing.
func written(t *testing.T, c Certificate) string {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCertifyResumes: a run that is killed anywhere is, resumed, the run that
// nobody killed; evidence carries over to another night on the cases that are
// left, under whatever budget, and no case is tried twice.
func TestCertifyResumes(t *testing.T) {
	b := newBench(t, 90, 0.9)
	now, old := b.text(7), b.text(6)
	want, _, err := b.certification(now, old, eval.Caps{}, &recordtest.Memory{}).Run(t.Context(), "r", b.fresh(now, old))
	if err != nil {
		t.Fatal(err)
	}
	mem := &recordtest.Memory{}
	for kept := range 12 {
		rec := &mortal{Recorder: mem}
		rec.left.Store(int64(kept * 3))
		k := b.certification(now, old, eval.Caps{}, rec)
		if _, _, err := k.Run(t.Context(), "r", b.fresh(now, old)); !errors.Is(err, errKilled) {
			t.Fatalf("killed after %d rollouts: %v", kept*3, err)
		}
	}
	k := b.certification(now, old, eval.Caps{}, mem)
	got, _, err := k.Run(t.Context(), "r", b.fresh(now, old))
	if err != nil || written(t, got) != written(t, want) {
		t.Errorf("after kills %v, %v; want %v", &got, err, &want)
	}
	again, _, err := b.certification(now, old, eval.Caps{}, mem).Run(t.Context(), "r", got)
	if err != nil || written(t, again) != written(t, want) {
		t.Errorf("the same run over its own certificate: %v, %v; want it unchanged: %v", &again, err, &want)
	}

	c, nights, seen := b.fresh(now, old), 0, map[string]bool{}
	for !c.Closed() && nights < 40 {
		nights++
		var stop string
		k := b.certification(now, old, eval.Caps{Rollouts: 20}, mem)
		if c, stop, err = k.Run(t.Context(), fmt.Sprint("night", nights), c); err != nil {
			t.Fatal(err)
		}
		if n := k.Evaluator.Budget.Spent().Rollouts; n > 20 {
			t.Errorf("night %d spent %d of 20", nights, n)
		}
		if stop == "no held-out case is left" {
			break
		}
	}
	for _, p := range c.Parts {
		for _, name := range p.Clusters {
			if seen[name] {
				t.Errorf("cluster %s was tried twice", name)
			}
			seen[name] = true
		}
	}
	if nights < 3 || c.Cases != len(seen) || c.Cases == 0 {
		t.Errorf("%d nights, %d cases, %d clusters: want several nights", nights, c.Cases, len(seen))
	}
}

// pairOf draws the difference of a text whose quality differs by gain on average,
// and on one case in ten at all; cost and latency scatter.
func pairOf(rng *rand.Rand, gain float64) *pareto.Pair {
	p := &pareto.Pair{Latency: max(-1, min(1, 0.3*rng.NormFloat64())), Cost: max(-1, min(1, 0.1*rng.NormFloat64()))}
	const differ = 0.1
	if x := rng.Float64(); x < (differ+gain)/2 {
		p.Quality, p.Retries = 1, 1
	} else if x < differ {
		p.Quality, p.Retries = -1, -1
	}
	return p
}

// TestCertifyUnderTheNull: a text that is no worse than the one before it raises
// an alarm in at most 5 % of certifications, however often one looks, and one
// whose lift is the margin is proposed for retirement in at most 5 %. More
// repetitions with EVOLVE_LONG=1.
func TestCertifyUnderTheNull(t *testing.T) {
	plays := 60
	if os.Getenv("EVOLVE_LONG") == "1" {
		plays = 2000
	}
	const cases, batch = 240, 8
	rng := rand.New(rand.NewPCG(11, 1))
	alarms, retired, proposed := 0, 0, 0
	for range plays {
		for _, gain := range []float64{RetireMargin, 0} {
			l := (&Certificate{Previous: "old"}).open("r", nil)
			var part CertificatePart
			for n := 0; n < cases && l.Lift == LiftOpen; n += batch {
				for i := range batch {
					l.enter(&part, fmt.Sprint(n+i), pairOf(rng, 0), pairOf(rng, gain))
				}
				l.judge()
			}
			alarms += int(coin(l.Outcome == Worse))
			if gain > 0 {
				retired += int(coin(l.Lift == NoLift))
			} else {
				proposed += int(coin(l.Lift == NoLift))
			}
		}
	}
	t.Logf("%d alarms in %d certifications of texts that are no worse; %d proposals in %d with a lift of the margin, %d in %d with none", alarms, 2*plays, retired, plays, proposed, plays)
	most := func(n int) int { return int(math.Ceil(0.05*float64(n) + 2*math.Sqrt(0.05*0.95*float64(n)))) } // two standard errors
	if alarms > most(2*plays) || retired > most(plays) {
		t.Errorf("%d alarms of %d and %d proposals of %d, want at most %d and %d", alarms, 2*plays, retired, plays, most(2*plays), most(plays))
	}
	if proposed < plays/2 {
		t.Errorf("%d of %d useless skills were proposed for retirement: the test has no power", proposed, plays)
	}
}
