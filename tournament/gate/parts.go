package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Reader decides to which requests a change applies. It sees a request, what was said
// before it and the names of the files, and nothing that followed. It decides before anything
// is replayed, requests in order of their arrival. What it cannot decide is left out of
// Parts. An *eval.BudgetError comes with what was decided before; other errors are ctx's or the
// infrastructure's.
type Reader interface {
	Read(ctx context.Context, incumbent, challenger eval.Variant, cases []eval.Case, uses []record.Use) (*record.Parts, error)
}

// divide has the reader decide, and returns the cases that the trial is about.
func (g *Gate) divide(ctx context.Context, st *state, v *Verdict, incumbent, challenger eval.Variant, test []eval.Case) ([]eval.Case, error) {
	st.uses = g.Uses
	if g.Reader == nil {
		return test, nil
	}
	parts, err := g.Reader.Read(ctx, incumbent, challenger, test, g.Uses)
	if limit, ok := errors.AsType[*eval.BudgetError](err); ok {
		v.stopAt(limit)
	} else if err != nil {
		return nil, fmt.Errorf("read to which requests the change applies: %w", err)
	}
	st.Divide(parts)
	st.uses = slices.Clone(g.Uses)
	for i := range st.uses {
		if st.uses[i].Part = record.Unread; i < len(parts.Uses) && parts.Uses[i] != record.All {
			st.uses[i].Part = parts.Uses[i]
		}
	}
	v.Share = st.Share(st.uses, parts.Left)
	st.WithoutRest(v.Share)
	st.WeighParts(v.Share)
	if rule := st.Trial.Config(); st.Trial.Cases() == 0 {
		rule.Failures, rule.Removes = record.FailuresOf(st.about()), parts.Removes
		st.Trial = st.Trial.Under(rule)
	}
	v.Decision = st.Trial.Decide()
	st.rest = st.Of(test, record.Rest)
	return st.Of(test, record.Applies), nil
}

// about are the uses that the trial is about.
func (st *state) about() []record.Use {
	if st.rest == nil && len(st.Parts) == 0 {
		return st.uses
	}
	return record.In(st.uses, record.Applies)
}

// others are the clusters of the rest that may be measured, in random order, and whether a
// judge has a say in them. Of those that wait for a judge to be trusted none is measured:
// see record.Unheard.
func (g *Gate) others(st *state, of record.Change) (list []record.Cluster, judged bool) {
	if st.Trial.Config().Rest == (pareto.Limit{}) {
		return nil, false
	}
	list, out := st.BeginsRest(g.open(st, of, st.rest), st.uses)
	st.left.Cases, st.left.Beside = st.left.Cases+out.Cases, st.left.Beside+out.Beside
	judged = record.RestsOnJudge(st.rest) > 0
	switch {
	case g.Judge.Trusted():
	case record.Unheard(st.rest, record.In(st.uses, record.Rest), g.Judge):
		return nil, judged
	default:
		list = unasked(list)
	}
	return list, judged
}

// unasked are the clusters in which no judge has a say.
func unasked(list []record.Cluster) []record.Cluster {
	return slices.DeleteFunc(list, func(c record.Cluster) bool { return record.Asks(c.Cases...) })
}

// waitsForRest is why a trial stops that only the rest holds back.
func (g *Gate) waitsForRest(st *state) string {
	if !g.Judge.Trusted() && record.Unheard(st.rest, record.In(st.uses, record.Rest), g.Judge) {
		return fmt.Sprintf("the other requests wait for your word on the judge: `evolve review %s`", g.Skill)
	}
	if d := st.Trial.Decide(); d.Rest.OverAll != nil && *d.Rest.OverAll < 0 {
		return fmt.Sprintf("it waits for more of your other requests: over all it is estimated to be worse (%+.3f); %s were compared", *d.Rest.OverAll, plain.Counted(st.Trial.RestCases(), "other request"))
	}
	return fmt.Sprintf("it waits for more of your other requests, to show that they are not harmed; %s were compared", plain.Counted(st.Trial.RestCases(), "other request"))
}

// reportShare adds to the verdict to how many requests the change applies.
func (g *Gate) reportShare(st *state, v *Verdict, of record.Change) {
	if v.Share == nil {
		return
	}
	v.Reason = v.Share.String() + ": " + v.Reason
	if st.Trial.Unmissed() {
		v.Reason += fmt.Sprintf("; without the removed lines no difference was seen: `evolve promote %s@%.12s` takes them out at your word", g.Skill, of.Challenger)
	}
	if v.Verdict.IsOpen() && v.Share.Applies == 0 && v.Share.Rest > 0 && !v.BudgetStop {
		v.Stop = v.Share.String() + ", so nothing was replayed"
	}
	if v.Share.Left > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s left out: it is not decided whether the changed rules apply; they are read again next time", plain.Counted(v.Share.Left, "unseen request")))
	}
}
