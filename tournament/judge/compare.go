package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// A Comparer asks a judge which of two answers serves a request better, blind and in
// both orders. It is safe for concurrent use.
type Comparer struct {
	db     *store.Store
	run    string // that pays
	budget *eval.Budget
	model  eval.Model // metered; nil: no judge is asked, and the records are used
	redact func(string) string
	slots  chan struct{} // one a call at a time
	Judge  string        // identity of the model and of its prompt
}

// blind is what the identity of every Comparer begins with.
const blind = "blind/"

// New returns a Comparer for the judge of a run. The run pays for its calls: at most
// limit at a time, each with the time limit wall. Without a judge it asks nobody.
func New(db *store.Store, run string, judge eval.Model, red eval.Redactor, budget *eval.Budget, wall time.Duration, limit int) *Comparer {
	k := onRecord(db, Identity(judge))
	k.run, k.budget, k.slots = run, budget, make(chan struct{}, max(1, limit))
	if judge == nil {
		return k
	}
	k.model = &eval.Metered{Model: judge, By: eval.ByJudge, Budget: budget, Redactor: red, Recorder: db.Journal(run), Scope: run, WallClock: wall}
	if red != nil {
		k.redact = func(text string) string { text, _ = red.Redact(text); return text }
	}
	return k
}

// Identity names a judge with the prompt of its comparisons. "" is no judge.
func Identity(judge eval.Model) string {
	if judge == nil {
		return ""
	}
	id, err := json.Marshal(judge.Identity())
	if err != nil {
		panic("evolve: identity of a judge: " + err.Error()) // strings and a bool can be marshalled
	}
	return blind + check.BlindVersion() + " " + string(id)
}

// onRecord is a Comparer that asks nobody and knows what the judge of that identity has
// said in all runs.
func onRecord(db *store.Store, judge string) *Comparer {
	return &Comparer{db: db, Judge: judge, slots: make(chan struct{}, 1), redact: func(text string) string { return text }}
}

// Replays compares the replays of one case under two texts: the i-th of the incumbent
// with the i-th of the challenger. score is the mean over those pairs of replays that
// could be compared, in [-1,1], positive if the challenger serves the request better. ok
// is false if there is none, and then the score means nothing: it is unknown, not 0.
//
// A pair scores ±1 if the judge prefers the same answer in both orders, ±0.5 if it sees
// no difference in one of them, and 0 if it sees none in both or contradicts itself. The
// judge is not asked about a failed or empty answer, which loses to any other, nor about
// two equal ones. Swapping the two slices negates the score.
//
// A pair is left out where a rollout is nil, missing, void or expired, where no reply of
// the judge can be read, and where the judge cannot be reached for now. That a side is
// missing is not the judge's to weigh: the caller sees it in the rollouts. The replays
// beyond the shorter slice are left out too.
//
// Whether the judge is trusted (record.Calibration.Trusted) is the caller's question as
// well: nothing here depends on it. The judge is shown neither Checks nor Reference of c.
//
// Replies are kept: the same answers to the same case are never paid for twice, in this
// run or a later one, in either order. The error is a *eval.BudgetError, ctx's, the
// store's, or an *eval.InfraError that another try would meet too; one of kind Pending
// is returned once all questions about the replays were put.
func (k *Comparer) Replays(ctx context.Context, c *eval.Case, incumbent, challenger []*eval.Rollout) (score float64, ok bool, err error) {
	var asked []*question
	var sum float64
	n := 0
	for i := range min(len(incumbent), len(challenger)) {
		a, b := incumbent[i], challenger[i]
		if !usable(a) || !usable(b) {
			continue
		}
		switch lost, won := failed(a), failed(b); {
		case lost && won || answerSHA(a) == answerSHA(b):
			n++
		case lost:
			sum++
			n++
		case won:
			sum--
			n++
		default:
			asked = append(asked, newQuestion(c, b, a))
		}
	}
	if err := k.compare(ctx, asked); err != nil {
		return 0, false, fmt.Errorf("compare answers to case %s: %w", c.ID, err)
	}
	for _, q := range asked {
		if q.ok {
			sum += q.score
			n++
		}
	}
	return sum / float64(max(1, n)), n > 0, nil
}

func usable(r *eval.Rollout) bool { return r != nil && r.Status == eval.Done && !r.Expired }

func failed(r *eval.Rollout) bool { return r.Failure != "" || strings.TrimSpace(r.Answer) == "" }

// A question is two answers to a case, and what the judge finds of them.
type question struct {
	kase           *eval.Case
	first, second  *eval.Rollout // with the answers; nil if their texts are gone
	firstID, other string        // see answerSHA

	votes [2]int // of the answer with the lower SHA-256, when it is shown first and second
	read  [2]bool
	score float64 // in favour of the first
	ok    bool
}

func newQuestion(c *eval.Case, first, second *eval.Rollout) *question {
	return &question{kase: c, first: first, second: second, firstID: answerSHA(first), other: answerSHA(second)}
}

// compare answers the questions from the records, and asks the judge the others.
func (k *Comparer) compare(ctx context.Context, all []*question) error {
	var open []*question
	same := map[string][]*question{} // equal replays ask the same once
	for _, q := range all {
		key := k.key(q)
		if same[key] = append(same[key], q); len(same[key]) > 1 {
			continue
		}
		old, err := k.db.Judgement(ctx, key)
		switch {
		case err != nil:
			return err
		case old != nil && (old.Run != k.run || k.model == nil):
			q.settle(2*old.Quality - 1)
		case k.model != nil && q.first != nil && q.second != nil:
			// What this run has asked before comes from its own records, and onto its bill.
			open = append(open, q)
		}
	}
	err := k.askAll(ctx, open)
	for _, q := range open {
		if !q.read[0] || !q.read[1] {
			continue
		}
		score := float64(q.votes[0]+q.votes[1]) / 2
		q.settle(score)
		said := store.Judgement{Key: k.key(q), Run: k.run, Skill: q.kase.Skill, CaseID: q.kase.ID, Quality: (score + 1) / 2}
		if e := k.db.SaveJudgement(ctx, said); err == nil {
			err = e
		}
	}
	for _, list := range same {
		for _, q := range list[1:] {
			if q.score, q.ok = list[0].score, list[0].ok; q.firstID != list[0].firstID {
				q.score = 0 - q.score
			}
		}
	}
	return err
}

// settle takes the score of the answer with the lower SHA-256.
func (q *question) settle(score float64) {
	if q.firstID > q.other {
		score = 0 - score
	}
	q.score, q.ok = score, true
}

// askAll puts both orders of each question, some calls at a time. The first error ends
// it, but one of a reply that is pending: all others are asked for then.
func (k *Comparer) askAll(ctx context.Context, open []*question) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	var pending sync.Once
	var waits error
	for i := 0; i < 2*len(open) && ctx.Err() == nil; i++ {
		select {
		case k.slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		all.Go(func() {
			defer func() { <-k.slots }()
			err := eval.Shielded(func() error { return k.ask(ctx, open[i/2], i%2) })
			if eval.IsPending(err) {
				pending.Do(func() { waits = err })
			} else if err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return waits
}

// ask puts a question in one order: 0 shows the answer with the lower SHA-256 first.
// Both orders of either question are so the same two prompts, with the same replies.
func (k *Comparer) ask(ctx context.Context, q *question, order int) error {
	shown := check.Comparison{Request: request(q.kase), Files: files(q.kase), First: q.first.Answer, Second: q.second.Answer,
		FirstWork: q.first.Work.Text(), SecondWork: q.second.Work.Text()}.Shown(k.redact)
	if (q.firstID > q.other) != (order == 1) {
		shown = shown.Swapped()
	}
	if shown.Equal() { // as far as a judge may see
		q.read[order] = true
		return nil
	}
	vote, read, err := shown.Prefer(ctx, func(ctx context.Context, p check.Prompt) (check.Reply, error) {
		c, err := k.model.Complete(ctx, eval.Prompt{System: p.System, User: p.User, Seed: p.Seed})
		return check.Reply{Text: c.Text, Cut: c.Finish == "length"}, err
	})
	var infra *eval.InfraError
	if errors.As(err, &infra) && (infra.Kind == eval.Unreachable || infra.Kind == eval.RateLimited || infra.Kind == eval.ServerError) {
		return nil // it was tried again before: unknown
	}
	if order == 1 {
		vote = -vote
	}
	q.votes[order], q.read[order] = vote, read
	return err
}

// key identifies a question to the judge in either order: everything that can change the
// answer.
func (k *Comparer) key(q *question) string {
	b, err := json.Marshal([]any{"comparison/1", k.Judge, q.kase.Skill, q.kase.ID, request(q.kase), files(q.kase), min(q.firstID, q.other), max(q.firstID, q.other)})
	if err != nil {
		panic("evolve: key of a comparison: " + err.Error()) // strings can be marshalled
	}
	return skill.HashText(b)
}

// request is what the user asked, with the conversation before.
func request(c *eval.Case) string {
	var b strings.Builder
	for _, m := range c.Context {
		fmt.Fprintf(&b, "%s, before: %s\n", m.Role, m.Text)
	}
	if b.Len() > 0 {
		b.WriteString("user, now: ")
	}
	return b.String() + c.Prompt
}

// files are the texts that came with a case.
func files(c *eval.Case) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		fmt.Fprintf(&b, "%s:\n%s\n", path, c.Files[path])
	}
	return b.String()
}
