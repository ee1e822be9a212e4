package sleep

import (
	"cmp"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// LifetimeAlpha bounds the expected share of false promotions among all that
// a skill's nights ever make.
const LifetimeAlpha = pareto.LifetimeAlpha

// A State is the common state of a skill's nights.
type State struct {
	Schema int    `json:"schema"`
	Skill  string `json:"skill"`
	// Lifetime is the error rate that all trials of the skill share, those
	// outside of nights included: see pareto.LOND.
	Lifetime pareto.LOND `json:"lifetime"`
	Trials   []Judged    `json:"trials,omitempty"`
	// Searched is when the last tournament began: corrections from before
	// have had their chance.
	Searched time.Time `json:"searched,omitzero"`
	// Short is the last tournament over the harness if a cap ended it without
	// a result.
	Short *Shortfall `json:"short,omitempty"`
	// Setback is the reason why its last nights failed, nil if the last one
	// did not.
	Setback *Setback `json:"setback,omitempty"`
	// Mined names the uses of which cases have been made.
	Mined string `json:"mined,omitempty"`
	// Served is when the skill last had its turn of a night's budget.
	Served time.Time `json:"served,omitzero"`
	// Compared are results of installed versions on other models than those
	// of their evidence, the latest last.
	Compared []Compared `json:"compared,omitempty"`
	// Described is the last tournament over the description.
	Described Described `json:"described,omitzero"`
	// Alarmed names the versions, by SHA-256, whose alarm was reported.
	Alarmed []string `json:"alarmed,omitempty"`
}

// Described is the state with which a tournament over a description began.
type Described struct {
	Description string `json:"description"` // SHA-256
	Misfired    int    `json:"misfired"`    // trigger cases
}

// A Judged is one trial under the lifetime's control, in order of beginning.
type Judged struct {
	Number     int            `json:"number"` // from 1
	Run        string         `json:"run"`    // that began it
	Incumbent  string         `json:"incumbent"`
	Challenger string         `json:"challenger"`
	Round      int            `json:"round,omitempty"` // of a challenger whose trial started again on another model
	Level      float64        `json:"level"`
	Decision   pareto.Verdict `json:"decision"`
}

// NewState is the state of a skill without nights.
func NewState(skill string) *State {
	return &State{Schema: 1, Skill: skill, Lifetime: pareto.LOND{Alpha: LifetimeAlpha}}
}

// unmark clears times in the future: a clock that was ahead would hide all
// corrections until then, and setting them to now would hide the corrections
// every night anew. At worst one search comes too early; it leaves a correct
// time.
func (s *State) unmark(now time.Time) {
	times := []*time.Time{&s.Searched, &s.Served}
	if s.Short != nil {
		times = append(times, &s.Short.Searched)
	}
	for _, t := range times {
		if t.After(now) {
			*t = time.Time{}
		}
	}
}

// Enter adds the numbered trials that are not in the state yet: their
// owner's, and those of runs that were killed. trials are the records that
// are left. Known trials keep their number and level.
func (s *State) Enter(numbers []record.TrialNumber, trials []record.TrialRecord) error {
	type pair struct{ incumbent, challenger string }
	by := map[pair]*record.TrialRecord{}
	for i := range trials {
		by[pair{trials[i].Incumbent, trials[i].Challenger}] = &trials[i]
	}
	for i := range numbers {
		n := &numbers[i]
		k := s.find(n.Incumbent, n.Challenger, n.Round)
		if k < 0 {
			k = len(s.Trials)
			s.Trials = append(s.Trials, Judged{Number: n.Number, Incumbent: n.Incumbent, Challenger: n.Challenger, Round: n.Round, Level: n.Level()})
		}
		s.Lifetime.Tested = max(s.Lifetime.Tested, n.Number)
		if s.Trials[k].Decision == pareto.Reject || slices.Contains(s.Lifetime.Rejected, n.Number) {
			continue
		}
		t := by[pair{n.Incumbent, n.Challenger}]
		if t == nil || t.Simulated != n.Simulated {
			continue
		}
		r, err := closed(t)
		if err != nil {
			return err
		}
		if r != nil && r.Round == n.Round {
			s.Judge(t.Run, s.Trials[k].Level, r)
		}
	}
	slices.SortStableFunc(s.Trials, func(a, b Judged) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}

// closed is the result of a trial, nil while it is open, or withdrawn by its
// owner.
func closed(t *record.TrialRecord) (*Result, error) {
	if v := pareto.Verdict(t.Decision); v != pareto.Promote && v != pareto.Reject {
		return nil, nil
	}
	round, _ := t.Begun()
	if t.Decision == pareto.Reject {
		return &Result{Decision: pareto.Reject, Incumbent: t.Incumbent, Challenger: t.Challenger, Round: round, Simulated: t.Simulated}, nil
	}
	d, err := t.Evidence()
	if err != nil {
		return nil, err
	}
	return &Result{Decision: d.Verdict, Reason: d.Reason, Incumbent: t.Incumbent, Challenger: t.Challenger, Round: round,
		EValue: d.Proof(), Alpha: d.Alpha, Total: d.Total(), NotLower: d.NotLower(), Simulated: t.Simulated}, nil
}

// Level is the error rate of the trial of a challenger, in this round of it:
// the fixed one if it has begun ("" for a challenger that the search has yet
// to find), else Next.
func (s *State) Level(incumbent, challenger string, round int) float64 {
	if k := s.find(incumbent, challenger, round); k >= 0 {
		return s.Trials[k].Level
	}
	return s.Next()
}

func (s *State) levelOf(r *Result) float64 { return s.Level(r.Incumbent, r.Challenger, r.Round) }

// Next is the error rate that the lifetime leaves for the next trial. A
// search that finds nothing to try tests nothing, and uses up no number.
func (s *State) Next() float64 { return s.Lifetime.Level(s.Lifetime.Tested + 1) }

func (s *State) find(incumbent, challenger string, round int) int {
	return slices.IndexFunc(s.Trials, func(t Judged) bool { return t.Incumbent == incumbent && t.Challenger == challenger && t.Round == round })
}

// Judge enters the result of a trial. Entering it again changes nothing. A
// promotion counts if the evidence holds at the level of the trial's number:
// a trial that began outside of the nights used another one. level is that of
// a trial without a number.
func (s *State) Judge(run string, level float64, r *Result) {
	if r.Decision == "" {
		return
	}
	k := s.find(r.Incumbent, r.Challenger, r.Round)
	if k < 0 {
		s.Lifetime.Tested++
		k = len(s.Trials)
		s.Trials = append(s.Trials, Judged{Number: s.Lifetime.Tested, Run: run, Incumbent: r.Incumbent, Challenger: r.Challenger, Round: r.Round, Level: level})
	}
	t := &s.Trials[k]
	t.Run, t.Decision = cmp.Or(t.Run, run), r.Decision
	if r.Proved(t.Level) && !slices.Contains(s.Lifetime.Rejected, t.Number) {
		s.Lifetime.Rejected = append(s.Lifetime.Rejected, t.Number)
		slices.Sort(s.Lifetime.Rejected)
	}
}

// Proved reports whether r is a promotion at the given level over all routes,
// at whatever level its trial began.
func (r *Result) Proved(level float64) bool {
	if r.Decision != pareto.Promote || !(r.Alpha > 0) || !(r.Total > 0) {
		return false
	}
	// Allow for rounding: the levels were divided and multiplied again.
	share := min(1, level/r.Total)
	return r.EValue*r.Alpha*share >= 1-1e-9 && (r.NotLower == 0 || r.NotLower*share >= 1-1e-9)
}

// asks is the e-value at which r would be Proved at the given level.
func (r *Result) asks(level float64) float64 { return 1 / (r.Alpha * min(1, level/r.Total)) }
