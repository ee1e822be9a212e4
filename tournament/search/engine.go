// Package search looks for a better text of a skill, and tries what it finds
// before the gate.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search/lanes"
)

// Options are the choices of a search. The zero value of a field means its
// default.
type Options struct {
	Seed int64
	// The defaults of these four grow with the budget of rollouts, see widthOf.
	Minibatch int // cases that a child is compared with its parent on; default 8
	Proposals int // reflections of one round, made in parallel; default 4
	RaceChunk int // validation cases between two looks of a race; default 8, whatever the concurrency
	Lanes     int // moves made at once; default 1

	Group     int // failures that one reflection reads; default 3
	Patience  int // rounds without a better best before the search ends; default 8
	MaxRounds int // default 400: a bound on mutator calls if nothing is ever accepted
	Profile   check.Profile
	Selector  Selector
	Accept    Acceptance
	Batch     Batch  // default Targeted
	Stop      Stop   // default Patience
	Moves     []Move // default HarnessMoves
	// Seeds are texts that are in the pool from the start, beside the
	// incumbent: SHA, Operator, Taught and Text of each are read. The owner
	// must have approved them; the firewall is not asked.
	Seeds []record.Candidate
	// Excluded are the SHA-256 of texts that are never tried.
	Excluded []string
	// Objectives are those in which a challenger may be better; nil for all
	// four.
	Objectives []string
	// Shorten reverses the choice of the challenger: only a text that only
	// lacks lines of the incumbent may become one.
	Shorten bool
	// Standing is an undecided challenger of the incumbent, nil for none: it
	// is in the pool from the start, and only a text that is better than it
	// by more than noise, on the same validation cases, replaces it.
	Standing *record.Candidate
}

// DefaultPatience is the default of Options.Patience.
const DefaultPatience = 8

func (o Options) withDefaults(w width) Options {
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&o.Minibatch, w.minibatch)
	def(&o.Proposals, w.proposals)
	def(&o.Lanes, w.lanes)
	def(&o.Group, 3)
	def(&o.RaceChunk, w.raceChunk)
	def(&o.Patience, DefaultPatience)
	def(&o.MaxRounds, 400)
	if o.Profile == "" {
		o.Profile = check.ClaudeCode
	}
	if o.Selector == nil {
		o.Selector = MixedSelect{Best: 0.7}
	}
	if o.Moves == nil {
		o.Moves = HarnessMoves
	}
	if o.Batch == nil {
		o.Batch = Targeted{}
	}
	if o.Stop == nil {
		o.Stop = Patience(o.Patience)
	}
	if o.Accept == nil {
		o.Accept = Strict{}
	}
	return o
}

// An Engine searches for a better harness of one skill: GEPA's loop of
// reflective mutation over a Pareto pool (arXiv 2507.19457), with cached
// parents, proposals made in parallel and tried together, and deletions as
// first-class moves. Its decisions are a function of Options.Seed and of the
// recorded rollouts and replies, never of timing: a run that is repeated over
// the same records takes the same decisions.
type Engine struct {
	Evaluator *eval.Evaluator // its Budget bounds the search
	Mutator   eval.Model
	Second    eval.Model // reads candidates of a text with a kernel; nil: nobody does
	Log       *record.Log
	Options   Options
}

// Cases are the cases of one skill by split. Test is read only to keep its
// wording out of candidates.
type Cases struct{ Train, Val, Test []eval.Case }

// A Result is what a search found.
type Result struct {
	Incumbent  Scored
	Challenger *Scored // nil if nothing beat the incumbent, and Options.Standing, on validation
	// Shorter only lacks lines of the incumbent, and was no worse on validation than
	// that and the challenger; nil if there is none, or shortening was asked for.
	Shorter *Scored
	Pool    []Scored // every pooled candidate, the incumbent first
	Stop    string   // why the search ended, in words
	Cap     string   // that ended the search, "" for none
	Noise   Noise
	Stats   Stats
}

// Scored is a pooled candidate with its validation metrics.
type Scored struct {
	record.Candidate
	Metrics eval.Metrics
	Tokens  int  // of the body, estimated
	Full    bool // measured on every validation case
}

// Stats count the results of the proposals.
type Stats struct {
	Rounds      int `json:"rounds"`
	Proposals   int `json:"proposals"`
	Unusable    int `json:"unusable"` // replies that were cut off, unparsable or without effect
	Guesses     int `json:"guesses"`  // left out, because they share no word with the feedback where others do
	Invalid     int `json:"invalid"`  // failed a check before any rollout
	Quarantined int `json:"quarantined"`
	Unread      int `json:"unread,omitempty"` // tried, although the second reader gave no usable answer
	Refused     int `json:"refused"`          // lost their minibatch
	Accepted    int `json:"accepted"`
	Seeds       int `json:"seeds,omitempty"` // of Options.Seeds, in the pool
}

// State is the state of one walk.
type State struct {
	*Engine
	opt        Options
	Cases      Cases
	pool       *pool
	guard      *guard
	Rand       *rand.Rand
	best       int
	operators  *operators
	supported  bool // some reflection of the run shared words with its feedback
	corpus     []string
	inCorpus   map[string]bool
	asked      []string // what the train cases ask for, failed or not
	criteria   []string // what their checks ask for, the most frequent first, each once
	rejected   []mutate.Attempt
	doubted    []string        // lines that a reflection took out without a word of the feedback
	shown      []string        // ids of the cases that the mutator has seen
	tried      map[string]bool // SHA of every text that was tried
	stones     []*Member       // see try
	seq        int
	stats      Stats
	turns      lanes.Lanes
	all        []lane            // by the index that turns has
	ledger     lanes.Ledger      // of several lanes
	flying     map[*attempts]int // when rollouts that are underway are due
	stale      int
	stated     bool // see mostStated, before this round
	lessons    *lessons
	knots      knots
	standing   *Member           // of Options.Standing
	unread     map[string]bool   // SHA-256 of texts that the second reader did not read
	unreadable int               // texts in a row that it did not read
	approved   []*skill.Document // texts beside the incumbent that the pool began with
}

// errDone ends the search's loop; the reason is its text.
type errDone struct {
	reason string
	cap    string // that ended it, "" for none
	finals bool   // what is left of the budget is for the finals
}

// errRollouts ends a search that has too few rollouts left to continue.
var errRollouts = &errDone{reason: "the rollout budget is used up", cap: eval.CapRollouts}

// errTooFew ends the moves of one that has too few left for another child.
var errTooFew = &errDone{errRollouts.reason, errRollouts.cap, true}

func (e *errDone) Error() string { return e.reason }

// Search runs until a cap, the patience or the supply of ideas ends it. The
// error is one that leaves no usable result: ctx's, a failing journal, an
// unreachable or refusing backend; what was measured until then is recorded.
func (e *Engine) Search(ctx context.Context, incumbent eval.Variant, cases Cases) (*Result, error) {
	rollouts := e.Evaluator.Budget.Remaining().Rollouts
	opt := e.Options.withDefaults(widthOf(rollouts, len(cases.Val)))
	rng := rand.New(rand.NewPCG(uint64(opt.Seed), 0x65766f6c7665))
	cases.Val = affordable(cases.Val, rollouts, rng)
	s := &State{
		Engine: e, opt: opt, Cases: cases, pool: newPool(len(cases.Train), len(cases.Val)),
		guard:    newGuard(incumbent.Doc, cases.Train, append(append([]eval.Case{}, cases.Val...), cases.Test...)),
		Rand:     rng,
		inCorpus: map[string]bool{}, tried: map[string]bool{incumbent.SHA(): true},
		operators: newOperators(opt.Moves),
		lessons:   newLessons(cases.Train),
		all:       make([]lane, 1),
	}
	for _, sha := range opt.Excluded {
		s.tried[sha] = true
	}
	if len(cases.Train) == 0 || len(cases.Val) == 0 {
		return nil, fmt.Errorf("search needs train and validation cases, there are %d and %d", len(cases.Train), len(cases.Val))
	}
	often := map[string]int{}
	for _, c := range cases.Train {
		s.asked = append(s.asked, c.Prompt)
		for _, k := range c.Checks {
			for _, text := range []string{k.Feedback, k.Rubric} {
				if text != "" {
					s.asked = append(s.asked, text)
				}
			}
			often[cmp.Or(k.Feedback, k.Criterion())]++
		}
	}
	s.criteria = slices.SortedFunc(maps.Keys(often), func(a, b string) int { return cmp.Or(often[b]-often[a], cmp.Compare(a, b)) })
	err := s.walk(ctx, incumbent)
	var done *errDone
	if !errors.As(err, &done) {
		return nil, err
	}
	res := s.result()
	res.Stop, res.Cap = done.reason, done.cap
	return res, s.emit(ctx, "search_end", map[string]any{"stop": done.reason, "pool": len(s.pool.members), "stats": s.stats})
}

// walk runs the rounds. It always returns an error, *errDone at a regular end.
func (s *State) walk(ctx context.Context, incumbent eval.Variant) error {
	seed := record.Candidate{SHA: incumbent.SHA(), Run: s.Log.Run, Operator: "found", State: record.Seed, Text: incumbent.Doc.Render()}
	if err := s.Log.Journal.SaveCandidate(ctx, &seed); err != nil {
		return err
	}
	root := s.pool.add(seed, incumbent)
	if err := s.emit(ctx, "search_start", map[string]any{"incumbent": root.SHA, "train": len(s.Cases.Train), "val": len(s.Cases.Val)}); err != nil {
		return err
	}
	if err := s.measureVal(ctx, root, all(len(s.Cases.Val)), 0); err != nil {
		return err
	}
	root.full = true
	if err := speechless(root.valRollouts()); err != nil {
		return err
	}
	if q, n := root.Validation(); n == 0 {
		return &eval.TooManyMissingError{Missing: len(s.Cases.Val), Jobs: len(s.Cases.Val), Err: errors.New(root.val[0].first.Failure)}
	} else if err := s.emit(ctx, "seed", map[string]any{"quality": q, "cases": n}); err != nil {
		return err
	}
	if err := s.addSeeds(ctx); err != nil {
		return err
	}
	err := s.move(ctx)
	if done := (*errDone)(nil); errors.As(err, &done) && done.finals {
		return s.finals(ctx, done)
	}
	return err
}

// moves makes one move after another, until its own or another lane's end. It always returns
// an error, *errDone at a regular end.
func (s *State) moves(ctx context.Context) error {
	for ; s.stats.Rounds < s.opt.MaxRounds; s.stats.Rounds++ {
		if err := s.turns.Ending(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		best := s.pool.members[s.best]
		quality, _ := best.Validation()
		if reason := s.opt.Stop.Done(Progress{Rounds: s.stats.Rounds, Stale: s.stale, Best: quality, Tokens: best.Tokens}); reason != "" {
			return &errDone{reason: reason, finals: true}
		}
		tried, won, err := s.round(ctx)
		if err != nil {
			return err
		}
		if !tried {
			return &errDone{reason: "no operator has anything left to work on", finals: true}
		}
		s.stale++
		if won {
			s.stale = 0
		}
	}
	return &errDone{reason: fmt.Sprintf("%d rounds", s.stats.Rounds), finals: true}
}

// An AgentFailsError means that the agent failed on every validation case of
// the incumbent: the agent is at fault, and not the skill.
type AgentFailsError struct {
	Cases   int
	Failure string // of the first
}

func (e *AgentFailsError) Error() string {
	return fmt.Sprintf("the agent failed on all %d validation cases: %s", e.Cases, e.Failure)
}

func speechless(rs []*eval.Rollout) error {
	for _, r := range rs {
		if r.Status == eval.Done && r.Failure == "" {
			return nil
		}
	}
	if len(rs) == 0 || rs[0].Status != eval.Done {
		return nil
	}
	return &AgentFailsError{len(rs), rs[0].Failure}
}

// round makes one move. tried is false if there is none to make, and won if nothing that was
// tried became the best.
func (s *State) round(ctx context.Context) (tried, won bool, err error) {
	s.stated = s.mostStated()
	for _, m := range s.operators.order(s.Rand, s.urgencyOf) {
		spent := s.spent()
		tried, won, err := s.apply(ctx, m)
		if err != nil {
			return tried, false, err
		}
		if tried {
			s.operators.learn(m.Name(), won, s.spent()-spent)
			return true, won, nil
		}
	}
	return false, false, nil
}

// leastPasses is how many passes over its validation cases a budget has at least.
const leastPasses = 24

// affordable draws the validation cases that a budget can carry: a pass over
// them must not cost more than a 24th of it, or a sixth where that is fewer than
// 12 cases. Two thirds of a search's rollouts are validation, so fewer cases mean
// more candidates; that gains more than the choice between them loses
// (benchmarks.md).
func affordable(val []eval.Case, rollouts int64, rng *rand.Rand) []eval.Case {
	most := max(8, int(min(rollouts/6, max(12, rollouts/leastPasses))))
	if rollouts == 0 || len(val) <= most {
		return val
	}
	out := make([]eval.Case, 0, most)
	for _, i := range rng.Perm(len(val))[:most] {
		out = append(out, val[i])
	}
	return out
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
