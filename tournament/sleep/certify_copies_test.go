package sleep

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestCertifyHearsOnce: a case counts once in a certificate, whatever it is called when
// it comes again, and copies of one case count as one.
func TestCertifyHearsOnce(t *testing.T) {
	for name, change := range map[string]func(c *eval.Case){
		"cluster renamed":        func(c *eval.Case) { c.Cluster = "team-" + c.ID },
		"other ids":              func(c *eval.Case) { c.ID = "b-" + c.ID },
		"other ids and clusters": func(c *eval.Case) { c.ID, c.Cluster = "b-"+c.ID, "x-"+c.ID },
		"other signs":            func(c *eval.Case) { c.ID, c.Cluster, c.Prompt = "b-"+c.ID, "", strings.ToUpper(c.Prompt)+"!" },
		"edited":                 func(c *eval.Case) { c.Cluster, c.Prompt = "new", "Quite another request" },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 6, 0)
			installed, previous := b.text(7), b.text(6)
			first, _, err := b.certification(installed, previous, eval.Caps{}, &recordtest.Memory{}).Run(t.Context(), "n1", b.fresh(installed, previous))
			if err != nil || first.Cases != 6 || first.Closed() {
				t.Fatalf("%+v, %v", first, err)
			}
			old := b.cases
			b.cases = nil
			for _, c := range old {
				change(&c)
				b.cases = append(b.cases, c)
			}
			k := b.certification(installed, previous, eval.Caps{}, &recordtest.Memory{})
			again, stop, err := k.Run(t.Context(), "n2", first)
			if err != nil || again.Cases != 6 || stop != "no held-out case is left" {
				t.Errorf("it counts %d cases, %q, %v; want the 6 that it had", again.Cases, stop, err)
			}
			if spent := k.Evaluator.Budget.Spent().Rollouts; spent != 0 {
				t.Errorf("%d rollouts were paid for", spent)
			}
			b.cases = append(b.cases, old...)
			k = b.certification(installed, previous, eval.Caps{}, &recordtest.Memory{})
			both, _, err := k.Run(t.Context(), "n1", b.fresh(installed, previous))
			if want := map[bool]int{true: 7, false: 6}[name == "edited"]; err != nil || both.Cases != want { // edited, all six ask one other thing
				t.Errorf("with its copies beside it counts %d cases, %v; want %d", both.Cases, err, want)
			}
			if apart := strings.HasPrefix(name, "other ids and") || name == "other signs"; apart && k.Copies() == "" {
				t.Error("nothing is said of the copies")
			}
		})
	}
}
