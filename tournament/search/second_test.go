package search

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// itemReader answers for each item of a prompt as says does; it counts its calls.
type itemReader struct {
	says  func(item string) string
	calls int
	fails error
}

var promptItem = regexp.MustCompile(`(?m)^> the item: (.*)$`)

func (*itemReader) Identity() eval.Identity { return eval.Identity{Backend: "items"} }

func (r *itemReader) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	r.calls++
	var b strings.Builder
	for i, m := range promptItem.FindAllStringSubmatch(p.User, -1) {
		fmt.Fprintf(&b, "%d | %s\n", i+1, r.says(m[1]))
	}
	return eval.Completion{Text: b.String(), Finish: "stop"}, r.fails
}

// secondly is one search in a world whose text has a kernel, with a second reader.
func secondly(t *testing.T, reader eval.Model, change func(*Engine)) (*Result, *recordtest.Memory) {
	t.Helper()
	w := worldstest.Additive(5, 16, 0.05)
	m := &recordtest.Memory{}
	e, inc, cases := engine(t, w, 400, m)
	doc, err := skill.Parse([]byte(w.Seed()+"\n## Guardrails\n\nNever push.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !second.Needed(doc) {
		t.Fatal("the text has no kernel")
	}
	inc.Doc, e.Second = doc, reader
	if change != nil {
		change(e)
	}
	res, err := e.Search(t.Context(), inc, cases)
	if err != nil {
		t.Fatal(err)
	}
	return res, m
}

func TestSecondReader(t *testing.T) {
	without, events := secondly(t, nil, nil)
	no := &itemReader{says: func(string) string { return "no" }}
	res, m := secondly(t, no, nil)
	if !reflect.DeepEqual(events.Events, m.Events) || no.calls == 0 {
		t.Errorf("a reader that finds nothing changes the search, in %d calls", no.calls)
	}
	t.Logf("%d calls for %d proposals", no.calls, res.Stats.Proposals)
	if without.Challenger == nil || len(without.Challenger.Taught) == 0 {
		t.Fatal("nothing better was found: this shows too little")
	}
	// What one text of the pool has is held from now on.
	parent, err := skill.Parse(without.Pool[0].Text, skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	child, err := skill.Parse(without.Challenger.Text, skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var phrase string
	for _, i := range second.Items(parent, child) {
		phrase = i.Text
	}
	held := &itemReader{says: func(item string) string {
		if item == phrase {
			return "yes | Never push. | sooner or later"
		}
		return "no"
	}}
	res, m = secondly(t, held, nil)
	for _, c := range res.Pool {
		if strings.Contains(string(c.Text), phrase) {
			t.Errorf("%.12s is in the pool with %q", c.SHA, phrase)
		}
	}
	if len(res.Pool) < 2 {
		t.Error("nothing else was tried")
	}
	n := 0
	for _, c := range m.Candidates {
		if c.State != record.Quarantined || c.Rule != second.Rule {
			continue
		}
		n++
		if want := fmt.Sprintf("second-reader: %q: touches «Never push.» (sooner or later)", phrase); c.Reason != want {
			t.Errorf("%s, want %s", c.Reason, want)
		}
		for _, r := range m.Rollouts {
			if r.Candidate == c.SHA {
				t.Fatalf("%.12s was replayed", c.SHA)
			}
		}
	}
	if n == 0 || n != res.Stats.Quarantined {
		t.Errorf("%d candidates are quarantined, %d counted", n, res.Stats.Quarantined)
	}

	// The owner approves one: what descends from it is not held for the same words again.
	i := slices.IndexFunc(m.Candidates, func(c record.Candidate) bool { return c.Rule == second.Rule })
	res, _ = secondly(t, held, func(e *Engine) { e.Options.Seeds = []record.Candidate{m.Candidates[i]} })
	if res.Stats.Quarantined != 0 || res.Stats.Seeds != 1 {
		t.Errorf("%d are quarantined with an approved seed, %d seeds", res.Stats.Quarantined, res.Stats.Seeds)
	}
}

// A candidate that the reader does not read is tried, and its record has the rule, so that
// nobody but its owner installs it. A reader that never answers is not asked on and on.
func TestUnreadCandidate(t *testing.T) {
	mute := &itemReader{says: func(string) string { return "fine" }}
	res, m := secondly(t, mute, nil)
	without, _ := secondly(t, nil, nil)
	if res.Challenger == nil || res.Challenger.SHA != without.Challenger.SHA || res.Stats.Quarantined != without.Stats.Quarantined || res.Stats.Unread == 0 {
		t.Errorf("a reader that reads nothing changes the search: %+v", res.Stats)
	}
	if mute.calls != 2*mostUnread {
		t.Errorf("%d calls, want two for each of %d texts", mute.calls, mostUnread)
	}
	n := 0
	for _, c := range m.Candidates {
		if c.Rule == second.Rule {
			n++
		}
		if c.SHA == res.Challenger.SHA && c.Rule != second.Rule {
			t.Errorf("the record of a text that nobody read has the rule %q", c.Rule)
		}
	}
	if n < mostUnread {
		t.Errorf("%d records say that nobody read them", n)
	}

	// One that answers again is asked on.
	odd := &itemReader{}
	odd.says = func(string) string {
		if odd.calls <= 2 {
			return "fine"
		}
		return "no"
	}
	res, _ = secondly(t, odd, nil)
	if res.Stats.Unread != 1 || odd.calls < 4 {
		t.Errorf("%d texts unread in %d calls", res.Stats.Unread, odd.calls)
	}
}

// A cap that the reader meets ends the search like any other; another error ends the run.
func TestReaderAtItsLimit(t *testing.T) {
	limit := &eval.BudgetError{Cap: eval.CapRollouts}
	res, _ := secondly(t, &itemReader{says: func(string) string { return "no" }, fails: limit}, nil)
	if res.Cap != eval.CapRollouts || len(res.Pool) > 1 {
		t.Errorf("cap %q, %d texts in the pool", res.Cap, len(res.Pool))
	}
	w := worldstest.Additive(5, 16, 0.05)
	e, inc, cases := engine(t, w, 400, &recordtest.Memory{})
	e.Second = &itemReader{says: func(string) string { return "no" }, fails: errors.New("unreachable")}
	if _, err := e.Search(t.Context(), inc, cases); err != nil {
		t.Errorf("a text without kernel is read: %v", err)
	}
}

// A resumed run is charged for its own reply; one of another run costs it nothing.
func TestRecalled(t *testing.T) {
	ctx := t.Context()
	model := &itemReader{says: func(string) string { return "no" }}
	other, own := &recordtest.Memory{}, &recordtest.Memory{}
	p := eval.Prompt{System: "s", User: "> the item: a"}
	in := func(m *recordtest.Memory) (second.Recalled, *eval.Budget) {
		b := eval.NewBudget(eval.Caps{}, nil)
		return second.Recalled{Metered: &eval.Metered{Model: model, By: eval.ByJudge, Budget: b, Recorder: m}, Elsewhere: other.Completion}, b
	}
	for i, x := range []struct {
		journal *recordtest.Memory
		calls   int // of the model by then
		charged int64
	}{{other, 1, 1}, {own, 1, 0}, {other, 1, 1}} {
		m, b := in(x.journal)
		if _, err := m.Complete(ctx, p); err != nil {
			t.Fatal(err)
		}
		if got := b.Spent().JudgeCalls; got != x.charged || model.calls != x.calls {
			t.Errorf("%d: %d calls, %d charged", i, model.calls, got)
		}
	}
}

// A carried text that is to be read first is read before anything of it is replayed: what the
// reader or a cap holds is not, and what nobody could read has the rule on its record.
func TestReadFirst(t *testing.T) {
	w := worldstest.Additive(3, 12, 0.02)
	parsed := func(text string) *skill.Document {
		doc, err := skill.Parse([]byte(text+"\n## Guardrails\n\nNever push.\n"), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	incumbent := eval.Variant{Name: w.Skill, Doc: parsed(w.Seed())}
	given := incumbent.With(parsed(w.Seed() + "\nBe brief.\n"))
	run := func(m *recordtest.Memory, r eval.Model, caps eval.Caps) (*Outcome, error) {
		return Improve(t.Context(), Plan{Run: &record.Run{ID: "r", Skill: w.Skill, Seed: 1}, Incumbent: incumbent, Cases: w.Cases(2, 0, 2),
			Carried: &given, With: &record.Candidate{SHA: given.SHA(), Operator: record.Checked, State: record.Pooled, Text: given.Doc.Render()}, ReadFirst: true,
			Agent: w.Agent(), Mutator: w.Model(), Second: r, SecondBy: eval.ByJudge, Grader: &eval.Checks{}, Journal: m, Concurrency: 1, Caps: caps})
	}
	for _, x := range []struct {
		name, says string
		caps       eval.Caps
		calls      int
		state      record.CandidateState
		rule, held string
		stopped    bool
	}{
		{"clear", "no", eval.Caps{}, 1, record.Pooled, "", "", false},
		{"held", "yes | Never push. | later", eval.Caps{}, 1, record.Quarantined, second.Rule, `second-reader: "Be brief.": touches «Never push.» (later); "[locked part 1]" has another place: touches «Never push.» (later)`, false},
		{"unread", "fine", eval.Caps{}, 2, record.Pooled, second.Rule, "", false},
		{"capped", "no", eval.Caps{Tokens: 10}, 0, "", "", "", true},
	} {
		m, reader := &recordtest.Memory{}, &itemReader{says: func(string) string { return x.says }}
		for process := range 2 { // the second one resumes the run
			out, err := run(m, reader, x.caps)
			if err != nil {
				t.Fatal(err)
			}
			tried := x.held == "" && !x.stopped
			if reader.calls != x.calls || out.Held != x.held || out.BudgetStop != x.stopped || (len(m.Rollouts) > 0) != tried || (out.Verdict != nil) != tried || (out.Spent.JudgeCalls > 0) != (x.calls > 0) {
				t.Errorf("%s, process %d: %d calls, held %q, stopped %v, %d rollouts, %+v", x.name, process, reader.calls, out.Held, out.BudgetStop, len(m.Rollouts), out.Spent)
			}
			if unread := slices.ContainsFunc(out.Warnings, func(s string) bool { return strings.Contains(s, "no usable answer") }); unread != (x.calls == 2) {
				t.Errorf("%s: %q", x.name, out.Warnings)
			}
		}
		if x.state == "" {
			if len(m.Candidates) > 0 {
				t.Errorf("%s: %d candidates", x.name, len(m.Candidates))
			}
			continue
		}
		if len(m.Candidates) == 0 || m.Candidates[0].State != x.state || m.Candidates[0].Rule != x.rule {
			t.Errorf("%s: %+v", x.name, m.Candidates)
		}
	}
	m := &recordtest.Memory{}
	if out, err := run(m, nil, eval.Caps{}); err != nil || out.Verdict == nil || m.Candidates[0].Rule != second.Rule {
		t.Errorf("no reader: %v, %+v", err, m.Candidates)
	}
	asked := &itemReader{says: func(string) string { return "" }, fails: &eval.InfraError{Kind: eval.Pending, Err: errors.New("not answered yet")}}
	m = &recordtest.Memory{}
	if _, err := run(m, asked, eval.Caps{}); !eval.IsPending(err) || len(m.Rollouts) > 0 {
		t.Errorf("not answered yet: %v after %d rollouts", err, len(m.Rollouts))
	}
}
