package sleep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Certification measures an installed version on the agent of the night:
// against the version that it replaced, and against no skill, on held-out cases.
// All arms of a case run adjacent in time, in random order, and never from the
// cache of another measurement.
type Certification struct {
	Evaluator *eval.Evaluator
	On        Model // as the night began: what it is called may become known on the way
	Installed eval.Variant
	Previous  *eval.Variant // nil: its text is gone
	Cases     []eval.Case   // held out
	// Judge is the evaluator's judge, by its grader's identity, where its word alone
	// is evidence; "" where clusters that rest on it are left out. Trusts says the
	// same of the judges of other runs; nil: nobody is trusted.
	Judge  string
	Trusts func(judge string) bool
	// Seen tells of a case that the version's own gate was won on. Such cases
	// come last: they may flatter it, which delays an alarm and a proposal for
	// retirement, and makes neither. nil: none was.
	Seen func(caseID string) bool
	// Spent knows the prints of the store's cases; nil in embedding and tests.
	Spent *record.Spent
	// Objectives that count beside quality; nil for all.
	Objectives []string

	copies int // cases that were left out for what they ask alone
}

// Copies says in words how many cases Run left out because they repeat others, ""
// for none.
func (k *Certification) Copies() string { return record.Repeated(k.copies) }

// Run goes on with c, as the given run, until it is closed, its cases are used up
// or the budget is, and returns it with the reason why it stopped, "" where it is
// closed. Running it again as the same run makes the same of the recorded
// rollouts. The error is ctx's, the recorder's or the infrastructure's.
func (k *Certification) Run(ctx context.Context, run string, c Certificate) (Certificate, string, error) {
	l := c.open(run, k.Trusts)
	key := keyOf(k.On)
	parts := [2]CertificatePart{{Run: run}, {Run: run, Judge: k.Judge}}
	groups := k.fresh(&c, run, key)
	stop := ""
	batch := max(1, k.Evaluator.Concurrency/3)
	for len(groups) > 0 && !c.Closed() && stop == "" { // each turn uses up at least one of them
		if err := ctx.Err(); err != nil {
			return c, "", err
		}
		now := k.affordable(groups[:min(batch, len(groups))], c.arms())
		if len(now) == 0 {
			stop = (&eval.BudgetError{Cap: "max-rollouts"}).Error()
			break
		}
		groups = groups[len(now):]
		var err error
		if stop, err = k.try(ctx, key, l, &parts, now); err != nil {
			return c, "", err
		}
	}
	for _, p := range parts {
		if len(p.Clusters) > 0 {
			c.Parts = append(c.Parts, p)
		}
	}
	switch {
	case c.Closed():
		return c, "", nil
	case stop == "":
		stop = "no held-out case is left"
	}
	return c, stop, nil
}

// moved is how many clusters in a row another model has to answer until that is no
// stand-in, and the name that was asked for means another model now.
const moved = 5

// A group is one cluster: cases that are not independent.
type group struct {
	name   string
	cases  []*eval.Case
	seen   bool
	judged bool // a judge alone decides it
}

// late orders groups: those of other checks first, then those that the version's
// own gate has not seen.
func (g *group) late() (rank int) {
	if g.judged {
		rank += 2
	}
	if g.seen {
		rank++
	}
	return rank
}

// fresh lists the clusters that c has not got from another run, under whatever
// names: those that a judge
// alone decides last, so that parts are read back in the order in which they were
// measured; before that those that its own gate has not seen first, else in an
// order that only the version and the model decide.
func (k *Certification) fresh(c *Certificate, run, key string) []group {
	by := map[string]*group{}
	var names []string
	used := c.heard(run)
	for i := range k.Cases {
		if kase := &k.Cases[i]; c.Tried(ClusterName(kase), run) {
			used = append(used, eval.ClusterOf(kase))
		}
	}
	cases, copies := k.Spent.Unused(k.Cases, used)
	k.copies = copies
	for i := range cases {
		kase := &cases[i]
		name := ClusterName(kase)
		g := by[name]
		if g == nil {
			g = &group{name: name}
			by[name], names = g, append(names, name)
		}
		g.cases = append(g.cases, kase)
		g.seen = g.seen || k.Seen != nil && k.Seen(kase.ID)
	}
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(number(c.Version), number(key)))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var out []group
	for _, name := range names {
		if g := by[name]; Countable(k.Judge != "", g.cases...) {
			g.judged = record.JudgeOnly(g.cases...)
			slices.SortFunc(g.cases, func(a, b *eval.Case) int { return cmp.Compare(a.ID, b.ID) })
			out = append(out, *g)
		}
	}
	slices.SortStableFunc(out, func(a, b group) int { return cmp.Compare(a.late(), b.late()) })
	return out
}

// Countable reports whether a cluster may count in a certificate: somebody asked
// for all of it, and it does not rest on the word of a judge alone that is not
// trusted.
func Countable(trusted bool, cases ...*eval.Case) bool {
	return (trusted || !record.JudgeOnly(cases...)) && !slices.ContainsFunc(cases, func(c *eval.Case) bool { return c.Generated() })
}

// affordable is as many of the groups, from the first on, as the cap on rollouts
// can carry with every work retry used.
func (k *Certification) affordable(groups []group, arms int) []group {
	rest := k.Evaluator.Budget.Remaining().Rollouts
	if rest == 0 {
		return groups
	}
	for i, g := range groups {
		if rest -= int64(arms * len(g.cases) * (1 + k.Evaluator.MaxRetries)); rest < 0 {
			return groups[:i]
		}
	}
	return groups
}

// try runs the arms on the groups, enters what they say, and says why the next ones
// need not be tried, "" where they may. A group that another model answered, even in
// part, is used up and says nothing.
func (k *Certification) try(ctx context.Context, key string, l *ledger, parts *[2]CertificatePart, groups []group) (stop string, err error) {
	arms := []eval.Variant{k.Installed}
	if k.Previous != nil && l.Previous != "" && l.Outcome == Open {
		arms = append(arms, *k.Previous)
	}
	if l.Lift == LiftOpen {
		arms = append(arms, eval.Variant{Name: k.Installed.Name})
	}
	name := "certify:" + l.Version[:min(16, len(l.Version))] + ":" + key
	var jobs []eval.Job
	for _, g := range groups {
		for _, c := range g.cases {
			order := rand.New(rand.NewPCG(number(key), number(c.ID))).Perm(len(arms))
			for _, at := range order {
				jobs = append(jobs, eval.Job{Variant: arms[at], Case: c, Arm: name})
			}
		}
	}
	rollouts, err := k.Evaluator.Run(ctx, jobs)
	var limit *eval.BudgetError
	if err != nil && !errors.As(err, &limit) {
		return "", err
	}
	at, other := 0, ""
	for _, g := range groups {
		n := len(arms) * len(g.cases)
		mine := rollouts[at : at+n]
		at += n
		if slices.Contains(mine, nil) {
			continue // the budget did not reach it
		}
		part := &parts[0]
		if g.judged {
			part = &parts[1]
		}
		if name := l.learn(mine); name != "" {
			other = name
			l.strange++
			k.enter(l, part, g, nil, nil)
			continue
		}
		l.strange = 0
		var against, alone *pareto.Pair
		if k.Previous != nil {
			against = k.difference(mine, k.Previous.SHA())
		}
		alone = k.difference(mine, eval.NoSkill)
		k.enter(l, part, g, against, alone)
	}
	l.judge()
	switch {
	case limit != nil:
		stop = limit.Error()
	case l.strange >= moved:
		stop = fmt.Sprintf("%s answers now, another model than this is about", other)
	}
	return stop, nil
}

// enter adds what one group says, and notes by what its cases are known again.
func (k *Certification) enter(l *ledger, part *CertificatePart, g group, against, alone *pareto.Pair) {
	for _, c := range g.cases {
		part.Heard = append(part.Heard, k.Spent.Prints(c)...)
	}
	l.enter(part, g.name, against, alone)
}

// learn notes the model that really answered, and returns the name of another one
// that did, "" for none. One that the agent had not reported before is the name of
// what is certified.
func (l *ledger) learn(rs []*eval.Rollout) (other string) {
	on := l.Model.Reported
	for _, r := range rs {
		switch {
		case r.Status != eval.Done || r.Model == "" || r.Model == on:
		case on == "":
			on = r.Model
		default:
			return r.Model
		}
	}
	l.Model.Reported = on
	return ""
}

// difference pairs the installed arm with another one; nil where that was not
// tried.
func (k *Certification) difference(rs []*eval.Rollout, other string) *pareto.Pair {
	by := map[string][]*eval.Rollout{}
	for _, r := range rs {
		by[r.Candidate] = append(by[r.Candidate], r)
	}
	old, now := by[other], by[k.Installed.SHA()]
	if len(old) != len(now) {
		return nil
	}
	var pairs []*eval.Rollout
	for i := range old { // both in the order of the cases
		pairs = append(pairs, old[i], now[i])
	}
	d := gate.Difference(pairs, other)
	for o, p := range map[string]*float64{"latency": &d.Latency, "cost": &d.Cost, "retries": &d.Retries} {
		if k.Objectives != nil && !slices.Contains(k.Objectives, o) {
			*p = math.NaN()
		}
	}
	return d
}

// number makes a seed of a name: FNV-1a.
func number(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}
