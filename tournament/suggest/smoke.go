package suggest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/caps"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// smoke is the arm of all rollouts of smoke tests: under it no search and no trial finds them.
const smoke = "smoke"

// A SmokeForecast is what a smoke test takes, estimated before anything is spent.
type SmokeForecast struct {
	Schema   int             `json:"schema"`
	Skill    string          `json:"skill"`
	SHA      string          `json:"sha256"`
	Requests int             `json:"requests"`
	Tokens   int64           `json:"tokens"`
	CostUSD  *float64        `json:"cost_usd"`
	Sends    []outgoing.Send `json:"sends,omitempty"`

	backends string
	free     bool
}

// String formats the forecast.
func (fc *SmokeForecast) String() string {
	line := fmt.Sprintf("forecast of the smoke test: %s answered again, about %s tokens, %s; %s", plain.Counted(fc.Requests, "request"),
		plain.Thousands(fc.Tokens), campaign.CostWords(fc.CostUSD, fc.free), fc.backends)
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}

// A Smoke is a prepared smoke test: the corrected requests that a suggestion was written from
// are answered once more, with it. It is no evidence of anything but that.
type Smoke struct {
	Forecast *SmokeForecast
	// Notes say why requests are left out.
	Notes []string

	runner *campaign.Runner
	live   *skill.Live
	made   *Made
	config campaign.Config
	back   *agent.Backends
	cases  []eval.Case
	others []eval.Offer
}

// A Smoked is the result of a smoke test.
type Smoked struct {
	Requests int      `json:"requests"` // that were answered
	Passed   int      `json:"passed"`   // of them, that the user would not have to correct
	Failed   []string `json:"failed"`   // ids of the cases that fail as before
	Missing  int      `json:"missing"`  // without an answer
	Notes    []string `json:"notes,omitempty"`

	// Spent is what the answers and their checks took.
	Spent eval.Spent `json:"spent"`
}

// String says what a smoke test found, and what that is.
func (r *Smoked) String() string {
	line := fmt.Sprintf("smoke test: %d of the %s that you corrected no longer need it; the text was written from them, so this decides nothing",
		r.Passed, plain.Counted(r.Requests, "request"))
	if r.Missing > 0 {
		line += fmt.Sprintf("\n%s got no answer", plain.Counted(r.Missing, "request"))
	}
	return strings.Join(append([]string{line}, r.Notes...), "\n")
}

// CanSmoke refuses a smoke test of a suggestion that is not made yet, by what is known of the
// corrections so far: before anything is paid.
func (s *Suggestion) CanSmoke(ctx context.Context) error {
	m := &Made{Candidate: record.Candidate{Text: s.live.Doc.Render()}}
	for _, x := range s.said {
		m.Taught = append(m.Taught, x.Case.ID)
	}
	m.Shown = m.Taught
	t, err := s.Smoke(ctx, m)
	defer func() { t.Close() }() // with an error too
	if err != nil {
		return err
	}
	return t.back.Ping(ctx)
}

// Smoke prepares the smoke test of a suggestion, which must be closed. Of one that nothing
// taught yet it prepares only who answers.
func (s *Suggestion) Smoke(ctx context.Context, m *Made) (t *Smoke, err error) {
	r, name := s.runner, s.options.Skill
	t = &Smoke{runner: r, live: s.live, made: m, config: campaign.Config{Schema: 2, Skill: name, Subject: subject.Parse(name), Evolve: skill.Harness,
		Spec: s.options.Spec, MaxCostUSD: s.options.Caps.CostUSD, MaxTokens: s.options.Caps.Tokens, MaxDuration: s.options.Caps.Duration,
		WallClock: s.options.WallClock, Profile: check.ClaudeCode}}
	t.config.TextOnly = false
	if t.back, err = r.Backends(ctx, &t.config.Spec); err != nil {
		return t, err
	}
	if err := t.config.Settle(t.back); err != nil {
		return t, err
	}
	if err := (&standing.Loader{Layout: r.Layout}).Check(name, agent.KindOf(t.config.Agent).Sessions); err != nil {
		return t, err
	}
	db, err := r.Store(ctx)
	if err != nil {
		return t, err
	}
	if len(m.Taught) == 0 {
		return t, t.readable(ctx, db)
	}
	teachers, err := db.Teachers(ctx, name, m.Shown)
	if err != nil {
		return t, err
	}
	for _, c := range teachers {
		if slices.Contains(m.Taught, c.ID) && len(c.Checks) > 0 {
			t.cases = append(t.cases, c)
		}
	}
	if t.cases, t.Notes, err = t.back.Usable(ctx, &t.config.Spec, t.cases); err != nil {
		return t, err
	}
	if len(t.cases) == 0 {
		return t, problem.Inputf("`evolve cases list` shows them", "none of the requests that taught it can be answered again: %s", strings.Join(t.Notes, "; "))
	}
	kinds := []string{agent.Replay}
	for i := range t.cases {
		if record.Asks(&t.cases[i]) && !slices.Contains(kinds, agent.Judge) {
			kinds = append(kinds, agent.Judge)
		}
	}
	var left outgoing.Left
	if t.cases, left, err = r.Control.Clear(ctx, db, t.back, kinds, t.cases); err != nil {
		return t, err
	}
	t.Notes = append(t.Notes, left.Lines()...)
	if left, err = r.Control.Text(ctx, db, t.back, kinds, teachers); err != nil {
		return t, err
	} else if len(left) > 0 {
		return t, left.Taught("the suggestion", "answer with another model")
	}
	if t.others, err = t.back.Others(r.Layout, name, false); err != nil {
		return t, err
	}
	return t, t.forecast(ctx, db)
}

// readable refuses an agent that may get none of the sessions in which the skill was used.
func (t *Smoke) readable(ctx context.Context, db *store.Store) error {
	may, err := t.runner.Control.Readable(t.back, []string{agent.Replay})
	if err != nil || may == nil {
		return err
	}
	used, err := db.Sessions(ctx, store.SessionFilter{Skill: t.config.Skill, Work: true})
	if err != nil {
		return err
	}
	if len(used) > 0 && !slices.ContainsFunc(used, func(s harvest.Session) bool { return may(&s) }) {
		return problem.Inputf("`evolve privacy` shows who may get what, or answer with another model", "no session with %s may go to %s", skill.Called(t.config.Skill), t.config.Describe())
	}
	return nil
}

// Close releases what the Smoke holds. It does nothing for nil.
func (t *Smoke) Close() {
	if t != nil && t.back != nil {
		_ = t.back.Close() // what stays behind does no harm
	}
}

func (t *Smoke) forecast(ctx context.Context, db *store.Store) error {
	f, n := &t.config, int64(len(t.cases))
	turns, err := t.runner.Recorded(ctx, db, f, f.Skill)
	if err != nil {
		return err
	}
	t.Forecast = &SmokeForecast{Schema: 1, Skill: f.Skill, SHA: t.made.SHA, Requests: len(t.cases), CostUSD: new(float64),
		backends: f.Describe(), free: agent.KindOf(f.Agent).Simulated && agent.KindOf(f.JudgeAgent).Simulated}
	fc := t.Forecast
	if turns != nil {
		takes := f.Estimate(turns, n, len(t.cases), 0)
		fc.Tokens, fc.CostUSD = takes.Tokens, takes.CostUSD
	} else {
		fc.Tokens = n * int64(f.PerRollout(string(t.made.Text), t.cases, t.back.UsesTools()))
		fc.CostUSD = f.USD(f.Model, float64(fc.Tokens))
	}
	size := int64(len(t.made.Text))
	for i := range t.cases {
		size += int64(len(t.cases[i].Prompt))
	}
	fc.Sends, err = t.runner.Control.Forecast(ctx, db, t.back, t.cases, map[string]int64{agent.Replay: size * n, agent.Judge: size})
	return err
}

// Run answers the requests with the suggestion, as a part of what the purse allows. With a
// *eval.BudgetError the result has what was answered until then.
func (t *Smoke) Run(ctx context.Context, purse *caps.Purse) (*Smoked, error) {
	db, err := t.runner.Store(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.back.Ping(ctx); err != nil {
		return nil, err
	}
	variant, err := campaign.VariantOf(t.live)
	if err != nil {
		return nil, err
	}
	doc, err := skill.Parse(t.made.Text, t.live.Doc.Options())
	if err != nil {
		return nil, fmt.Errorf("read the suggestion: %w", err)
	}
	jobs, now := make([]eval.Job, len(t.cases)), t.runner.Now
	for i := range t.cases {
		jobs[i] = eval.Job{Variant: variant.With(doc), Case: &t.cases[i], Arm: smoke}
	}
	budget := purse.Part()
	ev := t.config.Evaluator(t.back, t.cases, budget, now)
	ev.Recorder, ev.Others = db.Journal("smoke-"+record.NewID(now())), t.others
	view := t.runner.Watch(report.Task{Phase: "smoke test", Unit: "rollouts", Total: int64(len(jobs)), Budget: purse.Budget, Caps: purse.Caps()})
	ev.OnRollout = view.Rollout
	rollouts, err := ev.Run(ctx, jobs)
	view.Done()
	out := &Smoked{Failed: []string{}, Notes: t.Notes, Spent: budget.Spent()}
	for _, r := range rollouts {
		switch {
		case r == nil || r.Status != eval.Done:
			out.Missing++
			continue
		case slices.ContainsFunc(r.Checks, func(c eval.CheckResult) bool { return !c.Passed() }) || r.Failure != "":
			out.Failed = append(out.Failed, r.CaseID)
		default:
			out.Passed++
		}
		out.Requests++
	}
	return out, err
}
