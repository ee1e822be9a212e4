package gate

import (
	"slices"
	"strings"
)

// reportLeftOut reports what the owner left out, and what that showed if she had seen it.
func (g *Gate) reportLeftOut(st *state, v *Verdict) {
	rule := st.Trial.Config()
	dropped := st.Dropped()
	if out := (rule.Without &^ dropped).Names(); len(out) > 0 {
		v.Warnings = append(v.Warnings, "not part of the verdict, as you asked: "+strings.Join(out, ", "))
	}
	if v.Dropped = dropped.Names(); v.Dropped == nil {
		return
	}
	rule.Without = 0
	var shown []string
	for _, o := range st.Trial.Under(rule).Decide().PerObjective {
		if slices.Contains(v.Dropped, o.Objective) {
			shown = append(shown, o.Words())
		}
	}
	v.Warnings = append(v.Warnings, "left out after it was seen, as you asked, so that no night installs this: "+strings.Join(shown, ", "))
}
