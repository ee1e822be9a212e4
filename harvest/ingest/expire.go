package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
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

// needs is what a case still needs of its session: a judge is calibrated on the answer
// that was corrected, and a model may still write checks of a quoted correction.
func needs(s *harvest.Session, c eval.Case) *harvest.Recording {
	rec := harvest.RecordingOf(s, &c)
	if rec != nil && !Quoted(c) {
		rec.Corrections, rec.Said = nil, ""
	}
	return rec
}

// skillFile is the SKILL.md of a folder, symlinks resolved; "" if there is none.
func skillFile(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	path, err := filepath.EvalSymlinks(filepath.Join(dir, skill.FileName))
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// An Expirer removes the text of sessions whose time is over.
type Expirer struct {
	Store *store.Store
	// Before is when sessions of an agent must have ended for their text to expire.
	Before func(agent string) time.Time
	Busy   func(run string) bool // a process works on that run
	// Files removes what files of the data folder hold of what is due.
	Files func(ctx context.Context, x store.Expiry) error
	// Mine makes cases, without a model, of all that was not mined yet; nil if there is
	// nothing.
	Mine func(ctx context.Context) error
}

// Expired is what has expired.
type Expired struct {
	Sessions  int   // whose text was removed
	Unwritten error // why the file still holds it; the next call overwrites it
}

// Expire makes cases of the sessions that are due, and then removes their text. If
// nothing is due it costs a query.
func (e *Expirer) Expire(ctx context.Context) (out Expired, err error) {
	x, err := e.Store.Due(ctx, e.Before, e.Busy)
	if err != nil {
		return out, err
	}
	if len(x.Sessions)+len(x.Cases) > 0 {
		if e.Mine != nil {
			if err := e.Mine(ctx); err != nil {
				return out, err
			}
		}
		if err := e.Files(ctx, x); err != nil {
			return out, fmt.Errorf("remove expired text: %w", err)
		}
		if err := e.Store.Expire(ctx, x, store.Keeping{Case: needs, File: skillFile}); err != nil {
			return out, err
		}
		if _, err := e.Store.SkillUses(ctx); err != nil { // a command that only looks cannot keep what it counts
			return out, err
		}
		out.Sessions = len(x.Sessions)
	} else if !x.Unwritten {
		return out, nil
	}
	out.Unwritten = e.Store.Overwrite(context.WithoutCancel(ctx))
	return out, nil
}
