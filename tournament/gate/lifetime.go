package gate

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/tournament/record"
)

// reportLifetime adds to the verdict whether the proof holds over all trials
// of the skill.
func (g *Gate) reportLifetime(ctx context.Context, st *state, v *Verdict, of record.Change) error {
	n, err := g.Log.Journal.TrialNumber(ctx, g.Skill, of.Base, of.Challenger, len(st.Past))
	if err != nil || n == nil {
		return err
	}
	v.Number, v.Lifetime = n.Number, n.Level()
	if over := n.OverLifetime(g.Skill, st.Trial); over != "" {
		v.Single = true
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s: it is installed at your word alone, and nights go on with fresh cases", over))
	}
	return nil
}
