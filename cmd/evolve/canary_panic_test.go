package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
)

// The program whose backend panics is the program itself with one more backend.
func init() {
	who := os.Getenv("EVOLVE_TEST_PANIC_IN")
	if who == "" {
		return
	}
	w := worldstest.Additive(3, 10, 0.05)
	boom := func(at string) {
		if at == who {
			panic("read: " + os.Getenv("EVOLVE_TEST_PANIC"))
		}
	}
	agent.Register(&agent.Kind{Name: "panicking", Asks: func(*agent.Opening) []agent.Recipient { return nil }, Make: func(context.Context, *agent.Opening) (agent.Answerer, error) {
		return agent.Answerer{Agent: panicking{Agent: w.Agent(), boom: boom}, Model: panickingModel{Model: w.Model(), boom: boom}}, nil
	}})
}

type panicking struct {
	eval.Agent
	boom func(string)
}

func (p panicking) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if strings.HasSuffix(t.Case.ID, "5") {
		p.boom("agent")
	}
	return p.Agent.Run(ctx, t)
}

type panickingModel struct {
	eval.Model
	boom func(string)
}

func (p panickingModel) Complete(ctx context.Context, q eval.Prompt) (eval.Completion, error) {
	if strings.HasPrefix(q.System, "You compare") {
		p.boom("judge")
		return eval.Completion{Text: `{"reason": "the same", "better": "neither"}`, Finish: "stop"}, nil
	}
	if strings.HasPrefix(q.System, "You grade") {
		p.boom("judge")
		return eval.Completion{Text: `{"score": 1, "reason": "as asked"}`, Finish: "stop"}, nil
	}
	p.boom("mutator")
	return p.Model.Complete(ctx, q)
}

// A panic anywhere in a run, with a secret in its value, ends it with 1, and
// the message names the place and the address for reports; the secret is
// nowhere, what was measured is kept, and the database opens.
func TestPanicOfABackend(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"agent", "judge", "mutator"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 0)
			for i := range 3 {
				c := s.cases[i]
				c.ID, c.Checks = "judged-"+c.ID, append([]eval.Check{{Type: eval.Judge, Rubric: "says so"}}, c.Checks...)
				s.cases = append(s.cases, c)
			}
			home, f := s.home(), &field{}
			f.keys = []string{"qv-" + strings.Repeat("mine7", 4)} // of no known form
			key, known := f.plant("panic", 0), secretsFor(3)
			f.planted["known forms"] = []string{known[0].needle, known[2].needle}
			c := s.command(home, "--skill", s.cases[0].Skill, "--no-harvest", "--agent", "panicking", "--max-rollouts", "60", "--max-tokens", "2000000", "--seed", "7")
			c.Env = append(c.Env, "EVOLVE_TEST_PANIC_IN="+who, "EVOLVE_TEST_PANIC="+key+" "+known[0].text+" "+known[2].text, "SHOP_API_KEY="+f.keys[0])
			var out, errs bytes.Buffer
			c.Stdout, c.Stderr = &out, &errs
			_ = c.Run()
			if code := c.ProcessState.ExitCode(); code != exitFailed {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
			for _, part := range []string{"evolve: panic: read: ", "canary_panic_test.go:", "hint: this is a bug in evolve", "/issues"} {
				if strings.Count(errs.String(), part) == 0 {
					t.Errorf("it does not say %q:\n%s", part, errs.String())
				}
			}
			f.search(t, "stdout", out.Bytes())
			f.search(t, "stderr", errs.Bytes())
			if files := f.searchFiles(t, "", []string{home}); len(files) == 0 {
				t.Error("nothing was written")
			}
			db := s.open(home)
			defer db.Close()
			if err := db.Check(t.Context()); err != nil {
				t.Error(err)
			}
			runs, err := db.Runs(t.Context(), s.cases[0].Skill)
			if err != nil || len(runs) != 1 {
				t.Fatalf("runs %v, %v", runs, err)
			}
			t.Logf("%s: run %s, note %q", who, runs[0].Status, runs[0].Note)
		})
	}
}
