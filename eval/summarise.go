package eval

import "slices"

// Summarise aggregates rollouts to the four objectives; missing and void ones, and nil
// entries, are left out, and N counts the rest. All figures of a text are computed this
// way: each case counts once, whatever its number of trials, because trials are
// repeated if texts differ. All are means, except for latency, whose median is robust
// against one hanging call. An objective that any rollout lacks is nil: a mean over the
// others would compare candidates on different cases.
func Summarise(rollouts []*Rollout) Metrics {
	return SummariseBy(rollouts, func(r *Rollout) string { return r.CaseID })
}

// SummariseBy is Summarise for units other than cases, such as clusters of them.
func SummariseBy(rollouts []*Rollout, unit func(*Rollout) string) Metrics {
	var m Metrics
	units := map[string][]*Rollout{}
	var names []string // in order: sums of floats depend on it
	for _, r := range rollouts {
		if r == nil || r.Status != Done {
			continue
		}
		name := unit(r)
		if units[name] == nil {
			names = append(names, name)
		}
		units[name] = append(units[name], r)
		m.N++
	}
	m.Cases = len(names)
	if m.N == 0 {
		return m
	}
	mean := func(of func(*Rollout) *float64) *float64 {
		all := 0.0
		for _, name := range names {
			sum := 0.0
			for _, r := range units[name] {
				x := of(r)
				if x == nil {
					return nil
				}
				sum += *x
			}
			all += sum / float64(len(units[name]))
		}
		all /= float64(len(names))
		return &all
	}
	m.Quality = *mean(func(r *Rollout) *float64 { return &r.Quality })
	m.Retries = *mean(func(r *Rollout) *float64 { return &r.Retries })
	m.CostUSD = mean(func(r *Rollout) *float64 { return r.CostUSD })
	m.Tokens = mean(func(r *Rollout) *float64 {
		if r.Usage == nil {
			return nil
		}
		tokens := float64(r.Usage.Total())
		return &tokens
	})
	var latencies []float64
	for _, name := range names {
		var one []float64
		for _, r := range units[name] {
			if r.LatencyMS == nil {
				return m
			}
			one = append(one, float64(*r.LatencyMS))
		}
		latencies = append(latencies, median(one))
	}
	middle := median(latencies)
	m.LatencyMS = &middle
	return m
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}
