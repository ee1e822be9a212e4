package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestNightOfThirtyIsOneScreen: those who wait for a later night are one line, and so
// are those whom such a night is too small for; what waits for the owner is said once.
func TestNightOfThirtyIsOneScreen(t *testing.T) {
	proof := &sleep.Result{Challenger: "abc"}
	n := &sleep.Night{ID: "n", Caps: sleep.Caps{Rollouts: 240}, Steps: []sleep.Step{{Kind: sleep.Harvest, Stage: sleep.Done, Note: "no new session"},
		{Kind: sleep.Search, Skill: "won", Stage: sleep.Done, Note: "promote: better"}, {Kind: sleep.Install, Skill: "won", Stage: sleep.Skipped, Note: "better, and waits", Result: proof}}}
	for k := range 29 {
		need := int64(180)
		if k == 28 {
			need = 700
		}
		n.Steps = append(n.Steps, sleep.Step{Kind: sleep.Search, Skill: fmt.Sprintf("s%02d", k), Stage: sleep.Waits, Note: "takes more", Needs: sleep.Caps{Rollouts: need}})
	}
	got := plain.Fold(NightOf(n).Text(), 124)
	if lines := strings.Count(got, "\n"); lines != 6 {
		t.Errorf("%d lines, want 6:\n%s", lines, got)
	}
	for _, want := range []string{"  later  s00, s01, s02, s03, 24 more; all have had their turn after about 28 more nights like this one\n",
		"next   s28: not searched, for a search takes about 700 rollouts and a night has 240; `evolve sleep run --max-rollouts 700`\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Count(got, "better, and waits") != 1 {
		t.Errorf("what waits is not said once:\n%s", got)
	}
}
