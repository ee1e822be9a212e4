// Package suggest writes the user's corrections of a skill into its text in one call of a
// model, without a search. What it proposes is a candidate as any other, of which nothing is
// known but what taught it.
package suggest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// most is how many corrections one call shows, the newest.
const most = 60

// Options select who writes.
type Options struct {
	agent.Spec // its mutator writes
	Skill      string
	Caps       eval.Caps     // that were chosen: a smoke test refuses one that cannot be kept
	WallClock  time.Duration // of one call
	Again      bool          // ask once more although nothing was corrected since
}

// A Forecast is what a suggestion takes, estimated before anything is spent.
type Forecast struct {
	Schema      int             `json:"schema"`
	Skill       string          `json:"skill"`
	Model       string          `json:"model"`
	Corrections int             `json:"corrections"`
	Calls       int             `json:"calls"`
	Tokens      int64           `json:"tokens"`
	CostUSD     *float64        `json:"cost_usd"`
	Sends       []outgoing.Send `json:"sends,omitempty"`

	free bool // the model is simulated
}

// String formats the forecast.
func (fc *Forecast) String() string {
	if fc.Corrections == 0 {
		return "forecast: no call, because there is no correction to write from"
	}
	line := fmt.Sprintf("forecast: %s from %s by %s, about %s tokens, %s", plain.Counted(fc.Calls, "call"),
		plain.Counted(fc.Corrections, "correction"), fc.Model, plain.Thousands(fc.Tokens), campaign.CostWords(fc.CostUSD, fc.free))
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}

// A Teacher is where a correction was said.
type Teacher struct {
	Words   string    `json:"words"`
	Time    time.Time `json:"time,omitzero"`
	Project string    `json:"project,omitempty"` // a folder
}

// A Suggestion is a prepared suggestion.
type Suggestion struct {
	Forecast *Forecast
	// Left are the corrections that the model may not be shown, in words.
	Left []string

	runner  *campaign.Runner
	options Options
	file    *skill.Live // as it is
	live    *skill.Live // without a trial install
	back    *agent.Backends
	said    []mutate.Correction
	// teachers are where these were said.
	teachers []Teacher
}

// A Change is a sentence in which a suggestion differs from the live text.
type Change struct {
	Kind string `json:"kind"` // "added", "reworded" or "removed"
	Text string `json:"text"`
	Was  string `json:"was,omitempty"`
	// Teachers are the corrections that it answers, the newest first; none if it only came
	// with a line that answers some.
	Teachers []Teacher `json:"teachers"`
}

// A Made is a suggestion that was made.
type Made struct {
	record.Candidate
	Tokens [2]int // of the text before and after
	Before bool   // by an earlier command, for the same corrections
	// Simulated: no real model wrote it, so it is never installed.
	Simulated bool
	Changes   []Change
	Spent     eval.Spent
}

// Prepare finds the corrections of a skill, opens the model, and forecasts the cost. Nothing
// is written. The Suggestion must be closed.
func Prepare(ctx context.Context, r *campaign.Runner, o Options) (*Suggestion, error) {
	file, err := r.Layout.Live(o.Skill)
	if err != nil {
		return nil, err
	}
	if err := file.Evolve(skill.Harness); err != nil {
		return nil, err
	}
	if w := check.Unloadable(file.Doc, check.ClaudeCode, file.Name); w != nil {
		return nil, problem.Inputf("agents would not load it as it is; mend it first", "%s: line %d: %s", skill.Called(file.Name), w.Line, w.Reason)
	}
	o.Skill, o.TextOnly = file.Name, true
	s := &Suggestion{runner: r, options: o, file: file, live: file, Forecast: &Forecast{Schema: 1, Skill: o.Skill}}
	db, err := r.Existing(ctx)
	if err != nil || db == nil {
		return s, err
	}
	if s.live, err = trying.Ground(ctx, db, file); err != nil {
		return s, err
	}
	cases, err := corrected(ctx, db, o.Skill)
	if err != nil || len(cases) == 0 {
		return s, err
	}
	if s.back, err = r.Backends(ctx, &s.options.Spec); err != nil {
		return s, err
	}
	cases, left, err := r.Control.Clear(ctx, db, s.back, []string{agent.Mutate}, cases)
	if err != nil {
		return s, err
	}
	s.Left = left.Lines()
	if err := s.hear(ctx, db, cases); err != nil || len(s.said) == 0 {
		return s, err
	}
	return s, s.forecast(ctx, db, cases)
}

// Close releases what the Suggestion holds. It does nothing for nil.
func (s *Suggestion) Close() {
	if s != nil && s.back != nil {
		_ = s.back.Close() // what stays behind does no harm
	}
}

// corrected are the corrected uses of a skill of which there are cases, the newest first.
func corrected(ctx context.Context, db *store.Store, name string) ([]eval.Case, error) {
	cases, err := db.Cases(ctx, name)
	if err != nil {
		return nil, err
	}
	cases = slices.DeleteFunc(cases, func(c eval.Case) bool {
		return c.IsTrigger() || c.Origin() != record.Mined || record.StratumOf(&c) != record.Corrected
	})
	slices.SortStableFunc(cases, func(a, b eval.Case) int { return b.Source.Time.Compare(a.Source.Time) })
	return cases[:min(len(cases), most)], nil
}

// hear reads what was said of the cases.
func (s *Suggestion) hear(ctx context.Context, db *store.Store, cases []eval.Case) error {
	words := &candidate.Words{Store: db, Sessions: map[string]map[string]string{}}
	for i := range cases {
		c := &cases[i]
		w, err := words.Of(ctx, c)
		if err != nil {
			return err
		}
		said, t := mutate.Correction{Case: c, Words: w}, Teacher{Time: c.Source.Time}
		sessions, err := db.Sessions(ctx, store.SessionFilter{ID: c.Source.Session})
		if err != nil {
			return err
		}
		for _, ses := range sessions {
			t.Project = ses.CWD
			for k := range ses.Turns {
				if x := ses.Turns[k].Reading; x != nil && ses.Turns[k].ID == c.Source.Turn {
					said.Words, said.Rule = cmp.Or(x.Words, w), x.Rule
				}
			}
		}
		if t.Words = said.Words; strings.TrimSpace(t.Words) == "" {
			continue
		}
		s.said, s.teachers = append(s.said, said), append(s.teachers, t)
	}
	return nil
}

// asked counts what a model would be asked.
type asked struct {
	eval.Model
	system, user string
}

var errCounted = errors.New("only counted")

func (a *asked) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	a.system, a.user = p.System, p.User
	return eval.Completion{}, errCounted
}

// replyTokens are those of the sentence before the new text.
const replyTokens = 100

func (s *Suggestion) forecast(ctx context.Context, db *store.Store, cases []eval.Case) (err error) {
	a := &asked{Model: s.back.Mutator}
	if _, err = (&mutate.Suggest{Model: a, Corrections: s.said}).Propose(ctx, s.input(0)); !errors.Is(err, errCounted) {
		return err
	}
	o, fc := &s.options, s.Forecast
	fc.Corrections, fc.Calls, fc.Model = len(s.said), 1, agent.ModelName(o.ReflectAgent, o.ReflectModel)
	in, out := skill.Tokens(a.system)+skill.Tokens(a.user), s.live.Doc.Tokens()+replyTokens
	if s.readTwice() {
		fc.Calls++
		in += secondTokens + 2*s.live.Doc.Tokens()
	}
	fc.Tokens, fc.CostUSD = int64(in+out), new(float64)
	if fc.free = agent.KindOf(o.ReflectAgent).Simulated; fc.free {
		fc.Model = "the simulated model"
	} else {
		fc.CostUSD = o.Price(o.ReflectModel).USD(&eval.Usage{Input: int64(in), Output: int64(out)})
	}
	fc.Sends, err = s.runner.Control.Forecast(ctx, db, s.back, cases, map[string]int64{agent.Mutate: int64(len(a.system)+len(a.user)) + s.secondBytes()})
	return err
}

func (s *Suggestion) input(seed int64) mutate.Input {
	return mutate.Input{Parent: s.live.Doc, MaxTokens: s.limit(), Seed: seed}
}

// limit is the size of the new text's body at most, in tokens.
func (s *Suggestion) limit() int { return skill.GrowthLimit(skill.Tokens(string(s.live.Doc.Body()))) }

// config is stored with the run of a suggestion.
type config struct {
	Schema  int    `json:"schema"`
	Skill   string `json:"skill"`
	Suggest bool   `json:"suggest"`
	agent.Spec
	// Cases are those that were shown, by id: a purge finds the run by them.
	Cases map[string]string `json:"cases"`
}

func (s *Suggestion) config() config {
	c := config{Schema: 2, Skill: s.options.Skill, Suggest: true, Spec: s.options.Spec, Cases: map[string]string{}}
	for _, x := range s.said {
		c.Cases[x.Case.ID] = x.Rule
	}
	for id, rule := range c.Cases {
		if rule != "" {
			c.Cases[id] = "read"
		}
	}
	return c
}

// Find returns the suggestion that an earlier command has made of the live text and the same
// corrections with the same model, nil if there is none. n is how many suggestions there are.
func (s *Suggestion) Find(ctx context.Context, db *store.Store) (m *Made, n int64, err error) {
	runs, err := db.Runs(ctx, s.options.Skill)
	if err != nil {
		return nil, 0, err
	}
	now := s.config()
	for _, run := range runs { // the newest first
		var c config
		if json.Unmarshal(run.Config, &c) != nil || !c.Suggest {
			continue
		}
		n++
		if m != nil || run.Incumbent != s.live.Doc.Hash() || c.ReflectAgent != now.ReflectAgent || c.ReflectModel != now.ReflectModel || !maps.Equal(c.Cases, now.Cases) {
			continue
		}
		made, err := db.Candidates(ctx, run.ID)
		if err != nil {
			return nil, 0, err
		}
		if i := slices.IndexFunc(made, func(c record.Candidate) bool { return c.Operator == record.Suggested && len(c.Text) > 0 }); i >= 0 {
			m = &Made{Candidate: made[i], Before: true, Simulated: run.Simulated}
		}
	}
	if m == nil {
		return nil, n, nil
	}
	return m, n, s.explain(ctx, db, m)
}

// Make asks the model within a budget of its own, checks the text as any candidate's, and
// stores it with a run, on whose bill is also what the reading before it took. An error of kind
// problem.Failed is about the reply: the next attempt may get a better one.
func (s *Suggestion) Make(ctx context.Context, budget *eval.Budget, read eval.Spent) (*Made, error) {
	db, err := s.runner.Store(ctx)
	if err != nil {
		return nil, err
	}
	earlier, n, err := s.Find(ctx, db)
	if err != nil || earlier != nil && !s.options.Again {
		return earlier, err
	}
	run, err := s.run(ctx, db, n)
	if err != nil {
		return nil, err
	}
	o, now := &s.options, s.runner.Now
	model := &eval.Metered{Model: s.back.Mutator, By: eval.ByMutator, Budget: budget, Redactor: s.back.Redactor, WallClock: o.WallClock}
	p, err := (&mutate.Suggest{Model: model, Corrections: s.said}).Propose(ctx, s.input(n))
	reply, unusable := errors.AsType[*mutate.ReplyError](err)
	if err != nil && !unusable {
		return nil, err
	}
	j := db.Journal(run.ID)
	bill := func() error {
		run.Spent, run.Ended = read.Plus(budget.Spent()), now().UTC()
		return j.SaveRun(context.WithoutCancel(ctx), run) // it is paid for
	}
	if unusable {
		run.Note = reply.Error()
	}
	if e := bill(); e != nil || unusable {
		return nil, errors.Join(err, e)
	}
	seed := record.Candidate{SHA: run.Incumbent, Run: run.ID, Operator: "found", State: record.Seed, Text: s.live.Doc.Render()}
	m := &Made{Candidate: s.candidate(run.ID, p), Simulated: run.Simulated}
	s.second(ctx, db, &m.Candidate, p.Doc, budget)
	m.Spent = budget.Spent()
	kept := context.WithoutCancel(ctx) // the text is paid for, also if its reading was interrupted
	if err := errors.Join(bill(), j.SaveCandidate(kept, &seed), j.SaveCandidate(kept, &m.Candidate), ctx.Err()); err != nil {
		return nil, err
	}
	return m, s.explain(ctx, db, m)
}

// Bill stores a run of a reading after which there was nothing to suggest, so that what it
// took is counted.
func (s *Suggestion) Bill(ctx context.Context, read eval.Spent) error {
	if read.Nothing() {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // it is paid for
	db, err := s.runner.Store(ctx)
	if err != nil {
		return err
	}
	run, err := s.run(ctx, db, 0)
	if err != nil {
		return err
	}
	run.Simulated = read.Simulated
	run.Spent, run.Ended, run.Note = read, s.runner.Now().UTC(), "what you said was read, and there was nothing to suggest"
	return db.Journal(run.ID).SaveRun(ctx, run)
}

// run is a new run, for the n-th suggestion.
func (s *Suggestion) run(ctx context.Context, db *store.Store, n int64) (*record.Run, error) {
	if err := s.runner.Installer(db).Record(ctx, s.file); err != nil {
		return nil, err
	}
	now := s.runner.Now()
	run := &record.Run{ID: record.NewID(now), Skill: s.options.Skill, Seed: n, Incumbent: s.live.Doc.Hash(), Started: now.UTC(),
		Status: record.Finished, Simulated: agent.KindOf(s.options.ReflectAgent).Simulated}
	var err error
	if run.Config, err = json.Marshal(s.config()); err != nil {
		return nil, fmt.Errorf("encode run: %w", err)
	}
	return run, nil
}

// Charge puts what was spent for a suggestion on the bill of its run.
func (s *Suggestion) Charge(ctx context.Context, m *Made, spent eval.Spent) error {
	if spent.Nothing() {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // it is paid for
	db, err := s.runner.Store(ctx)
	if err != nil {
		return err
	}
	run, err := db.Run(ctx, m.Run)
	if err != nil {
		return err
	}
	run.Spent = run.Spent.Plus(spent)
	return db.Journal(run.ID).SaveRun(ctx, run)
}

// candidate is a proposal as it is stored, with what the checks of every candidate find.
func (s *Suggestion) candidate(run string, p mutate.Proposal) record.Candidate {
	c := record.Candidate{SHA: p.Doc.Hash(), Run: run, Seq: 1, Operator: record.Suggested, Parents: []string{s.live.Doc.Hash()},
		Taught: p.Taught, State: record.Pooled, Reason: "it was suggested, and never tried", Text: p.Doc.Render()}
	var asked strings.Builder
	for _, x := range s.said {
		c.Shown = append(c.Shown, x.Case.ID)
		asked.WriteString(ownwords.Of(x.Words) + "\n\n")
	}
	if n := skill.Tokens(string(p.Doc.Body())); n > s.limit() {
		c.State, c.Reason = record.Invalid, fmt.Sprintf("grew to about %d tokens, the limit is %d", n, s.limit())
	}
	for _, f := range check.Check(s.live.Doc, p.Doc, check.ClaudeCode) {
		switch {
		case f.Severity == check.Reject && c.State != record.Invalid:
			c.State, c.Rule, c.Reason = record.Invalid, f.Rule, f.String()
		case f.Severity == check.Quarantine && c.State == record.Pooled && !f.AskedFor(asked.String()):
			c.State, c.Rule, c.Reason = record.Quarantined, f.Rule, f.String()
		}
	}
	return c
}

// explain adds why each sentence is there.
func (s *Suggestion) explain(ctx context.Context, db *store.Store, m *Made) error {
	texts := &candidate.Texts{Skill: s.options.Skill, Live: s.live, Store: db}
	doc, err := skill.Stored(s.options.Skill, m.Text)
	if err != nil {
		return err
	}
	m.Tokens = [2]int{s.live.Doc.Tokens(), doc.Tokens()}
	h, err := texts.History(ctx, &candidate.Text{Doc: doc, Candidate: &m.Candidate})
	if err != nil {
		return err
	}
	said := &mutate.Suggest{Corrections: s.said}
	for _, w := range h.Changes(m.SHA) {
		c := Change{Kind: w.Kind, Text: w.Text, Was: w.Was, Teachers: []Teacher{}}
		for _, i := range said.Answers(w.Text) {
			c.Teachers = append(c.Teachers, s.teachers[i])
		}
		slices.SortStableFunc(c.Teachers, func(a, b Teacher) int { return b.Time.Compare(a.Time) })
		m.Changes = append(m.Changes, c)
	}
	return nil
}
