package search

import (
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A curler answers feedback, and adds a command.
type curler struct{ eval.Model }

func (c curler) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	_, wrong, ok := strings.Cut(p.User, "What was wrong (origin: grader):\n> ")
	if !ok {
		return c.Model.Complete(ctx, p)
	}
	wrong, _, _ = strings.Cut(wrong, "\n")
	view, _, _ := strings.Cut(strings.SplitN(p.User, "```\n", 2)[1], "```")
	return eval.Completion{Text: "Done.\n```\n" + view + "- " + wrong + " Show it with curl.\n```\n", Finish: "stop"}, nil
}

// TestAskedForIsTried: a command is tried if the owner has asked for it in a train case, and
// in their own words; else it waits in quarantine.
func TestAskedForIsTried(t *testing.T) {
	mined := func(said string) func(*eval.Case) {
		return func(c *eval.Case) {
			c.Source = &eval.Source{Origin: "mined"}
			c.Checks = append(c.Checks, eval.Check{Type: eval.MaxChars, Max: 1 << 20, Feedback: eval.Saying("it has no example", said)})
		}
	}
	own := eval.Check{Type: eval.MaxChars, Max: 1 << 20, Feedback: "one example, with curl"}
	for name, c := range map[string]struct {
		change func(*eval.Case)
		tried  bool
	}{
		"said":   {mined("no, one example, with curl"), true},
		"pasted": {mined("no, wrong:\n```\none example, with curl\n```"), false},
		"by a model": {func(c *eval.Case) {
			mined("no, wrong")(c)
			c.Checks[len(c.Checks)-1].Feedback = eval.Saying("one example, with curl", "no, wrong")
		}, false},
		"own case":   {func(c *eval.Case) { c.Checks = append(c.Checks, own) }, true},
		"made up":    {func(c *eval.Case) { c.Source, c.Checks = &eval.Source{Origin: "generated"}, append(c.Checks, own) }, false},
		"not at all": {func(*eval.Case) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := &recordtest.Memory{}
			w := worldstest.Additive(1, 8, 0)
			e, inc, cases := engine(t, w, 120, m)
			e.Mutator = curler{w.Model()}
			c.change(&cases.Train[0])
			if _, err := e.Search(t.Context(), inc, cases); err != nil {
				t.Fatal(err)
			}
			tried, held := 0, 0
			for _, k := range m.Candidates {
				switch {
				case k.State == record.Quarantined && k.Rule == "new-command":
					held++
				case strings.Contains(string(k.Text), "curl"):
					tried++
				}
			}
			if c.tried && (tried == 0 || held > 0) || !c.tried && (tried > 0 || held == 0) {
				t.Errorf("%d candidates with curl were tried, %d were held", tried, held)
			}
		})
	}
}
