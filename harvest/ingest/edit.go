package ingest

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
)

// An Edit is the result of editing a case.
type Edit struct {
	Changed  bool
	Warnings []string
}

// Replace replaces c by text, a case as JSON. trust also accepts checks that run
// programs; tests that are confirmed need none. again is the hint of an error; then nothing is changed.
func (g *Ingester) Replace(ctx context.Context, c *eval.Case, text []byte, trust bool, again string) (*Edit, error) {
	spent := g.SpentOn(ctx, c)
	next, err := eval.DecodeCase(text)
	switch {
	case err != nil:
		return nil, problem.Inputf(again, "%v", err)
	case next.ID != c.ID || next.Skill != c.Skill:
		return nil, problem.Inputf(again+"; import it as a case of its own", "an edit cannot change the id or the skill of a case")
	case next.Split != c.Split:
		return nil, problem.Inputf(again, "an edit cannot change the split of a case: a case that the search has seen decides no trial")
	}
	owner, err := consent.Read(g.Dir.Projects())
	if err != nil {
		return nil, err
	}
	n, err := acceptable(g.Redactor, next, func(k *eval.Check) bool { return trust || k.Type == eval.Tests }, owner, func() string { return fmt.Sprintf("case %q", next.ID) })
	var no *problem.Error
	if errors.As(err, &no) {
		return nil, &problem.Error{Kind: no.Kind, Err: no.Err, Hint: again}
	} else if err != nil {
		return nil, err
	}
	e := &Edit{Changed: !reflect.DeepEqual(next, c)}
	if e.Changed {
		if _, _, err := g.Store.SaveCases(ctx, []eval.Case{*next}); err != nil {
			return nil, err
		}
	}
	switch {
	case e.Changed && spent != "":
		e.Warnings = append(e.Warnings, fmt.Sprintf("new text %.12s has met this case as it was; that evidence stays", spent))
	case e.Changed && c.Split == eval.Test:
		e.Warnings = append(e.Warnings, "the search never sees this case; do not fit it to an answer that you have seen")
	}
	if n > 0 {
		e.Warnings = append(e.Warnings, plain.Counted(n, "secret")+" replaced by placeholders before anything was stored")
	}
	return e, nil
}
