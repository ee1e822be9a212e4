package candidate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Given is a text that the owner of the live one gave, with what to say of where it comes
// from. Its parents are the live text and those that come of a suggestion, for any subject,
// and say something that it says as well: it may have read what they have read.
func Given(ctx context.Context, db *store.Store, live *skill.Live, text []byte) (*record.Candidate, []string, error) {
	c := &record.Candidate{SHA: skill.HashText(text), Seq: 1, Parents: []string{live.Doc.Hash()}, Operator: record.Checked, State: record.Pooled,
		Reason: "its owner gave it", Text: text}
	doc, err := skill.Parse(text, live.Doc.Options())
	if err != nil {
		return nil, nil, fmt.Errorf("read a text of %s: %w", skill.Called(live.Name), err)
	}
	spent, err := db.Journal("").SpentCases(ctx, live.Name)
	if err != nil {
		return nil, nil, err
	}
	var says, erased string
	for _, sha := range slices.Sorted(maps.Keys(spent.Frozen)) {
		made, of, err := making(ctx, db, sha, func(c *record.Candidate) bool { return c.Operator != record.Checked }) // a given text's parents are known
		switch {
		case err != nil:
			return nil, nil, err
		case made == nil:
			continue
		case sha == c.SHA: // it was made before, and is frozen as that
			c.Parents = c.Parents[:1]
			return c, nil, nil
		case len(made.Text) == 0: // nothing is left to compare with
			if made.Operator == record.Suggested {
				c.Parents, erased = append(c.Parents, sha), sha
			}
			continue
		}
		base, err := baseOf(ctx, db, live, made, of)
		if err != nil {
			return nil, nil, err
		}
		theirs, err := skill.Parse(made.Text, skill.OptionsOf(of))
		if err != nil || repeats(unitsOf(live.Doc), unitsOf(doc), base, unitsOf(theirs)) {
			c.Parents, says = append(c.Parents, sha), sha
		}
	}
	var notes []string
	if says != "" {
		notes = append(notes, fmt.Sprintf("it says what %.12s says, which comes of a suggestion: only what is asked for after that counts", says))
	}
	if erased != "" {
		notes = append(notes, fmt.Sprintf("the text of suggestion %.12s was erased with a session, so it cannot be compared: only what is asked for after it counts", erased))
	}
	return c, notes, nil
}

// making is the first record of a text that a run made and that is to be kept, with the run's
// subject; nil for none.
func making(ctx context.Context, db *store.Store, sha string, keep func(*record.Candidate) bool) (*record.Candidate, string, error) {
	seen, err := db.Sightings(ctx, sha)
	for i := range seen {
		if c := &seen[i]; c.State != record.Seed && keep(c) {
			run, err := db.Run(ctx, c.Run)
			if err != nil {
				return nil, "", fmt.Errorf("read run %s: %w", c.Run, err)
			}
			return c, run.Skill, nil
		}
	}
	return nil, "", err
}

// baseOf are the units of the text that a candidate for a subject was made from. If that is
// gone, they are those of the live text, or none for another subject: then all that the
// candidate says counts as its own.
func baseOf(ctx context.Context, db *store.Store, live *skill.Live, c *record.Candidate, of string) ([]unit, error) {
	if len(c.Parents) > 0 {
		p, err := MadeBy(ctx, db, of, c.Parents[0])
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err == nil && len(p.Text) > 0 {
			if doc, err := skill.Parse(p.Text, skill.OptionsOf(of)); err == nil {
				return unitsOf(doc), nil
			}
		}
	}
	if of == live.Name {
		return unitsOf(live.Doc), nil
	}
	return nil, nil
}

// repeats reports whether a text changes in the live one something that a suggestion changes in
// its base: it says what one of its lines says in any lines and any order, or deletes a unit
// that it deletes. Words that only stand near each other count as well: then fewer uses are
// evidence, and the other mistake would prove a text on what it has read.
func repeats(live, text, base, suggested []unit) bool {
	has := func(list []unit, said string) bool {
		return slices.ContainsFunc(list, func(u unit) bool { return u.key() == unit{Text: said}.key() })
	}
	says, gone := changes(edits(live, text))
	theirs := edits(base, suggested)
	_, was := changes(theirs) // a line that says much more than before is not paired with what it was
	return slices.ContainsFunc(theirs, func(e Edit) bool {
		if e.Is == "" {
			return !has(text, e.Was) && mutate.Repeats(gone, e.Was, "")
		}
		return !has(live, e.Is) && (mutate.Repeats(says, e.Is, e.Was) || mutate.Repeats(says, e.Is, was))
	})
}

// changes are all that edits add and all that they take away.
func changes(list []Edit) (is, was string) {
	for _, e := range list {
		is, was = is+e.Is+"\n", was+e.Was+"\n"
	}
	return is, was
}

// ShownFor are the ids of the cases that the mutator saw for a text of a subject, as Texts.Shown,
// by the subject of the cases: a given text may come of a suggestion for another one. A version
// is its owner's, and so is what it was made from.
func ShownFor(ctx context.Context, db *store.Store, of, sha string) (map[string][]string, error) {
	type text struct{ of, sha string }
	out, seen := map[string][]string{}, map[text]bool{}
	for queue := []text{{of, sha}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if seen[at] {
			continue
		}
		seen[at] = true
		s := &Texts{Skill: at.of, Store: db}
		var err error
		if s.Versions, err = db.Versions(ctx, at.of); err != nil {
			return nil, err
		}
		ids, others, err := s.steps(ctx, at.sha, func(sha string) bool { return s.VersionOf(sha) != nil }, shown)
		if err != nil {
			return nil, err
		}
		out[at.of] = append(out[at.of], ids...)
		for _, sha := range others {
			c, by, err := making(ctx, db, sha, func(*record.Candidate) bool { return true })
			if err != nil {
				return nil, err
			}
			if c != nil {
				queue = append(queue, text{by, sha})
			}
		}
	}
	return out, nil
}
