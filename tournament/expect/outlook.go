package expect

import (
	"context"
	"fmt"
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// An Outlook is what the owner of a skill can expect at the pace of their uses.
type Outlook struct {
	Skill     string `json:"skill"`
	Uses      int    `json:"uses"`
	Corrected int    `json:"corrected"`
	Pace
	// Promising and Proved are the weeks within which four of five trials of a change that
	// mends half of the failures come so far; nil if nobody can tell, or it is never.
	Promising *int `json:"promising_weeks"`
	Proved    *int `json:"proved_weeks"`

	failures float64
}

// OutlookOf is the outlook of a skill, if each case is replayed so often in each arm.
func OutlookOf(ctx context.Context, db *store.Store, name string, replays int) (*Outlook, error) {
	cases, err := db.Cases(ctx, name)
	if err != nil {
		return nil, err
	}
	uses, err := Uses(ctx, db, name, cases)
	if err != nil {
		return nil, err
	}
	o := &Outlook{Skill: name, Uses: len(uses), Pace: PaceOf(uses, cases), failures: record.FailuresOf(uses)}
	for _, u := range uses {
		if u.Stratum == record.Corrected {
			o.Corrected++
		}
	}
	if o.Pace.Cases == 0 || o.Corrected == 0 {
		return o, nil
	}
	search, held := map[string]bool{}, map[string]bool{}
	for i := range cases {
		switch c := &cases[i]; {
		case c.Generated():
		case c.Split == eval.Test:
			held[eval.ClusterOf(c)] = true
		default:
			search[eval.ClusterOf(c)] = true
		}
	}
	first := max(0, splits.SearchTrain+splits.SearchVal-len(search)) // go to a search
	w := pareto.World{Failures: o.failures, Gain: o.failures / 2, Replays: replays}
	_, proved := pareto.Forecast(w, pareto.Config{})
	weeks := func(cases int) *int {
		if cases == 0 {
			return nil
		}
		n := max(0, int(math.Ceil(float64(first+cases-len(held))/o.Pace.Cases)))
		return &n
	}
	o.Promising, o.Proved = weeks(pareto.ForecastPromising(w, pareto.Config{})), weeks(proved)
	return o, nil
}

// Words say it in one line.
func (o *Outlook) Words() string {
	corrections := plain.Counted(o.Corrected, "correction")
	switch {
	case o.Uses == 0:
		return "no use in the sessions that were read"
	case o.Pace.Cases == 0:
		return fmt.Sprintf("%s, %s: too few to tell a pace, which takes %d uses over two weeks", plain.Counted(o.Uses, "use"), corrections, leastUses)
	}
	s := plain.Counted(max(1, int(math.Round(o.Pace.Uses))), "use") + " a week, " + corrections
	switch {
	case o.Corrected == 0:
		return s + ": there is no failure to mend"
	case o.Proved == nil:
		return s + ": a change that mends half of the failures is not shown better within 2000 cases"
	case *o.Proved == 0:
		return s + ": there are cases enough to show a change that mends half of the failures"
	}
	s += ": a change that mends half of the failures is shown better in about " + plain.Counted(*o.Proved, "week")
	switch {
	case o.Promising == nil || *o.Promising >= *o.Proved:
		return s
	case *o.Promising == 0:
		return s + ", probably better with the cases that there are"
	}
	return s + fmt.Sprintf(", probably better in %d", *o.Promising)
}
