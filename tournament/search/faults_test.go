package search

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// maxSteps is several times what the longest of these runs takes.
const maxSteps = 10_000

// steps counts what a run does that can be seen from outside: it calls somebody, looks
// at the clock or at its context, or records something. A loop that makes no progress
// takes too many of them, on a fast machine as on a slow one.
type steps struct{ n atomic.Int64 }

// errEndless is what ends a run that took too many steps.
var errEndless = fmt.Errorf("it took %d steps", maxSteps)

func (s *steps) take() {
	if s.n.Add(1) > maxSteps {
		panic(errEndless)
	}
}

func (s *steps) now() time.Time { s.take(); return time.Now() }

// A watchedContext takes a step whenever somebody looks at it.
type watchedContext struct {
	context.Context
	steps *steps
}

func (c watchedContext) Err() error { c.steps.take(); return c.Context.Err() }

// errKilled is what everything returns in a process that was killed.
var errKilled = errors.New("killed")

// A mortalJournal loses all that comes after so many records.
type mortalJournal struct {
	*recordtest.Memory
	steps *steps
	left  atomic.Int64
}

func (j *mortalJournal) record(save func() error) error {
	j.steps.take()
	if j.left.Add(-1) < 0 {
		return errKilled
	}
	return save()
}

func (j *mortalJournal) Rollout(ctx context.Context, key string) (*eval.Rollout, bool, error) {
	j.steps.take()
	return j.Memory.Rollout(ctx, key)
}

func (j *mortalJournal) Completion(ctx context.Context, key string) (*eval.Completion, error) {
	j.steps.take()
	return j.Memory.Completion(ctx, key)
}

func (j *mortalJournal) SaveRollout(ctx context.Context, r *eval.Rollout) error {
	return j.record(func() error { return j.Memory.SaveRollout(ctx, r) })
}

func (j *mortalJournal) SaveCompletion(ctx context.Context, key string, by eval.Spender, c *eval.Completion) error {
	return j.record(func() error { return j.Memory.SaveCompletion(ctx, key, by, c) })
}

func (j *mortalJournal) SaveRun(ctx context.Context, r *record.Run) error {
	return j.record(func() error { return j.Memory.SaveRun(ctx, r) })
}

func (j *mortalJournal) SaveCandidate(ctx context.Context, c *record.Candidate) error {
	return j.record(func() error { return j.Memory.SaveCandidate(ctx, c) })
}

func (j *mortalJournal) AppendEvent(ctx context.Context, e record.Event) error {
	return j.record(func() error { return j.Memory.AppendEvent(ctx, e) })
}

func (j *mortalJournal) SaveTrial(ctx context.Context, r *record.TrialRecord) error {
	return j.record(func() error { return j.Memory.SaveTrial(ctx, r) })
}

// A schedule decides the result of each call of a run, in any order of
// callers.
type schedule struct {
	seed   uint64
	rate   float64          // of the faults that a run survives
	fatal  float64          // of those that end it
	cases  map[string]fault // what happens whenever that case is tried
	judges map[string]fault // or judged
}

// A fault is what goes wrong with one call.
type fault int

const (
	fine fault = iota
	// What a run survives.
	failed
	empty
	unusable
	cutOff
	tainted
	slow
	unspoilt
	unreachable
	serverError
	rateLimited
	untold
	nothing
	huge
	negative
	notANumber
	// What ends it.
	auth
	badRequest
	usageLimit
	pending
	panics
	faults
)

var infrastructure = map[fault]eval.FailureKind{unreachable: eval.Unreachable, serverError: eval.ServerError, rateLimited: eval.RateLimited,
	auth: eval.Auth, badRequest: eval.BadRequest, usageLimit: eval.UsageLimit, pending: eval.Pending}

// errBoom is what somebody panics with, or returns as an error of no known kind.
var errBoom = errors.New("boom")

func (s *schedule) draw(r *rand.Rand) fault {
	switch x := r.Float64(); {
	case x < s.fatal:
		return auth + fault(r.IntN(int(faults-auth)))
	case x < s.fatal+s.rate:
		return failed + fault(r.IntN(int(auth-failed)))
	}
	return fine
}

// suffer makes the fault happen to a call that took usage and usd; an error ends it.
func (f fault) suffer(ctx context.Context, r *rand.Rand, usage **eval.Usage, usd **float64) error {
	switch f {
	case panics:
		panic(errBoom)
	case unspoilt:
		return errBoom
	case slow:
		t := time.NewTimer(time.Duration(r.IntN(20)) * time.Minute)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	case untold:
		*usage, *usd = nil, nil
	case nothing:
		*usage = &eval.Usage{}
	case huge:
		*usage, *usd = &eval.Usage{Input: math.MaxInt64, Output: math.MaxInt64}, new(float64)
		**usd = math.Inf(1)
	case negative:
		*usage, *usd = &eval.Usage{Input: -5}, new(float64)
		**usd = -1
	case notANumber:
		*usd = new(float64)
		**usd = math.NaN()
	}
	if kind, ok := infrastructure[f]; ok {
		return &eval.InfraError{Kind: kind, RetryAfter: time.Duration(r.IntN(3)) * 6 * time.Minute, Err: errBoom}
	}
	return nil
}

// A player is one process: agent, judge and mutator, and who watches them.
type player struct {
	schedule *schedule
	steps    *steps
	budget   *eval.Budget
	cancel   context.CancelFunc
	calls    atomic.Int64
	cancelAt int64 // call; 0 for never
	stopped  atomic.Bool
	late     atomic.Int64 // calls that began after a cap was used up, or the run was cancelled
	mu       sync.Mutex
	asked    map[string]uint64 // how often, by who was asked what
}

// begin notes a call, and gives it its own random numbers.
func (p *player) begin(what string) *rand.Rand {
	p.steps.take()
	rest := p.budget.Remaining()
	if p.stopped.Load() || min(rest.Rollouts, rest.Tokens, int64(rest.Duration)) < 0 || rest.CostUSD < 0 {
		p.late.Add(1)
	}
	if p.calls.Add(1) == p.cancelAt {
		p.stopped.Store(true)
		p.cancel()
	}
	p.mu.Lock()
	n := p.asked[what]
	p.asked[what]++
	p.mu.Unlock()
	return rand.New(rand.NewPCG(p.schedule.seed^hashOf(what), n))
}

func (p *player) Identity() eval.Identity { return eval.Identity{Backend: "lister"} }

func (p *player) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	r := p.begin("agent " + t.Case.ID + t.Variant.SHA())
	f, ok := p.schedule.cases[t.Case.ID]
	if !ok {
		f = p.schedule.draw(r)
	}
	usd := 0.001
	a := eval.Attempt{Answer: answer(t.Variant.Doc), Model: "m", Usage: &eval.Usage{Input: 100, Output: 20}, CostUSD: &usd, Duration: time.Second}
	err := f.suffer(ctx, r, &a.Usage, &a.CostUSD)
	switch f {
	case failed:
		a.Failure = "it gave up"
	case empty:
		a.Answer = ""
	case tainted:
		a.Tainted, a.Audit = "it read its own tests", eval.Tainted
	}
	return a, err
}

// A speaker is the player as a model: judge, or mutator.
type speaker struct {
	*player
	judges bool
}

func (s speaker) Complete(ctx context.Context, q eval.Prompt) (eval.Completion, error) {
	who := "mutator"
	var f fault
	sticky := false
	if s.judges {
		who = "judge"
		for id, is := range s.schedule.judges {
			if strings.Contains(q.User, id) {
				f, sticky = is, true
			}
		}
	}
	r := s.begin(who + q.User)
	if !sticky {
		f = s.schedule.draw(r)
	}
	usd := 0.002
	c := eval.Completion{Text: revise(q.User, r), Finish: "stop", Usage: &eval.Usage{Input: 300, Output: 50}, CostUSD: &usd}
	if s.judges {
		c.Text = judgement(q.User)
	}
	err := f.suffer(ctx, r, &c.Usage, &c.CostUSD)
	switch f {
	case failed, unusable:
		c.Text = []string{"I would rather not.", "```\n```", `{"score": 7}`, `{"score": -1e999}`, `{"score": NaN}`, "{}"}[r.IntN(6)]
	case empty:
		c.Text = ""
	case cutOff:
		c.Text, c.Finish = c.Text[:len(c.Text)/2], "length"
	}
	return c, err
}

// A world is what the schedules are played in: a skill that should list words, and
// cases that ask for some of them. It is small, so that a run of it takes little time.
type world struct {
	incumbent eval.Variant
	cases     []eval.Case
}

var listed = strings.Fields("amber birch cedar daisy elder fern")

var smallWorld = sync.OnceValues(func() (*world, error) {
	doc, err := skill.Parse([]byte("---\nname: lister\ndescription: Lists words.\n---\n# Lister\n\n- amber\n- zinc\n"), skill.Options{})
	if err != nil {
		return nil, err
	}
	w := &world{incumbent: eval.Variant{Name: doc.Name(), Doc: doc}}
	for _, s := range []struct {
		split eval.Split
		n     int
	}{{eval.Train, 9}, {eval.Val, 6}, {eval.Test, 8}} {
		for i := range s.n {
			word := listed[i%len(listed)]
			c := eval.Case{ID: fmt.Sprintf("%s-%d", s.split, i), Skill: doc.Name(), Split: s.split, Prompt: fmt.Sprintf("Ticket %s-%d", s.split, i)}
			c.Cluster = c.ID
			if i%4 == 1 { // a judge alone decides it
				c.Checks = []eval.Check{{Type: eval.Judge, Rubric: "say " + word}}
			} else {
				c.Checks = []eval.Check{{Type: eval.Contains, Value: word, Feedback: "say " + word}}
			}
			w.cases = append(w.cases, c)
		}
	}
	return w, nil
})

// answer is the list that the skill asks for.
func answer(doc *skill.Document) string {
	if doc == nil {
		return "nothing"
	}
	return string(doc.Body())
}

// revise adds to the text what the feedback asks for, and sometimes takes a line out.
func revise(user string, r *rand.Rand) string {
	_, text, _ := strings.Cut(user, "```\n")
	text, _, _ = strings.Cut(text, "```")
	for _, word := range listed {
		if strings.Contains(user, "say "+word) && !strings.Contains(text, word) && r.IntN(3) > 0 {
			text += "- " + word + "\n"
		}
	}
	if r.IntN(4) == 0 {
		text = strings.Replace(text, "- "+listed[r.IntN(len(listed))]+"\n", "", 1)
	}
	return "The list.\n```\n" + text + "```\n"
}

// judgement scores an answer by the word in the rubric.
func judgement(user string) string {
	for _, word := range listed {
		if strings.Contains(user, "say "+word) && strings.Count(user, word) == 1 {
			return `{"score": 0.2, "reason": "it is not there"}`
		}
	}
	return `{"score": 1, "reason": "it is there"}`
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
