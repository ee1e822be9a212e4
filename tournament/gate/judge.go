package gate

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Waits reports whether pairs of the trial wait for a judge to be trusted, as this run
// found them.
func (g *Gate) Waits(ctx context.Context, incumbent, challenger eval.Variant) (bool, error) {
	of := g.change(incumbent, challenger)
	rec, err := g.Log.Journal.Trial(ctx, g.Skill, of.Base, of.Challenger)
	if err != nil {
		return false, fmt.Errorf("read trial: %w", err)
	}
	st, _, err := rec.Begin(g.Log.Run, g.Config, g.On)
	return err == nil && len(st.Waiting) > 0, err
}

// reportJudge adds to the verdict what rests on the judge, and how far that can be
// trusted. judged and all count held-out cases, waiting the pairs that are
// measured and no evidence yet.
func (g *Gate) reportJudge(v *Verdict, judged, all, waiting int) {
	told := g.Judge
	v.Judge = &told
	if g.Judge.Trusted() {
		return
	}
	text := fmt.Sprintf("%d of %d requests of the trial rest on the judge, which is not calibrated (%s)", judged, all, g.Judge)
	if judged == 0 {
		text = fmt.Sprintf("the judge is not calibrated (%s)", g.Judge)
	}
	if waiting > 0 {
		text += fmt.Sprintf(": %s until it is, because the others do not stand for all uses", plain.Counted(waiting, "measured pair")+map[bool]string{true: " waits", false: " wait"}[waiting == 1])
	} else {
		text += ": they are left out"
	}
	text += fmt.Sprintf("; `evolve review %s` adds labels", g.Skill)
	if v.Verdict.IsOpen() && v.Cases == 0 && waiting > 0 {
		v.Reason = text // once is enough
		return
	}
	v.Warnings = append(v.Warnings, text)
}
