package search_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
	"github.com/skill-evolve/evolve/tournament/search"
)

// remind is a move of another package: it appends a line to the best text, the feedback of
// the first case that fails.
type remind struct{ made *int }

func (remind) Name() string   { return "remind" }
func (remind) Prior() float64 { return 1 }

func (r remind) Make(ctx context.Context, s *search.State) (*search.Change, error) {
	best := s.Best()
	fails, err := s.Failures(ctx, best, 1)
	if err != nil || len(fails) == 0 {
		return nil, err
	}
	*r.made++
	ps, err := s.Ask(ctx, r, best, []mutate.Input{s.Input(best, fails[:1])})
	return &search.Change{Parent: best, Proposals: ps, Targets: fails, Accept: search.NotWorse{Slack: 1}}, err
}

// Propose implements mutate.Operator.
func (r remind) Propose(_ context.Context, in mutate.Input) (mutate.Proposal, error) {
	line := mutate.FeedbackOf(in.Evidence[0].Rollout)[0]
	text := strings.TrimRight(string(in.Parent.Render()), "\n") + "\n\n- " + line + "\n"
	doc, err := skill.Parse([]byte(text), in.Parent.Options())
	return mutate.Proposal{Doc: doc, Summary: "added " + line, Taught: []string{in.Evidence[0].Case.ID}}, err
}

// youngest is a selector of another package: the member that came last.
type youngest struct{ asked *int }

func (y youngest) Select(s *search.State) *search.Member {
	*y.asked++
	members := s.Members()
	return members[len(members)-1]
}

// enough is a stop condition of another package.
type enough struct{}

func (enough) Done(p search.Progress) string {
	if p.Rounds < 6 {
		return ""
	}
	return "six rounds are enough"
}

// TestExtend: a move, a selector and a stop condition each take one type, and one line in
// the options.
func TestExtend(t *testing.T) {
	w := worldstest.Additive(1, 60, 0.05)
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made, asked, journal := 0, 0, &recordtest.Memory{}
	var cases search.Cases
	for _, c := range w.Cases(20, 20, 0) {
		switch c.Split {
		case eval.Train:
			cases.Train = append(cases.Train, c)
		case eval.Val:
			cases.Val = append(cases.Val, c)
		}
	}
	e := &search.Engine{
		Evaluator: &eval.Evaluator{Agent: w.Agent(), Grader: &eval.Checks{}, Budget: eval.NewBudget(eval.Caps{}, nil), Recorder: journal, Concurrency: 4},
		Mutator:   w.Model(),
		Log:       &record.Log{Journal: journal, Run: "r", Now: time.Now},
		Options: search.Options{
			Moves:    append(slices.Clone(search.HarnessMoves), remind{&made}),
			Selector: youngest{&asked},
			Stop:     enough{},
		},
	}
	res, err := e.Search(t.Context(), eval.Variant{Name: doc.Name(), Doc: doc}, cases)
	if err != nil {
		t.Fatal(err)
	}
	if made == 0 || asked == 0 || res.Stop != "six rounds are enough" {
		t.Errorf("%d reminders, %d selections, ended by %q", made, asked, res.Stop)
	}
	if !slices.ContainsFunc(res.Pool, func(c search.Scored) bool { return c.Operator == "remind" }) {
		t.Error("no reminder is in the pool")
	}
	for _, c := range journal.Candidates {
		if c.Operator == "remind" && (!slices.Contains(c.Shown, c.Taught[0]) || len(c.Shown) > len(cases.Train)) {
			t.Errorf("taught by %s, shown %s", c.Taught, c.Shown)
		}
	}
}
