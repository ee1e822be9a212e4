package status

import (
	"testing"

	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Candidates with a trial are listed first: a suggestion that was made after a tried one is the
// newest all the same, and a tried one hides those that were made before it.
func TestNewestSuggestion(t *testing.T) {
	made := func(run, operator string, tried bool) *candidate.Candidate {
		c := &candidate.Candidate{Candidate: record.Candidate{SHA: run, Run: run, Operator: operator}}
		if tried {
			c.Trial = &record.TrialRecord{}
		}
		return c
	}
	tried, later, earlier := made("20261102-030000-aaaaaa", record.Suggested, true), made("20261103-030000-aaaaaa", record.Suggested, false), made("20261101-030000-aaaaaa", record.Suggested, false)
	other := made("20261104-030000-aaaaaa", "reflect", false)
	if got := newestSuggestion([]*candidate.Candidate{tried, other, later, earlier}); got != later {
		t.Errorf("newest is %v", got.SHA)
	}
	if got := newestSuggestion([]*candidate.Candidate{tried, other, earlier}); got != tried || got.Standing() == candidate.Suggested {
		t.Errorf("newest is %v, %s", got.SHA, got.Standing())
	}
	if got := newestSuggestion([]*candidate.Candidate{other}); got != nil {
		t.Errorf("newest is %v", got.SHA)
	}
}
