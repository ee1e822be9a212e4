package eval

import "slices"

// Summarise aggregates rollouts to the four objectives; missing and void ones,
// and nil entries, are left out, N counts the rest. All are means, but for
// latency, whose median one hanging call does not move. An objective that any
// rollout does not know is nil: a mean over the others would compare candidates
// on different cases.
func Summarise(rollouts []*Rollout) Metrics {
	var m Metrics
	var cost, tokens float64
	costKnown, tokensKnown := true, true
	latencies := make([]int64, 0, len(rollouts))
	for _, r := range rollouts {
		if r == nil || r.Status != Done {
			continue
		}
		m.N++
		m.Quality += r.Quality
		m.Retries += r.Retries
		if r.CostUSD != nil {
			cost += *r.CostUSD
		} else {
			costKnown = false
		}
		if r.Usage != nil {
			tokens += float64(r.Usage.Total())
		} else {
			tokensKnown = false
		}
		if r.LatencyMS != nil {
			latencies = append(latencies, *r.LatencyMS)
		}
	}
	if m.N == 0 {
		return m
	}
	n := float64(m.N)
	m.Quality /= n
	m.Retries /= n
	if costKnown {
		cost /= n
		m.CostUSD = &cost
	}
	if tokensKnown {
		tokens /= n
		m.Tokens = &tokens
	}
	if len(latencies) == m.N {
		slices.Sort(latencies)
		middle := float64(latencies[(m.N-1)/2]+latencies[m.N/2]) / 2
		m.LatencyMS = &middle
	}
	return m
}
