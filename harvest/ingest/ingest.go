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

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// An Ingester fills the store.
type Ingester struct {
	Store    *store.Store // nil if there is none yet: reading then finds nothing
	Layout   *skill.Layout
	Dir      datadir.Dir
	Access   datadir.Access // the queue of hooks is emptied if it is datadir.Writes
	Now      func() time.Time
	Gate     *consent.Gate   // which sessions may be read; nil: all
	Again    bool            // what was read before is read once more, if it still exists
	Redactor redact.Redactor // applied to all that is stored
	// Find returns why the program of a test command cannot run in a folder; nil: all are
	// taken to run.
	Find func(dir, name string) error
	// Transcript is the only one in the sources, "" if they have all: others stay in the
	// queue of hooks.
	Transcript string
}

// A Source is a reader of sessions and the place that it reads.
type Source struct {
	harvest.Source
	Where string // a folder
}

// A Report is the result of one harvest.
type Report struct {
	Sessions    int               `json:"sessions"`    // new or changed
	Invocations int               `json:"invocations"` // uses in them, as store.SkillUse counts them
	Problems    []harvest.Problem `json:"problems"`    // what could not be read
	Remarks     []harvest.Problem `json:"remarks,omitempty"`
	Redactions  int               `json:"redactions"`
	// NotRead counts the sessions that were left out because their owner has not decided
	// on their projects, and NewProjects these projects.
	NotRead     int     `json:"not_read,omitempty"`
	NewProjects int     `json:"new_projects,omitempty"`
	Found       []Found `json:"sources"`
}

// A Found is the result for one source.
type Found struct {
	Source      string `json:"source"`
	Where       string `json:"where"`
	Sessions    int    `json:"sessions"` // new or changed
	Invocations int    `json:"invocations"`
}

const (
	gcPercent   = 400       // while sessions are read
	memoryLimit = 150 << 20 // bytes; above it the garbage collector runs as often as necessary
)

// Harvest reads what is new in the sources and stores it, redacted. read is called
// after each session. headless also counts the uses of sessions that a program drove.
// If a source fails, the report has what was stored until then.
func (g *Ingester) Harvest(ctx context.Context, sources []Source, headless bool, read func()) (*Report, error) {
	// Sessions are garbage soon after they were read: collecting less often costs some
	// tens of megabytes and saves a tenth of the time. The memory limit bounds the
	// cost.
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit))
	r := &Report{Problems: []harvest.Problem{}, Found: []Found{}}
	began := g.Now()
	if err := g.reconsider(ctx); err != nil {
		return nil, err
	}
	live, problems := g.bus()
	r.add(problems)
	for _, src := range sources {
		before := *r
		stored, err := g.Store.Cursor(ctx, src.Name())
		if err != nil {
			return nil, err
		}
		writer, marks := newSessionWriter(g.Store), &cursor{FileCursor: stored, gate: g.Gate}
		if marks.waiting, err = g.Store.Cursor(ctx, store.Projects); err != nil {
			return nil, err
		}
		problems, err := src.Sessions(ctx, marks, func(s *harvest.Session) error {
			harvest.Scrub(s, g.Redactor) // texts are redacted by the readers, the rest here
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
		for _, c := range []*store.Cursor{stored, marks.waiting} {
			if e := c.Flush(context.WithoutCancel(ctx)); e != nil && err == nil {
				err = e
			}
		}
		r.add(problems)
		r.Found = append(r.Found, Found{src.Name(), src.Where, r.Sessions - before.Sessions, r.Invocations - before.Invocations})
		if err != nil {
			return r, fmt.Errorf("harvest %s: %w", src.Name(), err)
		}
	}
	if g.Gate != nil {
		r.NotRead, r.NewProjects = g.Gate.Waiting()
		if err := g.forgetGone(ctx); err != nil {
			return r, err
		}
	}
	if _, err := g.Store.SkillUses(ctx); err != nil { // a read-only command cannot store the counts
		return r, err
	}
	return r, g.emptyQueue(began)
}

// Waits tells of the sessions that wait for a decision of their owner's.
func (r *Report) Waits() string {
	were := "were"
	if r.NotRead == 1 {
		were = "was"
	}
	return fmt.Sprintf("%s of %s %s not read", plain.Counted(r.NotRead, "session"), plain.Counted(r.NewProjects, "new project"), were)
}

// add adds the problems of a source.
func (r *Report) add(problems []harvest.Problem) {
	for _, p := range problems {
		if p.Remark {
			r.Remarks = append(r.Remarks, p)
		} else {
			r.Problems = append(r.Problems, p)
		}
	}
}

// AddStored adds the problems of sessions stored by earlier harvests to those of this
// one, in the order of files and lines.
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

// A cursor delays the marks of the files that a source has read, so that a file of
// which nothing could be stored is reported again by the next harvest. The problems of
// a stored one are in its session.
type cursor struct {
	harvest.FileCursor
	gate    *consent.Gate
	waiting *store.Cursor // refuses what waits for a decision, see store.Waiting
	later   []func()
	paths   []string
}

// Mark implements harvest.Cursor.
func (c *cursor) Mark(path string, size int64, modified time.Time) {
	c.paths = append(c.paths, path)
	c.later = append(c.later, func() { c.FileCursor.Mark(path, size, modified); c.decided(path) })
}

// decided notes that a session waits no longer, if it did.
func (c *cursor) decided(path string) {
	if was, _ := c.waiting.File(path); was.Refused {
		c.waiting.Mark(path, 0, never)
	}
}

// MarkFile implements harvest.FileCursor.
func (c *cursor) MarkFile(path string, f harvest.FileState) {
	c.paths = append(c.paths, path)
	c.later = append(c.later, func() {
		if c.FileCursor.MarkFile(path, f); !f.Refused { // else it was not read
			c.decided(path)
		}
	})
}

// Refuse implements harvest.Refuser.
func (c *cursor) Refuse(path string) {
	c.paths = append(c.paths, path)
	waits := c.gate != nil && c.gate.Waits()
	c.later = append(c.later, func() {
		if harvest.Refuse(c.FileCursor, path); waits {
			c.waiting.Mark(path, 0, never)
			c.waiting.Refuse(path)
		}
	})
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
