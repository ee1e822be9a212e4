package gate

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/tournament/record"
)

// Evidence is about a text and a model. If another model would continue a
// trial, the trial starts again, with an e-process of its own, at the level
// of the current run. The earlier evidence stays in the record and does not
// count. Its clusters are not used again, although they would be new evidence
// about the new model: they had a part in keeping the challenger on trial
// (see record.State.Restart).
//
// A run has one model: the one that it asks for, or the one that the first
// pair reports whose arms agree on it. Names alone decide when the trial
// starts again, never the results of the pairs.

// checkModel compares the answering model with the trial's: before the run's
// first pair by what is known without asking, then by the model that each
// pair names, "" for none.
func (g *Gate) checkModel(ctx context.Context, st *state, v *Verdict, reported string, measured bool) error {
	if st.modelKnown {
		return nil
	}
	st.modelKnown = reported != ""
	now := record.ModelOf(g.Evaluator.Agent.Identity(), reported)
	known := now
	if !measured && st.On.Reported != "" {
		known.Asked = "" // it may be another name of the same model
	}
	if st.Trial.Cases()+len(st.Waiting) == 0 {
		st.On = record.Model{}
	}
	if st.On.Agent == "" || !known.DriftedFrom(st.On) && now.Simulated == st.On.Simulated {
		if measured {
			st.On = st.On.Learn(now)
		}
		return nil
	}
	was := st.Restart(g.Config)
	v.Restarted = fmt.Sprintf("the model changed from %v to %v: the trial starts again", was.On, now)
	st.On = now
	v.Decision, v.Round, v.Fresh = st.Trial.Decide(), len(st.Past), 0
	return g.emit(ctx, "gate_restart", map[string]any{"from": was.On.String(), "to": now.String(), "cases": was.Trial.Cases(), "reason": v.Restarted})
}
