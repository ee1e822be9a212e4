package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"golang.org/x/time/rate"
)

// A Plan holds every input of one run over one skill.
type Plan struct {
	Run       *record.Run // ID, Skill, Seed, Config set
	Incumbent eval.Variant
	Cases     []eval.Case // splits assigned
	// Carried is an undecided challenger of an earlier run: its trial is
	// continued instead of a new search. nil for none. CarriedOn is the model that
	// its trial is about, if the trial's own record does not name it.
	Carried   *eval.Variant
	CarriedOn record.Model
	// Trial names the trial of Carried if the incumbent has edits that are younger than
	// it. With is the candidate that Carried is if no run has made it: with these edits, or
	// as its owner gave it.
	Trial *record.Change
	With  *record.Candidate
	// ReadFirst has Second read Carried, which is With, before anything of it is replayed.
	// Without a Second it counts as not read.
	ReadFirst bool

	Agent eval.Agent
	// SearchAgent is the agent with another model for the search, and SearchPrice the price
	// of its tokens; nil: Agent searches, too. Failures is then the share of uses in which
	// the incumbent fails.
	SearchAgent eval.Agent
	SearchPrice *eval.Price
	Failures    float64

	Grader  eval.Grader
	Mutator eval.Model // not metered
	// Second reads candidates of a text with a kernel, and SecondBy is whose calls these are;
	// nil: nobody does. It is not metered. Elsewhere finds a reply of another run, nil if
	// there is none.
	Second    eval.Model
	SecondBy  eval.Spender
	Elsewhere func(ctx context.Context, key string) (*eval.Completion, error)
	Journal   record.Journal
	Redact    eval.Redactor

	// Budget bounds the whole run and includes what mining has spent. Caps
	// are its caps.
	Budget     *eval.Budget
	Caps       eval.Caps
	NoGate     bool
	Gate       pareto.Config
	MaxRetries int // work retries in the gate
	// HeldOut counts the held-out cases that may still be spent: the gate's
	// share of the rollouts is for them.
	HeldOut    int
	Uses       []record.Use // of the skill: see gate.Gate
	Reader     gate.Reader  // nil: the trial is about all requests
	Objectives []string     // that the gate looks at; nil for all four
	// Calibrate measures how well the grader's judge agrees with the owner.
	// It is called once, before the gate, and only if a judge checks held-out
	// cases; in a resumed run it must return the same. nil: nothing
	// is known.
	Calibrate func(context.Context) (record.Calibration, error)
	Compare   gate.Compare  // that judge; nil grades each answer alone
	Executor  eval.Executor // has Agent's attempts made elsewhere; nil: nobody
	// Workers are those of a fleet that are there; nil: Agent runs on this machine.
	Workers func() []string
	// Beside tries a text that the gate finds better, or probably better, beside the skills that
	// the skill is used with; Reserve are the rollouts that the caps keep for it. nil: there are none.
	Beside      func(ctx context.Context, challenger eval.Variant) ([]record.Beside, error)
	Reserve     int64
	Concurrency int
	Workspaces  eval.Workspaces // nil: the agent needs none
	Others      []eval.Offer    // installed beside the skill
	PerSecond   float64         // calls a second; 0 for no limit
	WallClock   time.Duration
	Options     Options
	Now         func() time.Time
	OnEvent     func(record.Event)
	OnRollout   func(*eval.Rollout)
}

// An Outcome is the result of a run. Verdict is nil if the gate did not run.
type Outcome struct {
	Search     *Result
	Challenger *Scored
	Verdict    *gate.Verdict
	Worth      *Worth // nil: not measured
	Spent      eval.Spent
	Warnings   []string
	// Held is why the second reader holds the carried text, of which nothing was run; "" if it
	// does not.
	Held string
	// BudgetStop is set if a cap ended the run before a verdict.
	BudgetStop bool
}

// Shares divides a budget of rollouts: what the gate needs to show its
// evidence is reserved before the search may spend.
type Shares struct{ Search, Gate int64 }

// Share divides the cap on rollouts. test is the number of held-out cases
// that may still be spent. The gate gets what trying each of them in both arms
// takes if every attempt fails and is made again, as the gate itself reserves it, but at
// most half. Zero means no cap.
func Share(maxRollouts int64, test, maxRetries int, gate bool) Shares {
	if maxRollouts <= 0 || !gate {
		return Shares{Search: maxRollouts}
	}
	g := min(gateNeeds(test, maxRetries), maxRollouts/2)
	return Shares{Search: maxRollouts - g, Gate: g}
}

// gateNeeds is what trying so many held-out cases takes at most.
func gateNeeds(test, maxRetries int) int64 { return gate.Takes(test, gate.Replays, maxRetries) }

// unsteady is the standard deviation of one text's score on one case from which more
// replays are made of it.
const unsteady = 0.35

// replays is how often each arm of the gate answers a case.
func (n Noise) replays() int {
	if n.Pairs >= retested/2 && n.Quality > unsteady {
		return gate.MoreReplays
	}
	return gate.Replays
}

// Improve searches, and tries what it found before the gate. The Run is saved
// when it begins and when it ends, however it ends. The error is ctx's, the
// journal's or the infrastructure's; a cap is no error.
func Improve(ctx context.Context, p Plan) (out *Outcome, err error) {
	if p.Now == nil {
		p.Now = time.Now
	}
	run := p.Run
	run.Incumbent, run.Status, run.Simulated = p.Incumbent.SHA(), record.Running, p.Agent.Identity().Simulated
	if run.Started.IsZero() {
		run.Started = p.Now().UTC()
	}
	if err := p.Journal.SaveRun(ctx, run); err != nil {
		return nil, fmt.Errorf("save run: %w", err)
	}
	budget := p.Budget
	if budget == nil {
		budget = eval.NewBudget(p.Caps, p.Now)
	}
	out = &Outcome{}
	var unmeasured Unmeasured
	told := p.OnRollout
	p.OnRollout = func(r *eval.Rollout) {
		unmeasured.Add(r)
		if told != nil {
			told(r)
		}
	}
	defer func() {
		if words := unmeasured.String(); words != "" {
			out.Warnings = append(out.Warnings, words)
		}
		out.Spent, out.Warnings = budget.Spent(), append(out.Warnings, budget.Warnings()...)
		p.finish(out, err)
		// ctx may be done already; the run's end must be written all the
		// same.
		if e := p.Journal.SaveRun(context.WithoutCancel(ctx), run); e != nil && err == nil {
			err = fmt.Errorf("save run: %w", e)
		}
	}()
	cases := bySplit(p.Cases)
	log := &record.Log{Journal: p.Journal, Run: run.ID, Now: p.Now, OnEvent: p.OnEvent}
	if err = p.decide(ctx, out, budget, log, cases); err != nil || p.NoGate || out.BudgetStop || out.Held != "" {
		return out, err
	}
	out.Worth, err = p.worth(ctx, out, budget, cases.Val)
	return out, err
}

// rule is the gate's.
func (p *Plan) rule() pareto.Config {
	if p.Gate == (pareto.Config{}) {
		return pareto.DefaultConfig()
	}
	return p.Gate
}

// decide searches, unless a challenger is carried, and lets the gate try what
// was found.
func (p *Plan) decide(ctx context.Context, out *Outcome, budget *eval.Budget, log *record.Log, cases Cases) (err error) {
	run := p.Run
	challenger := p.Carried
	if challenger == nil {
		if challenger, err = p.search(ctx, out, budget, log, cases); err != nil || challenger == nil {
			return err
		}
	}
	if p.ReadFirst {
		if err := p.readFirst(ctx, out, budget); err != nil || out.BudgetStop || out.Held != "" {
			return err
		}
	}
	run.Challenger = challenger.SHA()
	if p.NoGate {
		return nil
	}
	if p.Carried != nil && p.With != nil {
		run.Trial = p.Trial
		c := *p.With
		c.Run, c.Seq = run.ID, 1
		if err := p.Journal.SaveCandidate(ctx, &c); err != nil {
			return err
		}
	}
	// Candidates may not repeat a held-out case (search); the case is
	// evidence only if no candidate can have learned from one like it.
	held, copies := record.HeldOut(p.Cases)
	if words := record.Repeated(copies); words != "" {
		out.Warnings = append(out.Warnings, words)
	}
	share := budget
	if p.Reserve > 0 && p.Caps.Rollouts > 0 {
		share = budget.Sub(eval.Caps{Rollouts: max(1, p.Caps.Rollouts-p.Reserve-budget.Spent().Rollouts)})
	}
	trial := p.Evaluator(share, p.MaxRetries)
	trial.MaxMissing = 1 // a text under which an agent does not come back is judged by that, instead of ending the run
	rule := p.rule()
	if out.Search != nil && out.Search.Incumbent.Metrics.N > 0 { // else the trial has its own
		rule.Failures = p.failures(out.Search.Incumbent.Metrics.Quality)
	}
	g := &gate.Gate{Evaluator: trial, Log: log, Skill: run.Skill, Config: rule,
		Seed: run.Seed, Simulated: run.Simulated, Objectives: p.Objectives, On: p.CarriedOn, Uses: p.Uses, Reader: p.Reader, Replays: gate.Replays, Trial: run.Trial, Compare: p.Compare, Workers: p.Workers}
	if out.Search != nil && p.SearchAgent == nil { // the repeats of another model say nothing of this one's
		g.Replays = out.Search.Noise.replays()
	}
	waits, err := g.Waits(ctx, p.Incumbent, *challenger)
	if err != nil {
		return err
	}
	if p.Calibrate != nil && (waits || record.RestsOnJudge(held) > 0) {
		if g.Judge, err = p.Calibrate(ctx); err != nil {
			return fmt.Errorf("calibrate the judge: %w", err)
		}
	}
	if out.Verdict, err = g.Try(ctx, p.Incumbent, *challenger, held); err != nil {
		return err
	}
	if p.SearchAgent == nil {
		out.Verdict.Model = ""
	} else if out.Search != nil {
		out.Verdict.SearchModel = record.ModelOf(p.SearchAgent.Identity(), "").String()
	}
	out.Verdict.Warnings = append(out.Verdict.Warnings, content.OneSided(p.Cases)...)
	if v := out.Verdict.Verdict; p.Beside != nil && (v == pareto.Promote || v == pareto.Promising) {
		if out.Verdict.Beside, err = p.Beside(ctx, *challenger); err != nil {
			return fmt.Errorf("try the new text beside other skills: %w", err)
		}
	}
	out.BudgetStop = out.Verdict.BudgetStop && out.Verdict.Verdict.IsOpen()
	run.Verdict, err = json.Marshal(out.Verdict)
	return err
}

// failures is how often the incumbent fails in use, if that is its quality on
// validation, where those uses are of which the user said something. What another model
// fails in says nothing of the owner's.
func (p *Plan) failures(quality float64) float64 {
	if p.SearchAgent != nil {
		return p.Failures
	}
	said := 0
	for _, u := range p.Uses {
		if u.Stratum != eval.Silent {
			said++
		}
	}
	fails := max(0, min(1, 1-quality))
	if len(p.Uses) > 0 && said > 0 {
		fails *= float64(said) / float64(len(p.Uses))
	}
	return fails
}

// search runs the tournament; nil without an error means that nothing beat the
// incumbent.
func (p *Plan) search(ctx context.Context, out *Outcome, budget *eval.Budget, log *record.Log, cases Cases) (*eval.Variant, error) {
	if len(cases.Val) == 0 {
		cases.Val = cases.Train
		out.Warnings = append(out.Warnings, "too few sessions for a validation split: candidates were chosen on the cases they learned from")
	}
	share := budget
	if !p.NoGate && p.Caps.Rollouts > 0 {
		share = budget.Sub(eval.Caps{Rollouts: Share(p.Caps.Rollouts-p.Reserve, p.HeldOut, p.MaxRetries, true).Search})
	}
	evaluator := p.searching(share)
	share = evaluator.Budget
	opt := p.Options
	opt.Seed, opt.Objectives = p.Run.Seed, p.Objectives
	e := &Engine{
		Evaluator: evaluator,
		Mutator: &eval.Metered{Model: p.Mutator, By: eval.ByMutator, Budget: share, Recorder: p.Journal,
			Scope: p.Run.ID, Redactor: p.Redact, WallClock: p.WallClock},
		Log: log, Options: opt,
	}
	if p.Second != nil {
		e.Second = p.reader(share)
	}
	res, err := e.Search(ctx, p.Incumbent, cases)
	if err != nil {
		return nil, err
	}
	out.Search, out.Challenger = res, res.Challenger
	n := res.Stats
	useless := n.Unusable
	if res.Challenger == nil { // else it has lost nothing by its guesses
		useless += n.Guesses
	}
	if n.Proposals > 0 && 2*useless >= n.Proposals {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d of %d proposals of the mutator could not be used", useless, n.Proposals))
	}
	if n.Unread > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the second reader gave no usable answer to %d of the texts: they were tried, and only you install one; --judge-model names another reader", n.Unread))
	}
	if !p.NoGate {
		held := p.HeldOut
		if p.SearchAgent != nil { // how noisy the trial is, another model does not tell
			held = 0
		}
		out.Warnings = append(out.Warnings, res.Noise.warnings(held, p.rule().Quality.Alpha, res)...)
	}
	out.BudgetStop = res.Cap != "" && res.Stats.Rounds == 0 && res.Challenger == nil
	if res.Challenger == nil {
		return nil, nil
	}
	doc, err := skill.Parse(res.Challenger.Text, p.Incumbent.Doc.Options())
	if err != nil {
		return nil, fmt.Errorf("read new text: %w", err)
	}
	if doc.KernelHash() != p.Incumbent.Doc.KernelHash() {
		return nil, &KernelError{Candidate: res.Challenger.SHA}
	}
	v := p.Incumbent
	v.Doc = doc
	return &v, nil
}

// A KernelError means that a candidate's kernel is not the incumbent's. It
// can only follow an error in an earlier check; nothing is staged or
// installed.
type KernelError struct{ Candidate string }

func (e *KernelError) Error() string {
	return fmt.Sprintf("candidate %.12s changed locked lines", e.Candidate)
}

// Evaluator runs rollouts with the plan's settings, with so many work
// retries, on a budget.
func (p *Plan) Evaluator(b *eval.Budget, retries int) *eval.Evaluator {
	ev := &eval.Evaluator{Agent: p.Agent, Grader: p.Grader, Budget: b, Recorder: p.Journal, Redactor: p.Redact,
		Concurrency: max(1, p.Concurrency), WallClock: p.WallClock, MaxRetries: retries, Workspaces: p.Workspaces, Others: p.Others, Now: p.Now, OnRollout: p.OnRollout, Executor: p.Executor}
	if p.PerSecond > 0 {
		ev.Limiter = rate.NewLimiter(rate.Limit(p.PerSecond), 1)
	}
	return ev
}

// searching is the Evaluator of the search, on a budget.
func (p *Plan) searching(b *eval.Budget) *eval.Evaluator {
	if p.SearchAgent == nil {
		return p.Evaluator(b, 0)
	}
	ev := p.Evaluator(b.Apart(p.SearchPrice), 0)
	ev.Agent = p.SearchAgent
	return ev
}

// finish records how the run ended.
func (p *Plan) finish(out *Outcome, err error) {
	run := p.Run
	run.Spent = out.Spent
	run.Ended = p.Now().UTC()
	var limit *eval.InfraError
	switch {
	case err == nil && out.BudgetStop:
		run.Status, run.Note, run.StoppedBy = record.Stopped, record.CapReached, record.ByCap
	case err == nil:
		run.Status = record.Finished
		if out.Search != nil {
			run.Note = out.Search.Stop
		} else if out.Held != "" {
			run.Note = "the second reader holds the text that was to be checked"
		}
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		run.Status, run.Note = record.Interrupted, "interrupted"
	case errors.As(err, &limit) && (limit.Kind == eval.UsageLimit || limit.Kind == eval.Pending):
		run.Status, run.Note, run.StoppedBy = record.Stopped, limit.Error(), string(limit.Kind)
	default:
		run.Status, run.Note = record.Failed, err.Error()
	}
}

func bySplit(cs []eval.Case) (c Cases) {
	for _, k := range cs {
		switch k.Split {
		case eval.Train:
			c.Train = append(c.Train, k)
		case eval.Val:
			c.Val = append(c.Val, k)
		case eval.Test:
			c.Test = append(c.Test, k)
		}
	}
	return c
}
