package report

import (
	"math"
	"slices"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
)

// evidence lists the gate's pairs. The run's events hold those that it added.
// The stored trial, if it still is the one of the verdict, has all of them,
// and is replayed for the e-processes that the events leave out.
func evidence(m *Model, d *Data) {
	for _, e := range d.Events {
		switch e.Kind {
		case "gate_restart": // what came before was about another model
			m.Evidence = nil
		case "gate_pair":
			f := factsOf(e.Data)
			m.Evidence = append(m.Evidence, Evidence{Cases: f.Cases, Cluster: f.Cluster, EValue: f.EValue,
				Quality: f.Quality, Latency: f.Latency, Cost: f.Cost, Retries: f.Retries})
		}
	}
	if d.Trial == nil || m.Verdict == nil || d.Trial.Cases() < m.Verdict.Cases || m.Verdict.Cases == 0 {
		return
	}
	again, pairs := pareto.NewTrial(d.Trial.Config()), d.Trial.Pairs()[:m.Verdict.Cases]
	clusters := map[int]string{}
	for _, e := range m.Evidence {
		clusters[e.Cases] = e.Cluster
	}
	var all []Evidence
	for i, p := range pairs {
		again.Add(p)
		now := again.Decide()
		q := now.PerObjective[pareto.Quality]
		e := Evidence{Cases: i + 1, Cluster: clusters[i+1], EValue: q.Better, Worse: finite(q.Worse),
			Quality: finite(p.Quality), Latency: finite(p.Latency), Cost: finite(p.Cost), Retries: finite(p.Retries)}
		if o := Deciding(m.Verdict); o >= 0 {
			e.EValue = now.PerObjective[o].Better
		}
		all = append(all, e)
	}
	// The verdict was given on another state of the trial if that has
	// continued since, or if its pairs were completed when the judge became
	// trusted.
	if got, want := again.Decide(), m.Verdict; got.Verdict != want.Verdict || got.Route != want.Route || !near(got.EValue, want.EValue) {
		return
	}
	m.Evidence = all
}

// Deciding is the objective whose superiority decided, -1 if none did.
func Deciding(v *gate.Verdict) int {
	return slices.IndexFunc(v.PerObjective, func(o pareto.ObjectiveEvidence) bool {
		return v.Verdict == pareto.Promote && o.Objective == v.Route
	})
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }

// finite is a number that JSON can carry, nil for NaN and the infinities.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
