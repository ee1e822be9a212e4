package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/verify"
	"github.com/skill-evolve/evolve/store"
)

// unproven reports whether the checks of a mined case of a turn that was corrected are still
// those that were made without a model: they quote the user, or ask whether the request is
// fulfilled, because it was thrown away or asked for again.
func unproven(c eval.Case) bool {
	return Quoted(c) || disputed(&c) && len(c.Checks) == 1 && c.Checks[0].Rubric == harvest.Fulfilled.Rubric
}

func disputed(c *eval.Case) bool {
	return c.Source != nil && c.Source.Origin == "mined" && c.Source.Stratum == string(harvest.Corrected)
}

// verify tries the rubrics of mined cases on what was recorded. What cannot be decided yet
// gets the checks that it would have without a model, and is tried again next time. count:
// requests are only counted, for cases whose rubrics are not yet written, too.
func (q *quarry) verify(ctx context.Context, mined []eval.Case, stats *MineStats, count bool) (err error) {
	if q.Model == nil {
		return nil
	}
	sessions := map[string]*harvest.Session{}
	for _, s := range q.sessions {
		sessions[s.ID] = s
	}
	var items []*verify.Item
	for i := range mined {
		c := &mined[i]
		s, k := sessions[c.Source.Session], q.keptOf(c.ID)
		if !disputed(c) || stats.NoCase[c.ID] != "" || k == nil && (s == nil || q.May != nil && !q.May(s)) || !slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Asks() }) {
			continue
		}
		if Quoted(*c) {
			if !count {
				continue
			}
			later := *c
			later.Checks = []eval.Check{{Type: eval.Judge, Rubric: strings.Repeat("words ", 30)}}
			c = &later
		}
		it := &verify.Item{Case: c}
		if k != nil {
			it.Trial.Answer = k.Answer
		} else {
			it.Trial = harvest.TrialOf(s, c)
		}
		items = append(items, it)
	}
	// While rubrics are still to come, none are asked about: then they would be in other groups.
	v := verify.Verifier{Model: q.Model, Memory: q.g.Store, Redactor: q.g.Redactor, Hold: stats.Fallbacks[harvest.Awaited] > 0}
	stats.Verified, err = v.Verify(ctx, items)
	for _, it := range items {
		switch {
		case it.Open:
			q.quote(it.Case, sessions[it.Case.Source.Session])
		case it.Why != "":
			if stats.NoCase == nil {
				stats.NoCase = map[string]string{}
			}
			stats.NoCase[it.Case.ID] = it.Why
		default:
			it.Case.Checks = it.Checks
		}
	}
	return err
}

// keptOf is the case of that id whose session's text has expired, nil if there is none.
func (q *quarry) keptOf(id string) *harvest.Kept {
	if i := slices.IndexFunc(q.kept, func(k harvest.Kept) bool { return k.Case.ID == id }); i >= 0 {
		return &q.kept[i]
	}
	return nil
}

// quote gives a case the checks that it has without a model.
func (q *quarry) quote(c *eval.Case, s *harvest.Session) {
	if k := q.keptOf(c.ID); k != nil {
		c.Checks = k.Case.Checks
		return
	}
	_, corrections, _, ok := harvest.TurnsOf(s, c)
	if !ok || c.Source.Outcome != string(harvest.Corrected) {
		return
	}
	if c.Checks = s.Quoted(corrections); len(c.Checks) == 0 {
		c.Checks, c.Reference = []eval.Check{harvest.Fulfilled}, ""
	}
	for i, k := range c.Checks {
		c.Checks[i].Rubric, c.Checks[i].Feedback = q.redact(k.Rubric), q.redact(k.Feedback)
	}
}

func (q *quarry) redact(text string) string {
	if q.g.Redactor != nil {
		text, _ = q.g.Redactor.Redact(text)
	}
	return text
}

// keep stores the mined cases, and drops those that are none. It returns the ones that the
// store has then: not those that were dropped earlier, which are mined again each time.
func (q *quarry) keep(ctx context.Context, mined []eval.Case, stats *MineStats) ([]eval.Case, error) {
	if _, _, err := q.g.Store.SaveCases(ctx, mined); err != nil {
		return nil, err
	}
	for id := range stats.NoCase {
		if err := q.g.Store.DropCase(ctx, q.name, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	stored, err := q.g.Store.Cases(ctx, q.name)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, c := range stored {
		has[c.ID] = true
	}
	return slices.DeleteFunc(mined, func(c eval.Case) bool {
		if has[c.ID] {
			return false
		}
		if _, again := q.again[c.ID]; !again {
			stats.Cases--
		}
		if stats.Moments != nil && !c.Source.TrainOnly {
			stats.Moments.Drop(c.Source.Stratum)
		}
		return true
	}), nil
}

// Refused says why corrections became no cases, and what is still to be decided; "" if
// there is nothing to say.
func (s *MineStats) Refused() string {
	var parts []string
	if n := len(s.NoCase); n > 0 {
		by := map[string]int{}
		for _, why := range s.NoCase {
			by[why]++
		}
		var whys []string
		for _, why := range slices.Sorted(maps.Keys(by)) {
			whys = append(whys, fmt.Sprintf("%d: %s", by[why], why))
		}
		parts = append(parts, fmt.Sprintf("%s became no case (%s)", plain.Counted(n, "correction"), strings.Join(whys, "; ")))
	}
	if n := s.Verified.Open; n > 0 {
		parts = append(parts, fmt.Sprintf("%s for a model that tries its rubric on what was recorded", waits(n)))
	}
	return strings.Join(parts, ", ")
}

func waits(n int) string {
	if n == 1 {
		return "1 waits"
	}
	return fmt.Sprintf("%d wait", n)
}
