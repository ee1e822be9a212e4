package eval

import "testing"

func ptr[T any](v T) *T { return &v }

func TestSummarise(t *testing.T) {
	done := func(q float64, ms int64, usd float64) *Rollout {
		return &Rollout{Status: Done, Quality: q, LatencyMS: &ms, CostUSD: &usd, Usage: &Usage{Input: 10}, Retries: 1 - q}
	}
	m := Summarise([]*Rollout{
		done(1, 10, 1), nil, done(0, 1000, 3), {Status: Missing, Quality: 1}, {Status: Void, Quality: 1}, done(1, 20, 2),
	})
	if m.N != 3 || m.Quality != 2.0/3 || *m.LatencyMS != 20 || *m.CostUSD != 2 || *m.Tokens != 10 || m.Retries != 1.0/3 {
		t.Errorf("metrics = %+v", m)
	}
	unknown := done(1, 10, 1)
	unknown.CostUSD, unknown.Usage = nil, nil
	if m := Summarise([]*Rollout{done(1, 10, 1), unknown}); m.CostUSD != nil || m.Tokens != nil || *m.LatencyMS != 10 {
		t.Errorf("with an unknown part: %+v, want cost and tokens nil, not the mean of the rest", m)
	}
	if m := Summarise(nil); m.N != 0 || m.LatencyMS != nil || m.CostUSD != nil {
		t.Errorf("of nothing: %+v", m)
	}
}

// TestSummariseCountsEachCaseOnce: trials are repeated on the cases that are hardest to
// tell, so that a mean over rollouts would be another figure than the mean over cases.
func TestSummariseCountsEachCaseOnce(t *testing.T) {
	done := func(id string, q float64, ms int64) *Rollout {
		usd := q
		return &Rollout{CaseID: id, Status: Done, Quality: q, LatencyMS: &ms, CostUSD: &usd, Usage: &Usage{Input: int64(100 * q)}, Retries: 1 - q}
	}
	m := Summarise([]*Rollout{done("a", 1, 10), done("b", 0, 30), done("b", 0, 50), done("b", 0, 40)})
	if m.Quality != 0.5 || m.Retries != 0.5 || *m.CostUSD != 0.5 || *m.Tokens != 50 || *m.LatencyMS != 25 || m.N != 4 || m.Cases != 2 {
		t.Errorf("metrics = %+v", m)
	}
}
