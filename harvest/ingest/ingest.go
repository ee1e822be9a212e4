// Package ingest reads sessions into the store and makes cases with splits of them, and
// of what their owner imports or edits.
package ingest

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// An Ingester fills the store.
type Ingester struct {
	Store    *store.Store // nil if there is none yet: what only reads finds nothing
	Layout   *skill.Layout
	Dir      datadir.Dir
	Access   datadir.Access // the queue of hooks is emptied if it is datadir.Writes
	Now      func() time.Time
	Redactor redact.Redactor // applied to all that is stored
}

// A Source is a reader of sessions with the place that it reads.
type Source struct {
	harvest.Source
	Where string // a folder
}

// A Report is what one harvest found.
type Report struct {
	Sessions    int               `json:"sessions"`    // new or changed
	Invocations int               `json:"invocations"` // uses in them, as store.SkillUse counts them
	Problems    []harvest.Problem `json:"problems"`    // what could not be read
	Remarks     []harvest.Problem `json:"remarks,omitempty"`
	Redactions  int               `json:"redactions"`
	Found       []Found           `json:"sources"`
}

// A Found is what a harvest took from one source.
type Found struct {
	Source      string `json:"source"`
	Where       string `json:"where"`
	Sessions    int    `json:"sessions"` // new or changed
	Invocations int    `json:"invocations"`
}

const (
	gcPercent   = 400       // while sessions are read
	memoryLimit = 150 << 20 // bytes; above it the collector works as hard as it must
)

// Harvest reads what is new in the sources and stores it, redacted. read is called
// after each session. headless counts the uses of sessions that a program drove, too.
// Where a source fails, the report has what was stored until then.
func (g *Ingester) Harvest(ctx context.Context, sources []Source, headless bool, read func()) (*Report, error) {
	// Sessions pass through and are gone: collecting less often costs some tens
	// of megabytes and saves a tenth of the time. The limit keeps it to that.
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit))
	r := &Report{Problems: []harvest.Problem{}, Found: []Found{}}
	began := g.Now()
	live, problems := g.bus()
	r.add(problems)
	for _, src := range sources {
		before := *r
		stored, err := g.Store.Cursor(ctx, src.Name())
		if err != nil {
			return nil, err
		}
		writer, marks := newSessionWriter(g.Store), &cursor{FileCursor: stored}
		problems, err := src.Sessions(ctx, marks, func(s *harvest.Session) error {
			harvest.Scrub(s, g.Redactor) // of what readers do not know by its value
			live.Merge(s)
			r.Sessions++
			read()
			if !s.Headless || headless {
				r.Invocations += s.Uses()
			}
			r.Redactions += s.Redactions
			return writer.save(ctx, s)
		})
		if e := writer.wait(); e != nil {
			err = e
		}
		marks.settle(problems, writer)
		// What was read is kept even if the harvest was stopped.
		if e := stored.Flush(context.WithoutCancel(ctx)); e != nil && err == nil {
			err = e
		}
		r.add(problems)
		r.Found = append(r.Found, Found{src.Name(), src.Where, r.Sessions - before.Sessions, r.Invocations - before.Invocations})
		if err != nil {
			return r, fmt.Errorf("harvest %s: %w", src.Name(), err)
		}
	}
	if _, err := g.Store.SkillUses(ctx); err != nil { // a command that only looks cannot keep what it counts
		return r, err
	}
	return r, g.emptyQueue(began)
}

// add adds what a source has met.
func (r *Report) add(problems []harvest.Problem) {
	for _, p := range problems {
		if p.Remark {
			r.Remarks = append(r.Remarks, p)
		} else {
			r.Problems = append(r.Problems, p)
		}
	}
}

// AddStored adds the problems that the sessions of earlier harvests have to what this
// one met, in the order of files and lines.
func (r *Report) AddStored(sessions []harvest.Session) {
	for _, s := range sessions {
		r.add(s.Problems)
	}
	for _, list := range []*[]harvest.Problem{&r.Problems, &r.Remarks} {
		slices.SortFunc(*list, func(p, q harvest.Problem) int {
			return cmp.Or(cmp.Compare(p.Path, q.Path), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Reason, q.Reason))
		})
		*list = slices.Compact(*list)
	}
}

// A cursor holds back what a source has read, so that a file of which nothing could be
// kept is named again by the next harvest. What is wrong with one that was kept is in
// its stored session.
type cursor struct {
	harvest.FileCursor
	later []func()
	paths []string
}

// Mark implements harvest.Cursor.
func (c *cursor) Mark(path string, size int64, modified time.Time) {
	c.paths = append(c.paths, path)
	c.later = append(c.later, func() { c.FileCursor.Mark(path, size, modified) })
}

// MarkFile implements harvest.FileCursor.
func (c *cursor) MarkFile(path string, f harvest.FileState) {
	c.paths = append(c.paths, path)
	c.later = append(c.later, func() { c.FileCursor.MarkFile(path, f) })
}

// settle marks the files that need not be read again.
func (c *cursor) settle(problems []harvest.Problem, w *sessionWriter) {
	again := map[string]bool{}
	for _, p := range problems {
		again[p.Path] = again[p.Path] || !p.Remark && !w.kept[p.Path]
	}
	for path := range w.lost {
		again[path] = true
	}
	for i, mark := range c.later {
		if !again[c.paths[i]] {
			mark()
		}
	}
}
