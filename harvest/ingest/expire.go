package ingest

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
)

// Kept lists the cases among known that a model may still write checks of although the
// text of their sessions has expired.
func Kept(ctx context.Context, db *store.Store, name string, known []eval.Case) (out []harvest.Kept, err error) {
	recorded, err := db.Recordings(ctx, name)
	for _, c := range known {
		if rec, ok := recorded[c.ID]; ok && Quoted(c) && len(rec.Corrections) > 0 {
			out = append(out, harvest.Kept{Case: c, Recording: rec})
		}
	}
	return out, err
}

// Needs is what a case still needs of its session: a model may still write checks of a
// quoted correction of an answer.
func Needs(s *harvest.Session, c eval.Case) harvest.Recording {
	rec := harvest.RecordingOf(s, &c)
	if !Quoted(c) {
		rec.Answer, rec.Corrections, rec.Said = "", nil, ""
	}
	return rec
}
