package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
)

// reconsider makes the sessions that were refused new again if it was decided otherwise
// since the last harvest. Before the first decision nothing was refused, and the folders
// of sessions were not kept: all are new, as they are if g.Again.
func (g *Ingester) reconsider(ctx context.Context) error {
	if g.Gate == nil {
		return nil
	}
	now := printOf(g.Gate)
	c, err := g.Store.Cursor(ctx, store.Projects)
	if err != nil || c.Seen(decided, now, never) && !g.Again {
		return err
	}
	_, before := c.File(decided)
	if err := g.Store.Reconsider(ctx, !before || g.Again); err != nil {
		return err
	}
	c.Mark(decided, now, never)
	return c.Flush(ctx)
}

// decided is the name under which a cursor holds what the last harvest was allowed.
const decided = "decided"

var never = time.Unix(0, 0)

func printOf(g *consent.Gate) int64 {
	sum := sha256.Sum256([]byte(g.Print()))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// Waiting counts the sessions that harvests left out because nothing is decided on their
// projects; 0 if something was decided since: the next harvest looks at them again.
func Waiting(ctx context.Context, db *store.Store, g *consent.Gate) (int, error) {
	c, err := db.Cursor(ctx, store.Projects)
	if err != nil || !c.Seen(decided, printOf(g), never) {
		return 0, err
	}
	list, err := db.Waiting(ctx)
	return len(list), err
}

// forgetGone forgets the sessions that waited and whose transcripts are gone.
func (g *Ingester) forgetGone(ctx context.Context) error {
	list, err := g.Store.Waiting(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	c, err := g.Store.Cursor(ctx, store.Projects)
	if err != nil {
		return err
	}
	gone := func(path string) bool { _, err := os.Lstat(path); return errors.Is(err, fs.ErrNotExist) }
	for _, path := range list {
		file := path
		if before, _, part := strings.Cut(path, ".jsonl#"); part {
			file = before + ".jsonl" // which has several sessions
		}
		if !strings.Contains(path, "#entire/") && gone(file) && gone(file+".zst") {
			c.Mark(path, 0, never)
		}
	}
	return c.Flush(ctx)
}

// An Archive is what a store has of sessions; DB may be nil.
type Archive struct{ DB *store.Store }

// Stored reports whether a session is in the store, or was purged from it.
func (a Archive) Stored(ctx context.Context, id string) (bool, error) {
	if a.DB == nil {
		return false, nil
	}
	if purged, err := a.DB.Purged(ctx, id); err != nil || purged {
		return purged, err
	}
	all, err := a.DB.Sessions(ctx, store.SessionFilter{ID: id, Bare: true, Limit: 1})
	return len(all) > 0, err
}

// Turns are those of an agent's sessions that were under way in a period.
func (a Archive) Turns(ctx context.Context, agent string, from, to time.Time) (turns []harvest.Turn, err error) {
	if a.DB == nil {
		return nil, nil
	}
	all, err := a.DB.Sessions(ctx, store.SessionFilter{Agent: agent, Bare: true})
	for _, s := range all {
		if s.Started.After(to) || s.Ended.Before(from) {
			continue
		}
		whole, err := a.DB.Sessions(ctx, store.SessionFilter{ID: s.ID})
		if err != nil {
			return nil, err
		}
		for _, s := range whole {
			turns = append(turns, s.Turns...)
		}
	}
	return turns, err
}

// Unread surveys the sessions in the sources that are neither stored nor purged; db may be
// nil. The
// sources must have been opened for the survey, which looks at each session once. read is
// called after each.
func Unread(ctx context.Context, db *store.Store, s *Survey, sources []Source, read func()) error {
	known := stored{}
	if db != nil {
		sessions, err := db.Sessions(ctx, store.SessionFilter{Bare: true})
		if err != nil {
			return err
		}
		for _, ses := range sessions {
			known[ses.Path] = true
		}
	}
	for _, src := range sources {
		_, err := src.Sessions(ctx, known, func(ses *harvest.Session) error {
			if known[ses.Path] { // a subagent of it worked elsewhere
				return nil
			}
			read()
			if db != nil {
				if gone, err := db.Purged(ctx, ses.ID); err != nil || gone {
					return err
				}
			}
			s.Add(s.folders, ses.Ended)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A Survey is a consent.Survey of what sources hold: it is their harvest.Options.Allowed.
type Survey struct {
	consent.Survey
	folders []string // of the session that is yielded next, as it has them
}

// Allowed notes the folders of the session that is yielded next.
func (s *Survey) Allowed(folders []string) bool {
	s.folders = folders
	return true
}

// stored is a cursor that has seen the paths of sessions that are stored.
type stored map[string]bool

func (s stored) Seen(path string, _ int64, _ time.Time) bool { return s[path] }
func (s stored) Mark(string, int64, time.Time)               {}
