package candidate

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// PartOf returns the part of a skill that an operator changes.
func PartOf(operator string) string {
	if operator == mergedDescription || operator == (search.Describe{}).Name() {
		return skill.Description
	}
	return skill.Harness
}

// PartOfVersion returns the part of a skill that a version changes. A version
// that an older evolve has installed from a continued trial has the operator
// "carried"; its candidate has the part.
func PartOfVersion(ctx context.Context, db *store.Store, v *record.Version) (string, error) {
	if v.Operator != "carried" {
		return PartOf(v.Operator), nil
	}
	c, err := MadeBy(ctx, db, v.Skill, v.SHA)
	if errors.Is(err, store.ErrNotFound) {
		return skill.Harness, nil
	} else if err != nil {
		return "", err
	}
	return PartOf(c.Operator), nil
}

// OnlyDeletes reports whether a text only lacks lines of the live one.
func OnlyDeletes(live *skill.Document, text []byte) bool {
	if len(text) == 0 || live.Options().Script != "" { // purged, or no lines of a text
		return false
	}
	doc, err := skill.Parse(text, live.Options())
	if err != nil {
		return false
	}
	_, only := mutate.Removed(live, doc)
	return only && doc.Hash() != live.Hash()
}

// Shorter returns what the live text lacks with the change of a trial if that only deletes,
// else nil.
func Shorter(ctx context.Context, db *store.Store, live *skill.Live, t *OnTrial) (*search.Shorter, error) {
	if t.With == nil || !OnlyDeletes(live.Doc, t.With.Text) {
		return nil, nil
	}
	doc, err := skill.Stored(live.Name, t.With.Text)
	if err != nil {
		return nil, err
	}
	cases, err := db.Cases(ctx, live.Name)
	if err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	return search.ShorterThan(live.Doc, doc, cases), nil
}
