package search

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A wordy mutator teaches one rule, in other words each time. Asked to state
// it once, it does.
type wordy struct{ calls, unions atomic.Int64 }

var wordings = []string{
	"- Name each removed flag with its replacement.\n",
	"- A removed flag is named beside the flag that is its replacement.\n",
	"- With every removed flag, the replacement flag is written down.\n",
}

func (*wordy) Identity() eval.Identity { return eval.Identity{Backend: "wordy"} }

func (m *wordy) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	m.calls.Add(1)
	parts := strings.SplitN(p.User, "```\n", 3)
	text := parts[1]
	if strings.Contains(p.User, "may say the same") {
		m.unions.Add(1)
		first := true
		for _, w := range wordings {
			if strings.Contains(text, w) && !first {
				text = strings.Replace(text, w, "", 1)
			}
			first = first && !strings.Contains(text, w)
		}
	} else {
		h := fnv.New32()
		h.Write([]byte(p.User))
		text = strings.TrimRight(text, "\n") + "\n" + wordings[h.Sum32()%3]
	}
	return eval.Completion{Text: "Done.\n```\n" + text + "```\n", Finish: "stop", Usage: &eval.Usage{Input: 1, Output: 1}}, nil
}

// A flagger answers well if its skill states the rule in any form.
type flagger struct{}

func (flagger) Identity() eval.Identity { return eval.Identity{Backend: "flagger", Simulated: true} }

func (flagger) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	answer := "It is gone."
	if strings.Contains(string(t.Variant.Doc.Body()), "replacement") {
		answer = "It is gone: use --new."
	}
	return eval.Attempt{Answer: answer, Duration: time.Second, Usage: &eval.Usage{Input: 1, Output: 1}}, nil
}

// TestUnionIsSettledBeforeItIsMeasured: equal statements of several
// reflections are asked about once, before the first child of their union is
// measured; the call is on the bill, and a repetition over the same records
// makes none.
func TestUnionIsSettledBeforeItIsMeasured(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n# S\n\n- Say what changed.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var cases Cases
	for i := range 24 {
		c := eval.Case{ID: fmt.Sprint("c", i), Skill: "s", Prompt: fmt.Sprintf("What became of option %d in release %d?", i, i*i),
			Checks: []eval.Check{{Type: eval.Contains, Value: "--new", Feedback: fmt.Sprintf("the replacement of the flag is missing in %d", i)}}}
		if i%2 == 0 {
			cases.Train = append(cases.Train, c)
		} else {
			cases.Val = append(cases.Val, c)
		}
	}
	journal, m := &recordtest.Memory{}, &wordy{}
	walk := func() (*Result, *eval.Budget) {
		budget := eval.NewBudget(eval.Caps{Rollouts: 120}, nil)
		e := &Engine{
			Evaluator: &eval.Evaluator{Agent: flagger{}, Grader: &eval.Checks{}, Budget: budget, Recorder: journal, Concurrency: 4},
			Mutator:   &eval.Metered{Model: m, By: eval.ByMutator, Budget: budget, Recorder: journal, Scope: "r"},
			Log:       &record.Log{Journal: journal, Run: "r", Now: func() time.Time { return time.Unix(0, 0) }},
			Options:   Options{Seed: 1},
		}
		res, err := e.Search(t.Context(), eval.Variant{Name: "s", Doc: doc}, cases)
		if err != nil {
			t.Fatal(err)
		}
		return res, budget
	}
	res, budget := walk()
	if res.Challenger == nil {
		t.Fatal("no challenger")
	}
	said := 0
	for _, w := range wordings {
		said += strings.Count(string(res.Challenger.Text), w)
	}
	if said != 1 || m.unions.Load() == 0 {
		t.Errorf("after %d questions the rule is said %d times:\n%s", m.unions.Load(), said, res.Challenger.Text)
	}
	kinds := func() (out []string) {
		for _, e := range journal.Events {
			out = append(out, e.Kind)
		}
		return out
	}()
	if at := slices.Index(kinds, "united"); at < 0 || at > slices.Index(kinds, "accepted") {
		t.Errorf("the union was not settled first: %q", kinds)
	}
	calls := m.calls.Load()
	if spent := budget.Spent().MutatorCalls; spent != calls {
		t.Errorf("%d calls are on the bill, %d were made", spent, calls)
	}
	again, budget := walk()
	if m.calls.Load() != calls || budget.Spent().MutatorCalls != calls || again.Challenger == nil || again.Challenger.SHA != res.Challenger.SHA {
		t.Errorf("walked again: %d new calls, another end", m.calls.Load()-calls)
	}
}
