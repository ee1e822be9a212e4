package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A pace says how long a call takes. stop, if it is set, is called before the call with
// number left.
type pace struct {
	mu          sync.Mutex
	random      *rand.Rand // nil: as told
	left        int64
	stop        func()
	unanswered  bool // the model's requests wait for a person
	made, texts atomic.Int64
}

func (p *pace) pause(most time.Duration) {
	p.mu.Lock()
	if p.random != nil {
		most = time.Duration(p.random.Int64N(int64(most)))
	}
	p.left--
	if p.left == 0 && p.stop != nil {
		p.stop()
	}
	p.mu.Unlock()
	time.Sleep(most)
}

type pacedAgent struct {
	eval.Agent
	*pace
}

func (a pacedAgent) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	a.pause(50 * time.Millisecond)
	if ctx.Err() != nil {
		return eval.Attempt{}, ctx.Err()
	}
	a.made.Add(1)
	return a.Agent.Run(ctx, t)
}

type pacedModel struct {
	eval.Model
	*pace
}

func (m pacedModel) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	m.texts.Add(1)
	if m.unanswered {
		return eval.Completion{}, &eval.InfraError{Kind: eval.Pending, Err: errors.New("not answered yet")}
	}
	m.pause(340 * time.Millisecond)
	if ctx.Err() != nil {
		return eval.Completion{}, ctx.Err()
	}
	return m.Model.Complete(ctx, p)
}

// pacedSearch searches in a world where several moves help. A repeated search with the same
// journal is a resumed one.
func pacedSearch(t *testing.T, p *pace, journal *recordtest.Memory, rollouts int64, o Options, concurrency int) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if p.left > 0 {
		p.stop = cancel
	}
	w := worldstest.Conflicting(3, 0.05)
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	budget := eval.NewBudget(eval.Caps{Rollouts: rollouts}, nil)
	journal.Events = nil
	o.Seed, o.Stop = 7, AnyOf{}
	_, err = (&Engine{
		Evaluator: &eval.Evaluator{Agent: pacedAgent{w.Agent(), p}, Grader: &eval.Checks{}, Budget: budget, Recorder: journal, Concurrency: concurrency},
		Mutator:   &eval.Metered{Model: pacedModel{w.Model(), p}, By: eval.ByMutator, Budget: budget, Recorder: journal, Scope: "r"},
		Log:       &record.Log{Journal: journal, Run: "r", Now: time.Now}, Options: o,
	}).Search(ctx, eval.Variant{Name: doc.Name(), Doc: doc}, split(w.Cases(40, 40, 10)))
	if spent := budget.Spent().Rollouts; spent > rollouts {
		t.Errorf("%d rollouts of %d", spent, rollouts)
	}
	var decisions []string
	for _, e := range journal.Events {
		data, err := json.Marshal(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		decisions = append(decisions, fmt.Sprint(e.Kind, e.Rollouts, string(data)))
	}
	return decisions, err
}

// Moves made at once take the same decisions however long each call takes, however many
// rollouts run at once, and if the run is cancelled and resumed.
func TestLanesDecideBySeed(t *testing.T) {
	o, timings := Options{Lanes: 3}, uint64(8)
	if testing.Short() { // as with the race detector
		timings = 4
	}
	var want []string
	for timing := range timings {
		synctest.Test(t, func(t *testing.T) {
			journal := &recordtest.Memory{}
			p := &pace{random: rand.New(rand.NewPCG(timing, 1))}
			if timing > 2 {
				p.left = int64(60 * timing)
				if _, err := pacedSearch(t, p, journal, 700, o, 1+int(timing)); !errors.Is(err, context.Canceled) {
					t.Fatalf("a cancelled search returned %v", err)
				}
				synctest.Wait()
				if made := p.made.Load(); made == 0 {
					t.Fatal("nothing was measured before it was cancelled")
				}
				p = &pace{random: p.random}
			}
			got, err := pacedSearch(t, p, journal, 700, o, 16-int(timing))
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			for i := range max(len(want), len(got)) {
				if i >= len(want) || i >= len(got) || want[i] != got[i] {
					t.Fatalf("timing %d: decision %d is\n%s\nand was\n%s", timing, i, slices.Concat(got, []string{"none"})[i:][:1], slices.Concat(want, []string{"none"})[i:][:1])
				}
			}
		})
	}
}

// A first run, the demo and every small budget search as they did before lanes; larger ones
// with enough cases ask for no less at once.
func TestWidthGrowsWithTheBudget(t *testing.T) {
	small := width{proposals: 4, minibatch: 8, raceChunk: 8, lanes: 1}
	last := small
	for n := range int64(3000) {
		w := widthOf(n, 40)
		if n <= 300 && w != small {
			t.Fatalf("%d rollouts: %+v", n, w)
		}
		if few := widthOf(n, 13); few != small {
			t.Fatalf("%d rollouts, 13 cases: %+v", n, few)
		}
		if w.proposals < last.proposals || w.minibatch < last.minibatch || w.lanes < last.lanes {
			t.Fatalf("%d rollouts: %+v after %+v", n, w, last)
		}
		last = w
	}
	if last == small {
		t.Error("no budget is searched more widely")
	}
}

// Two moves at once wait for the mutator together.
func TestLanesTakeLessTime(t *testing.T) {
	took := map[int]time.Duration{}
	for _, n := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if _, err := pacedSearch(t, &pace{}, &recordtest.Memory{}, 1200, Options{Lanes: n}, 16); err != nil {
				t.Fatal(err)
			}
			took[n] = time.Since(began)
		})
	}
	t.Logf("one lane %v, two %v", took[1], took[2])
	if took[2] > took[1]*3/4 || took[2] > 10*time.Second {
		t.Errorf("1,200 rollouts of 50 ms took %v in one lane, and %v in two", took[1], took[2])
	}
}

// A model whose requests a person answers gets those of every lane before the search stops.
func TestLanesAskAtOnce(t *testing.T) {
	asked := map[int]int64{}
	for _, n := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			p := &pace{unanswered: true}
			_, err := pacedSearch(t, p, &recordtest.Memory{}, 1200, Options{Lanes: n, Moves: []Move{Reflect{}}}, 16)
			if !eval.IsPending(err) {
				t.Fatalf("the search returned %v", err)
			}
			asked[n] = p.texts.Load()
		})
	}
	if asked[2] <= asked[1] {
		t.Errorf("one lane asks for %d texts, and two for %d", asked[1], asked[2])
	}
}
