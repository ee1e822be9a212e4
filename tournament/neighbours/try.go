package neighbours

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Trial tries a text of a skill beside its neighbours.
type Trial struct {
	Neighbours []Neighbour
	Old        eval.Variant
	// Evaluator runs rollouts of these cases, without work retries: what a neighbour answers at
	// first decides.
	Evaluator func(cases []eval.Case) *eval.Evaluator
}

// Try has the requests of each neighbour answered beside the old text and beside a new one. The
// rollouts have an arm of their own, so that no trial and no search finds them, and are kept
// under their keys, so that a resumed run has them. A cap that was reached is no error: it is
// in the result. err is the infrastructure's or ctx's.
func (t *Trial) Try(ctx context.Context, new eval.Variant) ([]record.Beside, error) {
	var out []record.Beside
	of := len(tried(t.Neighbours))
	for i := range t.Neighbours {
		n := &t.Neighbours[i]
		b := record.Beside{Skill: n.Skill, P: 1, Untried: n.untried}
		if b.Untried == "" {
			if err := t.beside(ctx, n, new, of, &b); ends(err) {
				return nil, err
			} else if err != nil {
				b.Stop = err.Error()
			}
		}
		out = append(out, b)
	}
	return out, nil
}

// ends reports whether an error ends the run. A cap does not, nor what is wrong with the requests
// of this neighbour alone: the run has its verdict.
func ends(err error) bool {
	var infra *eval.InfraError
	if errors.As(err, new(*eval.BudgetError)) {
		return false
	}
	return err != nil && !(errors.As(err, &infra) && (infra.Kind == eval.BadRequest || infra.Kind == eval.Refused))
}

// beside tries one of so many neighbours.
func (t *Trial) beside(ctx context.Context, n *Neighbour, new eval.Variant, of int, b *record.Beside) error {
	arm := gate.Arm("beside", t.Old.SHA(), new.SHA())
	pass := func(cases []eval.Case, trial int) (worse, better []eval.Case, answered int, err error) {
		var passed [2]map[string]bool
		for i, v := range []eval.Variant{t.Old, new} {
			if passed[i], err = t.answers(ctx, n, v, cases, arm, trial); err != nil {
				return nil, nil, 0, err
			}
		}
		for _, c := range cases {
			a, ok := passed[0][c.ID]
			z, too := passed[1][c.ID]
			if !ok || !too {
				continue
			}
			answered++
			if a && !z {
				worse = append(worse, c)
			} else if z && !a {
				better = append(better, c)
			}
		}
		return worse, better, answered, nil
	}
	worse, better, answered, err := pass(n.cases, 0)
	if err != nil {
		return err
	}
	b.Requests, b.Worse, b.Better = answered, len(worse), len(better)
	if answered < Fewest {
		b.Stop = "too few of its requests got an answer"
		return nil
	}
	// A second pass that could not hold the text back is not paid for.
	if again := b.Worse + b.Better; signTest(b.Worse+again, b.Better) > most(of) {
		return nil
	}
	worse, better, _, err = pass(slices.Concat(worse, better), 1)
	if err != nil {
		return err
	}
	b.WorseAgain, b.BetterAgain = len(worse), len(better)
	b.P = signTest(b.Worse+b.WorseAgain, b.Better+b.BetterAgain)
	b.Held = b.P <= most(of)
	return nil
}

// answers reports, by case, whether the neighbour's answer passes all its checks beside a text;
// requests without an answer are not in it.
func (t *Trial) answers(ctx context.Context, n *Neighbour, beside eval.Variant, cases []eval.Case, arm string, trial int) (map[string]bool, error) {
	ev := t.Evaluator(n.cases)
	ev.Others = append(slices.Clone(n.others), eval.Offer{Name: beside.Name, Dir: beside.Dir, SHA: beside.SHA(), Text: beside.Doc.Render()})
	ev.MaxMissing = 1 // what is missing decides nothing here, and must not end a run that has its verdict
	jobs := make([]eval.Job, len(cases))
	for i := range cases {
		jobs[i] = eval.Job{Variant: n.variant, Case: &cases[i], Trial: trial, Arm: arm}
	}
	rollouts, err := ev.Run(ctx, jobs)
	if err != nil {
		return nil, err
	}
	passed := map[string]bool{}
	for _, r := range rollouts {
		if r != nil && r.Status == eval.Done {
			passed[r.CaseID] = r.Failure == "" && !slices.ContainsFunc(r.Checks, func(c eval.CheckResult) bool { return !c.Passed() })
		}
	}
	return passed, nil
}

// most is the largest p that holds a text back beside one of so many neighbours. Where two
// texts are equal, each pair that differs is as likely worse as better, in either pass: the
// second one only takes pairs of which the first differed, whichever way, so its signs are
// fair coins again, and so are those of both passes together. The sign test over both is thus
// exact; because few pairs differ it rejects much less often than p says. A share for each
// neighbour keeps the text that is equal beside all of them from being held back in more than
// 2 of 100 runs, see TestEqualTexts. Without the second pass, four requests of eight that
// fail only with the new text would decide nothing (p 1 in 16).
func most(neighbours int) float64 { return 0.05 / float64(max(1, neighbours)) }

// signTest is how probable as many worse pairs are, or more, if worse and better are as likely.
func signTest(worse, better int) (p float64) {
	n, ways := worse+better, 1.
	for k := n; k >= worse; k-- { // the number of ways to have k worse ones
		p += ways
		ways *= float64(k) / float64(n-k+1)
	}
	return p * math.Pow(2, -float64(n))
}
