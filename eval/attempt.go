package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/wallclock"
)

// rollout runs and grades one job. The rollout is never nil and holds what was spent so
// far. If the error is a *gaveUp, it is Missing and is kept; with any other error it is
// to be discarded.
func (e *Evaluator) rollout(ctx context.Context, j *Job, p *plan, id *Identity) (*Rollout, error) {
	out := &Rollout{
		Key: p.name, Candidate: p.sha, CaseID: j.Case.ID, Trial: j.Trial, Arm: j.Arm,
		Agent: *id,
	}
	t := Task{Variant: j.Variant, Case: j.Case, Seed: seedOf(p.draw), Others: e.Others}
	w := Work{Key: p.name, Agent: *id, Pair: pairOf(j), Avoid: j.Avoid, WallClock: e.WallClock}
	err := Shielded(func() error { return e.fill(ctx, out, t, w, p.kase) })
	if err != nil {
		out.Status = Missing
		out.Failure = err.Error()
		// The scores of the first attempt no longer apply.
		out.Quality, out.Retries, out.Checks, out.Feedback = 0, 0, nil, nil
	}
	e.redact(out)
	return out, err
}

// fill runs the task, again after a failed attempt if work retries are measured, and
// writes the outcome into out.
func (e *Evaluator) fill(ctx context.Context, out *Rollout, t Task, w Work, kase *caseEntry) error {
	at, err := e.executor().Begin(ctx, t, w)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if hopeless(err) {
			return err
		}
		return &gaveUp{tries: 1, err: err}
	}
	defer at.Close()
	seed := t.Seed
	for n := 0; ; n++ {
		t.Seed = (seed + int64(n)) & math.MaxInt32
		a, err := e.attempt(ctx, at, t, out)
		if err != nil {
			return err
		}
		e.record(out, &a)
		if a.Tainted != "" && n == 0 {
			out.Status, out.Failure = Void, a.Tainted
			return nil
		}
		if a.Tainted != "" { // only failures are tried again: they must not be void more often
			out.Retries++
			return nil
		}
		g, err := e.grade(ctx, out, at, t, a, kase)
		if err != nil {
			return err
		}
		failure := a.Failure
		if t.Case.IsTrigger() {
			failure = "" // which skill was loaded is known without an answer
		}
		feedback := feedbackOf(failure, g.Checks)
		failed := failure != "" || anyFailed(g.Checks)
		if n == 0 {
			out.Status, out.Quality, out.Checks, out.Feedback = Done, g.Quality, g.Checks, feedback
		}
		if e.MaxRetries <= 0 {
			out.Retries = float64(reissued(a.Trace))
			if failed {
				out.Retries++
			}
			return nil
		}
		if failed {
			out.Retries++
		}
		if !failed || n >= e.MaxRetries {
			return nil
		}
		// The prompt is redacted like everything that is stored.
		t.Prior = &Prior{Answer: redact(e.Redactor, a.Answer), Work: a.Work}
		for _, f := range feedback {
			t.Prior.Feedback = append(t.Prior.Feedback, redact(e.Redactor, f))
		}
	}
}

// attempt has an attempt made, again while the infrastructure fails.
func (e *Evaluator) attempt(ctx context.Context, at Place, t Task, out *Rollout) (a Attempt, err error) {
	err = persist(ctx, e.Budget, e.InfraTries, &out.InfraRetries, &out.Lost, func() (err error) {
		if e.Limiter != nil {
			if err := e.Limiter.Wait(ctx); err != nil {
				return fatal{fmt.Errorf("evaluate: wait for the rate limit: %w", err)}
			}
		}
		a, err = at.Attempt(ctx, t)
		if err != nil && !IsPending(err) {
			out.lose(Cost{a.Usage, a.CostUSD})
		}
		if err != nil {
			out.tried(a.Worker)
		}
		out.tried(a.Tried...)
		return err
	})
	if a.Failure == "" && strings.TrimSpace(a.Answer) == "" {
		a.Failure = "empty answer"
	}
	return a, err
}

// maxModel is how much of a model's name is kept, in bytes: it comes from a server.
const maxModel = 128

// record writes the usage of an attempt into out: the first attempt's for the
// objectives, the others' for the budget.
func (e *Evaluator) record(out *Rollout, a *Attempt) {
	out.Attempts++
	out.InfraRetries += max(0, a.InfraRetries)
	rest := atLeast(Cost{a.Usage, a.CostUSD})
	out.lose(Cost{rest.LostUsage, rest.LostUSD})
	if out.Attempts > 1 && a.Worker != out.Worker {
		out.tried(a.Worker)
	}
	a.Usage, a.CostUSD = believable(a.Usage, a.CostUSD)
	if out.Audit != Tainted && (out.Attempts == 1 || a.Audit == Tainted || a.Audit == Inconclusive) {
		out.Audit = a.Audit
	}
	switch out.Attempts {
	case 1:
		out.Started, out.Worker = a.Started, a.Worker
		if !a.Untimed {
			ms := a.Duration.Milliseconds()
			out.LatencyMS = &ms
		}
		out.Usage, out.CostUSD = a.Usage, a.CostUSD
		out.Answer, out.Trace, out.Work, out.Failure = a.Answer, a.Trace, a.Work, a.Failure
		out.Model = a.Model[:min(len(a.Model), maxModel)]
		out.SkillInvoked, out.Skills, out.Files, out.Turns = a.SkillInvoked, a.Skills, a.Files, a.Turns
	case 2:
		out.RetryUsage, out.RetryUSD = a.Usage, a.CostUSD
	default:
		out.sum(&out.RetryUsage, &out.RetryUSD, Cost{a.Usage, a.CostUSD})
	}
}

// grade calls the Grader, again while the infrastructure fails.
func (e *Evaluator) grade(ctx context.Context, out *Rollout, at Place, t Task, a Attempt, kase *caseEntry) (g Grade, err error) {
	limit := e.WallClock
	if !kase.slow {
		limit = 0 // nothing that can hang
	}
	failed := 0 // not the agent's: not in InfraRetries
	err = persist(ctx, e.Budget, e.InfraTries, &failed, &out.Lost, func() error {
		_, err := wallclock.Within(ctx, time.Time{}, limit, func(ctx context.Context) error {
			folder, err := at.Folder(ctx)
			if err != nil {
				return err
			}
			g, err = e.Grader.Grade(ctx, t.Case, a, folder)
			return err
		})
		spendJudge(out, g)
		return err
	})
	if err != nil {
		if errors.As(err, new(*gaveUp)) {
			err = fmt.Errorf("grade: %w", err)
		}
		return g, err
	}
	for i := range g.Checks {
		switch k := &g.Checks[i]; {
		case k.Missing && k.Type == Judge: // its evidence holds the reason
			return g, &gaveUp{tries: 1, err: errors.New(k.Evidence)}
		case k.Missing:
			return g, &gaveUp{tries: 1, err: fmt.Errorf("%s check: %s", k.Type, k.Evidence)}
		}
	}
	return g, nil
}

// spendJudge adds the usage of one grading; a sum with an unknown part is unknown.
func spendJudge(out *Rollout, g Grade) {
	switch {
	case g.JudgeCalls == 0:
	case out.JudgeCalls == 0:
		out.JudgeUsage, out.JudgeUSD = g.JudgeUsage, g.JudgeUSD
	default:
		out.sum(&out.JudgeUsage, &out.JudgeUSD, Cost{g.JudgeUsage, g.JudgeUSD})
	}
	out.JudgeCalls += g.JudgeCalls
	out.lose(Cost{g.LostUsage, g.LostUSD})
}

// feedbackOf is what the mutator, and a work retry, may read about a graded attempt,
// each line once.
func feedbackOf(failure string, checks []CheckResult) []string {
	var texts []string
	if failure != "" {
		texts = append(texts, "The attempt failed: "+failure)
	}
	for i := range checks {
		if f := checks[i].Feedback; f != "" && !slices.Contains(texts, f) {
			texts = append(texts, f)
		}
	}
	return texts
}

func anyFailed(checks []CheckResult) bool {
	for i := range checks {
		if !checks[i].Passed() {
			return true
		}
	}
	return false
}

// reissued counts the tool calls of a trace that failed and were issued again: a later
// call of the same tool, whatever its input, because the error was mostly in the input.
func reissued(trace []ToolCall) int {
	n := 0
	for i := range trace {
		if !trace[i].Failed {
			continue
		}
		for k := i + 1; k < len(trace); k++ {
			if trace[k].Name == trace[i].Name {
				n++
				break
			}
		}
	}
	return n
}

// redact redacts all texts of out, in place. The parts that a grader or an agent may
// share between rollouts are copied first.
func (e *Evaluator) redact(out *Rollout) {
	if e.Redactor == nil {
		return
	}
	out.Answer = redact(e.Redactor, out.Answer)
	out.Failure = redact(e.Redactor, out.Failure)
	out.Model = redact(e.Redactor, out.Model)
	out.Trace = append([]ToolCall(nil), out.Trace...)
	for i := range out.Trace {
		out.Trace[i].Input = redact(e.Redactor, out.Trace[i].Input)
	}
	out.Work = out.Work.Map(func(text string) string { return redact(e.Redactor, text) })
	out.Files = append([]string(nil), out.Files...)
	for i := range out.Files {
		out.Files[i] = redact(e.Redactor, out.Files[i])
	}
	out.Checks = append([]CheckResult(nil), out.Checks...)
	for i := range out.Checks {
		out.Checks[i].Feedback = redact(e.Redactor, out.Checks[i].Feedback)
		out.Checks[i].Evidence = redact(e.Redactor, out.Checks[i].Evidence)
	}
	out.Feedback = append([]string(nil), out.Feedback...)
	for i := range out.Feedback {
		out.Feedback[i] = redact(e.Redactor, out.Feedback[i])
	}
}
