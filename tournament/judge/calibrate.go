// Package judge compares two answers by a judge's opinion, measures how far that judge agrees
// with the skill's owner, and lists the pairs of answers for a blind review.
package judge

import (
	"context"
	"errors"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Calibrate measures how well the judge agrees with the owner, once a run: a
// resumed run gets the recorded result, and is billed for the calls that it
// took. A cap that ends it is no error: the agreement on the labels so far is
// returned, and not recorded.
func (k *Comparer) Calibrate(ctx context.Context, name string, cases []eval.Case) (record.Calibration, error) {
	replies, err := k.db.Recorded(ctx, k.run, eval.ByJudge)
	if err == nil {
		// This includes calls that would not be made again, because the
		// labels have changed.
		err = k.budget.ChargeRecorded(eval.ByJudge, replies)
	}
	if err != nil {
		return record.Calibration{}, err
	}
	old, err := k.db.Calibration(ctx, k.run)
	if err != nil {
		return record.Calibration{}, err
	}
	// Of another judge, or an older evolve's grades of single answers, it tells nothing.
	if old != nil && old.Judge == k.Judge {
		return *old, nil
	}
	c, err := k.measure(ctx, name, cases)
	var limit *eval.BudgetError
	if errors.As(err, &limit) {
		c.Stop = limit.Error()
		return c, nil
	}
	if err != nil {
		return c, err
	}
	return c, k.db.SaveCalibration(ctx, k.run, c)
}

// triesInVain is how many runs in a row ask a judge about the same labels without a
// readable reply.
const triesInVain = 3

// inVain reports whether the last runs have asked the same judge, and got no readable
// reply for as many labels as now.
func (k *Comparer) inVain(ctx context.Context, name string, known record.Calibration) (bool, error) {
	last, err := k.db.LastCalibrations(ctx, name, triesInVain)
	if err != nil || len(last) < triesInVain {
		return false, err
	}
	for _, c := range last {
		if c.Judge != k.Judge || c.Labels != known.Labels || c.Since != known.Since || c.Missing != known.Missing {
			return false, nil
		}
	}
	return true, nil
}

// measure counts what the judge has said about the owner's reviews. It asks about the
// others if that can bring about a look: else no answer could make a difference.
func (k *Comparer) measure(ctx context.Context, name string, cases []eval.Case) (record.Calibration, error) {
	known, err := OnRecord(ctx, k.db, name, cases, k.Judge)
	if err != nil || known.Missing == 0 || known.Reviews() > 0 {
		return known, err
	}
	if vain, err := k.inVain(ctx, name, known); vain || err != nil {
		return known, err
	}
	return k.count(ctx, name, cases)
}

// OnRecord measures how well a judge, by its identity, agrees with the owner's labels as
// far as it was ever asked about them. Missing counts the others. No model is asked.
func OnRecord(ctx context.Context, db *store.Store, name string, cases []eval.Case, judge string) (record.Calibration, error) {
	return onRecord(db, judge).count(ctx, name, cases)
}

// count compares the owner's preferences with the judge's.
func (k *Comparer) count(ctx context.Context, name string, cases []eval.Case) (record.Calibration, error) {
	c := record.Calibration{Judge: k.Judge}
	labels, err := k.db.Labels(ctx, name)
	if err != nil {
		return c, err
	}
	asked, prefers, err := k.reviewed(ctx, labels, cases)
	if err != nil {
		return c, err
	}
	err = k.compare(ctx, asked)
	var said []record.Said
	for i, q := range asked {
		switch {
		case q.ok:
			said = append(said, record.Said{First: prefers[i] == store.FirstBetter, Score: q.score})
		case q.first != nil && q.second != nil: // else nobody can be asked any more
			c.Missing++
		}
	}
	c.Count(said)
	return c, err
}

// Calls is how many calls a calibration of a new judge takes at most.
func Calls(ctx context.Context, db *store.Store, name string) (int, error) {
	labels, err := db.Labels(ctx, name)
	labels = slices.DeleteFunc(labels, func(l store.Label) bool { return l.Choice == store.Same })
	if len(labels) < record.TrustedLabels {
		return 0, err // it is asked nothing
	}
	return 2 * len(labels), err
}

// reviewed are the pairs of which the owner likes one answer better, the oldest first.
func (k *Comparer) reviewed(ctx context.Context, labels []store.Label, cases []eval.Case) (asked []*question, prefers []store.Choice, err error) {
	byID := map[string]*eval.Case{}
	for i := range cases {
		byID[cases[i].ID] = &cases[i]
	}
	for _, l := range labels {
		c := byID[l.CaseID]
		if c == nil || l.Choice == store.Same {
			continue
		}
		answers, err := k.db.Answers(ctx, l.CaseID)
		if err != nil {
			return nil, nil, err
		}
		q := &question{kase: c, firstID: l.First, other: l.Second}
		if a, b := answerOf(answers, l.First), answerOf(answers, l.Second); a != nil && b != nil {
			q.first, q.second = a, b
		}
		asked, prefers = append(asked, q), append(prefers, l.Choice)
	}
	return asked, prefers, nil
}
