package gate

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Evidence is about a text and a model. If another model would continue a
// trial, the trial starts again, with an e-process of its own, at the level
// of the current run. The earlier evidence stays in the record and does not
// count. Its clusters are not used again, although they would be new evidence
// about the new model: they had a part in keeping the challenger on trial
// (see Restart).
//
// A run has one model: the one that it asks for, or the one that the first
// pair reports whose arms agree on it. Names alone decide when the trial
// starts again, never the results of the pairs.

// checkModel compares the answering model with the trial's: before the run's
// first pair by what is known without asking, then by the model that each
// pair names, "" for none. It reports whether the trial starts again.
func (g *Gate) checkModel(ctx context.Context, st *state, v *Verdict, reported string, measured bool) (bool, error) {
	if st.modelKnown {
		return false, nil
	}
	st.modelKnown = reported != ""
	now := record.ModelOf(g.Evaluator.Agent.Identity(), reported)
	known := now
	if !measured && st.On.Reported != "" {
		known.Asked = "" // it may be another name of the same model
	}
	if st.Trial.Cases() == 0 {
		st.On = record.Model{}
	}
	if st.On.Agent == "" || !known.DriftedFrom(st.On) && now.Simulated == st.On.Simulated {
		if measured {
			st.On = st.On.Learn(now)
		}
		return false, nil
	}
	was := record.PastTrial{On: st.On, Trial: st.Trial, Clusters: st.Clusters}
	v.Restarted = fmt.Sprintf("the model changed from %v to %v: the trial starts again", was.On, now)
	st.Past = append(st.Past, was)
	st.On, st.Trial, st.Clusters, st.owners = now, pareto.NewTrial(g.Config), nil, 0
	v.Decision, v.Round, v.Fresh = st.Trial.Decide(), len(st.Past), 0
	return true, g.emit(ctx, "gate_restart", map[string]any{"from": was.On.String(), "to": now.String(), "cases": was.Trial.Cases(), "reason": v.Restarted})
}

// answeredBy is the model that all rollouts of a pair name, "" if one names
// another, or none does.
func answeredBy(rs []*eval.Rollout) (model string) {
	for i, r := range rs {
		if r == nil || r.Status != eval.Done || i > 0 && r.Model != model {
			return ""
		}
		model = r.Model
	}
	return model
}
