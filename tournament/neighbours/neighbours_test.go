package neighbours

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// session is one with these uses: "chart+slides" loads both in one turn.
func session(id string, turns ...string) *harvest.Session {
	s := &harvest.Session{ID: id, Agent: "claude-code", Started: time.Unix(1e9, 0)}
	for t, names := range turns {
		s.Turns = append(s.Turns, harvest.Turn{})
		for _, name := range strings.Split(names, "+") {
			s.Invocations = append(s.Invocations, harvest.Invocation{Skill: name, Turn: t, Signal: harvest.SkillToolUse, Explicit: true, ToolUseID: fmt.Sprint(id, t, name)})
		}
	}
	return s
}

func own(name string) string { return name }

func names(all []Neighbour) string {
	var out []string
	for _, n := range all {
		out = append(out, fmt.Sprintf("%s %d", n.Skill, len(n.Sessions)))
	}
	return strings.Join(out, ", ")
}

func TestOf(t *testing.T) {
	both := []*harvest.Session{session("a", "chart+slides", "chart+slides"), session("b", "chart+slides+notes"), session("c", "chart+notes"), session("d", "chart+notes")}
	resumed := session("b2", "chart+slides")
	resumed.Invocations[0].ToolUseID = both[1].Invocations[0].ToolUseID
	failed, headless := session("e", "chart+slides"), session("f", "chart+slides")
	failed.Invocations[1].Failed, headless.Headless = true, true
	for name, c := range map[string]struct {
		sessions []*harvest.Session
		own      func(string) string
		want     string
	}{
		"two sessions":      {both[:2], own, "slides 2"},
		"one session":       {both[:1], own, ""},
		"most first":        {both, own, "notes 3, slides 2"},
		"other turns":       {[]*harvest.Session{session("a", "chart", "slides"), session("b", "chart", "slides")}, own, ""},
		"a copy":            {[]*harvest.Session{both[0], both[0]}, own, ""},
		"a resumed one":     {[]*harvest.Session{both[1], resumed}, own, ""},
		"refused":           {[]*harvest.Session{both[0], failed}, own, ""},
		"without a person":  {[]*harvest.Session{both[0], headless}, own, ""},
		"equal by alias":    {both[:2], func(n string) string { return map[string]string{"slides": "chart", "notes": "notes"}[n] }, ""},
		"an alias of slide": {[]*harvest.Session{both[0], session("g", "chart+deck")}, func(n string) string { return strings.Replace(n, "deck", "slides", 1) }, "slides 2"},
		"nothing":           {nil, own, ""},
	} {
		if c.own("chart") == "" {
			alias := c.own
			c.own = func(n string) string {
				if of := alias(n); of != "" {
					return of
				}
				return n
			}
		}
		if got := names(Of(c.sessions, "chart", c.own)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSignTest(t *testing.T) {
	for _, c := range []struct {
		worse, better int
		p             float64
	}{{0, 0, 1}, {5, 0, 1. / 32}, {4, 0, 1. / 16}, {6, 0, 1. / 64}, {7, 1, 9. / 256}, {0, 3, 1}, {1, 1, .75}, {8, 8, .5981903076171875}} {
		if p := signTest(c.worse, c.better); math.Abs(p-c.p) > 1e-12 {
			t.Errorf("%d against %d: %v, want %v", c.worse, c.better, p, c.p)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.IntRange(0, 40).Draw(rt, "a"), rapid.IntRange(0, 40).Draw(rt, "b")
		// Of n pairs either at least a or at most a-1 are worse, and then at least b+1 better.
		if sum := signTest(a, b) + signTest(b+1, a-1); a > 0 && math.Abs(sum-1) > 1e-9 {
			rt.Fatalf("%d against %d: %v", a, b, sum)
		}
		if signTest(a+1, b) > signTest(a, b)+1e-12 {
			rt.Fatal("more worse pairs are less evidence")
		}
	})
}

// A world answers requests: fails says how probable it is that one fails beside a text.
type world struct {
	mu    sync.Mutex
	rand  *rand.Rand
	fails func(kase string, beside *eval.Offer) float64
	asked []string
	lost  map[string]bool // requests that get no answer
	why   eval.FailureKind
}

func (w *world) Identity() eval.Identity { return eval.Identity{Backend: "world"} }

func (w *world) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	beside := &t.Others[len(t.Others)-1]
	w.asked = append(w.asked, t.Case.ID+" beside "+strings.TrimSpace(string(beside.Text[len(beside.Text)-4:])))
	if w.lost[t.Case.ID] {
		return eval.Attempt{}, eval.Infraf(w.why, "lost")
	}
	if w.rand.Float64() < w.fails(t.Case.ID, beside) {
		return eval.Attempt{Answer: "bad"}, nil
	}
	return eval.Attempt{Answer: "good"}, nil
}

func variant(t testing.TB, name, end string) eval.Variant {
	doc, err := skill.Parse([]byte("---\nname: "+name+"\ndescription: d\n---\n\n# "+name+"\n\n"+end+"\n"), skill.OptionsOf(name))
	if err != nil {
		t.Fatal(err)
	}
	return eval.Variant{Name: name, Doc: doc}
}

func neighbour(t testing.TB, name string, requests int) Neighbour {
	n := Neighbour{Skill: name, variant: variant(t, name, "text")}
	for i := range requests {
		n.cases = append(n.cases, eval.Case{ID: fmt.Sprintf("%s-%d", name, i), Skill: name, Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: "good"}}})
	}
	return n
}

func trial(t testing.TB, w *world, b *eval.Budget, all ...Neighbour) *Trial {
	return &Trial{Neighbours: all, Old: variant(t, "chart", "old."), Evaluator: func([]eval.Case) *eval.Evaluator {
		return &eval.Evaluator{Agent: w, Grader: &eval.Checks{}, Budget: b, InfraTries: 1}
	}}
}

func isNew(o *eval.Offer) bool { return strings.Contains(string(o.Text), "new.") }

// Of equal texts at most 2 of 100 are held back, with one neighbour as with three.
func TestEqualTexts(t *testing.T) {
	const runs = 1500
	next := variant(t, "chart", "new.")
	for _, rate := range []float64{0, .1, .3, .5} {
		for _, many := range []int{1, Most} {
			w := &world{rand: rand.New(rand.NewPCG(1, 2)), fails: func(string, *eval.Offer) float64 { return rate }}
			var all []Neighbour
			for i := range many {
				all = append(all, neighbour(t, fmt.Sprint("slides", i), Cases))
			}
			held := 0
			for range runs {
				w.asked = w.asked[:0]
				out, err := trial(t, w, nil, all...).Try(t.Context(), next)
				if err != nil {
					t.Fatal(err)
				}
				for i := range out {
					if out[i].Held {
						held++
						break
					}
				}
				if int64(len(w.asked)) > Takes(all) {
					t.Fatalf("%d rollouts, more than %d", len(w.asked), Takes(all))
				}
			}
			t.Logf("failure rate %.1f, %d neighbours: %.2f %% of equal texts held back", rate, many, 100*float64(held)/runs)
			if held > runs*2/100 {
				t.Errorf("failure rate %.1f, %d neighbours: %d of %d equal texts are held back", rate, many, held, runs)
			}
		}
	}
}

// A text that breaks half of a neighbour's requests is held back.
func TestPower(t *testing.T) {
	const runs = 1000
	next := variant(t, "chart", "new.")
	for _, c := range []struct {
		rate  float64
		many  int
		least int // % of runs
	}{{0, 1, 100}, {0, Most, 100}, {.1, 1, 75}, {.1, Most, 55}, {.3, 1, 30}} {
		w := &world{rand: rand.New(rand.NewPCG(3, 4))}
		w.fails = func(kase string, beside *eval.Offer) float64 {
			if isNew(beside) && strings.HasPrefix(kase, "slides0-") && kase < "slides0-4" {
				return 1
			}
			return c.rate
		}
		var all []Neighbour
		for i := range c.many {
			all = append(all, neighbour(t, fmt.Sprint("slides", i), Cases))
		}
		held := 0
		for range runs {
			out, err := trial(t, w, nil, all...).Try(t.Context(), next)
			if err != nil {
				t.Fatal(err)
			}
			if out[0].Held {
				held++
			}
		}
		t.Logf("failure rate %.1f, %d neighbours: %d %% held back", c.rate, c.many, 100*held/runs)
		if 100*held < c.least*runs {
			t.Errorf("failure rate %.1f, %d neighbours: only %d of %d texts that break half are held back", c.rate, c.many, held, runs)
		}
	}
}

func TestWords(t *testing.T) {
	broken := func(n int) func(string, *eval.Offer) float64 {
		return func(kase string, beside *eval.Offer) float64 {
			if isNew(beside) && kase < fmt.Sprint("slides-", n) {
				return 1
			}
			return 0
		}
	}
	next, few := variant(t, "chart", "new."), neighbour(t, "slides", 2)
	few.untried = "it has too few requests to tell"
	for name, c := range map[string]struct {
		fails     func(string, *eval.Offer) float64
		neighbour Neighbour
		lost      map[string]bool
		budget    *eval.Budget
		want      string
		against   string
		asked     int
	}{
		"as before": {broken(0), neighbour(t, "slides", 8), nil, nil, "beside `slides`: 8 of its requests answered as before", "", 16},
		"worse":     {broken(5), neighbour(t, "slides", 8), nil, nil, "held back: beside `slides` 5 of 8 of its requests fail that did not before", "beside `slides` 5 of 8 of its requests fail that did not before", 26},
		"a little":  {broken(2), neighbour(t, "slides", 8), nil, nil, "beside `slides`: no difference seen on 8 requests (2 fail only with the new text, 0 only with yours)", "", 16},
		"three":     {broken(3), neighbour(t, "slides", 3), nil, nil, "held back: beside `slides` 3 of 3 of its requests fail that did not before", "beside `slides` 3 of 3 of its requests fail that did not before", 12},
		"untried":   {broken(2), few, nil, nil, "beside `slides`: not tried, it has too few requests to tell", "", 0},
		"lost":      {broken(0), neighbour(t, "slides", 3), map[string]bool{"slides-1": true}, nil, "beside `slides`: not tried to its end: too few of its requests got an answer", "beside `slides`: not tried to its end: too few of its requests got an answer", 6},
	} {
		w := &world{rand: rand.New(rand.NewPCG(1, 2)), fails: c.fails, lost: c.lost, why: eval.Unreachable}
		out, err := trial(t, w, c.budget, c.neighbour).Try(t.Context(), next)
		if err != nil || len(out) != 1 {
			t.Fatal(out, err)
		}
		if got, why := out[0].String(), out[0].Objection(); got != c.want || why != c.against || len(w.asked) != c.asked {
			t.Errorf("%s: %q, objection %q, %d asked", name, got, why, len(w.asked))
		}
	}
}

// What is wrong with a neighbour's requests does not end the run, what is wrong with the agent
// does.
func TestRefused(t *testing.T) {
	for why, ends := range map[eval.FailureKind]bool{eval.BadRequest: false, eval.Refused: false, eval.UsageLimit: true, eval.Auth: true} {
		w := &world{rand: rand.New(rand.NewPCG(1, 2)), fails: func(string, *eval.Offer) float64 { return 0 }, lost: map[string]bool{"slides-0": true}, why: why}
		out, err := trial(t, w, nil, neighbour(t, "slides", 3)).Try(t.Context(), variant(t, "chart", "new."))
		if ends != (err != nil) || !ends && (out[0].Objection() == "" || out[0].Held) {
			t.Errorf("%s: %+v, %v", why, out, err)
		}
	}
}

// A cap ends the trial, not the run, and leaves the text to its owner.
func TestCap(t *testing.T) {
	w := &world{rand: rand.New(rand.NewPCG(1, 2)), fails: func(string, *eval.Offer) float64 { return 0 }}
	out, err := trial(t, w, eval.NewBudget(eval.Caps{Rollouts: 10}, nil), neighbour(t, "slides", 8)).Try(t.Context(), variant(t, "chart", "new."))
	if err != nil || out[0].Stop == "" || out[0].Held || out[0].Objection() == "" || len(w.asked) > 10 {
		t.Errorf("%+v, %v, %d asked", out, err, len(w.asked))
	}
}

// Who stopped the run stops this, too.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := &world{rand: rand.New(rand.NewPCG(1, 2)), fails: func(string, *eval.Offer) float64 { return 0 }}
	if _, err := trial(t, w, nil, neighbour(t, "slides", 8)).Try(ctx, variant(t, "chart", "new.")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
