package search

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A stubborn agent gives every request the same answer under any skill: there
// is nothing to learn. It pays for what it reads.
type stubborn struct{}

func (stubborn) Identity() eval.Identity { return eval.Identity{Backend: "stubborn", Simulated: true} }

func (stubborn) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	return eval.Attempt{Answer: "yes", Duration: time.Second, Usage: &eval.Usage{Input: int64(len(t.Variant.Doc.Render())), Output: 1}}, nil
}

// A mute model has no idea.
type mute struct{}

func (mute) Identity() eval.Identity { return eval.Identity{Backend: "mute"} }

func (mute) Complete(context.Context, eval.Prompt) (eval.Completion, error) {
	return eval.Completion{Text: "I do not know.", Finish: "stop", Usage: &eval.Usage{Input: 1, Output: 1}}, nil
}

const houseRules = "---\nname: s\ndescription: d\n---\n# S\n\n- Sign every page.\n- Keep old drafts. Number them.\n- Use the house font.\n- Thank the reader.\n"

func stubbornCases() (c Cases) {
	for i := range 12 {
		check := eval.Check{Type: eval.Contains, Value: "yes", Feedback: "say yes"}
		if i%3 == 0 {
			check = eval.Check{Type: eval.Contains, Value: "maybe", Feedback: "say maybe"}
		}
		k := eval.Case{ID: fmt.Sprint("t", i), Skill: "s", Prompt: fmt.Sprintf("Question %d of the train split", i), Checks: []eval.Check{check}}
		c.Train = append(c.Train, k)
		k.ID, k.Prompt = fmt.Sprint("v", i), fmt.Sprintf("Question %d to validate", i)
		c.Val = append(c.Val, k)
	}
	return c
}

func stubbornSearch(t *testing.T, opt Options) *Result {
	t.Helper()
	doc, err := skill.Parse([]byte(houseRules), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	journal := &recordtest.Memory{}
	e := &Engine{
		Evaluator: &eval.Evaluator{Agent: stubborn{}, Grader: &eval.Checks{}, Budget: eval.NewBudget(eval.Caps{Rollouts: 300}, nil), Recorder: journal, Concurrency: 4},
		Mutator:   mute{}, Options: opt,
		Log: &record.Log{Journal: journal, Run: "r", Now: func() time.Time { return time.Unix(0, 0) }},
	}
	res, err := e.Search(t.Context(), eval.Variant{Name: "s", Doc: doc}, stubbornCases())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A run that learns nothing has no challenger: that a text which lost its lines
// does as well on cases that test none of them is no reason to lose them.
func TestNothingLearnedIsNoChallenger(t *testing.T) {
	res := stubbornSearch(t, Options{Seed: 1})
	if c := res.Challenger; c != nil {
		t.Errorf("the challenger is\n%s", c.Text)
	}
	// That a shorter text did as well is reported all the same.
	if c := res.Shorter; c == nil || c.Tokens >= res.Incumbent.Tokens || c.Metrics.Quality != res.Incumbent.Metrics.Quality {
		t.Errorf("shorter: %+v", c)
	}
	if c := stubbornSearch(t, Options{Seed: 1, Shorten: true, Moves: DeletionOnly}).Shorter; c != nil {
		t.Errorf("where shortening is asked for, it is the challenger, and not %+v", c)
	}
}

// A shorter text is reported if it is no worse than the incumbent and the challenger.
func TestShorterIsNoWorse(t *testing.T) {
	const n = 10
	other := houseRules + "\n- Say maybe.\n"
	cut := "---\nname: s\ndescription: d\n---\n# S\n\n- Sign every page.\n- Thank the reader.\n"
	cutMore := "---\nname: s\ndescription: d\n---\n# S\n\n- Sign every page.\n"
	for name, c := range map[string]struct {
		cut, more, challenger float64 // quality; that of the incumbent is 0.5
		want                  int     // its place in the pool, 0 for none
	}{
		"as good":                   {0.5, 0.4, 0, 1},
		"the shortest of two":       {0.6, 0.5, 0, 2},
		"worse":                     {0.4, 0.4, 0, 0},
		"as good as the challenger": {0.8, 0.5, 0.8, 1},
		"worse than the challenger": {0.5, 0.5, 0.8, 0},
	} {
		s := &State{Engine: &Engine{}, pool: newPool(0, n), Cases: Cases{Val: make([]eval.Case, n)}, best: 3}
		for _, m := range []*Member{winner(n, 0.5, 0, 0, 1, houseRules), winner(n, c.cut, 0, 0, 1, cut),
			winner(n, c.more, 0, 0, 1, cutMore), winner(n, c.challenger, 0, 0, 1, other)} {
			got := s.pool.add(m.Candidate, m.Variant)
			got.val, got.full = m.val, true
		}
		got := 0
		if m := s.shorter(c.challenger > 0); m != nil {
			got = s.pool.index(m)
		}
		if got != c.want {
			t.Errorf("%s: member %d, want %d", name, got, c.want)
		}
	}
}

// Where shortening is asked for, that text is the challenger, and named by what it
// lacks.
func TestShortenFindsTheShorterText(t *testing.T) {
	c := stubbornSearch(t, Options{Seed: 1, Shorten: true, Moves: DeletionOnly}).Challenger
	if c == nil {
		t.Fatal("no challenger")
	}
	parse := func(text string) *skill.Document {
		doc, err := skill.Parse([]byte(text), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	cases := stubbornCases()
	all := append(cases.Train, cases.Val...)
	s := ShorterThan(parse(houseRules), parse(string(c.Text)), all)
	if s == nil || s.Untested != 4 || s.Tested != 0 || s.String() != "shorter: 4 lines that no check mentions" {
		t.Errorf("%q for\n%s", s, c.Text)
	}
	all[3].Checks = append(all[3].Checks, eval.Check{Type: eval.Judge, Rubric: "the page is signed"})
	if s := ShorterThan(parse(houseRules), parse(string(c.Text)), all); s.String() != "shorter: 3 lines that no check mentions, 1 that checks mention" {
		t.Errorf("%q where one line is tested", s)
	}
	if s := ShorterThan(parse(houseRules), parse(houseRules+"\n- More.\n"), all); s != nil {
		t.Errorf("%q of a longer text", s)
	}
}

// winner is a member with the same quality, retries and cost on each of n cases,
// tried twice.
func winner(n int, quality, spread, retries, usd float64, text string) *Member {
	doc, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		panic(err)
	}
	m := &Member{Variant: eval.Variant{Doc: doc}, Tokens: skill.Tokens(text), full: true, val: make([]attempts, n)}
	for i := range m.val {
		for _, d := range []float64{-spread, spread} {
			m.val[i].add(&eval.Rollout{Status: eval.Done, Quality: quality + d, Retries: retries, CostUSD: &usd})
		}
	}
	return m
}

// A challenger is better than the incumbent by more than noise in something that
// counts, and a text that only lacks lines is none.
func TestWorthTrying(t *testing.T) {
	const n = 10
	other := houseRules + "\n- Say maybe.\n"
	cut := "---\nname: s\ndescription: d\n---\n# S\n\n- Sign every page.\n"
	for _, c := range []struct {
		name    string
		m       *Member
		options Options
		want    bool
	}{
		{"better", winner(n, 0.6, 0, 0.5, 1, other), Options{}, true},
		{"better within noise", winner(n, 0.52, 0.2, 0.5, 1, other), Options{}, false},
		{"the same", winner(n, 0.5, 0, 0.5, 1, other), Options{}, false},
		{"cheaper", winner(n, 0.5, 0, 0.5, 0.8, other), Options{}, true},
		{"cheaper, and cost does not count", winner(n, 0.5, 0, 0.5, 0.8, other), Options{Objectives: []string{"quality", "retries"}}, false},
		{"cheaper by next to nothing", winner(n, 0.5, 0, 0.5, 0.99, other), Options{}, false},
		{"cheaper and worse", winner(n, 0.4, 0, 0.5, 0.5, other), Options{}, false},
		{"fewer retries", winner(n, 0.5, 0, 0.2, 1, other), Options{}, true},
		{"better by deletions alone", winner(n, 0.6, 0, 0.5, 0.8, cut), Options{}, false},
		{"shorter, as asked for", winner(n, 0.5, 0, 0.5, 1, cut), Options{Shorten: true}, true},
		{"shorter and worse", winner(n, 0.45, 0, 0.5, 1, cut), Options{Shorten: true}, false},
		{"not shorter", winner(n, 0.6, 0, 0.5, 1, other), Options{Shorten: true}, false},
	} {
		s := &State{Engine: &Engine{}, opt: c.options, pool: newPool(0, n), Cases: Cases{Val: make([]eval.Case, n)}}
		root := winner(n, 0.5, 0, 0.5, 1, houseRules)
		for _, m := range []*Member{root, c.m} {
			got := s.pool.add(m.Candidate, m.Variant)
			got.val, got.full = m.val, true
		}
		if got := s.worthTrying(s.pool.members[1], s.noise()); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The undecided challenger keeps its place unless a better one was found on
// the same cases.
func TestStandingIsSupplantedByABetterOne(t *testing.T) {
	const n = 10
	other, third := houseRules+"\n- Say maybe.\n", houseRules+"\n- Say perhaps.\n"
	for _, c := range []struct {
		name           string
		standing, next *Member
		want           bool
	}{
		{"better", winner(n, 0.6, 0, 0.5, 1, other), winner(n, 0.8, 0, 0.5, 1, third), true},
		{"the same", winner(n, 0.6, 0, 0.5, 1, other), winner(n, 0.6, 0, 0.5, 1, third), false},
		{"better within noise", winner(n, 0.6, 0.2, 0.5, 1, other), winner(n, 0.62, 0.2, 0.5, 1, third), false},
		{"cheaper alone", winner(n, 0.6, 0, 0.5, 1, other), winner(n, 0.6, 0, 0.5, 0.5, third), false},
		{"worse than one that is worse than the incumbent", winner(n, 0.4, 0, 0.5, 1, other), winner(n, 0.6, 0, 0.5, 1, third), true},
	} {
		s := &State{Engine: &Engine{}, pool: newPool(0, n), Cases: Cases{Val: make([]eval.Case, n)}}
		for _, m := range []*Member{winner(n, 0.5, 0, 0.5, 1, houseRules), c.standing, c.next} {
			got := s.pool.add(m.Candidate, m.Variant)
			got.val, got.full = m.val, true
		}
		s.standing = s.pool.members[1]
		if got := s.worthTrying(s.pool.members[2], s.noise()); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if s.worthTrying(s.standing, s.noise()) {
			t.Errorf("%s: the one that stands supplants itself", c.name)
		}
	}
}

// A search that finds nothing better leaves the undecided challenger in its
// place, and one that does names the better one.
func TestSearchBesideAStandingChallenger(t *testing.T) {
	w := worldstest.Additive(3, 12, 0.02)
	found, _ := seeded(t, w, Options{Seed: 1}, 600)
	if found.Challenger == nil {
		t.Fatal("the search finds nothing: this test shows nothing")
	}
	good := found.Challenger.Candidate
	bad := record.Candidate{SHA: skill.HashText([]byte(w.Seed() + "\nSing.\n")), Operator: "reflect", Text: []byte(w.Seed() + "\nSing.\n")}
	few := Options{Seed: 2, MaxRounds: 1, Moves: []Move{prune}} // with so little nothing else can win
	opt := few
	opt.Standing = &good
	if res, _ := seeded(t, w, opt, 400); res.Challenger != nil {
		t.Errorf("%.12s takes the place of %.12s, which is as good", res.Challenger.SHA, good.SHA)
	}
	opt = few
	opt.Standing, opt.Seeds = &bad, []record.Candidate{good}
	if res, _ := seeded(t, w, opt, 400); res.Challenger == nil || res.Challenger.SHA != good.SHA {
		t.Errorf("the challenger is %v, %.12s is better than the one that stands", res.Challenger, good.SHA)
	}
}
