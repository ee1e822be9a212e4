package search

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/tournament/record"
)

// addSeeds puts Options.Seeds into the pool beside the incumbent. Each is
// checked like any other text, except by the firewall, whose findings its
// owner has read. It has no minibatch to win, since it has no parent here; it
// races the best on validation, and is a parent from then on. One that may
// not be tried is recorded with the reason. The undecided challenger comes
// first, and was checked when it was made.
func (s *State) addSeeds(ctx context.Context) error {
	root := s.pool.members[0]
	seeds := s.opt.Seeds
	if s.opt.Standing != nil {
		seeds = append([]record.Candidate{*s.opt.Standing}, seeds...)
	}
	for i, seed := range seeds {
		standing := i == 0 && s.opt.Standing != nil
		doc, err := skill.Parse(seed.Text, root.Variant.Doc.Options())
		if err != nil {
			return fmt.Errorf("read seed %.12s: %w", seed.SHA, err)
		}
		if s.tried[doc.Hash()] {
			continue
		}
		s.tried[doc.Hash()] = true
		s.seq++
		parents := []string{root.SHA}
		if seed.Run == "" && len(seed.Parents) > 0 { // made for this search, of the live text and a challenger
			parents = seed.Parents
		}
		c := record.Candidate{SHA: doc.Hash(), Run: s.Log.Run, Seq: s.seq, Parents: parents, Operator: seed.Operator,
			State: record.Pooled, Reason: "it stood in the pool from the start", Taught: seed.Taught, Shown: seed.Shown, Text: doc.Render()}
		if reason := s.refused(root.Variant.Doc, doc); reason != "" && !standing {
			c.State, c.Reason = record.Invalid, reason
		}
		if err := s.Log.Journal.SaveCandidate(ctx, &c); err != nil {
			return err
		}
		if c.State == record.Invalid {
			s.stats.Invalid++
			if err := s.emit(ctx, "invalid", map[string]any{"sha256": c.SHA, "operator": c.Operator, "reason": c.Reason}); err != nil {
				return err
			}
			continue
		}
		s.stats.Seeds++
		s.approved = append(s.approved, doc)
		m := s.pool.add(c, root.Variant.With(doc), 0)
		if standing {
			s.standing = m
		}
		if err := s.emit(ctx, "sown", map[string]any{"sha256": c.SHA, "operator": c.Operator, "tokens": m.Tokens, "standing": standing}); err != nil {
			return err
		}
		if err := s.race(ctx, m, 0); err != nil {
			return err
		}
	}
	return nil
}

// refused returns why a seed may not be tried, "" if it may.
func (s *State) refused(root, doc *skill.Document) string {
	if reason := s.guard.refuse(root, doc); reason != "" {
		return reason
	}
	for _, f := range check.Check(root, doc, s.opt.Profile) {
		if f.Severity == check.Reject {
			return f.String()
		}
	}
	return ""
}
